// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests, by seed, a peer that obeys the documents and is otherwise hostile, with memory that is
 * exposed and invalidated all the time.
 *
 * The peer sends RDMA Writes and Read Responses in FPDUs of any length. Most are alike, so that the
 * next ones are predicted and received in place, but never for long. Sends come between them and
 * inside of them. With some Sends the owner invalidates memory while the engine has predictions
 * about other memory. Every byte must be where it belongs, and nowhere else.
 */
#include <stdlib.h>
#include <string.h>

#include "base/be_bytes.h"
#include "fabric/iwarp/proto.h"
#include "tests/lib/test.h"
#include "tests/unit/iwarp_hostile.h"

#define SEEDS          20
#define ROUNDS         25u
#define MESSAGES       25u /* in a round, at most */
#define STREAM_BYTES   (8u << 20)
#define ROUND_BYTES    (1u << 20) /* a round has no further message when it is as long as this */
#define MAX_SEND_BYTES 60000u

/* What the peer sent; it is filled by its number. */
struct sent {
	uint32_t len_bytes;
	bool invalidates;
	struct plot *plot; /* to be taken back then, or NULL */
};

static struct iwarp_random dice;
static uint8_t *stream; /* of this round */
static size_t stream_bytes;
static struct sent sends[SIDE_MAX_SENDS];
static unsigned nsends;
static unsigned guesses; /* pieces predicted for exposed memory before their headers */

static void put_fpdu(const uint8_t *header, size_t header_bytes, const uint8_t *payload,
		     uint32_t len_bytes)
{
	static uint8_t ulpdu[MPA_MAX_ULPDU_BYTES];

	memcpy(ulpdu, header, header_bytes);
	memcpy(ulpdu + header_bytes, payload, len_bytes);
	ck_assert_uint_lt(stream_bytes + sizeof(ulpdu), STREAM_BYTES - 16);
	stream_bytes += side_fpdu(stream + stream_bytes, ulpdu, header_bytes + len_bytes, false);
}

static void put_send_segment(const uint8_t *bytes, uint32_t at, uint32_t len_bytes)
{
	const struct sent *send = &sends[nsends];
	bool last = at + len_bytes == send->len_bytes;
	uint8_t header[DDP_UNTAGGED_BYTES] = {(uint8_t)(DDP_VERSION | (last ? DDP_LAST : 0))};

	header[1] = RDMAP_VERSION | (send->invalidates ? RDMAP_SEND_INV : RDMAP_SEND);
	be32_put(header + 2, send->invalidates ? send->plot->key.rkey : 0);
	be32_put(header + 6, DDP_QN_SEND);
	be32_put(header + 10, nsends + 1);
	be32_put(header + 14, at);
	put_fpdu(header, sizeof(header), bytes + at, len_bytes);
}

/* A Send; @plot is taken back when it has come, or NULL. */
static void put_send(struct plot *plot)
{
	static uint8_t bytes[MAX_SEND_BYTES];
	uint32_t len = 1 + roll(&dice, roll(&dice, 3) ? 200 : MAX_SEND_BYTES), step;

	ck_assert_uint_lt(nsends, SIDE_MAX_SENDS);
	sends[nsends] = (struct sent){len, plot && roll(&dice, 2), plot};
	side_fill(bytes, len, nsends);
	if (plot)
		plot->over = true;
	for (uint32_t at = 0; at < len; at += step) {
		step = roll(&dice, 2) ? len - at : 1 + roll(&dice, len - at);
		if (roll(&dice, 3) == 0 && step > 5000)
			step = 5000;
		put_send_segment(bytes, at, step);
	}
	nsends++;
}

/* One that the peer can send to, the first exposed one or any; NULL: there is none. */
static struct plot *choose(enum plot_use use, bool oldest)
{
	struct plot *chosen = NULL;
	unsigned n = 0;

	for (struct plot *plot = plots; plot < plots + PLOTS; plot++) {
		if (plot->use != use || plot->over)
			continue;
		n++;
		if (!chosen || (oldest ? plot->order < chosen->order : roll(&dice, n) == 0))
			chosen = plot;
	}
	return chosen;
}

/* How long the next payload is: mostly like the one before. */
static uint32_t roll_payload(void)
{
	static const uint32_t lengths[] = {4096, 8192, 16384, 4097,  5001, 12001, 64,
					   63,   1000, 40000, 65500, 4100, 0};
	static uint32_t usual = 8192;
	uint32_t len = lengths[roll(&dice, 13)];

	if (roll(&dice, 12) == 0)
		usual = len;
	return roll(&dice, 25) ? usual : len;
}

static void put_tagged(const struct plot *plot, uint32_t at, uint32_t len_bytes, bool last)
{
	static uint8_t payload[MPA_MAX_ULPDU_BYTES];
	bool response = plot->use == PLOT_RESPONSE;
	uint8_t header[DDP_TAGGED_BYTES] = {
		(uint8_t)(DDP_TAGGED | DDP_VERSION | (last ? DDP_LAST : 0))};

	side_fill(payload, len_bytes, iwarp_random_next(&dice));
	header[1] = RDMAP_VERSION | (response ? RDMAP_READ_RESPONSE : RDMAP_WRITE);
	be32_put(header + 2, response ? plot->sink_stag : plot->key.rkey);
	be64_put(header + 6, (response ? plot->sink_to : plot->key.addr) + at);
	put_fpdu(header, sizeof(header), payload, len_bytes);
	plot_expect(plot, at, payload, len_bytes);
}

/* In the midst of a message to @plot. */
static void put_between(const struct plot *plot)
{
	struct plot *other;

	if (stream_bytes > ROUND_BYTES)
		return;
	if (roll(&dice, 15) == 0)
		put_send(NULL);
	if (roll(&dice, 80) == 0) {
		other = choose(PLOT_WRITE, false);
		if (other && other != plot)
			put_send(other);
	}
}

static void put_message(const struct plot *plot, uint32_t at, uint32_t len_bytes)
{
	bool last;

	do {
		uint32_t step = roll_payload();

		if (step > len_bytes)
			step = len_bytes;
		/* Now and then nothing more comes, and then that it was the last. */
		last = step == len_bytes && roll(&dice, 20);
		put_tagged(plot, at, step, last);
		at += step;
		len_bytes -= step;
		if (!last)
			put_between(plot);
	} while (!last);
}

/* An RDMA Write, mostly from the start on and as long as others. */
static void put_write(void)
{
	static uint32_t usual = 60000;
	struct plot *plot = choose(roll(&dice, 8) ? PLOT_WRITE : PLOT_ANY, roll(&dice, 4));
	uint32_t at, len;

	if (!plot)
		return;
	if (roll(&dice, 10) == 0)
		usual = 1 + roll(&dice, PLOT_BYTES);
	at = roll(&dice, 5) ? 0 : roll(&dice, plot->len_bytes);
	len = roll(&dice, 6) ? usual : 1 + roll(&dice, plot->len_bytes);
	put_message(plot, at, len < plot->len_bytes - at ? len : plot->len_bytes - at);
}

static void put_response(void)
{
	struct plot *plot = choose(PLOT_RESPONSE, true);

	if (!plot)
		return;
	put_message(plot, 0, plot->len_bytes);
	plot->over = true;
}

static void put_anything(void)
{
	uint32_t kind = roll(&dice, 20);

	if (kind < 10)
		put_write();
	else if (kind < 13)
		put_response();
	else if (kind < 14)
		put_send(NULL);
	else
		put_send(choose(roll(&dice, 4) ? PLOT_WRITE : PLOT_ANY, roll(&dice, 2)));
}

static void on_recv(struct iwarp_side *side)
{
	static uint8_t bytes[MAX_SEND_BYTES];
	unsigned n = side->nsends - 1;
	const struct side_send *came = &side->sends[n];

	ck_assert_uint_lt(n, nsends);
	ck_assert_uint_eq(came->len_bytes, sends[n].len_bytes);
	side_fill(bytes, came->len_bytes, n);
	if (memcmp(came->bytes, bytes, came->len_bytes) != 0)
		ck_abort_msg("Send %u is wrong", n);
	ck_assert(came->invalidated == sends[n].invalidates);
	if (came->invalidated)
		ck_assert_uint_eq(came->inv_rkey, sends[n].plot->key.rkey);
	if (sends[n].plot)
		plot_take_back(sends[n].plot);
}

static bool in_staging(const uint8_t *staging, const struct iovec *piece)
{
	const uint8_t *mem = piece->iov_base;

	return mem >= staging && mem + piece->iov_len <= staging + IWARP_RX_STAGING_BYTES;
}

/* Check writes a note of each assertion that holds, and pieces are many. */
static void piece_check(const struct iovec *piece, bool first)
{
	const struct plot *plot = plot_at(piece->iov_base);

	if (!plot) {
		/* The memory of a Send is known only where its header has come. */
		if (!first)
			ck_abort_msg("a piece goes to memory that was never lent");
		return;
	}
	if (!plot_holds(plot, piece->iov_base, piece->iov_len))
		ck_abort_msg("a piece goes to memory that is not lent");
	if (!first && plot->use == PLOT_ANY)
		ck_abort_msg("a piece is expected in memory that may be read");
	guesses += !first;
}

/* As much of it as the engine has room for; returns how much. */
static size_t give(const uint8_t *bytes, size_t len_bytes)
{
	static uint8_t staging[IWARP_RX_STAGING_BYTES];
	struct iovec iov[IWARP_RX_MAX_IOV];
	unsigned n = iwarp_engine_rx_plan(b.engine, staging, iov);
	size_t step = 0;

	for (unsigned i = 0; i < n; i++) {
		size_t part = iov[i].iov_len < len_bytes - step ? iov[i].iov_len : len_bytes - step;

		if (!in_staging(staging, &iov[i]))
			piece_check(&iov[i], i == 0);
		memcpy(iov[i].iov_base, bytes + step, part);
		step += part;
	}
	iwarp_engine_rx_done(b.engine, step, 0);
	/* Nothing may be left there. */
	memset(staging, 0xee, step < sizeof(staging) ? step : sizeof(staging));
	return step;
}

static void give_all(void)
{
	unsigned manner = roll(&dice, 4);
	size_t step;

	for (size_t at = 0; at < stream_bytes; at += step) {
		size_t left = stream_bytes - at, most = left;

		if (manner == 1)
			most = 1 + roll(&dice, 3000);
		else if (manner > 1 && roll(&dice, 3) == 0)
			most = 1 + roll(&dice, 200000);
		step = give(stream + at, most < left ? most : left);
		ck_assert_int_eq(iwarp_engine_action(b.engine), IWARP_CONTINUE);
	}
}

static void setup(uint64_t seed)
{
	uint64_t seeds[4] = {seed, 17, 18, 19};

	iwarp_random_seed(&dice, seeds);
	iwarp_pair_start(&(struct iwarp_pair_variant){.mss_bytes = 1448});
	iwarp_pair_hello(0);
	nsends = b.nsends;
	(void)iwarp_engine_recv_resize(b.engine, 65536);
	b.params.recv_size_bytes = 65536;
	b.on_recv = on_recv;
	plots_start();
	stream = malloc(STREAM_BYTES);
}

static void teardown(void)
{
	free(stream);
	plots_stop();
	side_fini(&a);
	side_fini(&b);
}

START_TEST(every_byte_is_where_it_belongs)
{
	setup((uint64_t)_i);
	for (unsigned round = 0; round < ROUNDS; round++) {
		plots_lend(&dice);
		stream_bytes = 0;
		for (unsigned n = 0; n < MESSAGES && stream_bytes < ROUND_BYTES; n++)
			put_anything();
		give_all();
		ck_assert_str_eq(b.note, "");
		ck_assert_uint_eq(b.nsends, nsends);
		plots_check();
	}
	/* Or there was nothing to go wrong. */
	ck_assert_uint_gt(guesses, 100);
	teardown();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_hostile");
	TCase *tc = tcase_create("hostile");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, every_byte_is_where_it_belongs, 1, 1 + SEEDS);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
