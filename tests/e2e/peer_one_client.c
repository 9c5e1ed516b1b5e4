// SPDX-License-Identifier: BSD-3-Clause
/*
 * A server that closes for what one client sends, a record of 2 MiB where it takes 1 MiB, while it serves nobody else. It
 * answers everybody else, and the proxy's own NULL. Or it closes for every Call but that. The client may have two addresses of
 * its host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/echo.h"
#include "tests/e2e/rpc_peer.h"
#include "tests/lib/time_limit.h"

#define WAIT_S     20
#define TIMES      3
#define TAKES      (1u << 20)
#define LONG_BYTES (2u << 20)
#define MANY       64

static struct net net;
static bool closes_all, has_two; /* the client has */
static unsigned nulls, null_ends, closes;
static struct conn *to_close[MANY]; /* not from inside of its event */
static unsigned nto_close;

static void close_it(struct conn *conn)
{
	if (nto_close == MANY)
		fail("too many connections at once");
	conn->paused = true;
	to_close[nto_close++] = conn;
}

static void take_call(struct conn *conn, const uint8_t *data, size_t len)
{
	struct message call;
	struct buf reply = {0};

	if (!message_parse(&call, data, len) || call.type != MSG_CALL)
		fail("the server got what is no Call");
	if (!call.procedure) {
		nulls++;
		conn->arg = &nulls;
		reply_begin(&reply, call.xid, ACCEPT_SUCCESS);
	} else if (closes_all) {
		close_it(conn);
		return;
	} else {
		echo_reply(&reply, &call);
	}
	conn_send_record(conn, reply.data, reply.len);
	buf_free(&reply);
}

/* Its bytes as they come: a record that is too long is seen by its mark. */
static void server_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct buf *in = &conn->in;

	buf_put(in, data, len);
	while (in->len >= 4 && !conn->paused) {
		uint32_t mark = (uint32_t)in->data[0] << 24 | (uint32_t)in->data[1] << 16 |
				(uint32_t)in->data[2] << 8 | in->data[3];
		uint32_t bytes = mark & 0x7fffffff;

		if (!(mark >> 31) || bytes > TAKES) {
			close_it(conn);
			return;
		}
		if (in->len < 4 + (size_t)bytes)
			return;
		take_call(conn, in->data + 4, bytes);
		in->len -= 4 + bytes;
		memmove(in->data, in->data + 4 + bytes, in->len);
	}
}

static void server_ended(struct conn *conn)
{
	null_ends += conn->arg == &nulls;
	conn_shut(conn);
}

static void server_accepted(struct conn *conn)
{
	conn->raw = true;
	conn->received = server_received;
	conn->ended = server_ended;
}

static void turn(void)
{
	net_turn(&net, 100);
	while (nto_close) {
		conn_free(to_close[--nto_close], false);
		closes++;
	}
}

static void await(bool (*done)(void *arg), void *arg, const char *what)
{
	struct time_limit limit;

	time_limit_begin(&limit, WAIT_S);
	while (!done(arg)) {
		turn();
		if (time_limit_passed(&limit))
			fail("%s", what);
	}
}

static bool client_is_over(void *arg)
{
	return echo_client_done(arg);
}

static bool is_asked(void *arg)
{
	return null_ends > 0;
}

/* Its connection is closed, each time that it comes. */
static void be_closed(uint16_t port, uint32_t bytes, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		struct echo_client client = {.xid_base = 0x100 * (i + 1),
					     .from_addr = NET_LOOPBACK + (has_two && i % 2),
					     .args_len = bytes,
					     .reply_len = 100,
					     .calls = 1};
		unsigned before = closes;

		echo_client_start(&net, &client, port);
		await(client_is_over, &client,
		      "nothing comes of a Call that the server closes for");
		if (!client.conn->closed || closes == before)
			fail("the server did not close for that Call");
		conn_free(client.conn, false);
	}
}

static void be_served(uint16_t port)
{
	struct echo_client client = {
		.xid_base = 0x7000, .args_len = 6000, .reply_len = 6000, .calls = 1};

	echo_client_start(&net, &client, port);
	await(client_is_over, &client, "another client gets no Reply");
	if (!echo_client_good(&client))
		fail("another client loses its connection");
	conn_free(client.conn, false);
}

int scenario_one_client(const struct ports *ports, int argc, char **argv)
{
	uint16_t port = argc ? (uint16_t)atoi(argv[0]) : 0;

	if (!port)
		fail("one-client: PORT [all|good|two]");
	closes_all = argc > 1 && !strcmp(argv[1], "all");
	has_two = argc > 1 && !strcmp(argv[1], "two");
	net_init(&net);
	net_listen(&net, ports->back, server_accepted, NULL);
	be_closed(port, closes_all ? 100 : LONG_BYTES, closes_all ? 1 : TIMES);
	if (argc > 1 && !strcmp(argv[1], "good"))
		be_served(port);
	else
		await(is_asked, NULL, "the proxy does not ask whether the server is well");
	printf("closed %u times, asked %u times\n", closes, nulls);
	net_free(&net);
	return 0;
}
