// SPDX-License-Identifier: BSD-3-Clause
/*
 * An RDMA server returns chunks that it has not written, next to an honest service of the same
 * worker. The memory of a chunk held another client's data before, which must not reach this
 * client.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/echo.h"
#include "tests/e2e/mpa.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S       20
#define HONEST_BYTES 200000u
#define LYING_BYTES  100000u
#define HEADER_BYTES 24u /* of an accepted Reply */
#define READ_BYTES   262144u
#define NFS3_READ    6u
#define RDMA_MSG     0u
#define RDMA_NOMSG   1u

/* A segment of the one chunk that a Call offers. */
struct segment {
	uint32_t stag, len;
	uint64_t to;
};

struct server {
	struct mpa mpa;
	struct segment chunk;
	bool is_read; /* the Call is a READ, and the chunk its write chunk; else it is its reply chunk */
	const struct lie *lie; /* the next false claim; NULL: the truth */
	const uint8_t *call;   /* the Call's RPC message, in the last Send */
	size_t call_len;
	bool on_verbs;          /* lies are believed */
	struct buf expected[2]; /* of the memory of the chunk: of a reply chunk; of a write chunk */
};

/* Writes less than the @len bytes of @data, all of which are claimed. */
struct lie {
	const char *name;
	void (*write)(struct server *server, const uint8_t *data, size_t len);
};

/* The header alone shows whose Reply it is: without it no lie would be believed. */
static size_t least(const struct server *server)
{
	return server->is_read ? 0 : HEADER_BYTES;
}

static void write_part(struct server *server, const uint8_t *data, size_t from, size_t to)
{
	memcpy(server->expected[server->is_read].data + from, data + from, to - from);
	mpa_write(&server->mpa, server->chunk.stag, server->chunk.to + from, data + from,
		  to - from);
}

static void write_least(struct server *server, const uint8_t *data, size_t len)
{
	write_part(server, data, 0, least(server));
}

static void write_again(struct server *server, const uint8_t *data, size_t len)
{
	for (unsigned i = 0; i < 1000; i++)
		write_part(server, data, 0, 1024);
}

static void write_with_a_gap(struct server *server, const uint8_t *data, size_t len)
{
	write_part(server, data, 0, len / 2);
	write_part(server, data, len / 2 + 1, len);
}

static void write_nothing_at_the_end(struct server *server, const uint8_t *data, size_t len)
{
	write_part(server, data, 0, least(server));
	write_part(server, data, len, len);
}

static void write_all_but_a_byte(struct server *server, const uint8_t *data, size_t len)
{
	write_part(server, data, 0, len - 1);
}

static void write_backwards(struct server *server, const uint8_t *data, size_t len)
{
	for (size_t end = len; end > 4096; end -= 4096)
		write_part(server, data, end - 4096, end);
	write_part(server, data, 0, least(server));
}

static const struct lie lies[] = {
	{"nothing but the header", write_least},
	{"a kibibyte a thousand times", write_again},
	{"all but a byte in the middle", write_with_a_gap},
	{"a Write of nothing at the end", write_nothing_at_the_end},
	{"all but the last byte", write_all_but_a_byte},
	{"all but the beginning, backwards", write_backwards},
};
#define LIES (sizeof(lies) / sizeof(lies[0]))

/* ---- the server ---- */

static uint32_t word(const struct mpa *mpa, size_t *at)
{
	uint32_t be;

	if (mpa->send.len < *at + 4)
		fail("a Call of %zu bytes has nothing at %zu", mpa->send.len, *at);
	memcpy(&be, mpa->send.data + *at, 4);
	*at += 4;
	return ntohl(be);
}

/* A chunk of one segment; the first one counts. */
static void take_segment(struct server *server, size_t *at)
{
	uint32_t count = word(&server->mpa, at);

	if (count != 1)
		fail("a chunk of %u segments was offered", count);
	server->chunk.stag = word(&server->mpa, at);
	server->chunk.len = word(&server->mpa, at);
	server->chunk.to = (uint64_t)word(&server->mpa, at) << 32;
	server->chunk.to |= word(&server->mpa, at);
}

/* Version one, RDMA_MSG, without read chunks, and with one chunk for the Reply. */
static void take_call(struct server *server)
{
	struct mpa *mpa = &server->mpa;
	size_t at = 4;
	bool has_chunk;

	if (word(mpa, &at) != 1)
		fail("the Call is not of version one");
	(void)word(mpa, &at);
	if (word(mpa, &at) != RDMA_MSG || word(mpa, &at) != 0)
		fail("the Call has read chunks");
	server->is_read = word(mpa, &at);
	has_chunk = server->is_read;
	if (server->is_read) {
		take_segment(server, &at);
		if (word(mpa, &at))
			fail("two write chunks were offered");
	}
	if (word(mpa, &at)) {
		if (has_chunk)
			fail("a write chunk and a reply chunk were offered");
		take_segment(server, &at);
		has_chunk = true;
	}
	if (!has_chunk)
		fail("the Call offers no chunk");
	server->call = mpa->send.data + at;
	server->call_len = mpa->send.len - at;
}

static void put_chunk(struct buf *out, const struct segment *chunk, uint32_t len)
{
	buf_u32(out, 1);
	buf_u32(out, 1);
	buf_u32(out, chunk->stag);
	buf_u32(out, len);
	buf_u64(out, chunk->to);
}

static void send_reply(struct server *server, uint32_t xid, uint32_t claimed,
		       const struct buf *inline_part)
{
	struct buf out = {0};

	buf_u32(&out, xid);
	buf_u32(&out, 1);
	buf_u32(&out, 16);
	buf_u32(&out, server->is_read ? RDMA_MSG : RDMA_NOMSG);
	buf_u32(&out, 0);
	/* The write list, then the reply chunk: one of them has the chunk. */
	if (server->is_read) {
		put_chunk(&out, &server->chunk, claimed);
		buf_words(&out, 2, 0);
	} else {
		buf_u32(&out, 0);
		put_chunk(&out, &server->chunk, claimed);
	}
	if (inline_part)
		buf_put(&out, inline_part->data, inline_part->len);
	mpa_send(&server->mpa, &out);
	buf_free(&out);
}

/*
 * Between two Calls with a reply chunk the memory was another service's. That of a write chunk is
 * of a class of its own: it may hold what was read last by the same client.
 */
static void expect(struct server *server, size_t len)
{
	struct buf *expected = &server->expected[server->is_read];

	if (server->is_read && expected->len == len)
		return;
	expected->len = 0;
	for (size_t i = 0; i < len; i += 4)
		buf_u32(expected, 0);
	expected->len = len;
}

static void write_reply(struct server *server, const struct buf *data)
{
	expect(server, data->len);
	if (server->lie)
		server->lie->write(server, data->data, data->len);
	else
		write_part(server, data->data, 0, data->len);
}

/* The results of a READ of all requested bytes, except its data. */
static void answer_read(struct server *server, uint32_t xid)
{
	struct buf data = {0}, around = {0};

	pattern_put(&data, xid, READ_BYTES);
	reply_begin(&around, xid, ACCEPT_SUCCESS);
	buf_words(&around, 2, 0);
	buf_u32(&around, READ_BYTES);
	buf_u32(&around, 0);
	buf_u32(&around, READ_BYTES);
	write_reply(server, &data);
	send_reply(server, xid, READ_BYTES, &around);
	buf_free(&data);
	buf_free(&around);
}

static void answer(struct mpa *mpa)
{
	struct server *server = mpa->arg;
	struct buf reply = {0};
	struct message call;

	take_call(server);
	if (!message_parse(&call, server->call, server->call_len) || call.type != MSG_CALL)
		fail("the server got no Call");
	if (server->is_read) {
		answer_read(server, call.xid);
		return;
	}
	echo_reply(&reply, &call);
	write_reply(server, &reply);
	send_reply(server, call.xid, (uint32_t)reply.len, NULL);
	buf_free(&reply);
}

static struct server server;

static void accepted(struct conn *conn)
{
	mpa_accept(&server.mpa, conn);
	server.mpa.received = answer;
	server.mpa.arg = &server;
}

/* ---- the client ---- */

struct client {
	struct conn *conn;
	struct buf data;
	struct message reply;
	bool replied;
};

static void received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct client *client = conn->arg;

	client->data.len = 0;
	buf_put(&client->data, data, len);
	if (!message_parse(&client->reply, client->data.data, client->data.len))
		fail("the client got nonsense");
	client->replied = true;
}

static bool settled(void *arg)
{
	struct client *client = arg;

	return client->replied || client->conn->closed;
}

static void read_call(struct buf *call, uint32_t xid)
{
	call_begin(call, xid, NFS_PROGRAM, 3, NFS3_READ, AUTH_NONE);
	buf_opaque(call, "a file's handle.", 16);
	buf_u64(call, 0);
	buf_u32(call, READ_BYTES);
}

static void ask(struct net *net, struct client *client, uint32_t xid, bool is_read)
{
	struct buf call = {0};

	if (is_read)
		read_call(&call, xid);
	else
		echo_call(&call, TEST_PROGRAM, xid, 100, LYING_BYTES);
	client->replied = false;
	conn_send_record(client->conn, call.data, call.len);
	buf_free(&call);
	if (!net_run_until(net, settled, client, WAIT_S) || client->conn->closed)
		fail("%s: no Reply comes of it", server.lie ? server.lie->name : "the truth");
}

/* The data of the READ are the right ones. */
static bool read_check(const struct message *reply, uint32_t xid)
{
	return reply->accepted && reply->accept_stat == ACCEPT_SUCCESS &&
	       reply->body_len == 20 + READ_BYTES && pattern_is(reply->body + 20, READ_BYTES, xid);
}

static void be_told_the_truth(struct net *net, struct client *client, uint32_t xid, bool is_read)
{
	server.lie = NULL;
	ask(net, client, xid, is_read);
	if (is_read ? !read_check(&client->reply, xid) : !echo_check(&client->reply, LYING_BYTES))
		fail("a true Reply came wrong");
}

/* Unwritten bytes are zero, or as expected. */
static bool is_nobody_elses(const struct client *client, bool is_read)
{
	const struct buf *expected = &server.expected[is_read], *got = &client->data;
	size_t at = is_read ? got->len - READ_BYTES : 0;

	if (got->len < expected->len || got->len - at != expected->len)
		return false;
	for (size_t i = 0; i < expected->len; i++)
		if (got->data[at + i] && got->data[at + i] != expected->data[i])
			return false;
	return true;
}

/* Returns whether more of the lie reached the client than may. */
static bool be_lied_to(struct net *net, struct client *client, uint32_t xid, unsigned which,
		       bool is_read)
{
	bool failed;

	server.lie = &lies[which];
	ask(net, client, xid, is_read);
	failed = client->reply.accepted && client->reply.accept_stat == ACCEPT_SYSTEM_ERR;
	if (server.on_verbs ? is_nobody_elses(client, is_read) : failed)
		return false;
	fprintf(stderr, "%s of %s: %zu bytes of results reached the client\n", server.lie->name,
		is_read ? "a write chunk" : "a reply chunk", client->reply.body_len);
	return true;
}

int scenario_lying(const struct ports *ports, int argc, char **argv)
{
	struct echo_server honest = {0};
	struct echo_client neighbour = {
		.calls = 1, .window = 1, .args_len = 100, .reply_len = HONEST_BYTES};
	struct client client = {0};
	unsigned calls, believed = 0;
	uint32_t xid = 0x1000;
	struct net net;

	if (argc < 2)
		fail("lying wants PORT CALLS [ADDRESS]");
	calls = (unsigned)atoi(argv[1]);
	server.on_verbs = argc > 2;
	net_init(&net);
	echo_server_listen(&net, ports->back, &honest);
	net_listen_at(&net, argc > 2 ? ntohl(inet_addr(argv[2])) : NET_LOOPBACK, ports->upstream,
		      accepted, NULL);
	echo_client_start(&net, &neighbour, ports->front);
	client.conn = net_connect(&net, (uint16_t)atoi(argv[0]), 0, 0);
	client.conn->received = received;
	client.conn->arg = &client;
	for (unsigned i = 0; i < calls; i++) {
		bool is_read = i % 2;

		/* Its Reply stays in the memory that the next one is to come to. */
		echo_client_ask(&net, &neighbour, "before a lie");
		be_told_the_truth(&net, &client, xid++, is_read);
		echo_client_ask(&net, &neighbour, "before a lie");
		believed += be_lied_to(&net, &client, xid++, i / 2 % LIES, is_read);
	}
	be_told_the_truth(&net, &client, xid, false);
	echo_client_ask(&net, &neighbour, "at the end");
	printf("%u of %u lies brought a client what nobody had sent it\n", believed, calls);
	conn_free(client.conn, false);
	buf_free(&client.data);
	buf_free(&server.expected[0]);
	buf_free(&server.expected[1]);
	net_free(&net);
	return believed > 0;
}
