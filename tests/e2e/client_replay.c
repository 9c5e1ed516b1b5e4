// SPDX-License-Identifier: BSD-3-Clause
/*
 * Clients lose their connections after the server has executed their Call and before they have read
 * the Reply.
 *
 * They all reconnect together, each with that Call as the first on its new connection. Each must
 * get the Reply that it did not read, byte for byte. Only the server's duplicate request cache has
 * it, and only for the same address and port: so the proxy must use the same source port for this
 * client as before.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/message.h"
#include "tests/e2e/replay_client.h"
#include "tests/e2e/replay_relay.h"
#include "tests/e2e/replay_turns.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S      20
#define CLIENTS_MAX 20
#define CLIENT_PORT 777
#define OTHER_PORT  877
/* More Calls than a client may have in flight; at least this many reach the server. */
#define FLOOD_CALLS 1200
#define FLOOD_SEEN  8
/* As many as credits allow. */
#define FLOOD_RDMA_CALLS 16

#define NFS3_LOOKUP      3
#define NFS3_CREATE      8
#define NFS3_REMOVE      12
#define NFS3_RENAME      14

struct replay {
	struct net net;
	struct relay relay;
	struct replay_client clients[CLIENTS_MAX];
	struct replay_turn turn;
	const struct operation *operation;
	const char *directory; /* what the server exports; NULL: there is no real server */
	uint16_t port;         /* where clients connect */
	uint32_t xid, turns;
	struct buf root; /* file handle */
	unsigned failed;
};

/* ---- what is called ---- */

static void put_name(struct buf *call, const struct buf *root, const char *name, uint32_t xid)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%s-%x", name, xid);

	buf_opaque(call, root->data, root->len);
	buf_opaque(call, text, (size_t)len);
}

static void put_remove(struct buf *call, const struct buf *root, uint32_t xid)
{
	put_name(call, root, "victim", xid);
}

static void put_rename(struct buf *call, const struct buf *root, uint32_t xid)
{
	put_name(call, root, "victim", xid);
	put_name(call, root, "renamed", xid);
}

static void put_exclusive(struct buf *call, const struct buf *root, uint32_t xid)
{
	put_name(call, root, "exclusive", xid);
	buf_u32(call, 2);
	buf_put(call, "verifier", 8);
}

static void put_guarded(struct buf *call, const struct buf *root, uint32_t xid)
{
	put_name(call, root, "guarded", xid);
	buf_u32(call, 1);
	for (int n = 0; n < 6; n++)
		buf_u32(call, 0); /* sattr3: nothing is set */
}

/* Names of files end in the XID of the Call that they are for: no name comes twice. */
static const struct operation {
	const char *name;
	uint32_t procedure;
	void (*put)(struct buf *call, const struct buf *root, uint32_t xid);
	const char *wants; /* a file that must be there; NULL: none */
} operations[] = {
	{"remove", NFS3_REMOVE, put_remove, "victim"},
	{"rename", NFS3_RENAME, put_rename, "victim"},
	{"exclusive", NFS3_CREATE, put_exclusive, NULL},
	{"guarded", NFS3_CREATE, put_guarded, NULL},
};

static const struct operation *operation_named(const char *name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!strcmp(operations[i].name, name))
			return &operations[i];
	fail("no operation %s", name);
}

/* The file that the server must have before the Call with @xid. */
static void make_file(const struct replay *replay, uint32_t xid)
{
	char path[256];
	int fd;

	if (!replay->directory || !replay->operation->wants)
		return;
	snprintf(path, sizeof(path), "%s/%s-%x", replay->directory, replay->operation->wants, xid);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
	if (fd < 0)
		fail("%s cannot be made", path);
	close(fd);
}

/* ---- what is waited for ---- */

#define FOR_EACH_CLIENT(client, replay)                                                            \
	for (struct replay_client *client = (replay)->clients;                                     \
	     client < (replay)->clients + (replay)->turn.clients; client++)

static bool all_up(void *arg)
{
	struct replay *replay = arg;

	FOR_EACH_CLIENT(client, replay)
	if (!replay_client_is_up(client))
		return false;
	return true;
}

static bool all_replied_or_lost(void *arg)
{
	struct replay *replay = arg;

	FOR_EACH_CLIENT(client, replay)
	if (!client->replies && !replay_client_is_lost(client))
		return false;
	return true;
}

/* The server has executed each Call, and its Reply is where the turn wants it. */
static bool all_executed(void *arg)
{
	struct replay *replay = arg;

	FOR_EACH_CLIENT(client, replay)
	{
		if (!relay_find(&replay->relay, client->xid))
			return false;
		if (replay->turn.answered && !replay_client_has_unread(client))
			return false;
	}
	return !replay->turn.flooded ||
	       replay->relay.looked_up >=
		       replay->turn.clients * (replay->turn.hasty ? 1 : FLOOD_SEEN);
}

static bool none_left(void *arg)
{
	return !relay_links(&((struct replay *)arg)->relay);
}

/* ---- a turn ---- */

static void set_place(const struct replay *replay, struct replay_client *client, bool back)
{
	const struct replay_turn *turn = &replay->turn;
	unsigned i = (unsigned)(client - replay->clients);
	uint32_t net =
		0x7f000000u | (10 + (uint32_t)getpid() % 200) << 16 | (replay->turns % 250) << 8;

	client->addr = net + 1 + (turn->one_address ? 0 : i);
	client->port = (uint16_t)((back && !turn->same_port ? OTHER_PORT : CLIENT_PORT) +
				  (turn->one_address ? i : 0));
}

static void connect_all(struct replay *replay, bool back)
{
	const struct replay_turn *turn = &replay->turn;

	for (unsigned n = 0; n < turn->clients; n++) {
		unsigned i = back && turn->reversed ? turn->clients - 1 - n : n;
		struct replay_client *client = &replay->clients[i];

		set_place(replay, client, back);
		while (!replay_client_connect(client, replay->port))
			net_turn(&replay->net, 10);
	}
	if (!net_run_until(&replay->net, all_up, replay, WAIT_S))
		fail("a client is not accepted");
}

static void flood(struct replay *replay, struct replay_client *client)
{
	unsigned most = replay->turn.rdma ? FLOOD_RDMA_CALLS : FLOOD_CALLS;

	for (unsigned n = 0; n < most; n++) {
		struct buf call = {0};

		call_begin(&call, replay->xid++, NFS_PROGRAM, 3, NFS3_LOOKUP, AUTH_SYS);
		put_name(&call, &replay->root, "nothing", n);
		replay_client_send(client, &call);
		buf_free(&call);
	}
}

static void call_once(struct replay *replay, struct replay_client *client)
{
	client->xid = replay->xid++;
	client->call.len = 0;
	make_file(replay, client->xid);
	call_begin(&client->call, client->xid, NFS_PROGRAM, 3, replay->operation->procedure,
		   AUTH_SYS);
	replay->operation->put(&client->call, &replay->root, client->xid);
	replay_client_deafen(client);
	replay_client_send(client, &client->call);
	if (replay->turn.flooded)
		flood(replay, client);
}

/* Nothing more of a flood comes to the server: the rest waits, and is not read. */
static void await_quiet(struct replay *replay)
{
	unsigned long before;

	do {
		before = replay->relay.looked_up;
		net_turn(&replay->net, 20);
	} while (replay->relay.looked_up != before);
}

/* Each client makes itself known by a NULL, as Linux does, and then makes the Call. */
static void call_all(struct replay *replay)
{
	FOR_EACH_CLIENT(client, replay)
	{
		struct buf null = {0};

		call_begin(&null, replay->xid++, NFS_PROGRAM, 3, 0, AUTH_SYS);
		replay_client_send(client, &null);
		buf_free(&null);
	}
	if (!net_run_until(&replay->net, all_replied_or_lost, replay, WAIT_S))
		fail("a NULL is not answered");
	replay->relay.holds = !replay->turn.answered;
	FOR_EACH_CLIENT(client, replay)
	call_once(replay, client);
	if (!net_run_until(&replay->net, all_executed, replay, WAIT_S))
		fail("the server does not answer");
	if (!replay->turn.hasty)
		await_quiet(replay);
}

static void return_all(struct replay *replay)
{
	const struct replay_turn *turn = &replay->turn;

	FOR_EACH_CLIENT(client, replay)
	replay_client_leave(client, turn->fin);
	replay->relay.holds = false;
	connect_all(replay, true);
	for (unsigned n = 0; n < turn->clients; n++) {
		unsigned i = turn->reversed ? turn->clients - 1 - n : n;

		replay_client_send(&replay->clients[i], &replay->clients[i].call);
	}
	net_run_until(&replay->net, all_replied_or_lost, replay, WAIT_S);
}

static bool is_same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

/* Whether the server has seen the client where it has to. */
static bool is_own(const struct replay *replay, const struct replay_client *client,
		   const struct relayed *call)
{
	if (!replay->turn.own)
		return true;
	return call->last.addr == client->addr &&
	       (replay->turn.rdma || call->last.port == client->port);
}

/* How many clients did not get what they had to, by what is wrong. */
static void judge(struct replay *replay)
{
	unsigned unanswered = 0, strangers = 0, again = 0;

	FOR_EACH_CLIENT(client, replay)
	{
		const struct relayed *call = relay_find(&replay->relay, client->xid);

		if (!call || call->reply.len < 28 || call->reply.data[27])
			fail("the server does not execute %s", replay->operation->name);
		unanswered += !client->replies;
		strangers +=
			!is_same_place(call->last, call->first) || !is_own(replay, client, call);
		again += client->replies && !is_same(&client->reply, &call->reply);
	}
	if (!unanswered && !strangers && !again)
		return;
	replay->failed++;
	replay_turn_print(&replay->turn);
	printf(": %u not answered, %u from another place, %u got another answer\n", unanswered,
	       strangers, again);
}

static void run_turn(struct replay *replay)
{
	connect_all(replay, false);
	call_all(replay);
	return_all(replay);
	judge(replay);
	FOR_EACH_CLIENT(client, replay)
	{
		replay_client_free(client);
		*client = (struct replay_client){.net = &replay->net, .rdma = replay->turn.rdma};
	}
	if (!net_run_until(&replay->net, none_left, replay, WAIT_S))
		fail("the clients are gone, and the proxy keeps connections to the server");
	relay_forget(&replay->relay);
	replay->turns++;
}

/* ---- all of them ---- */

/* The export's file handle, from MOUNT. */
static void mount(struct replay *replay, uint16_t port)
{
	struct replay_client *client = &replay->clients[0];
	struct buf call = {0};
	struct message reply;
	uint32_t len;

	client->net = &replay->net;
	replay->turn.clients = 1;
	if (!replay_client_connect(client, port))
		fail("no connection to MOUNT");
	call_begin(&call, replay->xid++, MOUNT_PROGRAM, 3, 1, AUTH_SYS);
	buf_opaque(&call, "/export", 7);
	replay_client_send(client, &call);
	buf_free(&call);
	if (!net_run_until(&replay->net, all_replied_or_lost, replay, WAIT_S) || !client->replies)
		fail("MNT is not answered");
	if (!message_parse(&reply, client->reply.data, client->reply.len) || message_u32(&reply, 0))
		fail("MNT fails");
	len = message_u32(&reply, 4);
	if (len > 64 || reply.body_len < 8 + (size_t)len)
		fail("MNT: a file handle of %u bytes", len);
	buf_put(&replay->root, reply.body + 8, len);
	replay_client_free(client);
}

static unsigned run_turns(struct replay *replay, const char *kind, unsigned clients)
{
	bool rdma = !strncmp(kind, "rdma", 4), own = strstr(kind, "-own") != NULL;
	bool hasty = strstr(kind, "-hasty") != NULL;
	unsigned turns = 0;

	replay->turn = (struct replay_turn){.clients = clients,
					    .rdma = rdma,
					    .own = own,
					    .same_port = own && !rdma,
					    .flooded = hasty,
					    .hasty = hasty};
	for (unsigned i = 0; i < clients; i++)
		replay->clients[i] = (struct replay_client){.net = &replay->net, .rdma = rdma};
	do {
		run_turn(replay);
		turns++;
	} while (replay_turn_next(&replay->turn));
	return turns;
}

int scenario_replay(const struct ports *ports, int argc, char **argv)
{
	static struct replay replay;
	unsigned clients, turns;

	if (argc < 3)
		fail("replay wants OPERATION tcp|rdma[-own|-hasty] CLIENTS [DIRECTORY]");
	clients = (unsigned)atoi(argv[2]);
	if (!clients || clients > CLIENTS_MAX)
		fail("%u clients", clients);
	replay.operation = operation_named(argv[0]);
	replay.directory = argc > 3 ? argv[3] : NULL;
	replay.port = ports->front;
	replay.xid = (uint32_t)getpid() << 16;
	net_init(&replay.net);
	relay_init(&replay.relay, &replay.net, ports->back, replay.directory ? ports->upstream : 0);
	if (replay.directory)
		mount(&replay, ports->mount);
	turns = run_turns(&replay, argv[1], clients);
	printf("%u of %u turns fail\n", replay.failed, turns);
	relay_fini(&replay.relay);
	buf_free(&replay.root);
	net_free(&replay.net);
	return replay.failed > 0;
}
