// SPDX-License-Identifier: BSD-3-Clause
/*
 * The TCP server of the proxies sends nonsense: its client gets an error, other clients are not
 * affected.
 */
#include <stdio.h>
#include <string.h>

#include "tests/e2e/message.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S 20

/* What the server answers to the Call in hand. */
static void (*answer)(struct conn *conn, const struct message *call);

struct client {
	struct conn *conn;
	struct message reply;
	struct buf data;
	bool replied;
};

static void echo(struct conn *conn, const struct message *call)
{
	struct buf reply = {0};

	echo_reply(&reply, call);
	conn_send_record(conn, reply.data, reply.len);
	buf_free(&reply);
}

static void server_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct message call;

	if (!message_parse(&call, data, len) || call.type != MSG_CALL)
		fail("the server got no Call");
	if (call.xid & 0x10000)
		echo(conn, &call);
	else
		answer(conn, &call);
}

static void server_ended(struct conn *conn)
{
	conn_shut(conn);
}

static void server_accepted(struct conn *conn)
{
	conn->received = server_received;
	conn->ended = server_ended;
}

static void client_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct client *client = conn->arg;

	client->data.len = 0;
	buf_put(&client->data, data, len);
	if (!message_parse(&client->reply, client->data.data, client->data.len))
		fail("the client got nonsense");
	client->replied = true;
}

static bool client_settled(void *arg)
{
	struct client *client = arg;

	return client->replied || client->conn->closed;
}

static void client_connect(struct net *net, struct client *client, uint16_t port)
{
	memset(client, 0, sizeof(*client));
	client->conn = net_connect(net, port, 0, 0);
	client->conn->received = client_received;
	client->conn->arg = client;
}

/* Makes a Call and, if @when is not NULL, waits for what comes of it. */
static void client_call(struct net *net, struct client *client, uint32_t xid, const char *when)
{
	struct buf call = {0};

	client->replied = false;
	echo_call(&call, TEST_PROGRAM, xid, 2000, 2000);
	conn_send_record(client->conn, call.data, call.len);
	buf_free(&call);
	if (when && !net_run_until(net, client_settled, client, WAIT_S))
		fail("%s: nothing comes of it", when);
}

/* A Call that the server answers as it should. */
static void client_ask(struct net *net, struct client *client, const char *when)
{
	static uint32_t xid = 0x10000;

	client_call(net, client, xid++, when);
	if (!client->replied || !echo_check(&client->reply, 2000))
		fail("%s: a client is disturbed", when);
}

static void answer_another_xid(struct conn *conn, const struct message *call)
{
	struct buf reply = {0};

	reply_begin(&reply, call->xid ^ 0x5555, ACCEPT_SUCCESS);
	conn_send_record(conn, reply.data, reply.len);
	buf_free(&reply);
}

static void answer_too_much(struct conn *conn, const struct message *call)
{
	buf_u32(&conn->out, 0xfffffff0u);
	pattern_put(&conn->out, 1, 65536);
}

static void answer_random(struct conn *conn, const struct message *call)
{
	pattern_put(&conn->out, call->xid, 65536);
}

static void answer_short(struct conn *conn, const struct message *call)
{
	struct buf reply = {0};

	buf_u32(&reply, call->xid);
	buf_u32(&reply, MSG_REPLY);
	conn_send_record(conn, reply.data, reply.len);
	buf_free(&reply);
}

static void answer_half(struct conn *conn, const struct message *call)
{
	buf_u32(&conn->out, 0x80000000u | 4000);
	pattern_put(&conn->out, 1, 2000);
	conn_shut(conn);
}

static void answer_fin(struct conn *conn, const struct message *call)
{
	conn_shut(conn);
}

static const struct kind {
	const char *name;
	void (*answer)(struct conn *conn, const struct message *call);
	bool quiet; /* it is thrown away, and the connection stays; else it closes, or says SYSTEM_ERR */
} kinds[] = {
	{"a Reply with another XID", answer_another_xid, true},
	{"a Reply of 2 GiB", answer_too_much, false},
	{"random bytes", answer_random, false},
	{"a Reply without an end", answer_short, false},
	{"half a Reply and the end of the connection", answer_half, false},
	{"no Reply but the end of the connection", answer_fin, false},
};

static void answer_badly(struct conn *conn, const uint8_t *data, size_t len)
{
	struct message call;

	if (message_parse(&call, data, len) && call.type == MSG_CALL)
		answer(conn, &call);
}

static void badly_accepted(struct conn *conn)
{
	conn->received = answer_badly;
	conn->ended = server_ended;
}

int scenario_serve_badly(const struct ports *ports, int argc, char **argv)
{
	struct net net;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc && !strcmp(kinds[i].name, argv[0]))
			answer = kinds[i].answer;
	if (!answer)
		fail("there is no such kind of server");
	net_init(&net);
	net_listen(&net, ports->back, badly_accepted, NULL);
	for (;;)
		net_turn(&net, 1000);
}

int scenario_bad_server(const struct ports *ports, int argc, char **argv)
{
	struct client good, client;
	struct net net;

	net_init(&net);
	net_listen(&net, ports->back, server_accepted, NULL);
	client_connect(&net, &good, ports->front);
	client_ask(&net, &good, "before anything");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		answer = kinds[i].answer;
		client_connect(&net, &client, ports->front);
		client_ask(&net, &client, kinds[i].name);
		client_call(&net, &client, 1, kinds[i].quiet ? NULL : kinds[i].name);
		if (kinds[i].quiet)
			client_ask(&net, &client, kinds[i].name);
		else if (!client.conn->closed &&
			 (!client.reply.accepted || client.reply.accept_stat != ACCEPT_SYSTEM_ERR))
			fail("%s: reached the client", kinds[i].name);
		conn_free(client.conn, false);
		buf_free(&client.data);
		client_ask(&net, &good, kinds[i].name);
		printf("%s\n", kinds[i].name);
	}
	buf_free(&good.data);
	net_free(&net);
	return 0;
}
