// SPDX-License-Identifier: BSD-3-Clause
/*
 * A client of a real NFS server that makes one Call after the other until its standard input ends,
 * and measures each.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/e2e/message.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S       60
#define NFS3_GETATTR 1
#define NFS3_FSINFO  19

struct asking {
	struct net net;
	struct conn *conn;
	struct buf reply, root;
	bool replied;
	uint32_t xid;
	unsigned long asked;
	uint64_t slowest_us, sum_us;
};

static volatile sig_atomic_t told_to_end;

static void on_signal(int signal)
{
	(void)signal;
	told_to_end = 1;
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct asking *asking = conn->arg;

	asking->reply.len = 0;
	buf_put(&asking->reply, data, len);
	asking->replied = true;
}

static void ended(struct conn *conn)
{
	const struct asking *asking = conn->arg;

	fail("the connection is closed after %lu RPCs", asking->asked);
}

static void connect_to(struct asking *asking, uint16_t port)
{
	asking->conn = net_connect(&asking->net, port, 0, 0);
	asking->conn->received = received;
	asking->conn->ended = ended;
	asking->conn->arg = asking;
}

static bool is_answered(void *arg)
{
	return ((struct asking *)arg)->replied;
}

/* Its results are in the message until the next RPC. */
static struct message ask(struct asking *asking, const struct buf *call)
{
	uint64_t begin_us = now_us(), took_us;
	struct message reply;

	asking->replied = false;
	conn_send_record(asking->conn, call->data, call->len);
	if (!net_run_until(&asking->net, is_answered, asking, WAIT_S))
		fail("RPC %lu: no Reply in %d s", asking->asked, WAIT_S);
	took_us = now_us() - begin_us;
	asking->sum_us += took_us;
	if (took_us > asking->slowest_us)
		asking->slowest_us = took_us;
	if (!message_parse(&reply, asking->reply.data, asking->reply.len) || !reply.accepted ||
	    reply.accept_stat || reply.xid != asking->xid)
		fail("RPC %lu: not the Reply that the server sent", asking->asked);
	asking->asked++;
	asking->xid++;
	return reply;
}

static void mount(struct asking *asking, uint16_t port)
{
	struct buf call = {0};
	struct message reply;
	uint32_t len;

	connect_to(asking, port);
	call_begin(&call, asking->xid, MOUNT_PROGRAM, 3, 1, AUTH_SYS);
	buf_opaque(&call, "/export", 7);
	reply = ask(asking, &call);
	len = message_u32(&reply, 4);
	if (message_u32(&reply, 0) || len > 64 || reply.body_len < 8 + (size_t)len)
		fail("MNT fails");
	buf_put(&asking->root, reply.body + 8, len);
	conn_free(asking->conn, false);
	buf_free(&call);
}

static void ask_nfs(struct asking *asking, uint32_t procedure)
{
	struct buf call = {0};
	struct message reply;

	call_begin(&call, asking->xid, NFS_PROGRAM, 3, procedure, AUTH_SYS);
	buf_opaque(&call, asking->root.data, asking->root.len);
	reply = ask(asking, &call);
	if (message_u32(&reply, 0))
		fail("RPC %lu: status %u", asking->asked, message_u32(&reply, 0));
	buf_free(&call);
}

int scenario_ask(const struct ports *ports, int argc, char **argv)
{
	struct asking asking = {.xid = 0x8000};

	(void)argc;
	(void)argv;
	signal(SIGTERM, on_signal);
	net_init(&asking.net);
	mount(&asking, ports->mount);
	connect_to(&asking, ports->front);
	printf("asking\n");
	do
		ask_nfs(&asking, asking.asked & 1 ? NFS3_GETATTR : NFS3_FSINFO);
	while (!told_to_end);
	printf("%lu RPCs, one after the other, none refused and no connection closed: %.2f ms each, the slowest %.2f ms\n",
	       asking.asked, asking.sum_us / 1e3 / asking.asked, asking.slowest_us / 1e3);
	buf_free(&asking.reply);
	buf_free(&asking.root);
	net_free(&asking.net);
	return 0;
}
