// SPDX-License-Identifier: BSD-3-Clause
/*
 * A server that answers no Call before its own Call is answered, like a server that recalls what
 * the Calls wait for.
 *
 * Prints "sent" when the client has sent all its Calls, and one of them has reached the server. For
 * each line on standard input, a length in bytes, the server calls the client back, and the program
 * prints how long that took. At the end of the input the server answers the Calls that it has, and
 * each later Call immediately.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/e2e/echo.h"
#include "tests/e2e/rpc_peer.h"
#include "tests/lib/time_limit.h"

#define CALLS_MAX 1000
#define LIMIT_S   2 /* for the answer to a reverse Call, on an idle machine */
#define WAIT_S    20

struct server {
	struct conn *conn;             /* of the one client */
	struct buf replies[CALLS_MAX]; /* held back */
	unsigned calls;
	bool answers;
	uint32_t reverse_bytes;
	bool reverse_out;
};

static struct net net;
static struct server server;
static struct echo_client client;

static void on_reply(const struct message *reply)
{
	if (!server.reverse_out || !echo_check(reply, server.reverse_bytes))
		fail("the server got a bad Reply to %08x", reply->xid);
	server.reverse_out = false;
}

static void on_call(const struct message *call)
{
	struct buf *reply = &server.replies[server.calls];

	if (server.calls++ == CALLS_MAX)
		fail("the server got more Calls than were sent");
	echo_reply(reply, call);
	if (server.answers)
		conn_send_record(server.conn, reply->data, reply->len);
}

static void received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct message message;

	(void)conn;
	if (!message_parse(&message, data, len))
		fail("the server got what is no RPC message");
	if (message.type == MSG_REPLY)
		on_reply(&message);
	else
		on_call(&message);
}

static void accepted(struct conn *conn)
{
	if (server.conn)
		fail("the server got a second connection");
	server.conn = conn;
	conn->received = received;
}

static bool all_sent(void *arg)
{
	(void)arg;
	return server.calls && client.conn->out_sent == client.conn->out.len;
}

static bool is_answered(void *arg)
{
	(void)arg;
	return !server.reverse_out || client.conn->closed;
}

static bool is_done(void *arg)
{
	(void)arg;
	return echo_client_done(&client);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* While it is out nothing is answered: none of the Calls that wait is where it could make way. */
static void call_back(uint32_t xid, uint32_t bytes)
{
	unsigned calls = server.calls;
	uint64_t begin_ms, took_ms;
	struct time_limit limit;
	struct buf call = {0};

	server.reverse_bytes = bytes;
	server.reverse_out = true;
	echo_call(&call, TEST_PROGRAM_REVERSE, xid, bytes, bytes);
	begin_ms = now_ms();
	time_limit_begin(&limit, LIMIT_S);
	conn_send_record(server.conn, call.data, call.len);
	buf_free(&call);
	(void)net_run_until(&net, is_answered, NULL, WAIT_S);
	took_ms = now_ms() - begin_ms;
	if (server.reverse_out)
		fail("a reverse Call of %u bytes is not answered", bytes);
	if (time_limit_passed(&limit))
		fail("a reverse Call of %u bytes took %llu ms", bytes, (unsigned long long)took_ms);
	if (server.calls != calls)
		fail("%u Calls came while a reverse Call was out", server.calls - calls);
	printf("%u bytes: %llu ms\n", bytes, (unsigned long long)took_ms);
}

static void answer_all(void)
{
	server.answers = true;
	for (unsigned i = 0; i < server.calls; i++)
		conn_send_record(server.conn, server.replies[i].data, server.replies[i].len);
	(void)net_run_until(&net, is_done, NULL, WAIT_S);
	if (!echo_client_good(&client))
		fail("%u of %u Calls are answered", client.replied, client.calls);
}

int scenario_recall(const struct ports *ports, int argc, char **argv)
{
	uint32_t xid = 0x80000000u;
	char line[32];

	client = (struct echo_client){.xid_base = 0x100, .args_len = 100, .reply_len = 100};
	client.calls = argc < 1 ? 0 : (unsigned)strtoul(argv[0], NULL, 10);
	client.window = client.calls;
	if (!client.calls || client.calls > CALLS_MAX)
		fail("recall wants 1 to %d Calls", CALLS_MAX);
	net_init(&net);
	net_listen(&net, ports->back, accepted, NULL);
	echo_client_start(&net, &client, ports->front);
	if (!net_run_until(&net, all_sent, NULL, WAIT_S))
		fail("no Call comes");
	puts("sent");
	while (fgets(line, sizeof(line), stdin))
		call_back(xid++, (uint32_t)strtoul(line, NULL, 10));
	answer_all();
	conn_free(client.conn, false);
	for (unsigned i = 0; i < server.calls; i++)
		buf_free(&server.replies[i]);
	net_free(&net);
	return 0;
}
