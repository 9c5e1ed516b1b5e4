// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests read chunks in place of payloads (A3.4-4). Chunks of the payload's length pass, with or
 * without its XDR padding. Others are answered GARBAGE_ARGS and never reach the server. Chunks at
 * other positions are answered ERR_CHUNK, unless strict_chunks is off or the program is unknown:
 * then they pass unchanged.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/nfs/spec.h"
#include "tests/sim/raw.h"

#define NFS   100003u
#define SATTR "0 0 0 0 0 0 "
#define ROOM  8192u
#define END   (-1) /* of a list of segments */

enum outcome { PASSES, PASSES_WITH_REST, REFUSED, MISPLACED };

/* A chunk that takes the place of some bytes of the message. */
struct moved {
	uint32_t position, bytes; /* with their pad */
	int32_t segments[4];
};

/* A Call, and how long each segment is that stands for a payload of its own. */
static const struct given {
	uint32_t vers, proc;
	const char *args;
	int32_t segments[2][4];
	enum outcome outcome;
} givens[] = {
	{3, 7, "o:28 q0 4096 2 d:4096", {{4096, END}}, PASSES},
	{3, 7, "o:28 q0 4096 2 d:4096", {{4095, END}}, REFUSED},
	{3, 7, "o:28 q0 4096 2 d:4096", {{4092, END}}, REFUSED},
	{3, 7, "o:28 q0 4096 2 d:4096", {{4100, END}}, REFUSED},
	{3, 7, "o:28 q0 4096 2 d:4096", {{2000, 2096, END}}, PASSES},
	{3, 7, "o:28 q0 4096 2 d:4096", {{1, 2, 4093, END}}, PASSES},
	{3, 7, "o:28 q0 4096 2 d:4096", {{4096, 0, END}}, PASSES},
	{3, 7, "o:28 q0 4096 2 d:4096", {{2000, 2095, END}}, REFUSED},
	{3, 7, "o:28 q0 4096 2 d:4096", {{4096, 4, END}}, REFUSED},
	{3, 7, "o:28 q0 4096 2 d:4096", {{0, END}}, REFUSED},
	{3, 7, "o:28 q0 4094 2 d:4094", {{4094, END}}, PASSES},
	{3, 7, "o:28 q0 4094 2 d:4094", {{4096, END}}, PASSES},
	{3, 7, "o:28 q0 4094 2 d:4094", {{4095, END}}, REFUSED},
	{3, 7, "o:28 q0 4094 2 d:4094", {{4093, END}}, REFUSED},
	{3, 7, "o:28 q0 4094 2 d:4094", {{4098, END}}, REFUSED},
	{3, 7, "o:28 q0 0 2 d:0", {{0, END}}, PASSES},
	{3, 7, "o:28 q0 0 2 d:0", {{4, END}}, REFUSED},
	{2, 8, "x:32 0 0 100 d:100", {{100, END}}, PASSES},
	{2, 8, "x:32 0 0 100 d:100", {{96, END}}, REFUSED},
	{3, 10, "o:28 o:5 " SATTR "d:10", {{10, END}}, PASSES},
	{3, 10, "o:28 o:5 " SATTR "d:10", {{12, END}}, PASSES},
	{3, 10, "o:28 o:5 " SATTR "d:10", {{11, END}}, REFUSED},
	{3, 10, "o:28 o:5 " SATTR "d:10", {{16, END}}, REFUSED},
	/* PUTFH, WRITE, WRITE, GETATTR. */
	{4,
	 1,
	 "o:6 1 4 22 o:32 38 1 x:12 q0 2 d:1000 38 1 x:12 q9 2 d:3002 9 w:1*0x10",
	 {{1000, END}, {3002, END}},
	 PASSES},
	{4,
	 1,
	 "o:6 1 4 22 o:32 38 1 x:12 q0 2 d:1000 38 1 x:12 q9 2 d:3002 9 w:1*0x10",
	 {{1000, END}, {3000, 4, END}},
	 PASSES},
	{4,
	 1,
	 "o:6 1 4 22 o:32 38 1 x:12 q0 2 d:1000 38 1 x:12 q9 2 d:3002 9 w:1*0x10",
	 {{1000, END}, {3003, END}},
	 REFUSED},
	{4,
	 1,
	 "o:6 1 4 22 o:32 38 1 x:12 q0 2 d:1000 38 1 x:12 q9 2 d:3002 9 w:1*0x10",
	 {{999, END}, {3002, END}},
	 REFUSED},
	{4,
	 1,
	 "o:6 1 4 22 o:32 38 1 x:12 q0 2 d:1000 38 1 x:12 q9 2 d:3002 9 w:1*0x10",
	 {{996, END}, {3002, END}},
	 REFUSED},
	{4,
	 1,
	 "o:6 1 4 22 o:32 38 1 x:12 q0 2 d:1000 38 1 x:12 q9 2 d:3002 9 w:1*0x10",
	 {{1004, END}, {3002, END}},
	 REFUSED},
	/* PUTFH, WRITE, GETATTR: all from the data on in the chunk, as Linux sent it before 4.7. */
	{4,
	 1,
	 "o:6 1 3 22 o:32 38 1 x:12 q0 2 d:1002 9 w:1*0x10",
	 {{1002, 2, 12, END}},
	 PASSES_WITH_REST},
	{4, 1, "o:6 1 3 22 o:32 38 1 x:12 q0 2 d:1002 9 w:1*0x10", {{1016, END}}, PASSES_WITH_REST},
	/* The same of a COMPOUND that ends with the WRITE. */
	{4, 1, "o:6 1 2 22 o:32 38 1 x:12 q0 2 d:1002", {{1016, END}}, REFUSED},
	/* CREATE of a link. */
	{4, 1, "o:6 0 2 22 o:32 6 5 d:11 o:4 w:1*0 o:7", {{11, END}}, PASSES},
	{4, 1, "o:6 0 2 22 o:32 6 5 d:11 o:4 w:1*0 o:7", {{10, END}}, REFUSED},
	/* The name of a LOOKUP, the handle of a GETATTR, the verifier of a CREATE. */
	{3, 3, "o:28 d:200", {{200, END}}, MISPLACED},
	{3, 3, "o:28 d:199", {{199, END}}, MISPLACED},
	{3, 3, "o:28 d:0", {{0, END}}, MISPLACED},
	{3, 1, "d:28", {{28, END}}, MISPLACED},
	{2, 4, "x:32 d:20", {{20, END}}, MISPLACED},
	/* The handle of a WRITE, its data at the right position or inline. */
	{3, 7, "d:28 q0 1000 2 d:1000", {{28, END}, {1000, END}}, MISPLACED},
	{3, 7, "d:28 q0 1000 2 o:1000", {{28, END}}, MISPLACED},
	/* The name of a SYMLINK, with the path or without. */
	{3, 10, "o:28 d:5 " SATTR "d:10", {{5, END}, {10, END}}, MISPLACED},
	{3, 10, "o:28 d:5 " SATTR "o:10", {{5, END}}, MISPLACED},
	/* PUTFH, LOOKUP, GETATTR; PUTFH, WRITE, LOOKUP. */
	{4, 1, "o:6 1 3 22 o:32 15 d:100 9 w:1*0x10", {{100, END}}, MISPLACED},
	{4, 1, "d:6 1 3 22 o:32 15 o:100 9 w:1*0x10", {{6, END}}, MISPLACED},
	{4,
	 1,
	 "o:6 1 3 22 o:32 38 1 x:12 q0 2 d:1000 15 d:100",
	 {{1000, END}, {100, END}},
	 MISPLACED},
	{4, 1, "o:6 1 3 22 o:32 38 1 x:12 q0 2 o:1000 15 d:100", {{100, END}}, MISPLACED},
	/* SETXATTR. */
	{4, 1, "o:6 2 2 22 o:32 73 0 o:8 d:2000", {{2000, END}}, MISPLACED},
};

static struct rig *rig;
static struct raw *raw;
static struct nfs_msg *call;
static struct spec_items items;
static unsigned passed;
static struct rpcrdma_header hdr;
static uint8_t inline_bytes[ROOM];
static uint32_t ninline;

static void serve(struct rig_side *side, struct exchange *x)
{
	passed++;
	ck_assert_int_eq(rpc_msg_get(side->rig->pool, RPC_ERROR_REPLY_BYTES, &x->reply), 0);
	x->reply.len_bytes = x->reply.have_bytes =
		(uint32_t)rpc_encode_accepted(x->reply.data, x->call_info.hdr.xid, RPC_SUCCESS);
	ck_assert_uint_eq(x->call.len_bytes, nfs_msg_len(call));
	ck_assert_mem_eq(x->call.data, nfs_msg_bytes(call), x->call.len_bytes);
	leg_reply(side->leg, x);
}

static void open_server(bool strict)
{
	static const uint8_t pd_16384[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 0, 15, 15};

	rig = rig_new(NULL);
	rig->server.on_call = serve;
	rig->server.config.strict_chunks = strict;
	raw = raw_open_client(rig, pd_16384, sizeof(pd_16384));
	passed = 0;
}

static void setup(void)
{
	open_server(true);
}

static void setup_lax(void)
{
	open_server(false);
}

static void teardown(void)
{
	nfs_msg_free(call);
	raw_free(raw);
	rig_end(rig);
}

static void make_call(uint32_t vers, uint32_t proc, const struct nfs_msg_auth *auth,
		      const char *args)
{
	call = nfs_msg_call(NFS, vers, proc, auth);
	items.count = 0;
	spec_put(call, args, &items);
	rpcrdma_header_init(&hdr, be32_get(nfs_msg_bytes(call)), RPCRDMA_VERSION_ONE, 32,
			    RPCRDMA_MSG);
	ninline = 0;
}

static void stay(uint32_t from, uint32_t to)
{
	memcpy(inline_bytes + ninline, nfs_msg_bytes(call) + from, to - from);
	ninline += to - from;
}

static void mem_expose_segment(uint32_t position, const uint8_t *bytes, uint32_t len)
{
	/* Of no bytes there is no key. */
	struct rpcrdma_segment seg = {0x1234, 0, 0};

	if (len)
		seg = raw_segment(raw_lend(raw, bytes, len, FABRIC_REMOTE_READ));
	hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){position, seg};
}

/* Leaves bytes of the message out, and offers segments of them, which may be more or fewer. */
static void move(const struct moved *moved)
{
	uint8_t bytes[ROOM] = {0};
	uint32_t at = 0;

	memcpy(bytes, nfs_msg_bytes(call) + moved->position, moved->bytes);
	for (const int32_t *len = moved->segments; *len != END; len++) {
		mem_expose_segment(moved->position, bytes + at, (uint32_t)*len);
		at += (uint32_t)*len;
	}
}

static void make_given(const struct given *given)
{
	uint32_t at = 0;

	make_call(given->vers, given->proc, NULL, given->args);
	for (unsigned i = 0; i < items.count; i++) {
		struct moved moved = {.position = items.list[i].offset_bytes,
				      .bytes = xdr_padded_bytes(items.list[i].len_bytes)};

		if (given->outcome == PASSES_WITH_REST)
			moved.bytes = nfs_msg_len(call) - moved.position;
		memcpy(moved.segments, given->segments[i], sizeof(moved.segments));
		stay(at, moved.position);
		move(&moved);
		at = moved.position + moved.bytes;
	}
	stay(at, nfs_msg_len(call));
}

static void send_made(bool nomsg)
{
	if (nomsg) {
		hdr.proc = RPCRDMA_NOMSG;
		mem_expose_segment(0, inline_bytes, ninline);
	}
	raw_send_header(raw, &hdr, inline_bytes, nomsg ? 0 : ninline);
}

/* The one Reply, without results. */
static void expect_answer(enum rpc_accept_stat stat)
{
	uint8_t want[RPC_ERROR_REPLY_BYTES];
	const uint8_t *body;
	uint32_t len;

	raw_next_header(raw, &hdr, &body, &len);
	ck_assert_int_eq(hdr.proc, RPCRDMA_MSG);
	ck_assert_uint_eq(len, rpc_encode_accepted(want, hdr.xid, stat));
	ck_assert_mem_eq(body, want, len);
	ck_assert_ptr_null(raw_next(raw));
}

static void expect_passed(void)
{
	expect_answer(RPC_SUCCESS);
	ck_assert_uint_eq(passed, 1);
	ck_assert_uint_eq(rig->server.counters.chunk_mismatches, 0);
	ck_assert_uint_eq(rig->server.notes, 0);
}

static void expect_misplaced(void)
{
	raw_expect_error(raw, hdr.xid, RPCRDMA_ERR_CHUNK);
	ck_assert_ptr_null(raw_next(raw));
	ck_assert_uint_eq(passed, 0);
	ck_assert_uint_eq(rig->server.counters.chunks_misplaced, 1);
	ck_assert_uint_eq(rig->server.counters.chunk_mismatches, 0);
	ck_assert_uint_eq(rig->server.notes, 1);
}

static void expect_refused(void)
{
	expect_answer(RPC_GARBAGE_ARGS);
	ck_assert_uint_eq(passed, 0);
	ck_assert_uint_eq(rig->server.counters.chunk_mismatches, 1);
	ck_assert_uint_eq(rig->server.notes, 1);
}

static void play(const struct given *given, bool nomsg)
{
	make_given(given);
	send_made(nomsg);
	if (given->outcome == REFUSED)
		expect_refused();
	else if (given->outcome == MISPLACED && rig->server.config.strict_chunks)
		expect_misplaced();
	else
		expect_passed();
}

START_TEST(a_chunk_is_as_long_as_its_payload)
{
	play(&givens[_i], false);
	/* A rejected Call is rejected before anything is Read. */
	if (givens[_i].outcome == REFUSED || givens[_i].outcome == MISPLACED)
		ck_assert_uint_eq(rig->server.counters.read_chunk_bytes_pulled, 0);
}
END_TEST

START_TEST(so_it_is_behind_a_chunk_at_position_zero)
{
	play(&givens[_i], true);
}
END_TEST

START_TEST(the_connection_goes_on_after_a_refusal)
{
	play(&givens[1], _i);
	nfs_msg_free(call);
	make_given(&givens[0]);
	send_made(!_i);
	expect_answer(RPC_SUCCESS);
	ck_assert_uint_eq(passed, 1);
}
END_TEST

/* As old clients send them; each must be as long as what is there says. */
START_TEST(strict_chunks_off_takes_misplaced_chunks_too)
{
	play(&givens[_i], false);
}
END_TEST

/* A chunk that holds more than a payload, its length too, and one within a payload. */
static void send_elsewhere(bool within, bool nomsg)
{
	struct moved moved = {.segments = {200, END}};

	make_call(3, 7, NULL, "o:28 q0 200 2 d:200");
	moved.position = items.list[0].offset_bytes;
	if (within) {
		moved.position += 100;
		moved.bytes = moved.segments[0] = 100;
	} else {
		moved.position -= 4;
		moved.bytes = moved.segments[0] = 204;
	}
	stay(0, moved.position);
	move(&moved);
	send_made(nomsg);
}

START_TEST(chunks_next_to_a_payload_are_misplaced)
{
	send_elsewhere(_i % 2, _i / 2);
	expect_misplaced();
}
END_TEST

START_TEST(chunks_next_to_a_payload_pass_without_strict_chunks)
{
	send_elsewhere(_i % 2, _i / 2);
	expect_passed();
}
END_TEST

/* In the credential, which is decoded when all of the Call is here. */
START_TEST(a_chunk_in_the_header_is_misplaced)
{
	static const struct nfs_msg_auth sys = {.flavor = RPC_AUTH_SYS};
	struct moved moved = {.position = 32, .segments = {8, END}, .bytes = 8};

	make_call(3, 0, &sys, "");
	stay(0, moved.position);
	move(&moved);
	stay(moved.position + moved.bytes, nfs_msg_len(call));
	send_made(_i);
	expect_misplaced();
}
END_TEST

static void send_protected(bool nomsg)
{
	static const struct nfs_msg_auth krb5i = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_INTEGRITY, 0};
	struct moved moved = {.segments = {96, END}, .bytes = 96};

	make_call(3, 7, &krb5i, "52 1 o:28 q0 100 2 d:100");
	moved.position = items.list[0].offset_bytes;
	stay(0, moved.position);
	move(&moved);
	stay(moved.position + moved.bytes, nfs_msg_len(call));
	send_made(nomsg);
}

/* Nothing of these may move (RFC 8166 section 8.2.2.3). */
START_TEST(chunks_of_protected_arguments_are_misplaced)
{
	send_protected(_i);
	expect_misplaced();
}
END_TEST

START_TEST(protected_calls_with_chunks_pass_without_strict_chunks)
{
	send_protected(_i);
	expect_passed();
}
END_TEST

/* What a chunk of the last three bytes is in a Call of other programs. */
static const struct other {
	uint32_t prog, vers, proc;
	bool misplaced;
} others[] = {
	{0x20000099, 3, 7, false}, {100003, 5, 7, false}, /* no such version */
	{100003, 3, 30, false},                           /* no such procedure */
	{100005, 3, 1, false},                            /* MOUNT has no binding */
	{100021, 4, 2, false},                            /* nor has NLM */
	{100227, 3, 2, true},                             /* SETACL, of which nothing may move */
	{0x40000000, 1, 0, true},                         /* callbacks, the same */
	{100003, 3, 6, true},                             /* READ */
};

START_TEST(chunks_pass_of_programs_without_a_known_binding)
{
	const struct other *other = &others[_i / 2];
	struct moved moved = {.segments = {3, END}, .bytes = 4};

	make_call(other->vers, other->proc, NULL, "o:28 q0 3 2 d:3");
	be32_put((uint8_t *)nfs_msg_bytes(call) + 12, other->prog);
	moved.position = items.list[0].offset_bytes;
	stay(0, moved.position);
	move(&moved);
	send_made(_i % 2);
	if (other->misplaced)
		expect_misplaced();
	else
		expect_passed();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("responder_chunks");
	TCase *tc = tcase_create("chunks"), *lax = tcase_create("strict_chunks off");
	const int ngivens = ARRAY_SIZE(givens);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_checked_fixture(lax, setup_lax, teardown);
	tcase_add_loop_test(tc, a_chunk_is_as_long_as_its_payload, 0, ngivens);
	tcase_add_loop_test(tc, so_it_is_behind_a_chunk_at_position_zero, 0, ngivens);
	tcase_add_loop_test(tc, the_connection_goes_on_after_a_refusal, 0, 2);
	tcase_add_loop_test(lax, strict_chunks_off_takes_misplaced_chunks_too, 0, ngivens);
	tcase_add_loop_test(tc, chunks_next_to_a_payload_are_misplaced, 0, 4);
	tcase_add_loop_test(lax, chunks_next_to_a_payload_pass_without_strict_chunks, 0, 4);
	tcase_add_loop_test(tc, a_chunk_in_the_header_is_misplaced, 0, 2);
	tcase_add_loop_test(tc, chunks_of_protected_arguments_are_misplaced, 0, 2);
	tcase_add_loop_test(lax, protected_calls_with_chunks_pass_without_strict_chunks, 0, 2);
	tcase_add_loop_test(tc, chunks_pass_of_programs_without_a_known_binding, 0,
			    2 * (int)ARRAY_SIZE(others));
	suite_add_tcase(suite, tc);
	suite_add_tcase(suite, lax);
	return test_main(suite);
}
