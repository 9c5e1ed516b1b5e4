// SPDX-License-Identifier: BSD-3-Clause
/* The servers of the services that hostile clients use: they continue whatever they receive. */
#include "tests/e2e/hostile.h"
#include "tests/e2e/message.h"

#define REPLY_MAX 1048576u

static void shut(struct conn *conn)
{
	conn->closed = true;
}

/* A damaged Call is answered as well, with nothing. */
static void echo(struct conn *conn, const uint8_t *data, size_t len)
{
	struct buf reply = {0};
	struct message call;
	uint32_t reply_len = 0;

	if (!message_parse(&call, data, len) || call.type != MSG_CALL)
		return;
	if (call.program == TEST_PROGRAM && call.procedure == TEST_ECHO && call.body_len >= 4)
		reply_len = message_u32(&call, 0);
	if (reply_len > REPLY_MAX)
		reply_len = REPLY_MAX;
	reply_begin(&reply, call.xid, ACCEPT_SUCCESS);
	pattern_put(&reply, call.xid, reply_len & ~3u);
	conn_send_record(conn, reply.data, reply.len);
	buf_free(&reply);
}

static void accept_echo(struct conn *conn)
{
	conn->received = echo;
	conn->ended = shut;
}

static void ignore(struct conn *conn, const uint8_t *data, size_t len)
{
	(void)conn;
	(void)data;
	(void)len;
}

static void accept_silence(struct conn *conn)
{
	conn->raw = true;
	conn->received = ignore;
	conn->ended = shut;
}

void hostile_serve_echo(struct net *net, uint16_t port)
{
	net_listen(net, port, accept_echo, NULL);
}

void hostile_serve_silence(struct net *net, uint16_t port)
{
	net_listen(net, port, accept_silence, NULL);
}
