// SPDX-License-Identifier: BSD-3-Clause
#include "tests/e2e/replay_relay.h"

#include <stdlib.h>

#include "tests/e2e/message.h"

#define NFS3_OK        0
#define NFS3ERR_NOENT  2
#define NULL_PROCEDURE 0
#define NFS3_LOOKUP    3

/* A connection of the proxy, and the one to the server that it is joined to. */
struct link {
	TAILQ_ENTRY(link) entry;
	struct relay *relay;
	struct conn *proxy, *server;
	struct place from; /* where the proxy came from */
};

static struct relayed *relayed_of(struct relay *relay, uint32_t xid)
{
	struct relayed *call;

	TAILQ_FOREACH(call, &relay->calls, entry)
		if (call->xid == xid)
			return call;
	return NULL;
}

struct relayed *relay_find(struct relay *relay, uint32_t xid)
{
	struct relayed *call = relayed_of(relay, xid);

	return call && call->reply.len ? call : NULL;
}

static struct relayed *note_call(struct link *link, uint32_t xid)
{
	struct relayed *call = relayed_of(link->relay, xid);

	if (!call) {
		call = calloc(1, sizeof(*call));
		if (!call)
			fail("out of memory");
		call->xid = xid;
		call->first = link->from;
		TAILQ_INSERT_TAIL(&link->relay->calls, call, entry);
	}
	call->last = link->from;
	call->copies++;
	return call;
}

/* A Reply on its way to the proxy; the first one to a Call with arguments is kept. */
static void pass(struct link *link, const uint8_t *data, size_t len)
{
	struct relay *relay = link->relay;
	struct message reply;
	struct relayed *call;

	if (!message_parse(&reply, data, len))
		fail("the server answers with what is no RPC message");
	call = relayed_of(relay, reply.xid);
	if (call && !call->reply.len)
		buf_put(&call->reply, data, len);
	if (!call || !relay->holds)
		conn_send_record(link->proxy, data, len);
}

/* Status and no attributes: what REMOVE gives. The second execution finds no file. */
static void answer(struct link *link, const struct message *call, const struct relayed *relayed)
{
	struct buf reply = {0};

	reply_begin(&reply, call->xid, ACCEPT_SUCCESS);
	if (call->procedure != NULL_PROCEDURE) {
		bool again = relayed->reply.len && !is_same_place(relayed->first, link->from);

		buf_u32(&reply, again ? NFS3ERR_NOENT : NFS3_OK);
		buf_u32(&reply, 0);
		buf_u32(&reply, 0);
	}
	pass(link, reply.data, reply.len);
	buf_free(&reply);
}

static void from_proxy(struct conn *conn, const uint8_t *data, size_t len)
{
	struct link *link = conn->arg;
	struct relayed *relayed = NULL;
	struct message call;

	if (!message_parse(&call, data, len) || call.type != MSG_CALL)
		fail("the proxy sends what is no Call");
	if (call.procedure == NFS3_LOOKUP) {
		link->relay->looked_up++;
		return;
	}
	if (call.procedure != NULL_PROCEDURE)
		relayed = note_call(link, call.xid);
	if (link->server)
		conn_send_record(link->server, data, len);
	else
		answer(link, &call, relayed);
}

static void from_server(struct conn *conn, const uint8_t *data, size_t len)
{
	pass(conn->arg, data, len);
}

static void drop(struct link *link)
{
	TAILQ_REMOVE(&link->relay->links, link, entry);
	conn_free(link->proxy, false);
	conn_free(link->server, true);
	free(link);
}

static void proxy_left(struct conn *conn)
{
	drop(conn->arg);
}

/* The proxy's old connection from that port is over, although its end may not have been read yet. */
static void drop_old(struct relay *relay, struct place from)
{
	struct link *link;

	TAILQ_FOREACH(link, &relay->links, entry)
		if (is_same_place(link->from, from)) {
			drop(link);
			return;
		}
}

static void accepted(struct conn *conn)
{
	struct relay *relay = conn->arg;
	struct link *link = calloc(1, sizeof(*link));

	if (!link)
		fail("out of memory");
	link->from = (struct place){conn->peer_addr, conn->peer_port};
	drop_old(relay, link->from);
	link->relay = relay;
	link->proxy = conn;
	TAILQ_INSERT_TAIL(&relay->links, link, entry);
	if (relay->upstream) {
		uint32_t addr = link->from.addr == NET_LOOPBACK ? NET_LOOPBACK2 : link->from.addr;

		link->server = net_connect(relay->net, relay->upstream, addr, link->from.port);
		link->server->received = from_server;
		link->server->arg = link;
	}
	conn->received = from_proxy;
	conn->ended = proxy_left;
	conn->arg = link;
}

void relay_init(struct relay *relay, struct net *net, uint16_t port, uint16_t upstream)
{
	*relay = (struct relay){.net = net, .upstream = upstream};
	TAILQ_INIT(&relay->calls);
	TAILQ_INIT(&relay->links);
	net_listen(net, port, accepted, relay);
}

unsigned relay_links(const struct relay *relay)
{
	const struct link *link;
	unsigned n = 0;

	TAILQ_FOREACH(link, &relay->links, entry)
		n++;
	return n;
}

void relay_forget(struct relay *relay)
{
	struct relayed *call;

	while ((call = TAILQ_FIRST(&relay->calls))) {
		TAILQ_REMOVE(&relay->calls, call, entry);
		buf_free(&call->reply);
		free(call);
	}
	relay->looked_up = 0;
}

void relay_fini(struct relay *relay)
{
	relay_forget(relay);
	while (!TAILQ_EMPTY(&relay->links))
		drop(TAILQ_FIRST(&relay->links));
}
