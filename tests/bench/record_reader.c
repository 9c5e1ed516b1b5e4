// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bench/record_reader.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define LAST_FRAGMENT 0x80000000u
#define MESSAGE_MIN   24 /* the Reply to NULL */

struct input {
	const uint8_t *data;
	size_t len;
};

static void skip(struct input *input, size_t n)
{
	input->data += n;
	input->len -= n;
}

/* @need bytes in one piece: where they are, or aside if they came in several. NULL: not all are here. */
static const uint8_t *gather(struct record_reader *reader, struct input *input, uint32_t need)
{
	const uint8_t *whole = input->data;
	size_t n = need - reader->have;

	if (!reader->have && input->len >= need) {
		skip(input, need);
		return whole;
	}
	if (n > input->len)
		n = input->len;
	memcpy(reader->aside + reader->have, input->data, n);
	reader->have += (uint32_t)n;
	skip(input, n);
	if (reader->have < need)
		return NULL;
	reader->have = 0;
	return reader->aside;
}

static int take_mark(struct record_reader *reader, struct input *input)
{
	const uint8_t *at = gather(reader, input, 4);
	uint32_t mark;

	if (!at)
		return 0;
	memcpy(&mark, at, sizeof(mark));
	mark = ntohl(mark);
	if (!(mark & LAST_FRAGMENT) || (mark & ~LAST_FRAGMENT) < MESSAGE_MIN)
		return -EBADMSG;
	reader->len = mark & ~LAST_FRAGMENT;
	reader->left = 0;
	return 0;
}

static void end(struct record_reader *reader, const struct record_ops *ops, void *arg)
{
	reader->len = 0;
	ops->end(arg);
}

static void take_head(struct record_reader *reader, const struct record_ops *ops, void *arg,
		      struct input *input)
{
	uint32_t need = reader->len < reader->head_bytes ? reader->len : reader->head_bytes;
	const uint8_t *head = gather(reader, input, need);

	if (!head)
		return;
	reader->left = reader->len - need;
	ops->begin(arg, head, need, reader->len);
	if (!reader->left)
		end(reader, ops, arg);
}

static void take_more(struct record_reader *reader, const struct record_ops *ops, void *arg,
		      struct input *input)
{
	size_t n = reader->left < input->len ? reader->left : input->len;

	ops->more(arg, input->data, n);
	skip(input, n);
	reader->left -= (uint32_t)n;
	if (!reader->left)
		end(reader, ops, arg);
}

int record_reader_feed(struct record_reader *reader, const struct record_ops *ops, void *arg,
		       const uint8_t *data, size_t len)
{
	struct input input = {data, len};
	int err = 0;

	while (input.len > 0 && !err) {
		if (!reader->len)
			err = take_mark(reader, &input);
		else if (!reader->left)
			take_head(reader, ops, arg, &input);
		else
			take_more(reader, ops, arg, &input);
	}
	return err;
}
