// SPDX-License-Identifier: BSD-3-Clause
/*
 * A server that closes its connections because of one client's message, a record of 2 MiB where it
 * accepts 1 MiB, while it has no other client. It answers all other clients, and the proxy's own
 * NULL. In other modes it closes for every Call except that NULL, or for that too. The client can
 * have two addresses of its host, and can be a MOUNT client. With "stay" the server runs until it
 * is killed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/echo.h"
#include "tests/e2e/rpc_peer.h"
#include "tests/lib/time_limit.h"

#define WAIT_S        20
#define TIMES         3
#define TAKES         (1u << 20)
#define LONG_BYTES    (2u << 20)
#define MANY          64
#define RPCBIND_PORT  111
#define NFS_VERSION   4
#define MOUNT_VERSION 3

/* Of the words of scenario_one_client(). */
static struct {
	bool all, dead, mismatch, two, good, connect, mount, rpcbind, stay;
} how;

static struct net net;
static uint16_t server_port;
static unsigned nulls, null_ends, closes;
static unsigned nulls_before;       /* those that came before the last close */
static struct conn *to_close[MANY]; /* not from inside of its event */
static unsigned nto_close;

static void close_it(struct conn *conn)
{
	if (nto_close == MANY)
		fail("too many connections at once");
	conn->paused = true;
	to_close[nto_close++] = conn;
}

/* The proxy's own. Returns whether it is answered. */
static bool answer_null(struct conn *conn, const struct message *call, struct buf *reply)
{
	bool for_mount = how.mount || how.rpcbind;

	if (call->program != (for_mount ? MOUNT_PROGRAM : NFS_PROGRAM) ||
	    call->version != (for_mount ? MOUNT_VERSION : NFS_VERSION))
		fail("the proxy asks for version %u of program %u", call->version, call->program);
	nulls++;
	conn->arg = &nulls;
	if (how.dead) {
		close_it(conn);
		return false;
	}
	reply_begin(reply, call->xid, how.mismatch ? ACCEPT_PROG_MISMATCH : ACCEPT_SUCCESS);
	/* From version one to version one. */
	for (int i = 0; how.mismatch && i < 2; i++)
		buf_u32(reply, 1);
	return true;
}

static void take_call(struct conn *conn, const uint8_t *data, size_t len)
{
	struct message call;
	struct buf reply = {0};

	if (!message_parse(&call, data, len) || call.type != MSG_CALL)
		fail("the server got what is no Call");
	if (!call.procedure) {
		if (!answer_null(conn, &call, &reply))
			return;
	} else if (how.all || how.dead) {
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

/* rpcbind: whatever is asked for is here. */
static void rpcbind_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct message call;
	struct buf reply = {0};
	char address[32];

	if (!message_parse(&call, data, len) || call.program != RPCBIND_PROGRAM ||
	    message_u32(&call, 0) != MOUNT_PROGRAM)
		fail("rpcbind is not asked for MOUNT");
	snprintf(address, sizeof(address), "127.0.0.1.%u.%u", server_port >> 8, server_port & 255);
	reply_begin(&reply, call.xid, ACCEPT_SUCCESS);
	buf_u32(&reply, (uint32_t)strlen(address));
	buf_put(&reply, address, strlen(address));
	buf_put(&reply, "\0\0\0", -strlen(address) & 3);
	conn_send_record(conn, reply.data, reply.len);
	buf_free(&reply);
}

static void rpcbind_accepted(struct conn *conn)
{
	conn->received = rpcbind_received;
	conn->ended = conn_shut;
}

static void turn(void)
{
	net_turn(&net, 100);
	while (nto_close) {
		conn_free(to_close[--nto_close], false);
		closes++;
		nulls_before = nulls;
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
	return how.dead ? nulls > 0 && !nto_close : nulls > nulls_before && null_ends == nulls;
}

static bool is_mounts(void)
{
	return how.connect || how.mount || how.rpcbind;
}

static uint32_t program(void)
{
	return is_mounts() ? MOUNT_PROGRAM : TEST_PROGRAM;
}

/* Its connection is closed, each time that it comes. */
static void be_closed(uint16_t port, uint32_t bytes, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		struct echo_client client = {.program = program(),
					     .xid_base = 0x100 * (i + 1),
					     .from_addr = NET_LOOPBACK + (how.two && i % 2),
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
	struct echo_client client = {.program = program(),
				     .xid_base = 0x7000,
				     .args_len = 6000,
				     /* That of MNT must not be longer than a file handle. */
				     .reply_len = is_mounts() ? 40 : 6000,
				     .calls = 1};

	echo_client_start(&net, &client, port);
	await(client_is_over, &client, "another client gets no Reply");
	if (!echo_client_good(&client))
		fail("another client loses its connection");
	conn_free(client.conn, false);
}

static void read_word(const char *word)
{
	static const struct {
		const char *word;
		bool *is;
	} words[] = {
		{"all", &how.all},         {"dead", &how.dead},   {"mismatch", &how.mismatch},
		{"two", &how.two},         {"good", &how.good},   {"connect", &how.connect},
		{"rpcbind", &how.rpcbind}, {"mount", &how.mount}, {"stay", &how.stay},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i].word))
			continue;
		*words[i].is = true;
		return;
	}
	fail("one-client: no such word: %s", word);
}

int scenario_one_client(const struct ports *ports, int argc, char **argv)
{
	uint16_t port = argc ? (uint16_t)atoi(argv[0]) : 0;
	bool for_short;

	if (!port)
		fail("one-client: PORT [WORD...]");
	for (int i = 1; i < argc; i++)
		read_word(argv[i]);
	for_short = how.all || how.dead;
	server_port = ports->back;
	net_init(&net);
	net_listen(&net, server_port, server_accepted, NULL);
	if (how.rpcbind)
		net_listen(&net, RPCBIND_PORT, rpcbind_accepted, NULL);
	be_closed(port, for_short ? 100 : LONG_BYTES, for_short || is_mounts() ? 1 : TIMES);
	if (how.good)
		be_served(port);
	/*
	 * No question of one proxy is left when this server ends. Of two, one's question comes
	 * through the other.
	 */
	await(is_asked, NULL, "the proxy does not ask whether the server is well");
	printf("closed %u times, asked %u times\n", closes, nulls);
	fflush(stdout);
	while (how.stay)
		turn();
	net_free(&net);
	return 0;
}
