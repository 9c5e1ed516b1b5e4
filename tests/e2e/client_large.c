// SPDX-License-Identifier: BSD-3-Clause
/*
 * NFSv4 READs and WRITEs of the server's maximum size, and a larger one, with small Calls around
 * each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/message.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S        60
#define MIB           (1024u * 1024)
#define SMALL_CALLS   8 /* before each large Call, and as many behind it */

#define PROC_NULL     0
#define PROC_COMPOUND 1
#define OP_GETATTR    9
#define OP_LOOKUP     15
#define OP_PUTROOTFH  24
#define OP_READ       25
#define OP_WRITE      38
#define UNSTABLE      0
#define MAXREAD_WRITE 0xc0000000u /* attributes 30 and 31 */

/* Where the results of the fourth operation stand among those of a COMPOUND without a tag. */
#define RESULTS_AT 44

struct client {
	struct net net;
	struct conn *conn;
	uint32_t next_xid;
	unsigned small_sent, small_answered;
	uint32_t large_xid; /* the large Call that is out; 0: none */
	struct message large;
	struct buf large_bytes;
};

static void keep_large(struct client *client, const uint8_t *data, size_t len)
{
	client->large_xid = 0;
	client->large_bytes.len = 0;
	buf_put(&client->large_bytes, data, len);
	message_parse(&client->large, client->large_bytes.data, len);
}

static void received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct client *client = conn->arg;
	struct message message;

	if (!message_parse(&message, data, len) || message.type != MSG_REPLY || !message.accepted)
		fail("no Reply, or a denied one");
	if (message.xid == client->large_xid) {
		keep_large(client, data, len);
		return;
	}
	if (message.accept_stat != ACCEPT_SUCCESS || message.body_len)
		fail("a NULL got an error");
	client->small_answered++;
}

static void ended(struct conn *conn)
{
	fail("the connection was closed");
}

static void send_small(struct client *client)
{
	for (unsigned i = 0; i < SMALL_CALLS; i++) {
		struct buf call = {0};

		call_begin(&call, client->next_xid++, NFS_PROGRAM, 4, PROC_NULL, AUTH_NONE);
		conn_send_record(client->conn, call.data, call.len);
		buf_free(&call);
		client->small_sent++;
	}
}

static bool all_answered(void *arg)
{
	const struct client *client = arg;

	return !client->large_xid && client->small_answered == client->small_sent;
}

/* Sends it between small ones; its Reply is in `large` then. */
static void call_large(struct client *client, const struct buf *call)
{
	send_small(client);
	client->large_xid = client->next_xid++;
	conn_send_record(client->conn, call->data, call->len);
	send_small(client);
	if (!net_run_until(&client->net, all_answered, client, WAIT_S))
		fail("%u of %u small Calls answered, the large one %s", client->small_answered,
		     client->small_sent, client->large_xid ? "not" : "too");
}

/* A COMPOUND that goes to the file, of four operations; the last one is to follow. */
static struct buf compound(const struct client *client, uint32_t op)
{
	struct buf call = {0};

	call_begin(&call, client->next_xid + SMALL_CALLS, NFS_PROGRAM, 4, PROC_COMPOUND, AUTH_SYS);
	buf_opaque(&call, "", 0);
	buf_u32(&call, 0);
	buf_u32(&call, 4);
	buf_u32(&call, OP_PUTROOTFH);
	buf_u32(&call, OP_LOOKUP);
	buf_opaque(&call, "export", 6);
	buf_u32(&call, OP_LOOKUP);
	buf_opaque(&call, "large", 5);
	buf_u32(&call, op);
	return call;
}

/* The anonymous stateid, and offset 0. */
static void put_place(struct buf *call)
{
	for (unsigned i = 0; i < 4 + 2; i++)
		buf_u32(call, 0);
}

static void expect_success(const struct client *client, const char *what)
{
	if (client->large.accept_stat != ACCEPT_SUCCESS || message_u32(&client->large, 0))
		fail("%s: accept_stat %u, status %u", what, client->large.accept_stat,
		     client->large.body_len ? message_u32(&client->large, 0) : 0);
}

/* The largest WRITE and READ that the server offers. */
static void expect_offer(struct client *client, uint32_t bytes)
{
	struct buf call = compound(client, OP_GETATTR);
	uint32_t read, write;

	buf_u32(&call, 1);
	buf_u32(&call, MAXREAD_WRITE);
	call_large(client, &call);
	buf_free(&call);
	expect_success(client, "GETATTR");
	read = message_u32(&client->large, RESULTS_AT + 16);
	write = message_u32(&client->large, RESULTS_AT + 24);
	printf("MAXREAD %u, MAXWRITE %u\n", read, write);
	if (read < bytes || write < bytes)
		fail("the server offers less than %u", bytes);
}

static struct buf write_call(struct client *client, uint32_t bytes)
{
	struct buf call = compound(client, OP_WRITE);

	put_place(&call);
	buf_u32(&call, UNSTABLE);
	buf_u32(&call, bytes);
	pattern_put(&call, bytes, bytes);
	return call;
}

static void write_and_read(struct client *client, uint32_t bytes)
{
	struct buf call = write_call(client, bytes);

	call_large(client, &call);
	expect_success(client, "WRITE");
	if (message_u32(&client->large, RESULTS_AT) != bytes)
		fail("%u of %u bytes written", message_u32(&client->large, RESULTS_AT), bytes);
	buf_free(&call);
	call = compound(client, OP_READ);
	put_place(&call);
	buf_u32(&call, bytes);
	call_large(client, &call);
	buf_free(&call);
	expect_success(client, "READ");
	if (message_u32(&client->large, RESULTS_AT + 4) != bytes ||
	    client->large.body_len != RESULTS_AT + 8 + (size_t)bytes ||
	    !pattern_is(client->large.body + RESULTS_AT + 8, bytes, bytes))
		fail("not the %u bytes that were written", bytes);
}

static void write_too_much(struct client *client, uint32_t bytes)
{
	struct buf call = write_call(client, bytes);

	call_large(client, &call);
	buf_free(&call);
	if (client->large.accept_stat != ACCEPT_SYSTEM_ERR)
		fail("accept_stat %u for %u bytes", client->large.accept_stat, bytes);
}

int scenario_large(const struct ports *ports, int argc, char **argv)
{
	struct client client = {.next_xid = 0x10000};
	bool over = argc > 0 && !strcmp(argv[0], "over");

	net_init(&client.net);
	client.conn = net_connect(&client.net, ports->front, 0, 0);
	client.conn->received = received;
	client.conn->ended = ended;
	client.conn->arg = &client;
	for (int i = 1; i < argc; i++) {
		uint32_t bytes = (uint32_t)strtoul(argv[i], NULL, 10) * MIB;

		if (over) {
			write_too_much(&client, bytes);
			continue;
		}
		expect_offer(&client, bytes);
		write_and_read(&client, bytes);
	}
	buf_free(&client.large_bytes);
	net_free(&client.net);
	return 0;
}
