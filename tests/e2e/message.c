// SPDX-License-Identifier: BSD-3-Clause
#include "tests/e2e/message.h"

#include <arpa/inet.h>
#include <string.h>

/* A cursor that notes when it ran past the end. */
struct reader {
	const uint8_t *pos, *end;
	bool bad;
};

static uint32_t read_u32(struct reader *reader)
{
	uint32_t be;

	if (reader->end - reader->pos < 4) {
		reader->bad = true;
		return 0;
	}
	memcpy(&be, reader->pos, 4);
	reader->pos += 4;
	return ntohl(be);
}

static void read_auth(struct reader *reader)
{
	uint32_t len;

	read_u32(reader);
	len = read_u32(reader);
	if (len > 400 || (size_t)(reader->end - reader->pos) < len + (-len & 3))
		reader->bad = true;
	else
		reader->pos += len + (-len & 3);
}

static void read_call(struct reader *reader, struct message *message)
{
	read_u32(reader);
	message->program = read_u32(reader);
	message->version = read_u32(reader);
	message->procedure = read_u32(reader);
	read_auth(reader);
	read_auth(reader);
}

static void read_reply(struct reader *reader, struct message *message)
{
	message->accepted = read_u32(reader) == 0;
	if (message->accepted) {
		read_auth(reader);
		message->accept_stat = read_u32(reader);
	} else {
		message->reject_stat = read_u32(reader);
		message->auth_stat = read_u32(reader);
	}
}

bool message_parse(struct message *message, const uint8_t *data, size_t len)
{
	struct reader reader = {.pos = data, .end = data + len};

	memset(message, 0, sizeof(*message));
	message->xid = read_u32(&reader);
	message->type = read_u32(&reader);
	if (message->type == MSG_CALL)
		read_call(&reader, message);
	else if (message->type == MSG_REPLY)
		read_reply(&reader, message);
	else
		return false;
	message->body = reader.pos;
	message->body_len = (size_t)(reader.end - reader.pos);
	return !reader.bad;
}

uint32_t message_u32(const struct message *message, size_t offset)
{
	uint32_t be;

	if (message->body_len < 4 || offset > message->body_len - 4)
		fail("a message of %zu bytes has nothing at %zu", message->body_len, offset);
	memcpy(&be, message->body + offset, 4);
	return ntohl(be);
}

static void put_auth(struct buf *buf, uint32_t flavour)
{
	struct buf body = {0};

	buf_u32(buf, flavour);
	if (flavour == AUTH_SYS) {
		buf_u32(&body, 0);
		buf_opaque(&body, "test", 4);
		buf_u32(&body, 0);
		buf_u32(&body, 0);
		buf_u32(&body, 0);
	}
	buf_opaque(buf, body.data, body.len);
	buf_free(&body);
}

void call_begin(struct buf *buf, uint32_t xid, uint32_t program, uint32_t version,
		uint32_t procedure, uint32_t flavour)
{
	buf_u32(buf, xid);
	buf_u32(buf, MSG_CALL);
	buf_u32(buf, 2);
	buf_u32(buf, program);
	buf_u32(buf, version);
	buf_u32(buf, procedure);
	put_auth(buf, flavour);
	put_auth(buf, AUTH_NONE);
}

void reply_begin(struct buf *buf, uint32_t xid, uint32_t accept_stat)
{
	buf_u32(buf, xid);
	buf_u32(buf, MSG_REPLY);
	buf_u32(buf, 0);
	put_auth(buf, AUTH_NONE);
	buf_u32(buf, accept_stat);
}

static uint32_t pattern_word(uint32_t seed, uint32_t i)
{
	uint32_t z = (seed + i) * 0x9e3779b9u;

	z = (z ^ (z >> 16)) * 0x85ebca6bu;
	return z ^ (z >> 13);
}

void pattern_put(struct buf *buf, uint32_t seed, size_t len)
{
	for (size_t pos = 0; pos < len; pos += 4) {
		uint32_t word = pattern_word(seed, (uint32_t)(pos / 4));

		buf_put(buf, &word, len - pos < 4 ? len - pos : 4);
	}
}

bool pattern_is(const uint8_t *data, size_t len, uint32_t seed)
{
	for (size_t pos = 0; pos < len; pos += 4) {
		uint32_t word = pattern_word(seed, (uint32_t)(pos / 4));

		if (memcmp(data + pos, &word, len - pos < 4 ? len - pos : 4))
			return false;
	}
	return true;
}

void echo_call(struct buf *buf, uint32_t program, uint32_t xid, uint32_t args_len,
	       uint32_t reply_len)
{
	call_begin(buf, xid, program, 1, TEST_ECHO, AUTH_NONE);
	buf_u32(buf, reply_len);
	buf_u32(buf, args_len);
	pattern_put(buf, xid, args_len);
}

void echo_reply(struct buf *buf, const struct message *call)
{
	uint32_t reply_len = message_u32(call, 0), args_len = message_u32(call, 4);

	if (call->body_len != 8 + (size_t)args_len ||
	    !pattern_is(call->body + 8, args_len, call->xid))
		fail("the Call %08x came damaged: %zu bytes for %u", call->xid, call->body_len,
		     args_len);
	reply_begin(buf, call->xid, ACCEPT_SUCCESS);
	pattern_put(buf, ~call->xid, reply_len);
}

bool echo_check(const struct message *reply, uint32_t reply_len)
{
	return reply->type == MSG_REPLY && reply->accepted &&
	       reply->accept_stat == ACCEPT_SUCCESS && reply->body_len == reply_len &&
	       pattern_is(reply->body, reply_len, ~reply->xid);
}
