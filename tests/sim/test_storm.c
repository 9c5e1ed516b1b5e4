// SPDX-License-Identifier: BSD-3-Clause
/*
 * RPCs by the thousand through whole chains, while whatever can fail does so: each is answered once on its
 * connection, or the connection closes, and at the end of each seed nothing is left of any.
 *
 * STORM_RPCS says how many RPCs there are to be, and STORM_SEED the first seed; each seed is a chain of its own and
 * has SEED_RPCS of them. A million takes a minute:
 *
 *	STORM_RPCS=1000000 build/tests/sim/test_storm
 *
 * A seed that fails is named on standard error, and fails again alone:
 *
 *	STORM_SEED=N STORM_RPCS=1 build/tests/sim/test_storm
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

#define SEED_RPCS    500u
#define SEED_FAULTS  40u /* at most */
#define DEFAULT_RPCS 80000u
#define TURN_US      1500u
#define DRAIN_US     500000u
#define HANG_US      600000000u /* longer than any time limit, many times over */
#define END_TURNS    120u       /* of a second each */

static uint64_t current_seed;

uint32_t storm_below(struct storm *storm, uint32_t n)
{
	return (uint32_t)(storm_random(&storm->random) >> 20) % n;
}

static uint32_t one_of(struct storm *storm, const uint32_t *list, unsigned count)
{
	return list[storm_below(storm, count)];
}

static struct pair_faults some_pair_faults(struct storm *storm)
{
	static const uint32_t delays[] = {0, 0, 50, 700}, buffers[] = {0, 0, 8192};

	return (struct pair_faults){
		.seed = storm_random(&storm->random),
		.buffer_bytes = one_of(storm, buffers, ARRAY_SIZE(buffers)),
		.max_delay_us = one_of(storm, delays, ARRAY_SIZE(delays)),
		.short_reads = storm_below(storm, 3) == 0,
		.short_writes = storm_below(storm, 3) == 0,
	};
}

static struct sim_faults some_sim_faults(struct storm *storm)
{
	static const uint32_t delays[] = {0, 50, 700}, keys[] = {0, 0, 65536, 1u << 20};
	static const uint32_t reads[] = {0, 0, 1, 4};

	return (struct sim_faults){
		.seed = storm_random(&storm->random),
		.max_delay_us = one_of(storm, delays, ARRAY_SIZE(delays)),
		.max_ord = one_of(storm, reads, ARRAY_SIZE(reads)),
		.max_key_bytes = one_of(storm, keys, ARRAY_SIZE(keys)),
		.async_unbind = storm_below(storm, 2),
		.shared_keys = storm_below(storm, 4) == 0,
		.no_late_reads = storm_below(storm, 2),
	};
}

static struct chain *make_chain(struct storm *storm)
{
	static const uint32_t budgets[] = {0, 1u << 20, 3u << 20};
	struct chain_params params = {
		.gates = storm_below(storm, 5) ? 2 : 1,
		.ddp = storm_below(storm, 2),
		.configures = storm_below(storm, 4),
		.budget_bytes = one_of(storm, budgets, ARRAY_SIZE(budgets)),
		.client = some_pair_faults(storm),
		.server = some_pair_faults(storm),
		.fabric = some_sim_faults(storm),
		.accepted = storm_server_accepted,
		.accepted_arg = storm,
	};

	return chain_new(&params);
}

/*
 * Who drains a leg bounds the time: a reverse Call in flight on it may wait for a Reply that stands behind Calls which
 * wait for those that are not taken any more.
 */
static void drain_latest(struct storm *storm, struct chain_tap *tap)
{
	if (storm->drained || !tap || !tap->leg || !tap->opened || tap->closing)
		return;
	leg_drain(tap->leg);
	storm->drained = tap;
	storm->drain_end_us = loop_now_us(storm->chain->loop) + DRAIN_US;
}

static void end_drain(struct storm *storm)
{
	if (!storm->drained || loop_now_us(storm->chain->loop) < storm->drain_end_us)
		return;
	if (!storm->drained->closing && storm->drained->leg)
		leg_close(storm->drained->leg, LEG_CLOSE_SHUTDOWN);
	storm->drained = NULL;
}

static void fail_something(struct storm *storm)
{
	struct storm_client *client = &storm->clients[storm_below(storm, storm->nclients)];
	struct storm_session *session = TAILQ_FIRST(&storm->sessions);

	storm->counts.faults++;
	switch (storm_below(storm, 8)) {
	case 0:
		pair_net_cut(storm->chain->client_net);
		break;
	case 1:
		pair_net_cut(storm->chain->server_net);
		break;
	case 2:
		sim_net_cut(storm->chain->fabric_net);
		break;
	case 3:
		storm_client_close(client, storm_below(storm, 2));
		break;
	case 4:
		if (session)
			record_end_close(&session->wire, storm_below(storm, 2));
		break;
	case 5:
		storm_client_shut(client);
		break;
	case 6:
		drain_latest(storm, chain_first(storm->chain)->client);
		break;
	default:
		drain_latest(storm, chain_last(storm->chain)->client);
		break;
	}
}

static bool is_done(const struct storm *storm)
{
	for (unsigned i = 0; i < storm->nclients; i++)
		if (!storm_client_is_done(&storm->clients[i]))
			return false;
	return true;
}

static void begin(struct storm *storm, uint64_t seed)
{
	uint32_t rpcs;

	*storm = (struct storm){.seed = seed, .random = seed * 0x9e3779b97f4a7c15u | 1};
	TAILQ_INIT(&storm->sessions);
	storm->chain = make_chain(storm);
	storm->nclients = 1 + storm_below(storm, STORM_CLIENTS_MAX);
	rpcs = SEED_RPCS / storm->nclients;
	for (unsigned i = 0; i < storm->nclients; i++) {
		storm_client_init(&storm->clients[i], storm, i, rpcs);
		storm->executed[i] = calloc(rpcs, 1);
		RIG_ASSERT(storm->executed[i]);
	}
}

/* Until all is answered. What makes no progress for long has hung. */
static void rage(struct storm *storm)
{
	uint32_t calm = 5 + storm_below(storm, 200); /* turns from one fault to the next, about */
	uint64_t answered = 0, hangs_us = HANG_US;

	while (!is_done(storm)) {
		for (unsigned i = 0; i < storm->nclients; i++)
			storm_client_turn(&storm->clients[i]);
		storm_server_turn(storm);
		end_drain(storm);
		/* In the end there is calm, or what takes longer than that would never get through. */
		if (storm->counts.faults < SEED_FAULTS && storm_below(storm, calm) == 0)
			fail_something(storm);
		fake_loop_advance(storm->chain->loop, 1 + storm_below(storm, TURN_US));
		if (storm->counts.answered != answered) {
			answered = storm->counts.answered;
			hangs_us = loop_now_us(storm->chain->loop) + HANG_US;
		}
		RIG_ASSERT(loop_now_us(storm->chain->loop) < hangs_us);
	}
}

/* Each Call has been executed, and by chain_end() no buffer, key, claim or bridge is left. */
static void end(struct storm *storm)
{
	for (unsigned i = 0; i < storm->nclients; i++)
		storm_client_close(&storm->clients[i], false);
	/* What was asked twice may be with the server still. */
	for (unsigned i = 0; i < END_TURNS && !TAILQ_EMPTY(&storm->sessions); i++) {
		storm_server_turn(storm);
		end_drain(storm);
		chain_run(storm->chain, 1000);
	}
	RIG_ASSERT(TAILQ_EMPTY(&storm->sessions));
	for (unsigned i = 0; i < storm->nclients; i++) {
		const struct storm_client *client = &storm->clients[i];

		for (uint32_t xid = client->first_xid; xid < client->end_xid; xid++)
			RIG_ASSERT(storm->executed[i][xid - client->first_xid]);
		storm_client_fini(&storm->clients[i]);
		free(storm->executed[i]);
	}
	storm_msg_free(&storm->call);
	storm_msg_free(&storm->reply);
	chain_end(storm->chain);
}

static void add_counts(struct storm_counts *to, const struct storm_counts *from)
{
	to->answered += from->answered;
	to->reverse_answered += from->reverse_answered;
	to->connections += from->connections;
	to->asked_again += from->asked_again;
	to->swallowable += from->swallowable;
	to->executed_before += from->executed_before;
	to->faults += from->faults;
}

/* ASan and check both leave SIGABRT alone. */
static void on_abort(int signal)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "the storm of seed %" PRIu64 "\n", current_seed);

	if (write(STDERR_FILENO, text, (size_t)len) < 0)
		_exit(1);
}

static uint64_t from_environment(const char *name, uint64_t preset)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : preset;
}

START_TEST(each_call_is_answered_once_whatever_fails)
{
	uint64_t rpcs = from_environment("STORM_RPCS", DEFAULT_RPCS);
	uint64_t first = from_environment("STORM_SEED", 1);
	struct storm_counts counts = {0};
	struct storm storm;

	signal(SIGABRT, on_abort);
	for (current_seed = first; counts.answered < rpcs; current_seed++) {
		begin(&storm, current_seed);
		rage(&storm);
		end(&storm);
		add_counts(&counts, &storm.counts);
	}
	printf("# seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64 " RPCs and %" PRIu64 " reverse ones, "
	       "%" PRIu64 " connections, %" PRIu64 " faults\n",
	       first, current_seed - 1, counts.answered, counts.reverse_answered,
	       counts.connections, counts.faults);
	printf("# asked again %" PRIu64 " times, and %" PRIu64 " on the same connection; "
	       "%" PRIu64 " had been executed\n",
	       counts.asked_again, counts.swallowable, counts.executed_before);
	fflush(stdout);
	ck_assert_uint_gt(counts.reverse_answered, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("storm");
	TCase *tc = tcase_create("storm");

	tcase_set_timeout(tc, 0);
	tcase_add_test(tc, each_call_is_answered_once_whatever_fails);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
