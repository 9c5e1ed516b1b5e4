// SPDX-License-Identifier: BSD-3-Clause
/*
 * Clients send a Call and shut down their sending side while the server does not answer: those that
 * disconnect keep no others out, and those that wait get their Replies.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/e2e/message.h"
#include "tests/e2e/rpc_peer.h"
#include "tests/lib/time_limit.h"

#define WAIT_S     20
#define MANY       64
#define CALLS_MAX  (2 * MANY)
#define KEPT_S     5.0 /* so old a Call is before its connection makes room */
#define LATE_S     6.0 /* so late the server answers below the limits */
#define READS      16
#define BYTES      6000u
#define GOOD_XID   0x77770000u
#define FIRST_XID  0x100u
#define READ_BYTES 60000u

/* A Call that the server keeps, and the connection that it came on. */
struct kept {
	struct conn *conn;
	struct buf call;
	uint32_t xid;
	uint16_t port; /* the proxy's */
	bool answered;
};

static struct net net;
static struct kept kept[CALLS_MAX];
static unsigned nkept;
static struct conn *clients[MANY];
static unsigned nclients, nreplies;

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- the server ---- */

static void server_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct message message;

	if (!message_parse(&message, data, len) || message.type != MSG_CALL)
		fail("the server got what is no Call");
	/* The proxy asks for itself. */
	if (message.program != TEST_PROGRAM)
		return;
	if (nkept == CALLS_MAX)
		fail("the server got more Calls than were sent");
	kept[nkept] = (struct kept){.conn = conn, .xid = message.xid, .port = conn->peer_port};
	buf_put(&kept[nkept++].call, data, len);
}

static void server_ended(struct conn *conn)
{
	for (unsigned i = 0; i < nkept; i++)
		if (kept[i].conn == conn)
			kept[i].conn = NULL;
	conn_shut(conn);
}

static void server_accepted(struct conn *conn)
{
	conn->received = server_received;
	conn->ended = server_ended;
}

static void answer_all(void)
{
	for (unsigned i = 0; i < nkept; i++) {
		struct message call;
		struct buf reply = {0};

		if (kept[i].answered || !kept[i].conn ||
		    !message_parse(&call, kept[i].call.data, kept[i].call.len))
			continue;
		kept[i].answered = true;
		echo_reply(&reply, &call);
		conn_send_record(kept[i].conn, reply.data, reply.len);
		buf_free(&reply);
	}
}

static const struct kept *find(uint32_t xid, unsigned from)
{
	for (unsigned i = from; i < nkept; i++)
		if (kept[i].xid == xid)
			return &kept[i];
	return NULL;
}

static bool has_kept(void *arg)
{
	return nkept >= *(const unsigned *)arg;
}

static void await_calls(unsigned count, const char *what)
{
	if (!net_run_until(&net, has_kept, &count, WAIT_S))
		fail("%s: the server got %u of %u Calls", what, nkept, count);
}

/* ---- clients ---- */

static void client_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct message message;

	if (!message_parse(&message, data, len) || message.type != MSG_REPLY ||
	    !echo_check(&message, *(const uint32_t *)conn->arg))
		fail("a client got a bad Reply");
	nreplies++;
}

static void send_call(struct conn *conn, uint32_t xid, uint32_t *reply_bytes)
{
	struct buf call = {0};

	echo_call(&call, TEST_PROGRAM, xid, BYTES, *reply_bytes);
	conn_send_record(conn, call.data, call.len);
	buf_free(&call);
}

static struct conn *come(uint16_t port, uint32_t xid, unsigned calls, uint32_t *reply_bytes)
{
	struct conn *conn = net_connect(&net, port, 0, 0);

	conn->received = client_received;
	conn->arg = reply_bytes;
	for (unsigned i = 0; i < calls; i++)
		send_call(conn, xid + i, reply_bytes);
	return conn;
}

static bool is_closed(void *arg)
{
	return ((struct conn *)arg)->closed;
}

static unsigned count_closed(void)
{
	unsigned closed = 0;

	for (unsigned i = 0; i < nclients; i++)
		closed += clients[i]->closed;
	return closed;
}

static bool has_replies(void *arg)
{
	return nreplies >= *(const unsigned *)arg;
}

static void await_replies(unsigned count)
{
	if (!net_run_until(&net, has_replies, &count, WAIT_S))
		fail("%u of %u Replies came", nreplies, count);
}

/* ---- what is shown ---- */

/*
 * It comes back as often as it is turned away. Returns its connection, on which the server has its
 * Call.
 */
static struct conn *come_until_served(uint16_t port, uint32_t *reply_bytes)
{
	struct conn *conn = come(port, GOOD_XID, 1, reply_bytes);
	struct time_limit limit;

	time_limit_begin(&limit, WAIT_S);
	while (!find(GOOD_XID, 0)) {
		net_turn(&net, 100);
		if (time_limit_passed(&limit))
			fail("%u clients that are gone keep another one out",
			     nclients - count_closed());
		if (!conn->closed)
			continue;
		conn_free(conn, false);
		conn = come(port, GOOD_XID, 1, reply_bytes);
	}
	return conn;
}

static bool all_closed(void *arg)
{
	return count_closed() == nclients;
}

/*
 * As many as there are places; one of them makes room, and the others get their Replies all the
 * same.
 */
static void try_gone(uint16_t port, unsigned count)
{
	static uint32_t bytes = BYTES;
	double began_s = now_s();
	struct conn *good;

	while (nclients < count) {
		struct conn *conn = come(port, FIRST_XID + nclients, 1, &bytes);

		conn_shut(conn);
		clients[nclients++] = conn;
		/* The first Call is the oldest. */
		await_calls(nclients, "half-closed");
	}
	good = come_until_served(port, &bytes);
	printf("another one is served after %.1f s\n", now_s() - began_s);
	if (now_s() - began_s < KEPT_S)
		fail("a half-closed client made room too soon");
	if (!net_run_until(&net, is_closed, clients[0], WAIT_S))
		fail("not the oldest made room");
	if (count_closed() != 1)
		fail("%u half-closed clients made room for one", count_closed());
	answer_all();
	if (!net_run_until(&net, all_closed, NULL, WAIT_S))
		fail("%u of %u half-closed connections have ended", count_closed(), count);
	await_replies(count);
	conn_free(good, false);
}

static bool is_answered(void *arg)
{
	answer_all();
	return is_closed(arg);
}

/* Below the limits a half-close costs no Reply, however late it comes. */
static void try_reads(uint16_t port)
{
	static uint32_t bytes = READ_BYTES;
	struct conn *conn = come(port, FIRST_XID, READS, &bytes);
	double began_s = now_s();

	conn_shut(conn);
	/* Over RDMA no other comes before the first is answered. */
	await_calls(1, "16 READs");
	while (now_s() - began_s < LATE_S)
		net_turn(&net, 100);
	if (!net_run_until(&net, is_answered, conn, WAIT_S))
		fail("a half-closed connection stays for ever");
	if (nreplies != READS)
		fail("%u of %u Replies came after a half-close", nreplies, READS);
}

/*
 * Its time is up; then it comes back with its Call, which the server sees from the port that it
 * had.
 */
static void try_back(uint16_t port)
{
	static uint32_t bytes = BYTES;
	struct conn *conn = come(port, FIRST_XID, 1, &bytes);
	const struct kept *again;

	conn_shut(conn);
	await_calls(1, "half-closed");
	if (!net_run_until(&net, is_closed, conn, WAIT_S))
		fail("half_closed_timeout_s does not end it");
	conn = come(port, FIRST_XID, 1, &bytes);
	await_calls(2, "sent again");
	again = find(FIRST_XID, 1);
	if (!again || again->port != kept[0].port)
		fail("its Call came from another port: %u, then %u", kept[0].port,
		     again ? again->port : 0);
	answer_all();
	await_replies(1);
}

int scenario_half_closed(const struct ports *ports, int argc, char **argv)
{
	uint16_t port = argc > 1 ? (uint16_t)atoi(argv[1]) : 0;
	unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

	if (!port || count > MANY)
		fail("half-closed: gone PORT COUNT, reads PORT, back PORT");
	net_init(&net);
	net_listen(&net, ports->back, server_accepted, NULL);
	if (!strcmp(argv[0], "gone") && count)
		try_gone(port, count);
	else if (!strcmp(argv[0], "reads"))
		try_reads(port);
	else if (!strcmp(argv[0], "back"))
		try_back(port);
	else
		fail("half-closed: no kind %s", argv[0]);
	net_free(&net);
	for (unsigned i = 0; i < nkept; i++)
		buf_free(&kept[i].call);
	return 0;
}
