// SPDX-License-Identifier: BSD-3-Clause
/* A bad neighbour service: clients that send all they can, and a useless server. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "tests/e2e/message.h"
#include "tests/e2e/rpc_peer.h"

#define CLIENTS     64
#define LARGE_BYTES 1048576u
#define TURN_MS     10
#define TRICKLE_MS  1000
/* The number of small Calls that are sent together. */
#define HANDFUL 64

/* ---- the clients ---- */

struct client {
	struct conn *conn;
	const struct manner *manner;
};

/* What the clients do, in turn. */
static const struct manner {
	void (*send)(struct client *client); /* when nothing is left to be sent */
	bool deaf;                           /* it reads nothing */
	bool once;                           /* it sends once only */
} manners[];

static struct buf small_call, large_call;
static uint32_t next_xid;

static void send_call(struct client *client, struct buf *call)
{
	uint32_t xid = htonl(next_xid++);

	memcpy(call->data, &xid, sizeof(xid));
	conn_send_record(client->conn, call->data, call->len);
}

static void send_small(struct client *client)
{
	for (unsigned i = 0; i < HANDFUL; i++)
		send_call(client, &small_call);
}

static void send_large(struct client *client)
{
	send_call(client, &large_call);
}

/* The mark of a large Call and 8 bytes of it. */
static void send_12_bytes(struct client *client)
{
	buf_u32(&client->conn->out, 0x80000000u | (uint32_t)large_call.len);
	conn_send(client->conn, large_call.data, 8);
}

/* So much of a large Call that all of it is claimed. */
static void send_a_piece(struct client *client)
{
	buf_u32(&client->conn->out, 0x80000000u | (uint32_t)large_call.len);
	conn_send(client->conn, large_call.data, 20000);
}

static const struct manner manners[] = {
	{send_small, false, false},  {send_large, false, false}, {send_12_bytes, false, true},
	{send_small, true, false},   {send_small, false, false}, {send_large, false, false},
	{send_a_piece, false, true}, {send_large, true, false},
};

static void client_connect(struct net *net, struct client *client, uint16_t port)
{
	client->conn = net_connect(net, port, 0, 0);
	client->conn->paused = client->manner->deaf;
	client->manner->send(client);
}

static bool is_lost(const struct client *client)
{
	struct pollfd fd = {.fd = client->conn->fd, .events = POLLRDHUP};

	return client->conn->closed || (poll(&fd, 1, 0) > 0 && fd.revents);
}

/* Reconnects a client that lost or leaves its connection, and returns true; others send more. */
static bool client_go_on(struct net *net, struct client *client, uint16_t port, bool leaves)
{
	if (leaves || is_lost(client)) {
		conn_free(client->conn, leaves);
		client_connect(net, client, port);
		return true;
	}
	if (!client->manner->once && !client->conn->out.len)
		client->manner->send(client);
	return false;
}

/* ---- the servers ---- */

static void ignore(struct conn *conn, const uint8_t *data, size_t len)
{
	(void)conn;
	(void)data;
	(void)len;
}

static void shut(struct conn *conn)
{
	conn_shut(conn);
}

static void accept_silent(struct conn *conn)
{
	conn->raw = true;
	conn->received = ignore;
	conn->ended = shut;
}

static void accept_deaf(struct conn *conn)
{
	conn->paused = true;
}

static void reset(struct conn *conn, const uint8_t *data, size_t len)
{
	(void)data;
	(void)len;
	conn->closed = conn->reset = true;
}

static void accept_reset(struct conn *conn)
{
	conn->raw = true;
	conn->received = reset;
}

/* A byte of what has come. */
static void read_a_byte(struct conn *conn)
{
	uint8_t byte;

	if (recv(conn->fd, &byte, 1, MSG_DONTWAIT) == 0)
		conn->closed = true;
}

/*
 * The beginning of a large Reply to the first Call is kept in @conn->in, whose next byte is at
 * @conn->arg.
 */
static void begin_to_answer(struct conn *conn, const uint8_t *data, size_t len)
{
	uint32_t xid;

	if (conn->in.len || len < 8)
		return;
	memcpy(&xid, data + 4, sizeof(xid));
	buf_u32(&conn->in, 0x80000000u | LARGE_BYTES);
	reply_begin(&conn->in, ntohl(xid), ACCEPT_SUCCESS);
	pattern_put(&conn->in, 1, 1000);
	conn->arg = conn->in.data;
}

static void accept_slow(struct conn *conn)
{
	conn->raw = true;
	conn->received = begin_to_answer;
	conn->ended = shut;
}

static void answer_a_byte(struct conn *conn)
{
	uint8_t *next = conn->arg;

	if (!next || next == conn->in.data + conn->in.len)
		return;
	conn_send(conn, next, 1);
	conn->arg = next + 1;
}

static const struct server {
	const char *name;
	void (*accepted)(struct conn *conn); /* NULL: no listener */
	void (*trickle)(struct conn *conn);  /* once a second */
	bool storm;    /* no connection lasts: then no client may keep what it has of one */
	bool deserted; /* it is the clients who leave, as fast as they come */
} servers[] = {
	{"silent", accept_silent, NULL, false, false},
	{"refusing", NULL, NULL, true, false},
	{"deserted", NULL, NULL, true, true},
	{"resetting", accept_reset, NULL, true, false},
	{"reading", accept_deaf, read_a_byte, false, false},
	{"answering", accept_slow, answer_a_byte, false, false},
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Frees the connections that are over, and gives the others what is due. */
static void server_turn(struct net *net, const struct server *server)
{
	static uint64_t due_ms;
	struct conn *conn = TAILQ_FIRST(&net->conns), *next;
	bool due = server->trickle && now_ms() >= due_ms;

	for (; conn; conn = next) {
		next = TAILQ_NEXT(conn, entry);
		if (!conn->closed && due)
			server->trickle(conn);
		if (conn->closed)
			conn_free(conn, conn->reset);
	}
	if (due)
		due_ms = now_ms() + TRICKLE_MS;
}

static const struct server *server_named(const char *name)
{
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
		if (!strcmp(servers[i].name, name))
			return &servers[i];
	fail("no server is %s", name);
}

static void make_calls(void)
{
	echo_call(&small_call, TEST_PROGRAM, 0, 0, 0);
	echo_call(&large_call, TEST_PROGRAM, 0, LARGE_BYTES, 0);
}

static const struct manner *manner_of(const struct server *server, unsigned client)
{
	const struct manner *manner = &manners[client % (sizeof(manners) / sizeof(manners[0]))];

	return server->storm && manner->once ? &manners[0] : manner;
}

/* Servers' connections and clients' are in nets of their own, which take turns. */
int scenario_neighbour(const struct ports *ports, int argc, char **argv)
{
	const struct server *server = server_named(argc > 0 ? argv[0] : "nothing");
	static struct client clients[CLIENTS];
	struct net at_server, at_clients;
	unsigned long lost = 0;

	make_calls();
	net_init(&at_server);
	net_init(&at_clients);
	if (server->accepted)
		net_listen(&at_server, ports->back, server->accepted, NULL);
	for (unsigned i = 0; i < CLIENTS; i++) {
		clients[i].manner = manner_of(server, i);
		client_connect(&at_clients, &clients[i], ports->front);
	}
	for (;;) {
		net_turn(&at_server, server->deserted ? 0 : 1);
		server_turn(&at_server, server);
		net_turn(&at_clients, server->deserted ? 0 : TURN_MS);
		for (unsigned i = 0; i < CLIENTS; i++)
			if (client_go_on(&at_clients, &clients[i], ports->front,
					 server->deserted) &&
			    ++lost == CLIENTS)
				printf("%lu connections were lost\n", lost);
	}
}
