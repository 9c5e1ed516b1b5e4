// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests thousands of RPCs through whole chains with fault injection. Each RPC is answered once on
 * its connection, or the connection closes. At the end of each seed nothing is left of any.
 *
 * Each seed is a chain of its own, configured by storm_plan.h. STORM_RPCS is the number of RPCs,
 * STORM_SEED the first seed, STORM_EACH the number of RPCs per seed. A million takes a minute, in
 * short chains or in two rounds of long chains:
 *
 *	STORM_RPCS=1000000 build/tests/sim/test_storm
 *	STORM_RPCS=1000000 STORM_EACH=20000 build/tests/sim/test_storm
 *
 * The test prints a failing seed on standard error. It fails again alone:
 *
 *	STORM_SEED=N STORM_EACH=500 STORM_RPCS=1 build/tests/sim/test_storm
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/sim/rig.h"
#include "tests/sim/storm.h"
#include "tests/sim/storm_balance.h"
#include "tests/sim/storm_spoil.h"

#define SEED_RPCS    500u
#define MATRIX_EACH  10000u
#define DEFAULT_RPCS 80000u
#define FAULT_RPCS   12u /* at least so many RPCs a fault, taken together */
#define RESTS        4u  /* of a seed, and one at its end */
#define TURN_US      1500u
#define HANG_AT      2u  /* the rest behind which the server hangs in any case */
#define HUNG_TURNS   60u /* in one, while the server hangs */
#define REST_MS      3000u
#define LONG_REST_MS 150000u
#define HANG_US      600000000u /* longer than any time limit, many times over */
#define END_TURNS    120u       /* of a second each */

static uint64_t current_seed;
static uint32_t current_rpcs;

uint32_t storm_below(struct storm *storm, uint32_t n)
{
	return (uint32_t)(storm_random(&storm->random) >> 20) % n;
}

static bool is_done(const struct storm *storm)
{
	for (unsigned i = 0; i < storm->nclients; i++)
		if (!storm_client_is_done(&storm->clients[i]))
			return false;
	return true;
}

static void begin(struct storm *storm, uint64_t seed, uint32_t rpcs)
{
	*storm = (struct storm){.random = seed * 0x9e3779b97f4a7c15u | 1};
	TAILQ_INIT(&storm->sessions);
	storm_plan_make(&storm->plan, seed, &storm->random);
	storm->chain = storm_plan_chain(&storm->plan, &storm->random, storm_server_accepted, storm);
	storm->nclients = 1 + storm_below(storm, STORM_CLIENTS_MAX);
	storm_gone_init(storm);
	storm_spoil_init(storm);
	rpcs = (rpcs + storm->nclients - 1) / storm->nclients;
	for (unsigned i = 0; i < storm->nclients; i++) {
		storm_client_init(&storm->clients[i], storm, i, rpcs);
		storm->executed[i] = calloc(rpcs, 1);
		RIG_ASSERT(storm->executed[i]);
	}
}

static void turn(struct storm *storm)
{
	for (unsigned i = 0; i < storm->nclients; i++)
		storm_client_turn(&storm->clients[i]);
	storm_server_turn(storm);
	storm_faults_turn(storm);
	fake_loop_advance(storm->chain->loop, (1 + storm_below(storm, TURN_US)) *
						      (storm_gone_hangs(storm) ? HUNG_TURNS : 1));
	storm_balance_always(chain_first(storm->chain)->server);
	storm_balance_always(chain_last(storm->chain)->client);
}

static uint64_t hangs_at_us(const struct storm *storm)
{
	return loop_now_us(storm->chain->loop) + HANG_US;
}

static void check_hang(const struct storm *storm, uint64_t at_us)
{
	RIG_ASSERT(loop_now_us(storm->chain->loop) < at_us);
}

static bool is_quiet(const struct storm *storm)
{
	for (unsigned i = 0; i < storm->nclients; i++)
		if (!storm_client_is_quiet(&storm->clients[i]))
			return false;
	return storm_server_is_quiet(storm) && !storm_faults_last(storm);
}

static void answer_all(struct storm *storm)
{
	uint64_t hangs_us = hangs_at_us(storm);

	while (!is_quiet(storm)) {
		turn(storm);
		check_hang(storm, hangs_us);
	}
}

/*
 * How often a rest can restart. Each time a Call has reached the server whose Reply no client waits
 * for: it was sent twice on its connection, or its client has disconnected. Where memory is short
 * such Calls arrive one after the other, each when the one before it has been answered, and the
 * server answers only between two runs of the chain.
 */
static unsigned rests_anew_max(const struct storm *storm)
{
	return storm->nclients * STORM_AGAIN_MAX + storm->gone.called;
}

/* All is answered, and for a while nothing is asked: sometimes so long that receives become as small as at first. */
static void rest(struct storm *storm)
{
	unsigned ms = storm_below(storm, 4) ? REST_MS : LONG_REST_MS;
	unsigned anew = 0;

	storm->resting = true;
	answer_all(storm);
	chain_run(storm->chain, ms);
	while (!is_quiet(storm)) {
		RIG_ASSERT(anew++ < rests_anew_max(storm));
		answer_all(storm);
		chain_run(storm->chain, ms);
	}
	storm->counts.rests++;
	storm->counts.rested += storm_balance(storm->chain);
	storm->resting = false;
}

/* Until all is answered. What makes no progress for long has hung. */
static void rage(struct storm *storm, uint32_t rpcs)
{
	uint32_t calm = 5 + storm_below(storm, 200); /* turns from one fault to the next, about */
	uint64_t answered = 0, hangs_us = HANG_US, rest_at = 0;

	while (!is_done(storm)) {
		/* In the end there is calm, or what takes longer than that would never get through. */
		if (storm->counts.faults < rpcs / FAULT_RPCS && storm_below(storm, calm) == 0)
			storm_fail_something(storm);
		turn(storm);
		if (storm->counts.answered >= rest_at) {
			rest_at = storm->counts.answered + rpcs / RESTS;
			rest(storm);
			if (storm->counts.rests == HANG_AT)
				storm_gone_begin(storm);
		}
		if (storm->counts.answered != answered) {
			answered = storm->counts.answered;
			hangs_us = hangs_at_us(storm);
		}
		check_hang(storm, hangs_us);
	}
	rest(storm);
}

/*
 * A Call fails where no Reply comes in time, where there is no room for it or for its Reply, or where its Reply cannot be
 * used or was not written as it claims, or its read chunk was misplaced, which is counted; no other does.
 */
static void check_failures(const struct storm_counts *counts)
{
	RIG_ASSERT(counts->failed + counts->reverse_failed <=
		   counts->reverse_timeouts + counts->reverse_refused + counts->replies_too_big +
			   counts->bad_replies + counts->chunks_misplaced);
	RIG_ASSERT(counts->chunks_misplaced <= counts->misplaced);
	/* Whatever else came was understood, in either direction. */
	RIG_ASSERT(counts->reverse_bad_replies <= counts->reverse_spoiled + counts->reverse_lies);
	RIG_ASSERT(counts->bad_replies - counts->reverse_bad_replies <=
		   counts->spoiled - counts->reverse_spoiled + counts->lies - counts->reverse_lies);
}

/* Each Call has been executed unless its read chunk was misplaced, and by chain_end() no buffer, key, claim or bridge is left. */
static void end(struct storm *storm)
{
	uint64_t unexecuted = 0;

	for (unsigned i = 0; i < storm->nclients; i++)
		storm_client_close(&storm->clients[i], false);
	storm_gone_close(storm);
	/* What was asked twice may be with the server still. */
	for (unsigned i = 0; i < END_TURNS && !TAILQ_EMPTY(&storm->sessions); i++) {
		storm_server_turn(storm);
		storm_faults_turn(storm);
		chain_run(storm->chain, 1000);
	}
	RIG_ASSERT(TAILQ_EMPTY(&storm->sessions));
	for (unsigned i = 0; i < storm->nclients; i++) {
		const struct storm_client *client = &storm->clients[i];

		for (uint32_t xid = client->first_xid; xid < client->end_xid; xid++)
			unexecuted += !storm->executed[i][xid - client->first_xid];
		storm_client_fini(&storm->clients[i]);
		free(storm->executed[i]);
	}
	RIG_ASSERT(unexecuted <= storm->counts.misplaced);
	storm_msg_free(&storm->call);
	storm_msg_free(&storm->reply);
	storm_counts_gates(&storm->counts, storm->chain);
	storm_gone_counts(storm);
	check_failures(&storm->counts);
	storm_balance_end(storm->chain, storm->counts.lent_timeouts > 0);
	chain_end(storm->chain);
}

/* ASan and check both leave SIGABRT alone. */
static void on_abort(int signal)
{
	char text[96];
	int len = snprintf(text, sizeof(text),
			   "the storm of STORM_SEED=%" PRIu64 " STORM_EACH=%" PRIu32
			   " STORM_RPCS=1\n",
			   current_seed, current_rpcs);

	if (write(STDERR_FILENO, text, (size_t)len) < 0)
		_exit(1);
}

static uint64_t from_environment(const char *name, uint64_t preset)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : preset;
}

/* Chains of @each RPCs, one a seed, until there were so many. */
static void blow(uint64_t first, uint64_t rpcs, uint32_t each, struct storm_counts counts[])
{
	struct storm storm;
	uint64_t answered = 0;

	signal(SIGABRT, on_abort);
	current_rpcs = each;
	for (current_seed = first; answered < rpcs; current_seed++) {
		begin(&storm, current_seed, each);
		rage(&storm, each);
		end(&storm);
		storm.counts.seeds = 1;
		answered += storm.counts.answered;
		storm_counts_add(&counts[storm.plan.dialect], &storm.counts);
	}
	for (unsigned i = 0; i < STORM_DIALECT_COUNT; i++)
		if (counts[i].seeds)
			storm_counts_print(&counts[i], i);
}

START_TEST(each_call_is_answered_once_whatever_fails)
{
	struct storm_counts counts[STORM_DIALECT_COUNT] = {0};

	blow(from_environment("STORM_SEED", 1), from_environment("STORM_RPCS", DEFAULT_RPCS),
	     (uint32_t)from_environment("STORM_EACH", SEED_RPCS), counts);
}
END_TEST

START_TEST(so_it_is_in_all_dialects_with_all_features)
{
	struct storm_counts counts[STORM_DIALECT_COUNT] = {0};

	blow(1, (uint64_t)STORM_CELLS * MATRIX_EACH, MATRIX_EACH, counts);
	storm_counts_check(counts);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("storm");
	TCase *tc = tcase_create("storm");

	tcase_set_timeout(tc, 0);
	tcase_add_test(tc, each_call_is_answered_once_whatever_fails);
	if (!getenv("STORM_SEED") && !getenv("STORM_RPCS"))
		tcase_add_test(tc, so_it_is_in_all_dialects_with_all_features);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
