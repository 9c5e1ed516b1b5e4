// SPDX-License-Identifier: BSD-3-Clause
/* Retransmissions on a live connection: the server receives one Call, the client gets one Reply. */
#include <stdio.h>
#include <string.h>

#include "tests/e2e/message.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S 20
#define KEPT   16

/* What one end has received: whole messages, in order. */
struct inbox {
	struct conn *conn;
	struct buf messages[KEPT];
	int count;
};

struct wish {
	struct inbox *inbox;
	int count;
	bool closed;
};

static void keep(struct conn *conn, const uint8_t *data, size_t len)
{
	struct inbox *inbox = conn->arg;

	if (inbox->count == KEPT)
		fail("more messages than the test can explain");
	buf_put(&inbox->messages[inbox->count++], data, len);
}

static void accepted(struct conn *conn)
{
	struct inbox *inbox = conn->arg;

	inbox->conn = conn;
	conn->received = keep;
}

static bool wish_holds(void *arg)
{
	struct wish *wish = arg;

	if (wish->closed)
		return wish->inbox->conn->closed;
	return wish->inbox->count >= wish->count;
}

static void expect(struct net *net, struct inbox *inbox, int count, const char *what)
{
	struct wish wish = {.inbox = inbox, .count = count};

	if (!net_run_until(net, wish_holds, &wish, WAIT_S))
		fail("%s: %d messages, not %d", what, inbox->count, count);
	if (inbox->count != count)
		fail("%s: %d messages came, not %d", what, inbox->count, count);
}

static void expect_message(const struct inbox *inbox, int i, const struct buf *message,
			   const char *what)
{
	const struct buf *got = &inbox->messages[i];

	if (got->len != message->len || memcmp(got->data, message->data, got->len))
		fail("%s: not the message that was sent", what);
}

static struct buf answer(const struct inbox *server, int i)
{
	struct message call;
	struct buf reply = {0};

	if (!message_parse(&call, server->messages[i].data, server->messages[i].len))
		fail("the server got no Call");
	echo_reply(&reply, &call);
	return reply;
}

static void forget(struct inbox *inbox)
{
	for (int i = 0; i < inbox->count; i++)
		buf_free(&inbox->messages[i]);
	inbox->count = 0;
}

/* The first Call of all goes alone: until its Reply, a requester has one credit. */
static void warm_up(struct net *net, struct inbox *client, struct inbox *server)
{
	struct buf call = {0}, reply;

	echo_call(&call, TEST_PROGRAM, 0x1000, 64, 64);
	conn_send_record(client->conn, call.data, call.len);
	expect(net, server, 1, "the very first Call");
	reply = answer(server, 0);
	conn_send_record(server->conn, reply.data, reply.len);
	expect(net, client, 1, "its Reply");
	buf_free(&call);
	buf_free(&reply);
	forget(client);
	forget(server);
}

/* Calls 1, 1 again, 2: the server gets 1 and 2, each is answered once. Then 1 is a new Call. */
static void swallow(struct net *net, struct inbox *client, struct inbox *server, uint32_t size)
{
	struct buf one = {0}, two = {0}, reply_one, reply_two;

	echo_call(&one, TEST_PROGRAM, 0x1001, size, 512);
	echo_call(&two, TEST_PROGRAM, 0x1002, size, 512);
	conn_send_record(client->conn, one.data, one.len);
	expect(net, server, 1, "the first Call");
	conn_send_record(client->conn, one.data, one.len);
	conn_send_record(client->conn, two.data, two.len);
	expect(net, server, 2, "the Call after a retransmission");
	expect_message(server, 0, &one, "the first Call");
	expect_message(server, 1, &two, "the second Call");
	reply_two = answer(server, 1);
	reply_one = answer(server, 0);
	conn_send_record(server->conn, reply_two.data, reply_two.len);
	conn_send_record(server->conn, reply_one.data, reply_one.len);
	expect(net, client, 2, "the two Replies");
	expect_message(client, 0, &reply_two, "the second Call's Reply");
	expect_message(client, 1, &reply_one, "the first Call's Reply");
	conn_send_record(client->conn, one.data, one.len);
	expect(net, server, 3, "the same Call after its Reply");
	conn_send_record(server->conn, reply_one.data, reply_one.len);
	expect(net, client, 3, "its Reply");
	buf_free(&one);
	buf_free(&two);
	buf_free(&reply_one);
	buf_free(&reply_two);
	forget(client);
	forget(server);
}

/* Another Call under an XID in flight: the connection closes, and so does its upstream. */
static void reuse(struct net *net, struct inbox *client, struct inbox *server)
{
	struct wish wish = {.inbox = client, .closed = true};
	struct buf one = {0}, other = {0};

	echo_call(&one, TEST_PROGRAM, 0x2001, 64, 512);
	echo_call(&other, TEST_PROGRAM, 0x2001, 64, 516);
	conn_send_record(client->conn, one.data, one.len);
	expect(net, server, 1, "the Call whose XID is used again");
	conn_send_record(client->conn, other.data, other.len);
	if (!net_run_until(net, wish_holds, &wish, WAIT_S))
		fail("an XID in flight was used for another Call and the connection stays");
	wish.inbox = server;
	if (!net_run_until(net, wish_holds, &wish, WAIT_S))
		fail("the upstream outlives the client's connection");
	if (server->count != 1)
		fail("the server saw the other Call");
	buf_free(&one);
	buf_free(&other);
}

int scenario_retransmit(const struct ports *ports, int argc, char **argv)
{
	static const uint32_t sizes[] = {0, 200, 8192, 300000};
	struct inbox client = {0}, server = {0};
	struct net net;

	net_init(&net);
	net_listen(&net, ports->back, accepted, &server);
	client.conn = net_connect(&net, ports->front, 0, 0);
	client.conn->received = keep;
	client.conn->arg = &client;
	warm_up(&net, &client, &server);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		swallow(&net, &client, &server, sizes[i]);
	reuse(&net, &client, &server);
	forget(&client);
	forget(&server);
	net_free(&net);
	return 0;
}
