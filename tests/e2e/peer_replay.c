// SPDX-License-Identifier: BSD-3-Clause
/*
 * The server executes a Call, and its connection is cut before the Reply is on its way.
 *
 * A relay between the last proxy and the real server does the cutting. It connects to the server
 * from a second loopback address and from the port that the proxy came from, so that the server
 * sees what it would see without a relay. The client retransmits on a new connection: it must get
 * the Reply that was lost, byte for byte, which only the server's duplicate request cache has, and
 * only for the same address and port.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/message.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S      20
#define CLIENT_PORT 777
#define OTHER_PORT  778

#define NFS3_CREATE 8
#define NFS3_REMOVE 12
#define NFS3_RENAME 14

struct relay {
	struct conn *proxy, *server;
	uint16_t upstream;
	bool cut_next;      /* the next Reply is not passed on */
	bool cut;           /* one was not, and the connections are to be cut */
	struct buf lost;    /* the Reply that the client never got */
	uint16_t from_port; /* the port that the proxy came from last */
};

struct client {
	struct net net;
	struct conn *conn;
	struct buf reply;
	bool replied;
	uint32_t xid;
	struct buf root; /* file handle */
};

static void forward(struct conn *conn, const uint8_t *data, size_t len)
{
	struct conn *other = conn->arg;

	if (other)
		conn_send_record(other, data, len);
}

/* A Reply from the server: forwarded, or kept if it is the one to be lost. */
static void relay_reply(struct conn *conn, const uint8_t *data, size_t len)
{
	struct relay *relay = conn->arg;

	if (relay->cut)
		return;
	if (relay->cut_next) {
		buf_put(&relay->lost, data, len);
		relay->cut = true;
	} else if (relay->proxy) {
		conn_send_record(relay->proxy, data, len);
	}
}

static void relay_accepted(struct conn *conn)
{
	struct relay *relay = conn->arg;

	relay->proxy = conn;
	relay->from_port = conn->peer_port;
	relay->server = net_connect(conn->net, relay->upstream, NET_LOOPBACK2, conn->peer_port);
	relay->server->received = relay_reply;
	relay->server->arg = relay;
	conn->received = forward;
	conn->arg = relay->server;
}

static void relay_drop(struct relay *relay)
{
	conn_free(relay->proxy, false);
	conn_free(relay->server, true);
	relay->proxy = relay->server = NULL;
	relay->cut = relay->cut_next = false;
}

static void client_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct client *client = conn->arg;

	client->reply.len = 0;
	buf_put(&client->reply, data, len);
	client->replied = true;
}

static void client_connect(struct client *client, uint16_t port, uint16_t from_port)
{
	client->conn = net_connect(&client->net, port, 0, from_port);
	client->conn->received = client_received;
	client->conn->arg = client;
}

static bool client_replied(void *arg)
{
	return ((struct client *)arg)->replied;
}

static bool client_closed(void *arg)
{
	return ((struct client *)arg)->conn->closed;
}

static bool relay_cut(void *arg)
{
	return ((struct relay *)arg)->cut;
}

static struct message client_call(struct client *client, const struct buf *call)
{
	struct message reply;

	client->replied = false;
	conn_send_record(client->conn, call->data, call->len);
	if (!net_run_until(&client->net, client_replied, client, WAIT_S))
		fail("no Reply");
	if (!message_parse(&reply, client->reply.data, client->reply.len) || !reply.accepted ||
	    reply.accept_stat)
		fail("the Call was not accepted");
	return reply;
}

/* The export's file handle, from MOUNT. */
static void client_mount(struct client *client, uint16_t port)
{
	struct buf call = {0};
	struct message reply;
	uint32_t len;

	client_connect(client, port, 0);
	call_begin(&call, client->xid++, MOUNT_PROGRAM, 3, 1, AUTH_SYS);
	buf_opaque(&call, "/export", 7);
	reply = client_call(client, &call);
	if (message_u32(&reply, 0))
		fail("MNT: status %u", message_u32(&reply, 0));
	len = message_u32(&reply, 4);
	if (len > 64 || reply.body_len < 8 + (size_t)len)
		fail("MNT: a file handle of %u bytes", len);
	buf_put(&client->root, reply.body + 8, len);
	conn_free(client->conn, false);
	buf_free(&call);
}

static void put_name(struct buf *call, const struct client *client, const char *name)
{
	buf_opaque(call, client->root.data, client->root.len);
	buf_opaque(call, name, strlen(name));
}

static void put_remove(struct buf *call, struct client *client)
{
	call_begin(call, client->xid++, NFS_PROGRAM, 3, NFS3_REMOVE, AUTH_SYS);
	put_name(call, client, "victim");
}

static void put_rename(struct buf *call, struct client *client)
{
	call_begin(call, client->xid++, NFS_PROGRAM, 3, NFS3_RENAME, AUTH_SYS);
	put_name(call, client, "before");
	put_name(call, client, "after");
}

static void put_exclusive(struct buf *call, struct client *client)
{
	call_begin(call, client->xid++, NFS_PROGRAM, 3, NFS3_CREATE, AUTH_SYS);
	put_name(call, client, "exclusive");
	buf_u32(call, 2);
	buf_put(call, "verifier", 8);
}

static void put_guarded(struct buf *call, struct client *client)
{
	call_begin(call, client->xid++, NFS_PROGRAM, 3, NFS3_CREATE, AUTH_SYS);
	put_name(call, client, "guarded");
	buf_u32(call, 1);
	for (int i = 0; i < 6; i++)
		buf_u32(call, 0); /* sattr3: nothing is set */
}

static const struct operation {
	const char *name;
	void (*put)(struct buf *call, struct client *client);
} operations[] = {
	{"remove", put_remove},
	{"rename", put_rename},
	{"exclusive", put_exclusive},
	{"guarded", put_guarded},
};

static const struct operation *find_operation(const char *name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!strcmp(name, operations[i].name))
			return &operations[i];
	fail("no operation %s", name);
}

/* Make the Call; the server executes it; cut; retransmit from @from_port; compare. */
static void replay(struct client *client, struct relay *relay, const struct operation *operation,
		   const struct ports *ports, uint16_t from_port)
{
	uint16_t first_port = relay->from_port;
	struct buf call = {0};
	struct message lost;

	operation->put(&call, client);
	relay->cut_next = true;
	conn_send_record(client->conn, call.data, call.len);
	if (!net_run_until(&client->net, relay_cut, relay, WAIT_S))
		fail("the server does not answer");
	if (!message_parse(&lost, relay->lost.data, relay->lost.len) || message_u32(&lost, 0))
		fail("%s fails at the server: status %u", operation->name, message_u32(&lost, 0));
	relay_drop(relay);
	if (!net_run_until(&client->net, client_closed, client, WAIT_S))
		fail("the upstream was cut and the client's connection stays");
	if (client->replied)
		fail("a Reply came from nowhere");
	conn_free(client->conn, false);
	client_connect(client, ports->front, from_port);
	client_call(client, &call);
	if (relay->from_port != first_port)
		fail("the upstream's port was %u and is %u", first_port, relay->from_port);
	if (client->reply.len != relay->lost.len ||
	    memcmp(client->reply.data, relay->lost.data, relay->lost.len))
		fail("the retransmission of %s got another answer, status %u", operation->name,
		     client->reply.len >= 28 ? client->reply.data[27] : 0);
	buf_free(&call);
}

int scenario_replay(const struct ports *ports, int argc, char **argv)
{
	struct relay relay = {.upstream = ports->upstream};
	struct client client = {.xid = 0x3000};
	struct buf null = {0};

	if (argc < 1)
		fail("replay wants an operation");
	net_init(&client.net);
	net_listen(&client.net, ports->back, relay_accepted, &relay);
	client_mount(&client, ports->mount);
	client_connect(&client, ports->front, CLIENT_PORT);
	call_begin(&null, client.xid++, NFS_PROGRAM, 3, 0, AUTH_SYS);
	client_call(&client, &null);
	client.replied = false;
	replay(&client, &relay, find_operation(argv[0]), ports,
	       argc > 1 && !strcmp(argv[1], "other") ? OTHER_PORT : CLIENT_PORT);
	buf_free(&null);
	buf_free(&relay.lost);
	buf_free(&client.reply);
	buf_free(&client.root);
	net_free(&client.net);
	return 0;
}
