// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/record_end.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "tests/sim/rig.h"

#define LAST_MARK  0x80000000u
#define MARK_BYTES 4u
#define READ_BYTES 65536u
#define RECORD_MAX (128u << 20)

/* ---- output ---- */

static uint8_t *make_room(uint8_t **to, size_t *room, size_t have_bytes, size_t more_bytes)
{
	if (have_bytes + more_bytes > *room) {
		*room = 2 * (have_bytes + more_bytes);
		*to = realloc(*to, *room);
		RIG_ASSERT(*to);
	}
	return *to + have_bytes;
}

static void set_watch(struct record_end *end)
{
	unsigned events = end->out_bytes ? LOOP_WRITE : 0;

	if (!end->got_end)
		events |= LOOP_READ;
	stream_watch(end->stream, events);
}

static void flush(struct record_end *end)
{
	while (end->out_at < end->out_bytes) {
		const struct iovec iov = {end->out + end->out_at, end->out_bytes - end->out_at};
		ssize_t n = stream_writev(end->stream, &iov, 1);

		if (n == -EAGAIN)
			break;
		if (n < 0) {
			end->got_reset = true;
			record_end_close(end, true);
			return;
		}
		end->out_at += (size_t)n;
	}
	if (end->out_at == end->out_bytes)
		end->out_at = end->out_bytes = 0;
	set_watch(end);
}

void record_end_send(struct record_end *end, const uint8_t *msg, uint32_t len_bytes)
{
	uint32_t fragment = end->fragment_bytes ? end->fragment_bytes : len_bytes;

	if (end->is_over)
		return;
	for (uint32_t at = 0; at < len_bytes; at += fragment) {
		uint32_t bytes = len_bytes - at < fragment ? len_bytes - at : fragment;
		uint8_t *to =
			make_room(&end->out, &end->out_room, end->out_bytes, MARK_BYTES + bytes);

		be32_put(to, bytes | (at + bytes == len_bytes ? LAST_MARK : 0));
		memcpy(to + MARK_BYTES, msg + at, bytes);
		end->out_bytes += MARK_BYTES + bytes;
	}
	if (end->stream)
		flush(end);
}

/* ---- input ---- */

/* Takes what is whole of what has come. The proxy sends each record in one fragment. */
static void take_records(struct record_end *end)
{
	size_t at = 0;

	while (end->in_bytes - at >= MARK_BYTES) {
		uint32_t mark = be32_get(end->in + at), len = mark & ~LAST_MARK;

		RIG_ASSERT(mark & LAST_MARK && len <= RECORD_MAX);
		if (end->in_bytes - at - MARK_BYTES < len) {
			if (end->events->grown)
				end->events->grown(end->arg, end->in + at + MARK_BYTES,
						   (uint32_t)(end->in_bytes - at - MARK_BYTES),
						   len);
			break;
		}
		end->events->received(end->arg, end->in + at + MARK_BYTES, len);
		at += MARK_BYTES + len;
	}
	end->in_bytes -= at;
	if (at)
		memmove(end->in, end->in + at, end->in_bytes);
}

static void receive(struct record_end *end)
{
	ssize_t n;

	for (;;) {
		struct iovec iov = {make_room(&end->in, &end->in_room, end->in_bytes, READ_BYTES),
				    READ_BYTES};

		n = stream_readv(end->stream, &iov, 1);
		if (n <= 0)
			break;
		end->in_bytes += (size_t)n;
		take_records(end);
		if (end->is_over)
			return;
	}
	if (n == -EAGAIN)
		return;
	end->got_end = n == 0;
	end->got_reset = n < 0;
	RIG_ASSERT(n < 0 || end->in_bytes == 0);
	record_end_close(end, false);
}

static void on_ready(void *arg, unsigned events)
{
	struct record_end *end = arg;

	if (events & LOOP_READ)
		receive(end);
	if (!end->is_over && events & LOOP_WRITE)
		flush(end);
}

static const struct stream_events end_events = {.ready = on_ready};

void record_end_start(struct record_end *end, struct stream *stream)
{
	RIG_ASSERT(!end->stream);
	end->stream = stream;
	stream_bind(stream, &end_events, end);
	flush(end);
}

void record_end_shutdown(struct record_end *end)
{
	int rc = stream_shutdown(end->stream);

	/* It can be broken already, before the end is notified of that. */
	RIG_ASSERT(end->out_bytes == 0 && (rc == 0 || rc == -ENOTCONN));
}

void record_end_close(struct record_end *end, bool reset)
{
	if (!end->stream || end->is_over)
		return;
	end->is_over = true;
	stream_close(end->stream, reset);
}

void record_end_fini(struct record_end *end)
{
	RIG_ASSERT(!end->stream || end->is_over);
	stream_free(end->stream);
	free(end->in);
	free(end->out);
}
