// SPDX-License-Identifier: BSD-3-Clause
/* TCP clients send nonsense, next to a conforming client that must not be affected. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "tests/e2e/echo.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S 20
#define SEEDS  20

enum outcome {
	CLOSED,   /* the connection is closed */
	ANSWERED, /* the Call is answered like any other */
	DENIED,   /* the Call is denied, for AUTH_ERROR */
	HELD,     /* nothing happens, and the connection stays */
};

struct guest {
	struct conn *conn;
	struct buf reply;
	bool replied;
};

static void guest_received(struct conn *conn, const uint8_t *data, size_t len)
{
	struct guest *guest = conn->arg;

	buf_put(&guest->reply, data, len);
	guest->replied = true;
}

static bool guest_settled(void *arg)
{
	struct guest *guest = arg;

	return guest->conn->closed || guest->replied;
}

static void put_random(struct buf *out, unsigned seed)
{
	pattern_put(out, seed * 7919u, 65536);
}

static void put_too_long(struct buf *out, unsigned seed)
{
	buf_u32(out, 0xffffffffu);
	pattern_put(out, seed, 4096);
}

static void put_too_long_in_sum(struct buf *out, unsigned seed)
{
	for (int i = 0; i < 64; i++) {
		buf_u32(out, 65536);
		pattern_put(out, seed, 65536);
	}
}

static void put_http(struct buf *out, unsigned seed)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: example.net\r\n\r\n";

	buf_put(out, request, strlen(request));
}

static void put_short_call(struct buf *out, unsigned seed)
{
	buf_u32(out, 0x80000000u | 12);
	buf_u32(out, 1);
	buf_u32(out, MSG_CALL);
	buf_u32(out, 2);
}

static void put_empty_record(struct buf *out, unsigned seed)
{
	buf_u32(out, 0x80000000u);
}

static void put_bad_type(struct buf *out, unsigned seed)
{
	buf_u32(out, 0x80000000u | 64);
	buf_u32(out, 1);
	buf_u32(out, 2);
	pattern_put(out, seed, 56);
}

static void put_endless_credential(struct buf *out, unsigned seed)
{
	buf_u32(out, 0x80000000u | 48);
	buf_u32(out, 1);
	buf_u32(out, MSG_CALL);
	buf_u32(out, 2);
	buf_u32(out, TEST_PROGRAM);
	buf_u32(out, 1);
	buf_u32(out, 1);
	buf_u32(out, AUTH_SYS);
	buf_u32(out, 0xffffffffu);
	pattern_put(out, seed, 16);
}

static void put_reply_to_nothing(struct buf *out, unsigned seed)
{
	struct buf reply = {0};

	reply_begin(&reply, 0xdeadbeef, ACCEPT_SUCCESS);
	buf_u32(out, 0x80000000u | (uint32_t)reply.len);
	buf_put(out, reply.data, reply.len);
	buf_free(&reply);
}

static void put_tls_probe(struct buf *out, unsigned seed)
{
	struct buf call = {0};

	call_begin(&call, 7, NFS_PROGRAM, 3, 0, AUTH_TLS);
	buf_u32(out, 0x80000000u | (uint32_t)call.len);
	buf_put(out, call.data, call.len);
	buf_free(&call);
}

/* A Call in fragments of one byte, the first ones with empty ones between them. */
static void put_crumbs(struct buf *out, unsigned seed)
{
	struct buf call = {0};

	echo_call(&call, TEST_PROGRAM, 5, 64, 64);
	for (size_t i = 0; i < call.len; i++) {
		if (i < 4)
			buf_u32(out, 0);
		buf_u32(out, 1);
		buf_put(out, call.data + i, 1);
	}
	buf_u32(out, 0x80000000u);
	buf_free(&call);
}

static void put_half_a_record(struct buf *out, unsigned seed)
{
	struct buf call = {0};

	echo_call(&call, TEST_PROGRAM, 5, 100000, 64);
	buf_u32(out, 0x80000000u | (uint32_t)call.len);
	buf_put(out, call.data, call.len / 2);
	buf_free(&call);
}

static void put_half_a_mark(struct buf *out, unsigned seed)
{
	buf_put(out, "\x80\x00", 2);
}

static void put_nothing(struct buf *out, unsigned seed)
{
}

static const struct kind {
	const char *name;
	void (*put)(struct buf *out, unsigned seed);
	enum outcome outcome;
} kinds[] = {
	{"a record of 2 GiB", put_too_long, CLOSED},
	{"fragments that sum up to more than a record may hold", put_too_long_in_sum, CLOSED},
	{"an HTTP request", put_http, CLOSED},
	{"a Call without an end", put_short_call, CLOSED},
	{"an empty record", put_empty_record, CLOSED},
	{"a message that is neither Call nor Reply", put_bad_type, CLOSED},
	{"a credential longer than the message", put_endless_credential, DENIED},
	{"a Reply to nothing", put_reply_to_nothing, HELD},
	{"AUTH_TLS", put_tls_probe, DENIED},
	{"a Call in crumbs", put_crumbs, ANSWERED},
	{"half a record", put_half_a_record, HELD},
	{"half a record mark", put_half_a_mark, HELD},
	{"nothing", put_nothing, HELD},
};

static void guest_send(struct net *net, struct guest *guest, uint16_t port,
		       void (*put)(struct buf *, unsigned), unsigned seed)
{
	struct buf out = {0};

	memset(guest, 0, sizeof(*guest));
	guest->conn = net_connect(net, port, 0, 0);
	guest->conn->received = guest_received;
	guest->conn->arg = guest;
	put(&out, seed);
	conn_send(guest->conn, out.data, out.len);
	buf_free(&out);
}

static void guest_leave(struct guest *guest, bool reset)
{
	conn_free(guest->conn, reset);
	buf_free(&guest->reply);
}

static void try_kind(struct net *net, uint16_t port, const struct kind *kind,
		     struct echo_client *good)
{
	struct message reply = {0};
	struct guest guest;

	guest_send(net, &guest, port, kind->put, 1);
	if (kind->outcome == HELD) {
		while (guest.conn->out.len)
			net_turn(net, 10);
		echo_client_ask(net, good, kind->name);
		if (guest_settled(&guest))
			fail("%s: was not waited for", kind->name);
	} else if (!net_run_until(net, guest_settled, &guest, WAIT_S)) {
		fail("%s: nothing comes of it", kind->name);
	} else if (kind->outcome == CLOSED && !guest.conn->closed) {
		fail("%s: answered", kind->name);
	} else if (kind->outcome != CLOSED && !guest.replied) {
		fail("%s: closed", kind->name);
	}
	if (guest.replied && !message_parse(&reply, guest.reply.data, guest.reply.len))
		fail("%s: answered with nonsense", kind->name);
	if (kind->outcome == DENIED && (reply.accepted || reply.reject_stat != 1))
		fail("%s: is not denied", kind->name);
	if (kind->outcome == ANSWERED && !echo_check(&reply, 64))
		fail("%s: a wrong answer", kind->name);
	guest_leave(&guest, kind->outcome == HELD);
	echo_client_ask(net, good, kind->name);
	printf("%s\n", kind->name);
}

/* Random bytes: whatever happens to them, other clients are not affected. */
static void try_random(struct net *net, uint16_t port, struct echo_client *good)
{
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct guest guest;

		guest_send(net, &guest, port, put_random, seed);
		echo_client_ask(net, good, "random bytes");
		guest_leave(&guest, seed & 1);
	}
}

/* Guests that come and go without a word. */
static void try_crowd(struct net *net, uint16_t port, struct echo_client *good)
{
	for (unsigned i = 0; i < 200; i++) {
		struct guest guest;

		guest_send(net, &guest, port, put_nothing, 0);
		guest_leave(&guest, i & 1);
	}
	echo_client_ask(net, good, "200 guests without a word");
}

int scenario_garbage(const struct ports *ports, int argc, char **argv)
{
	struct echo_client good = {.xid_base = 0x100, .args_len = 6000, .reply_len = 6000};
	struct echo_server server = {0};
	struct net net;

	net_init(&net);
	echo_server_listen(&net, ports->back, &server);
	echo_client_start(&net, &good, ports->front);
	echo_client_ask(&net, &good, "before anything");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		try_kind(&net, ports->front, &kinds[i], &good);
	try_random(&net, ports->front, &good);
	try_crowd(&net, ports->front, &good);
	net_free(&net);
	return 0;
}
