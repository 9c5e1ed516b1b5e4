// SPDX-License-Identifier: BSD-3-Clause
/*
 * Clients that wait too long for a slow server retransmit a Call with other bytes: RPCSEC_GSS with
 * a higher sequence number, AUTH_SYS with another credential. The server receives the Call once and
 * answers late, its Reply goes to the client, and the connection stays open. A client that
 * reconnects has the same source port at the server as before.
 */
#include <string.h>

#include "tests/e2e/message.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S    20
#define KEPT      16
#define AUTH_GSS  6

#define GSS_NONE  1
#define INTEGRITY 2
#define PRIVACY   3
#define UNSIGNED  0 /* not RPCSEC_GSS: AUTH_SYS */

#define FIRST_SEQ 150

/* One end: what it has received, in order, and on how many connections. */
struct inbox {
	struct conn *conn;
	unsigned connections;
	struct buf messages[KEPT];
	int count;
};

struct scene {
	struct net net;
	struct inbox client, server;
	const struct ports *ports;
	uint32_t xid, service, reply_len;
	struct buf args;
};

struct wish {
	const struct inbox *inbox;
	int count;
	unsigned connections;
	const struct conn
		*client; /* when it is closed there is nothing to wait for; NULL: no matter */
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
	inbox->connections++;
	conn->received = keep;
}

static bool wish_holds(void *arg)
{
	struct wish *wish = arg;

	if (wish->client && wish->client->closed)
		return true;
	return wish->inbox->count >= wish->count && wish->inbox->connections >= wish->connections;
}

static void expect(struct scene *scene, const struct inbox *inbox, int count, const char *what)
{
	struct wish wish = {.inbox = inbox, .count = count, .client = scene->client.conn};
	bool came = net_run_until(&scene->net, wish_holds, &wish, WAIT_S);

	if (scene->client.conn->closed)
		fail("%s: the client's connection is closed", what);
	if (!came || inbox->count != count)
		fail("%s: %d messages, not %d", what, inbox->count, count);
}

static void expect_message(const struct inbox *inbox, int i, const struct buf *message,
			   const char *what)
{
	const struct buf *got = &inbox->messages[i];

	if (got->len != message->len || memcmp(got->data, message->data, got->len))
		fail("%s: not the message that was sent", what);
}

static void forget(struct inbox *inbox)
{
	for (int i = 0; i < inbox->count; i++)
		buf_free(&inbox->messages[i]);
	inbox->count = 0;
}

static void forget_all(struct scene *scene)
{
	forget(&scene->client);
	forget(&scene->server);
}

static void send_message(struct conn *conn, struct buf *message)
{
	conn_send_record(conn, message->data, message->len);
}

/* ---- messages ---- */

static void put_mic(struct buf *buf, uint32_t seq)
{
	buf_u32(buf, 16);
	pattern_put(buf, seq, 16);
}

static void put_header(struct buf *buf, const struct scene *scene)
{
	buf_u32(buf, scene->xid);
	buf_u32(buf, MSG_CALL);
	buf_u32(buf, 2);
	buf_u32(buf, TEST_PROGRAM);
	buf_u32(buf, 1);
	buf_u32(buf, TEST_ECHO);
}

static void put_gss_auth(struct buf *buf, const struct scene *scene, uint32_t seq)
{
	buf_u32(buf, AUTH_GSS);
	buf_u32(buf, 28);
	buf_u32(buf, 1);
	buf_u32(buf, 0); /* DATA */
	buf_u32(buf, seq);
	buf_u32(buf, scene->service);
	buf_opaque(buf, "context1", 8);
	buf_u32(buf, AUTH_GSS);
	put_mic(buf, seq);
}

/* A client's stamp, and its groups: one more of them in each copy. */
static void put_sys_auth(struct buf *buf, uint32_t seq)
{
	struct buf body = {0};
	uint32_t groups = (seq - FIRST_SEQ) / 50;

	buf_u32(&body, seq);
	buf_opaque(&body, "test", 4);
	buf_words(&body, 2, 0);
	buf_u32(&body, groups);
	buf_words(&body, groups, 5);
	buf_u32(buf, AUTH_SYS);
	buf_opaque(buf, body.data, body.len);
	buf_words(buf, 2, AUTH_NONE);
	buf_free(&body);
}

static struct buf call_of(const struct scene *scene, uint32_t seq)
{
	struct buf buf = {0};

	put_header(&buf, scene);
	if (scene->service == UNSIGNED)
		put_sys_auth(&buf, seq);
	else
		put_gss_auth(&buf, scene, seq);
	switch (scene->service) {
	case INTEGRITY:
		buf_u32(&buf, 4 + (uint32_t)scene->args.len);
		buf_u32(&buf, seq);
		buf_put(&buf, scene->args.data, scene->args.len);
		put_mic(&buf, seq);
		break;
	case PRIVACY:
		buf_u32(&buf, (uint32_t)scene->args.len);
		pattern_put(&buf, seq, scene->args.len);
		break;
	default:
		buf_put(&buf, scene->args.data, scene->args.len);
		break;
	}
	return buf;
}

static struct buf reply_of(const struct scene *scene, uint32_t seq)
{
	struct buf buf = {0};

	if (scene->service == UNSIGNED) {
		reply_begin(&buf, scene->xid, ACCEPT_SUCCESS);
	} else {
		buf_u32(&buf, scene->xid);
		buf_u32(&buf, MSG_REPLY);
		buf_u32(&buf, 0);
		buf_u32(&buf, AUTH_GSS);
		put_mic(&buf, seq);
		buf_u32(&buf, ACCEPT_SUCCESS);
	}
	pattern_put(&buf, ~seq, scene->reply_len);
	return buf;
}

/* ---- what happens ---- */

/* An unrelated RPC. Calls sent before it have been read when it reaches the server. */
static void other_rpc(struct scene *scene, uint32_t xid, int before)
{
	struct buf call = {0}, reply = {0};
	struct message parsed;
	int asked = scene->server.count;

	echo_call(&call, TEST_PROGRAM, xid, 64, 64);
	send_message(scene->client.conn, &call);
	expect(scene, &scene->server, asked + 1, "another Call");
	expect_message(&scene->server, asked, &call, "another Call");
	if (!message_parse(&parsed, call.data, call.len))
		fail("another Call is none");
	echo_reply(&reply, &parsed);
	send_message(scene->server.conn, &reply);
	expect(scene, &scene->client, before + 1, "its Reply");
	expect_message(&scene->client, before, &reply, "another Reply");
	buf_free(&call);
	buf_free(&reply);
}

static void ask(struct scene *scene, uint32_t seq)
{
	struct buf call = call_of(scene, seq);

	send_message(scene->client.conn, &call);
	buf_free(&call);
}

static void expect_asked(struct scene *scene, int i, uint32_t seq, const char *what)
{
	struct buf call = call_of(scene, seq);

	expect(scene, &scene->server, i + 1, what);
	expect_message(&scene->server, i, &call, what);
	buf_free(&call);
}

static void answer(struct scene *scene, uint32_t seq, int i, const char *what)
{
	struct buf reply = reply_of(scene, seq);

	send_message(scene->server.conn, &reply);
	expect(scene, &scene->client, i + 1, what);
	expect_message(&scene->client, i, &reply, what);
	buf_free(&reply);
}

/* Two copies while the server has the Call. Its Reply is to the first of them. */
static void ask_a_slow_server(struct scene *scene)
{
	ask(scene, FIRST_SEQ);
	expect_asked(scene, 0, FIRST_SEQ, "the Call");
	ask(scene, FIRST_SEQ + 50);
	ask(scene, FIRST_SEQ + 100);
	other_rpc(scene, scene->xid + 1, 0);
	answer(scene, FIRST_SEQ, 1, "the Reply to the first copy");
}

/*
 * A client that remembers its sequence numbers has its Reply now. One that accepts the newest alone
 * sends the Call once more: to knfsd, which drops copies while it executes a Call, that is a second
 * Call without a proxy too.
 */
static void copies(struct scene *scene, bool newest)
{
	int executed = 1;

	scene->xid += 16;
	ask_a_slow_server(scene);
	if (newest) {
		ask(scene, FIRST_SEQ + 150);
		expect_asked(scene, 2, FIRST_SEQ + 150, "the Call after its Reply");
		answer(scene, FIRST_SEQ + 150, 2, "the Reply to that");
		executed++;
	}
	if (scene->server.count != executed + 1)
		fail("the server was asked %d times, not %d", scene->server.count - 1, executed);
	if (scene->server.connections != 1)
		fail("the server saw %u connections", scene->server.connections);
	forget_all(scene);
}

static void expect_denied(struct scene *scene, int i)
{
	struct buf denied = {0};

	buf_u32(&denied, scene->xid);
	buf_u32(&denied, MSG_REPLY);
	buf_u32(&denied, 1);
	buf_u32(&denied, 1); /* AUTH_ERROR */
	buf_u32(&denied, 7); /* AUTH_FAILED */
	expect(scene, &scene->client, i + 1, "the proxy's own Reply");
	expect_message(&scene->client, i, &denied, "the proxy's own Reply");
	buf_free(&denied);
}

/* A Reply that does not decode. What the proxy answers in its place needs no verifier. */
static void broken_reply(struct scene *scene)
{
	struct buf reply = {0};

	scene->xid += 16;
	ask(scene, FIRST_SEQ);
	expect_asked(scene, 0, FIRST_SEQ, "the Call to a server that errs");
	buf_u32(&reply, scene->xid);
	buf_u32(&reply, MSG_REPLY);
	buf_u32(&reply, 99);
	send_message(scene->server.conn, &reply);
	expect_denied(scene, 0);
	buf_free(&reply);
	forget_all(scene);
}

static void connect_client(struct scene *scene)
{
	scene->client.conn = net_connect(&scene->net, scene->ports->front, 0, 0);
	scene->client.conn->received = keep;
	scene->client.conn->arg = &scene->client;
}

/* It loses its connection, and sends the Call again from another port. */
static void comes_back(struct scene *scene)
{
	struct wish wish = {.inbox = &scene->server, .connections = scene->server.connections + 1};
	uint16_t port;

	scene->xid += 16;
	ask(scene, FIRST_SEQ);
	expect_asked(scene, 0, FIRST_SEQ, "the Call of a client that goes");
	port = scene->server.conn->peer_port;
	conn_free(scene->client.conn, true);
	connect_client(scene);
	ask(scene, FIRST_SEQ + 50);
	if (!net_run_until(&scene->net, wish_holds, &wish, WAIT_S))
		fail("the client is back, and the server does not see it");
	expect_asked(scene, 1, FIRST_SEQ + 50, "the Call of a client that is back");
	if (scene->server.conn->peer_port != port)
		fail("the client is back, from port %u and not %u: no server knows the Call again",
		     scene->server.conn->peer_port, port);
	answer(scene, FIRST_SEQ + 50, 0, "the Reply to a client that is back");
	forget_all(scene);
}

/* Everything, with Calls and Replies of one size each. */
static void sizes(struct scene *scene, uint32_t args_len, uint32_t reply_len)
{
	scene->reply_len = reply_len;
	pattern_put(&scene->args, args_len, args_len);
	copies(scene, false);
	copies(scene, true);
	if (scene->service != UNSIGNED)
		broken_reply(scene);
	buf_free(&scene->args);
}

static void services(struct scene *scene)
{
	for (scene->service = UNSIGNED; scene->service <= PRIVACY; scene->service++) {
		sizes(scene, 0, 64);
		sizes(scene, 200, 8000);
		sizes(scene, 20000, 300000);
		sizes(scene, 300000, 512);
	}
}

/*
 * The sizes that differ in how a Call is carried, once each; the connections are not counted any
 * more.
 */
static void returns(struct scene *scene)
{
	for (scene->service = UNSIGNED; scene->service <= PRIVACY; scene->service++) {
		scene->reply_len = 64;
		pattern_put(&scene->args, 1, 300);
		comes_back(scene);
		buf_free(&scene->args);
	}
}

int scenario_copies(const struct ports *ports, int argc, char **argv)
{
	struct scene scene = {.ports = ports, .xid = 0x777};

	net_init(&scene.net);
	net_listen(&scene.net, ports->back, accepted, &scene.server);
	connect_client(&scene);
	/* The first Call of all goes alone: until its Reply, a requester has one credit. */
	other_rpc(&scene, 1, 0);
	forget_all(&scene);
	services(&scene);
	returns(&scene);
	net_free(&scene.net);
	return 0;
}
