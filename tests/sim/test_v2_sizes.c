// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests Receive sizes that change under traffic: each byte is correct, and no Send is longer than
 * its Receive.
 */
#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

/* xorshift, so that a seed is all it takes to have a run again. */
static uint32_t random_state;

static uint32_t roll(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % below;
}

static uint32_t some_size(void)
{
	static const uint32_t sizes[] = {4096, 8192, 12288, 16384, 32768, 65536};

	return sizes[roll(ARRAY_SIZE(sizes))];
}

/* Of every size up to 64 KiB; half of the Replies are shorter than their Calls allow. */
static void call_forward(void)
{
	uint32_t reply = RIG_REPLY_MIN + roll(V2_MAX_BYTES);
	uint32_t room = roll(2) ? reply : reply + roll(4 * V2_MAX_BYTES);

	rig_call(&rig->client, RIG_CALL_MIN + roll(V2_MAX_BYTES), reply, room);
}

static void call_back(void)
{
	uint32_t reply = RIG_REPLY_MIN + roll(3900);

	rig_call(&rig->server, RIG_CALL_MIN + roll(3900), reply, reply);
}

static unsigned in_flight(void)
{
	const struct exchange *x;
	unsigned n = 0;

	TAILQ_FOREACH(x, &rig->client.waiting, origin_entry)
		n++;
	return n;
}

/* Either end wants another size, here or there. */
static void change(void)
{
	struct rig_side *side = roll(2) ? &rig->client : &rig->server;

	if (roll(2))
		v2_ask(side, some_size());
	else
		v2_raise(side, some_size());
}

/* What both ends know of each other's receives is the same, and nothing is under way. */
static void expect_agreement(void)
{
	const struct characteristics *client = &v2_leg(&rig->client)->options->ch;
	const struct characteristics *server = &v2_leg(&rig->server)->options->ch;

	ck_assert_uint_eq(characteristics_peer_size(server),
			  characteristics_advertised_size(client));
	ck_assert_uint_eq(characteristics_peer_size(client),
			  characteristics_advertised_size(server));
	ck_assert_ptr_null(characteristics_pending(client));
	ck_assert_ptr_null(characteristics_pending(server));
}

/* As many small Calls both ways as there are receives. */
static void use_receives_up(void)
{
	for (unsigned i = 0; i < 100; i++) {
		rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
		rig_call(&rig->server, RIG_CALL_MIN, 100, 100);
		v2_run(1);
	}
	v2_run(100);
}

static void expect_all_well(void)
{
	const struct rig_side *sides[] = {&rig->client, &rig->server};

	v2_no_sim_error();
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		ck_assert_ptr_nonnull(sides[i]->leg);
		ck_assert(TAILQ_EMPTY(&sides[i]->waiting));
		ck_assert_uint_eq(sides[i]->wrong + sides[i]->faults, 0);
		ck_assert_uint_eq(sides[i]->counters.err_chunk_sent, 0);
		ck_assert_uint_eq(sides[i]->counters.bad_replies, 0);
		ck_assert_uint_eq(sides[i]->counters.characteristics_wrong, 0);
		ck_assert_uint_eq(sides[i]->counters.recv_lowered_unasked, 0);
	}
}

static void expect_open(void)
{
	ck_assert_msg(rig->client.leg && rig->server.leg, "closed: %s; %s", rig->client.detail,
		      rig->server.detail);
}

static void play(uint32_t seed, bool ddp, bool fixed)
{
	struct sim_faults faults = {.seed = seed, .fixed_recvs = fixed};

	random_state = seed * 2654435761u + 1;
	faults.max_delay_us = roll(3) * 1500;
	faults.async_unbind = roll(2);
	v2_begin(&faults);
	rig->client.config.ddp = ddp;
	rig->client.config.credits = 16 + roll(17);
	rig->server.config.credits = 16 + roll(17);
	v2_open();
	/*
	 * The first Call settles the version at the end that takes it: no reverse Call comes
	 * before.
	 */
	call_forward();
	v2_run(100);
	for (unsigned ms = 0; ms < 450; ms++) {
		expect_open();
		while (in_flight() < 16)
			call_forward();
		call_back();
		if (ms % 2 == 0)
			change();
		rig->server.hold = roll(4) == 0;
		v2_run(1);
		rig_answer_held(&rig->server);
	}
	rig->server.hold = false;
	v2_run(1000);
	use_receives_up();
	expect_all_well();
	expect_agreement();
}

static void sweep(bool ddp, bool fixed)
{
	unsigned raises = 0;

	for (uint32_t seed = 1; seed <= 6; seed++) {
		play(seed + 100 * ddp + 200 * fixed, ddp, fixed);
		raises += rig->client.counters.recv_raises + rig->server.counters.recv_raises;
		v2_end();
	}
	ck_assert_uint_ge(raises, 200);
}

START_TEST(sizes_change_under_traffic)
{
	sweep(_i & 1, _i & 2);
}
END_TEST

/* Its client counts on nothing inline, and so gives large receives back while the Call is out. */
START_TEST(a_reply_with_a_chunk_goes_by_the_size_that_was_lowered_since)
{
	v2_begin(NULL);
	v2_open();
	rig_call(&rig->client, RIG_CALL_MIN, 100, 100);
	v2_raise(&rig->client, V2_MAX_BYTES);
	v2_run(100);
	ck_assert_uint_eq(v2_size(&rig->client), V2_MAX_BYTES);
	rig->server.hold = true;
	rig_call(&rig->client, RIG_CALL_MIN, 20000, 4 * V2_MAX_BYTES);
	v2_run(10);
	v2_ask(&rig->server, V2_FIRST_BYTES);
	v2_run(10);
	ck_assert_uint_eq(v2_size(&rig->client), V2_FIRST_BYTES);
	rig_answer_held(&rig->server);
	v2_run(10);
	ck_assert_uint_eq(rig->client.answered, 2);
	ck_assert_uint_eq(rig->server.counters.reply_chunk_bytes_pushed, 20000);
	expect_all_well();
	v2_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_sizes");
	TCase *tc = tcase_create("v2_sizes");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, sizes_change_under_traffic, 0, 4);
	tcase_add_test(tc, a_reply_with_a_chunk_goes_by_the_size_that_was_lowered_since);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
