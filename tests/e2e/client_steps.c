// SPDX-License-Identifier: BSD-3-Clause
/*
 * A client of FRONT that follows a list of steps: bytes of any kind, and Calls that must be
 * answered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/message.h"
#include "tests/e2e/mpa.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S 20

struct client {
	struct net net;
	struct mpa mpa; /* of which a client over TCP has the connection alone */
	uint16_t port;
	uint32_t from_addr;
	uint16_t from_port;
	uint32_t xid;
	bool rdma, replied;
};

static void received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct client *client = conn->arg;
	struct message reply;

	if (!message_parse(&reply, data, len) || !reply.accepted || reply.accept_stat ||
	    reply.xid != client->xid)
		fail("not the Reply to Call %u", client->xid);
	client->replied = true;
}

static void send_received(struct mpa *mpa)
{
	((struct client *)mpa->arg)->replied = true;
}

static struct conn *conn_of(struct client *client)
{
	if (client->mpa.conn)
		return client->mpa.conn;
	client->mpa.conn =
		net_connect(&client->net, client->port, client->from_addr, client->from_port);
	client->mpa.conn->received = received;
	client->mpa.conn->arg = client;
	return client->mpa.conn;
}

static bool is_replied(void *arg)
{
	const struct client *client = arg;

	return client->replied || client->mpa.conn->closed;
}

static bool is_started(void *arg)
{
	const struct client *client = arg;

	return client->mpa.started || client->mpa.conn->closed;
}

static bool is_closed(void *arg)
{
	return conn_of(arg)->closed;
}

static bool is_sent(void *arg)
{
	const struct conn *conn = conn_of(arg);

	return conn->out_sent == conn->out.len;
}

static void await(struct client *client, bool (*done)(void *arg), const char *what)
{
	if (!net_run_until(&client->net, done, client, WAIT_S))
		fail("%s: not in %d s", what, WAIT_S);
}

static void from(struct client *client, const char *text)
{
	unsigned host, port;

	if (sscanf(text, "127.0.0.%u:%u", &host, &port) != 2)
		fail("from=%s?", text);
	client->from_addr = (NET_LOOPBACK & ~0xffu) | (host & 0xff);
	client->from_port = (uint16_t)port;
}

static void send_hex(struct client *client, const char *hex)
{
	unsigned byte;

	for (; *hex; hex += 2) {
		if (sscanf(hex, "%2x", &byte) != 1 || !hex[1])
			fail("%s is no hexadecimal", hex);
		conn_send(conn_of(client), &(uint8_t){(uint8_t)byte}, 1);
	}
}

static void call(struct client *client)
{
	struct buf null = {0};

	call_begin(&null, ++client->xid, NFS_PROGRAM, 3, 0, AUTH_NONE);
	client->replied = false;
	if (client->rdma)
		mpa_send_call(&client->mpa, &null);
	else
		conn_send_record(conn_of(client), null.data, null.len);
	await(client, is_replied, "a Reply");
	buf_free(&null);
	if (!client->replied)
		fail("closed before the Reply");
}

static void start_rdma(struct client *client)
{
	client->rdma = true;
	mpa_start(&client->mpa, conn_of(client));
	client->mpa.received = send_received;
	client->mpa.arg = client;
	await(client, is_started, "an MPA reply");
	if (!client->mpa.started || client->mpa.reply_flags & MPA_REJECT)
		fail("closed, or rejected");
}

static void step(struct client *client, const char *text)
{
	if (!strncmp(text, "from=", 5))
		from(client, text + 5);
	else if (!strncmp(text, "hex=", 4))
		send_hex(client, text + 4);
	else if (!strncmp(text, "text=", 5))
		conn_send(conn_of(client), text + 5, strlen(text + 5));
	else if (!strcmp(text, "crlf"))
		conn_send(conn_of(client), "\r\n", 2);
	else if (!strcmp(text, "mpa"))
		start_rdma(client);
	else if (!strcmp(text, "call"))
		call(client);
	else if (!strcmp(text, "sent"))
		await(client, is_sent, "room for what is sent");
	else if (!strcmp(text, "shut"))
		conn_shut(conn_of(client));
	else if (!strcmp(text, "closed"))
		await(client, is_closed, "the end");
	else if (!strcmp(text, "stay"))
		for (;;)
			net_turn(&client->net, 1000);
	else
		fail("there is no step %s", text);
	printf("%s\n", text);
}

int scenario_steps(const struct ports *ports, int argc, char **argv)
{
	struct client client = {.port = ports->front, .xid = 0x700};

	net_init(&client.net);
	for (int i = 0; i < argc; i++)
		step(&client, argv[i]);
	mpa_free(&client.mpa, false);
	net_free(&client.net);
	return 0;
}
