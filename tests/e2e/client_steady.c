// SPDX-License-Identifier: BSD-3-Clause
/* A client that makes one Call after the other and measures each, and its fast server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/e2e/echo.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S      60
#define CALLS_MAX   20000
#define HUNG_CALLS  40 /* of 1 MiB + 64 KiB each, by what their Replies may be */
#define LARGE_EVERY 32 /* one of this many RPCs has a large Reply */

static const struct shape {
	uint32_t args_len, reply_len;
} large = {100, 1048576}, small[] = {
				  {0, 0},      {100, 200},  {200, 4000}, {1000, 9000},
				  {3000, 100}, {9000, 400}, {60, 32768}, {65536, 60},
};

/* How long RPCs took. */
struct times {
	uint64_t us[CALLS_MAX];
	unsigned n;
};

struct steady {
	struct conn *conn;
	uint32_t xid, reply_len;
	bool replied;
	uint64_t sent_us, took_us;
	uint64_t first_us; /* of the first RPC, and of the connection up to the server */
	struct times small, large;
	unsigned calls;
};

/* A client whose connection the server never answers, but calls back once. */
struct hung {
	struct conn *conn, *server_conn;
	unsigned long calls;
	bool recalled, recall_answered;
};

static struct hung hung;

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/* ---- the server ---- */

static void server_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct message message;
	struct buf reply = {0};

	if (!message_parse(&message, data, len))
		fail("the server got what is no RPC message");
	if (message.type == MSG_REPLY) {
		hung.recall_answered = echo_check(&message, 0);
		return;
	}
	if (message.program == TEST_PROGRAM_REVERSE)
		hung.server_conn = conn;
	if (conn == hung.server_conn) {
		hung.calls++;
		return;
	}
	echo_reply(&reply, &message);
	conn_send_record(conn, reply.data, reply.len);
	buf_free(&reply);
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

/* ---- the client that is measured ---- */

static void steady_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct steady *steady = conn->arg;
	struct message reply;

	steady->took_us = now_us() - steady->sent_us;
	if (!message_parse(&reply, data, len) || reply.xid != steady->xid ||
	    !echo_check(&reply, steady->reply_len))
		fail("call %u: not the Reply that the server sent", steady->calls);
	steady->replied = true;
}

static void steady_ended(struct conn *conn)
{
	const struct steady *steady = conn->arg;

	fail("the connection is closed after %u Calls", steady->calls);
}

static bool is_answered(void *arg)
{
	return ((const struct steady *)arg)->replied;
}

static void steady_ask(struct net *net, struct steady *steady, const struct shape *shape)
{
	struct buf call = {0};

	steady->replied = false;
	steady->xid = 0x5000000 + steady->calls;
	steady->reply_len = shape->reply_len;
	echo_call(&call, TEST_PROGRAM, steady->xid, shape->args_len, shape->reply_len);
	steady->sent_us = now_us();
	conn_send_record(steady->conn, call.data, call.len);
	buf_free(&call);
	if (!net_run_until(net, is_answered, steady, WAIT_S))
		fail("call %u: no Reply in %d s", steady->calls, WAIT_S);
	steady->calls++;
}

static void steady_run(struct net *net, struct steady *steady, double seconds)
{
	uint64_t end_us = now_us() + (uint64_t)(seconds * 1e6);

	steady_ask(net, steady, &small[0]);
	steady->first_us = steady->took_us;
	do {
		for (unsigned i = 1; i < LARGE_EVERY; i++) {
			steady_ask(net, steady, &small[i % (sizeof(small) / sizeof(small[0]))]);
			steady->small.us[steady->small.n++] = steady->took_us;
		}
		steady_ask(net, steady, &large);
		steady->large.us[steady->large.n++] = steady->took_us;
	} while (now_us() < end_us && steady->calls + LARGE_EVERY <= CALLS_MAX);
}

static int compare_us(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void print_times(const char *what, struct times *times)
{
	unsigned n = times->n;

	qsort(times->us, n, sizeof(times->us[0]), compare_us);
	printf("; %u %s: median %.2f, p99 %.2f, slowest %.2f", n, what, times->us[n / 2] / 1e3,
	       times->us[n * 99 / 100] / 1e3, times->us[n - 1] / 1e3);
}

static void steady_print(struct steady *steady)
{
	printf("ms: the first %.2f", steady->first_us / 1e3);
	print_times("small ones", &steady->small);
	print_times("of 1 MiB", &steady->large);
	putchar('\n');
}

/* ---- the connection that hangs ---- */

static void hung_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct message call;
	struct buf reply = {0};

	if (!message_parse(&call, data, len) || call.type != MSG_CALL)
		fail("the hung connection's client got no Call");
	echo_reply(&reply, &call);
	conn_send_record(conn, reply.data, reply.len);
	buf_free(&reply);
}

static bool hung_has_begun(void *arg)
{
	return hung.calls > 0;
}

static bool recall_is_answered(void *arg)
{
	return hung.recall_answered;
}

/* The first Call tells the server which connection it is. */
static void hung_start(struct net *net, uint16_t port)
{
	hung.conn = net_connect(net, port, 0, 0);
	hung.conn->received = hung_received;
	for (uint32_t i = 0; i < HUNG_CALLS; i++) {
		struct buf call = {0};

		echo_call(&call, i ? TEST_PROGRAM : TEST_PROGRAM_REVERSE, 0x6000000 + i, 0, 0);
		conn_send_record(hung.conn, call.data, call.len);
		buf_free(&call);
	}
	if (!net_run_until(net, hung_has_begun, NULL, WAIT_S))
		fail("the server got no Call of the connection that is to hang");
}

/* The server calls the client, whose Reply stands behind Calls that wait for memory. */
static void hung_recall(struct net *net)
{
	struct buf call = {0};

	if (hung.conn->closed)
		fail("the hung connection was closed");
	if (hung.calls == HUNG_CALLS)
		fail("no Call of the hung connection waits");
	echo_call(&call, TEST_PROGRAM_REVERSE, 0x7000000, 0, 0);
	conn_send_record(hung.server_conn, call.data, call.len);
	buf_free(&call);
	if (!net_run_until(net, recall_is_answered, NULL, WAIT_S))
		fail("the Reply to the reverse Call did not come in %d s", WAIT_S);
}

int scenario_steady(const struct ports *ports, int argc, char **argv)
{
	bool beside_hung = argc > 1 && !strcmp(argv[1], "hung");
	static struct steady steady;
	struct net net;

	if (argc < 1)
		fail("steady wants SECONDS [hung]");
	net_init(&net);
	net_listen(&net, ports->back, server_accepted, NULL);
	if (beside_hung)
		hung_start(&net, ports->front);
	steady.conn = net_connect(&net, ports->front, 0, 0);
	steady.conn->received = steady_received;
	steady.conn->ended = steady_ended;
	steady.conn->arg = &steady;
	steady_run(&net, &steady, atof(argv[0]));
	steady_print(&steady);
	if (beside_hung)
		hung_recall(&net);
	net_free(&net);
	return 0;
}
