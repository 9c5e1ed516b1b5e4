// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bench/send_queue.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "tests/bench/file_data.h"

#define LAST_FRAGMENT 0x80000000u
#define IOVS          64
#define PIECES_MIN    8

/* What a gathering send is given. */
struct gathered {
	struct iovec iov[IOVS];
	size_t count, bytes;
};

/* Forget what is gone, once it is half of what there is. */
static void compact(struct send_queue *queue)
{
	if (queue->first < PIECES_MIN || queue->first < queue->end / 2)
		return;
	queue->end -= queue->first;
	memmove(queue->pieces, queue->pieces + queue->first, queue->end * sizeof(*queue->pieces));
	queue->first = 0;
	queue->heads.len -= queue->heads_sent;
	memmove(queue->heads.data, queue->heads.data + queue->heads_sent, queue->heads.len);
	queue->heads_sent = 0;
}

/* A piece for the next message: the last one as long as nothing follows its heads. */
static struct send_piece *piece_for_next(struct send_queue *queue)
{
	struct send_piece *last = queue->end > queue->first ? &queue->pieces[queue->end - 1] : NULL;

	if (last && !last->data_bytes && !last->pad_bytes)
		return last;
	compact(queue);
	if (queue->end == queue->cap) {
		queue->cap = queue->cap ? queue->cap * 2 : PIECES_MIN;
		queue->pieces = realloc(queue->pieces, queue->cap * sizeof(*queue->pieces));
		if (!queue->pieces)
			fail("out of memory");
	}
	queue->pieces[queue->end] = (struct send_piece){0};
	return &queue->pieces[queue->end++];
}

uint8_t *send_queue_put(struct send_queue *queue, const struct buf *message, uint32_t xid,
			uint64_t offset, uint32_t data_bytes)
{
	struct send_piece *piece = piece_for_next(queue);

	piece->offset = offset;
	piece->data_bytes = data_bytes;
	piece->pad_bytes = -data_bytes & 3;
	piece->head_bytes += 4 + (uint32_t)message->len;
	buf_u32(&queue->heads,
		LAST_FRAGMENT | ((uint32_t)message->len + data_bytes + piece->pad_bytes));
	buf_u32(&queue->heads, xid);
	buf_put(&queue->heads, message->data + 4, message->len - 4);
	return queue->heads.data + queue->heads.len;
}

void send_queue_spoil(struct send_queue *queue)
{
	struct send_piece *piece = &queue->pieces[queue->end - 1];
	uint8_t wrong = (uint8_t) ~*file_data_at(piece->offset);

	buf_put(&queue->heads, &wrong, 1);
	piece->head_bytes++;
	piece->data_bytes--;
	piece->offset++;
}

/* Bytes of a piece, less what of it is @gone; false where no room is left. */
static bool add(struct gathered *gathered, const void *data, size_t len, size_t *gone)
{
	size_t skipped = *gone < len ? *gone : len;

	*gone -= skipped;
	if (skipped == len)
		return true;
	if (gathered->count == IOVS)
		return false;
	/* Nothing is written through it. */
	gathered->iov[gathered->count].iov_base = (uint8_t *)(uintptr_t)data + skipped;
	gathered->iov[gathered->count++].iov_len = len - skipped;
	gathered->bytes += len - skipped;
	return true;
}

static bool add_data(struct gathered *gathered, const struct send_piece *piece, size_t *gone)
{
	for (uint32_t pos = 0, n; pos < piece->data_bytes; pos += n) {
		n = piece->data_bytes - pos;
		if (n > FILE_DATA_CHUNK)
			n = FILE_DATA_CHUNK;
		if (!add(gathered, file_data_at(piece->offset + pos), n, gone))
			return false;
	}
	return true;
}

static void gather(const struct send_queue *queue, struct gathered *gathered)
{
	static const uint8_t pad[3];
	size_t head = queue->heads_sent, gone = queue->sent;

	gathered->count = gathered->bytes = 0;
	for (size_t i = queue->first; i < queue->end; i++) {
		const struct send_piece *piece = &queue->pieces[i];

		if (!add(gathered, queue->heads.data + head, piece->head_bytes, &gone) ||
		    !add_data(gathered, piece, &gone) ||
		    !add(gathered, pad, piece->pad_bytes, &gone))
			return;
		head += piece->head_bytes;
	}
}

static void forget(struct send_queue *queue, size_t sent)
{
	queue->sent += sent;
	while (queue->first < queue->end) {
		const struct send_piece *piece = &queue->pieces[queue->first];
		size_t len = (size_t)piece->head_bytes + piece->data_bytes + piece->pad_bytes;

		if (queue->sent < len)
			return;
		queue->sent -= len;
		queue->heads_sent += piece->head_bytes;
		queue->first++;
	}
	queue->first = queue->end = queue->heads.len = queue->heads_sent = 0;
}

int send_queue_flush(struct send_queue *queue, int fd)
{
	struct gathered gathered;

	while (queue->first < queue->end) {
		struct msghdr msg = {.msg_iov = gathered.iov};
		ssize_t n;

		gather(queue, &gathered);
		msg.msg_iovlen = gathered.count;
		n = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN ? 1 : -errno;
		forget(queue, (size_t)n);
		if ((size_t)n < gathered.bytes)
			return 1;
	}
	return 0;
}

void send_queue_fini(struct send_queue *queue)
{
	buf_free(&queue->heads);
	free(queue->pieces);
}
