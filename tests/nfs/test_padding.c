// SPDX-License-Identifier: BSD-3-Clause
/* Tests the padding of RDMA_MSGP: its places, and that removing it restores the message. */
#include "rpcrdma/draft03/msgp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/random.h"
#include "tests/lib/test.h"
#include "tests/nfs/compounds.h"
#include "tests/nfs/look.h"
#include "tests/nfs/pads.h"
#include "tests/nfs/rows.h"

#define LIMIT      (64u * 1024 * 1024 + 65536)
#define HDR_BYTES  36u
#define COMPOUNDS  200u
#define MAX_PIECES 65u

static struct rpcrdma_header hdr;

static void begin(uint32_t align, uint32_t thresh)
{
	rpcrdma_header_init(&hdr, 7, RPCRDMA_VERSION_ONE, 1, RPCRDMA_MSGP);
	hdr.align = align;
	hdr.thresh = thresh;
	hdr.body_offset = HDR_BYTES;
}

/* ---- by hand ---- */

/* A WRITE of NFSv3 with a handle of 4 bytes, which begin at 44, and 5 bytes of data, at 68. */
static const uint8_t write_call[] = {
	0, 0, 0, 7, 0, 0, 0,   0,   0,   0,   0, 2,   0,   1,   0x86, 0xa3, 0, 0, 0,
	3, 0, 0, 0, 7, 0, 0,   0,   0,   0,   0, 0,   0,   0,   0,    0,    0, 0, 0,
	0, 0, 0, 0, 0, 4, 'f', 'i', 'l', 'e', 0, 0,   0,   0,   0,    0,    0, 0, 0,
	0, 0, 5, 0, 0, 0, 2,   0,   0,   0,   5, 'h', 'e', 'l', 'l',  'o',  0, 0, 0};

static struct pads_bytes write_with_pads(uint32_t before_handle, uint32_t before_data)
{
	struct pads_bytes out = {0};

	pads_add(&out, write_call, 44);
	pads_add(&out, NULL, before_handle);
	pads_add(&out, write_call + 44, 24);
	pads_add(&out, NULL, before_data);
	pads_add(&out, write_call + 68, 8);
	return out;
}

/* The handle begins at 80 of the Send, the data at 104 and what is before them. */
static const struct {
	uint32_t align, thresh, before_handle, before_data;
} goldens[] = {
	{16, 5, 0, 8},  {16, 4, 0, 8},  {64, 4, 48, 40},    {64, 6, 0, 0},
	{8, 5, 0, 0},   {32, 1, 16, 8}, {4096, 5, 0, 3992}, {4096, 4, 4016, 4072},
	{3, 5, 0, 1},   {3, 4, 1, 0},   {7, 4, 4, 4},       {100, 1, 20, 76},
	{1, 4, 0, 0},   {0, 4, 0, 0},   {4096, 4069, 0, 0}, {0xffffffff, 77, 0, 0},
	{105, 5, 0, 1}, {104, 5, 0, 0}, {103, 5, 0, 102},   {80, 5, 0, 56},
};

static struct padded a_call(const struct pads_bytes *body)
{
	return (struct padded){&hdr, body->at, body->len, true, NULL};
}

START_TEST(pads_are_counted_from_the_begin_of_the_send)
{
	struct pads_bytes body =
		write_with_pads(goldens[_i].before_handle, goldens[_i].before_data);
	const struct padded padded = a_call(&body);
	uint8_t plain[sizeof(write_call)];

	begin(goldens[_i].align, goldens[_i].thresh);
	ck_assert_int_eq(msgp_strip_pads(&padded, NULL), sizeof(write_call));
	ck_assert_int_eq(msgp_strip_pads(&padded, plain), sizeof(write_call));
	ck_assert_mem_eq(plain, write_call, sizeof(write_call));
	free(body.at);
}
END_TEST

START_TEST(the_same_pads_are_put_in)
{
	struct pads_bytes want =
		write_with_pads(goldens[_i].before_handle, goldens[_i].before_data);
	const struct fabric_sge piece = {NULL, (uint8_t *)write_call, sizeof(write_call)};
	const struct msgp_goal goal = {.align = goldens[_i].align,
				       .thresh_bytes = goldens[_i].thresh,
				       .header_bytes = HDR_BYTES,
				       .msg = write_call,
				       .len_bytes = sizeof(write_call),
				       .pieces = &piece,
				       .npieces = 1};
	struct fabric_sge to[MAX_PIECES];
	struct pads_bytes out = {0};
	unsigned n;

	n = msgp_insert_pads(&goal, to, MAX_PIECES);
	ck_assert_uint_eq(n > 0, goal.thresh_bytes <= 5);
	for (unsigned i = 0; i < n; i++)
		pads_add(&out, to[i].addr, to[i].len_bytes);
	if (n)
		ck_assert_uint_eq(out.len, want.len);
	if (n)
		ck_assert_mem_eq(out.at, want.at, want.len);
	free(out.at);
	free(want.at);
}
END_TEST

/* A threshold of zero: also what is empty has pads. */
START_TEST(an_empty_opaque_reaches_a_threshold_of_zero)
{
	struct pads_bytes body = {0};
	uint8_t plain[sizeof(write_call)];
	struct padded padded;

	/*
	 * Credential at 36 + 32 = 68 → 96; verifier at 104 → 128; handle at 132 → 160; data at 184
	 * → 192.
	 */
	pads_add(&body, write_call, 32);
	pads_add(&body, NULL, 28);
	pads_add(&body, write_call + 32, 8);
	pads_add(&body, NULL, 24);
	pads_add(&body, write_call + 40, 4);
	pads_add(&body, NULL, 28);
	pads_add(&body, write_call + 44, 24);
	pads_add(&body, NULL, 8);
	pads_add(&body, write_call + 68, 8);
	begin(32, 0);
	padded = a_call(&body);
	ck_assert_int_eq(msgp_strip_pads(&padded, plain), sizeof(write_call));
	ck_assert_mem_eq(plain, write_call, sizeof(write_call));
	free(body.at);
}
END_TEST

START_TEST(pads_that_reach_behind_the_message_are_not_found)
{
	const uint32_t aligns[] = {1u << 31, 0xffffffff, 0xfffffffe, 4096, 77 + 36};

	for (unsigned i = 0; i < ARRAY_SIZE(aligns); i++) {
		struct pads_bytes body = write_with_pads(0, 0);
		const struct padded padded = a_call(&body);

		begin(aligns[i], 5);
		ck_assert_int_eq(msgp_strip_pads(&padded, NULL), -EBADMSG);
		free(body.at);
	}
}
END_TEST

/* A3.5-5 */
START_TEST(opaques_below_the_threshold_are_not_stripped)
{
	struct pads_bytes body = {0};
	const struct padded *padded;

	pads_add(&body, NULL, 100);
	padded = &(struct padded){&hdr, body.at, body.len, true, NULL};
	begin(64, 101);
	ck_assert_int_eq(msgp_strip_pads(padded, NULL), 100);
	begin(64, 100);
	ck_assert_int_eq(msgp_strip_pads(padded, NULL), -EBADMSG);
	begin(1, 100);
	ck_assert_int_eq(msgp_strip_pads(padded, NULL), 100);
	begin(0, 0);
	ck_assert_int_eq(msgp_strip_pads(padded, NULL), 100);
	free(body.at);
}
END_TEST

/* ---- at random ---- */

/* A message as the RDMA_MSGP of the header. */
static struct pads_bytes pad_by_hand(const struct nfs_msg *msg, const struct spec_items *cut)
{
	const struct pads_how how = {hdr.align, hdr.thresh, hdr.body_offset};

	return pads_put(msg, &how, cut);
}

/* The rest of a message without the parts in chunks. */
static struct pads_bytes reduce(const struct nfs_msg *msg, const struct spec_items *cut)
{
	struct pads_bytes out = {0};
	uint32_t at = 0;

	for (unsigned i = 0; cut && i < cut->count; i++) {
		const struct rpc_payload *item = &cut->list[i];

		pads_add(&out, nfs_msg_bytes(msg) + at, item->offset_bytes - at);
		at = item->offset_bytes + (uint32_t)xdr_padded_bytes(item->len_bytes);
	}
	pads_add(&out, nfs_msg_bytes(msg) + at, nfs_msg_len(msg) - at);
	return out;
}

static uint32_t draw_align(void)
{
	static const uint32_t some[] = {0, 1, 2, 3, 4, 7, 8, 24, 64, 100, 512, 1000, 1023, 4096};

	return some[random_below(ARRAY_SIZE(some))];
}

static uint32_t draw_thresh(void)
{
	static const uint32_t some[] = {0, 1, 2, 4, 5, 6, 9, 16, 28, 32, 64, 255, 1023, 1024, 1025};

	return some[random_below(ARRAY_SIZE(some))];
}

static void check_removed(const char *name, const struct nfs_msg *msg,
			  const struct call_info *call_info, const struct spec_items *cut)
{
	struct pads_bytes body, plain = reduce(msg, cut);
	struct padded padded = {.hdr = &hdr, .is_call = !call_info, .call_info = call_info};
	uint8_t *out;

	hdr.body_offset = HDR_BYTES + 4 * random_below(100);
	body = pad_by_hand(msg, cut);
	/* Where the body is short no pads are looked for, and none were put. */
	if (body.len < hdr.thresh)
		ck_assert_uint_eq(body.len, plain.len);
	padded.body = body.at;
	padded.len_bytes = body.len;
	out = malloc(plain.len);
	ck_assert_msg(msgp_strip_pads(&padded, NULL) == plain.len,
		      "%s: %lld bytes, not %u, align %u, threshold %u", name,
		      (long long)msgp_strip_pads(&padded, NULL), plain.len, hdr.align, hdr.thresh);
	ck_assert(msgp_strip_pads(&padded, out) == plain.len);
	ck_assert_msg(!memcmp(out, plain.at, plain.len), "%s: other bytes, align %u, threshold %u",
		      name, hdr.align, hdr.thresh);
	free(out);
	free(body.at);
	free(plain.at);
}

/* The same message as we would send it: what is not in chunks in pieces. */
static void check_inserted(const char *name, const struct nfs_msg *msg,
			   const struct call_info *call_info, const struct spec_items *cut)
{
	const uint8_t *bytes = nfs_msg_bytes(msg);
	struct fabric_sge pieces[SPEC_MAX_ITEMS + 1], to[MAX_PIECES];
	struct msgp_goal goal = {.align = hdr.align,
				 .thresh_bytes = hdr.thresh ? hdr.thresh : 1,
				 .header_bytes = hdr.body_offset,
				 .msg = bytes,
				 .len_bytes = nfs_msg_len(msg),
				 .call_info = call_info,
				 .pieces = pieces};
	struct pads_bytes want, got = {0};
	uint32_t at = 0;
	unsigned n;

	for (unsigned i = 0; cut && i < cut->count; i++) {
		const struct rpc_payload *item = &cut->list[i];

		pieces[goal.npieces++] =
			(struct fabric_sge){NULL, (uint8_t *)bytes + at, item->offset_bytes - at};
		at = item->offset_bytes + (uint32_t)xdr_padded_bytes(item->len_bytes);
	}
	if (at < nfs_msg_len(msg))
		pieces[goal.npieces++] =
			(struct fabric_sge){NULL, (uint8_t *)bytes + at, nfs_msg_len(msg) - at};
	hdr.thresh = goal.thresh_bytes;
	want = pad_by_hand(msg, cut);
	n = msgp_insert_pads(&goal, to, MAX_PIECES);
	for (unsigned i = 0; i < n; i++)
		pads_add(&got, to[i].addr, to[i].len_bytes);
	if (n)
		ck_assert_msg(got.len == want.len && !memcmp(got.at, want.at, want.len),
			      "%s: other pads, align %u, threshold %u", name, hdr.align,
			      hdr.thresh);
	free(got.at);
	free(want.at);
}

static void check_call(const char *name, const struct row_built *built)
{
	const struct spec_items *items = &built->call_items;

	begin(draw_align(), draw_thresh());
	check_removed(name, built->call, NULL, NULL);
	check_inserted(name, built->call, NULL, NULL);
	if (!items->count)
		return;
	begin(draw_align(), draw_thresh());
	/* In no order (A-Δ7), and in several segments. */
	for (unsigned i = items->count; i-- > 0;) {
		hdr.reads[hdr.nreads++].position = items->list[i].offset_bytes;
		hdr.reads[hdr.nreads++].position = items->list[i].offset_bytes;
	}
	check_removed(name, built->call, NULL, items);
	check_inserted(name, built->call, NULL, items);
}

static void check_reply(const char *name, const struct row_built *built)
{
	const struct look look = look_at_msg(built->call, LIMIT);
	struct spec_items items = {0};
	struct call_info call_info;

	look_whole(&look, &call_info);
	begin(draw_align(), draw_thresh());
	check_removed(name, built->reply, &call_info, NULL);
	check_inserted(name, built->reply, &call_info, NULL);
	if (call_info.results != CALL_RESULTS_MAYBE)
		return;
	begin(draw_align(), draw_thresh());
	for (unsigned i = 0; i < built->reply_items.count; i++) {
		struct rpc_payload item = built->reply_items.list[i];

		if (!item.offset_bytes)
			continue; /* the READ failed: its chunk is the last, and empty */
		/* Every other chunk stays empty, its data inline. */
		hdr.writes[hdr.nwrites++].len_bytes = i % 2 || !item.len_bytes ? 0 : item.len_bytes;
		if (i % 2 == 0 && item.len_bytes)
			items.list[items.count++] = item;
	}
	check_removed(name, built->reply, &call_info, &items);
	check_inserted(name, built->reply, &call_info, &items);
}

static const struct nfs_msg_auth krb5 = {RPC_AUTH_GSS, RPC_GSS_DATA, RPC_GSS_NONE, 28};

START_TEST(every_procedure_and_operation_comes_out_the_same)
{
	random_start();
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++)
			for (unsigned times = 0; times < 6; times++) {
				struct row_built built;

				row_build(&built, row, times % 2 ? &krb5 : NULL);
				check_call(row->name, &built);
				check_reply(row->name, &built);
				row_free(&built);
			}
}
END_TEST

START_TEST(long_compounds_come_out_the_same)
{
	random_start();
	for (uint32_t seed = 0; seed < COMPOUNDS; seed++) {
		struct row_built built;

		compound_build(&built, seed, false);
		check_call("COMPOUND", &built);
		check_reply("COMPOUND", &built);
		row_free(&built);
	}
}
END_TEST

/* ---- what is in chunks ---- */

START_TEST(a_chunk_that_holds_no_opaque_hides_what_follows)
{
	/* Before the data, inside of them, behind them, and at the begin of the message. */
	const uint32_t wrong[] = {64, 72, 76, 0, 36, 1u << 31};

	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct pads_bytes body = write_with_pads(0, 8);
		const struct padded padded = a_call(&body);

		begin(16, 5);
		ck_assert_int_eq(msgp_strip_pads(&padded, NULL), sizeof(write_call));
		hdr.reads[hdr.nreads++].position = wrong[i];
		ck_assert_int_eq(msgp_strip_pads(&padded, NULL), -EBADMSG);
		free(body.at);
	}
}
END_TEST

START_TEST(data_in_a_read_chunk_have_no_pads)
{
	const struct padded padded = {&hdr, write_call, 68, true, NULL};
	uint8_t plain[68];

	begin(16, 5);
	hdr.reads[hdr.nreads++].position = 68;
	ck_assert_int_eq(msgp_strip_pads(&padded, plain), 68);
	ck_assert_mem_eq(plain, write_call, 68);
}
END_TEST

/* ---- what is sent without ---- */

/* A message of this program with opaques of that length. */
static unsigned inserts(uint32_t prog, const char *args, unsigned max)
{
	struct nfs_msg *msg = nfs_msg_call(prog, 3, 10, NULL);
	struct spec_items none = {0};
	struct fabric_sge piece, to[MAX_PIECES];
	struct msgp_goal goal;
	unsigned n;

	spec_put(msg, args, &none);
	piece = (struct fabric_sge){NULL, (uint8_t *)nfs_msg_bytes(msg), nfs_msg_len(msg)};
	goal = (struct msgp_goal){.align = 512,
				  .thresh_bytes = 1024,
				  .header_bytes = HDR_BYTES,
				  .msg = piece.addr,
				  .len_bytes = piece.len_bytes,
				  .pieces = &piece,
				  .npieces = 1};
	n = msgp_insert_pads(&goal, to, max);
	nfs_msg_free(msg);
	return n;
}

#define SYMLINK(name, target) "o:28 o:" #name " 0 0 0 0 0 0 d:" #target

START_TEST(calls_without_a_long_opaque_get_no_padding)
{
	ck_assert_uint_eq(inserts(100003, SYMLINK(9, 1023), MAX_PIECES), 0);
	ck_assert_uint_eq(inserts(100003, SYMLINK(9, 1024), MAX_PIECES), 3);
	ck_assert_uint_eq(inserts(100003, SYMLINK(1024, 1024), MAX_PIECES), 5);
}
END_TEST

START_TEST(calls_that_cannot_be_parsed_get_no_padding)
{
	ck_assert_uint_eq(inserts(200001, SYMLINK(9, 2000), MAX_PIECES), 0);
	ck_assert_uint_eq(inserts(100003, SYMLINK(9, 2000) " 0", MAX_PIECES), 0);
}
END_TEST

START_TEST(calls_with_too_many_pieces_get_no_padding)
{
	ck_assert_uint_eq(inserts(100003, SYMLINK(1024, 1024), 5), 5);
	ck_assert_uint_eq(inserts(100003, SYMLINK(1024, 1024), 4), 0);
	ck_assert_uint_eq(inserts(100003, SYMLINK(1024, 1024), 1), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("padding");
	TCase *tc = tcase_create("padding");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, pads_are_counted_from_the_begin_of_the_send, 0,
			    ARRAY_SIZE(goldens));
	tcase_add_loop_test(tc, the_same_pads_are_put_in, 0, ARRAY_SIZE(goldens));
	tcase_add_test(tc, an_empty_opaque_reaches_a_threshold_of_zero);
	tcase_add_test(tc, pads_that_reach_behind_the_message_are_not_found);
	tcase_add_test(tc, opaques_below_the_threshold_are_not_stripped);
	tcase_add_test(tc, every_procedure_and_operation_comes_out_the_same);
	tcase_add_test(tc, long_compounds_come_out_the_same);
	tcase_add_test(tc, a_chunk_that_holds_no_opaque_hides_what_follows);
	tcase_add_test(tc, data_in_a_read_chunk_have_no_pads);
	tcase_add_test(tc, calls_without_a_long_opaque_get_no_padding);
	tcase_add_test(tc, calls_that_cannot_be_parsed_get_no_padding);
	tcase_add_test(tc, calls_with_too_many_pieces_get_no_padding);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
