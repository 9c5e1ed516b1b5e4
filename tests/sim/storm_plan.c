// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/storm_plan.h"

#define ROWS      5u
#define ONE_GATED 5u  /* seeds behind each matrix */
#define LIE_OF    12u /* one of so many Writes is a lie, where there are some */

static uint32_t below(uint64_t *random, uint32_t n)
{
	return (uint32_t)(storm_random(random) >> 20) % n;
}

static uint32_t pick(uint64_t *random, const uint32_t *list, unsigned count)
{
	return list[below(random, count)];
}

/* One of the arguments behind the first. */
#define ONE_OF(random, ...)                                                                        \
	pick(random, (const uint32_t[]){__VA_ARGS__},                                              \
	     sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

const char *storm_dialect_name(enum storm_dialect dialect)
{
	static const char *const names[] = {
#define STORM_DIALECT_NAME(name, text) text,
		STORM_DIALECTS(STORM_DIALECT_NAME)
#undef STORM_DIALECT_NAME
	};

	return names[dialect];
}

static bool is_two(const struct storm_plan *plan)
{
	return plan->dialect == STORM_V2 || plan->dialect == STORM_V2_REVERSE;
}

void storm_plan_make(struct storm_plan *plan, uint64_t seed, uint64_t *random)
{
	unsigned cell =
		(unsigned)((seed + STORM_CELLS + ONE_GATED - 1) % (STORM_CELLS + ONE_GATED));
	unsigned row = cell / STORM_TCP_ONLY;

	*plan = (struct storm_plan){
		.dialect = STORM_TCP_ONLY,
		.reverse_timeout_us = ONE_OF(random, 1000000, 2000000),
		.traffic = {.seed = seed, .reverse_max = ONE_OF(random, 700, 1500, 6000)},
	};
	if (cell >= STORM_CELLS)
		return;
	plan->dialect = (enum storm_dialect)(cell % STORM_TCP_ONLY);
	plan->aligned = row == 0 || row == ROWS - 1;
	plan->lent = row == 1 || row == ROWS - 1;
	plan->configured = row == 2 || row == ROWS - 1;
	plan->sizes = row == 3 || row == ROWS - 1;
	plan->untold = seed % 3 == 1;
	/* Reverse Replies that are written are few: more of their seeds have such peers. */
	plan->lies = seed % 3 == 0 || (plan->dialect == STORM_V2_REVERSE && !plan->untold);
	plan->traffic.long_replies = plan->lent;
	if (plan->dialect == STORM_V2_REVERSE)
		plan->traffic.reverse_max = ONE_OF(random, 6000, 40000, 200000);
}

static struct pair_faults some_pair_faults(uint64_t *random)
{
	return (struct pair_faults){
		.seed = storm_random(random),
		.buffer_bytes = ONE_OF(random, 0, 0, 8192),
		.max_delay_us = ONE_OF(random, 0, 0, 50, 700),
		.short_reads = below(random, 3) == 0,
		.short_writes = below(random, 3) == 0,
	};
}

/*
 * A key for each segment of a long message would need too many keys. With fewer concurrent Replies
 * by read chunk hardly one would be late, and the storm tests late ones.
 */
static unsigned some_max_keys(const struct storm_plan *plan, uint64_t *random,
			      uint32_t max_key_bytes)
{
	return max_key_bytes || plan->dialect == STORM_DRAFT03 ? 0 : ONE_OF(random, 0, 0, 3, 12);
}

static struct sim_faults some_sim_faults(const struct storm_plan *plan, uint64_t *random)
{
	uint32_t max_key_bytes = ONE_OF(random, 0, 0, 65536, 1u << 20);

	return (struct sim_faults){
		.seed = storm_random(random),
		.max_delay_us = ONE_OF(random, 0, 50, 700),
		.max_ord = ONE_OF(random, 0, 0, 1, 4),
		.max_key_bytes = max_key_bytes,
		.max_keys = some_max_keys(plan, random, max_key_bytes),
		.async_unbind = below(random, 2),
		.shared_keys = below(random, 4) == 0,
		.no_late_reads = below(random, 2),
		.lie_one_in = plan->lies ? LIE_OF : 0,
		.untold_writes = plan->untold,
		.private_data_behind = ONE_OF(random, 0, 0, 1, 7, 48),
		.late_sends = below(random, 2),
	};
}

/*
 * Receives grow where they are too short, and where there is memory for two more of the longest
 * messages.
 */
static uint32_t some_threshold(const struct storm_plan *plan, uint64_t *random)
{
	if (plan->sizes && is_two(plan))
		return ONE_OF(random, 1024, 4096);
	if (plan->aligned)
		return ONE_OF(random, 4096, 8192, 65536);
	return ONE_OF(random, 1024, 4096, 8192, 65536);
}

static void configure(const struct storm_plan *plan, uint64_t *random,
		      struct service_config *config)
{
	bool draft = plan->dialect == STORM_DRAFT03;

	config->listen_version = config->connect_version = is_two(plan) ? 2 : 1;
	config->listen_compat = config->connect_compat = draft ? DIALECT_DRAFT03 : DIALECT_RFC8166;
	config->inline_threshold_bytes = some_threshold(plan, random);
	config->done_timeout_s = 1;
	config->done_policy = below(random, 2) ? DONE_POLICY_CLOSE : DONE_POLICY_WITHDRAW;
	config->padding_align_bytes = plan->aligned ? ONE_OF(random, 3, 8, 512, 4096) : 0;
	config->padding_threshold_bytes = ONE_OF(random, 16, 512, 1024);
	config->characteristics = is_two(plan) && (plan->dialect == STORM_V2_REVERSE ||
						   plan->sizes || below(random, 2));
	config->reverse_chunks = plan->dialect == STORM_V2_REVERSE;
	config->receive_max_bytes = plan->sizes ? ONE_OF(random, 16384, 65536) : 4096;
	config->reverse_timeout_s = (uint32_t)(plan->reverse_timeout_us / 1000000);
	/* Its row offers no reply chunk that is longer than 1 MiB. */
	config->peer = plan->lent ? PEER_GANESHA : PEER_AUTO;
}

struct chain *storm_plan_chain(struct storm_plan *plan, uint64_t *random,
			       void (*accepted)(void *arg, struct stream *stream), void *arg)
{
	struct chain_params params = {
		.gates = plan->dialect == STORM_TCP_ONLY ? 1 : 2,
		.ddp = below(random, 2),
		/* One end that has it does well with one that has not. */
		.configures = plan->configured ? ONE_OF(random, 1, 2, 3, 3, 3) : 0,
		.budget_bytes = plan->sizes ? ONE_OF(random, 0, 0, 3u << 20)
					    : ONE_OF(random, 0, 1u << 20, 3u << 20),
		.client = some_pair_faults(random),
		.server = some_pair_faults(random),
		.fabric = some_sim_faults(plan, random),
		.accepted = accepted,
		.accepted_arg = arg,
	};
	struct chain *chain = chain_new(&params);

	for (unsigned i = 0; i < chain->ngates; i++)
		configure(plan, random, &chain->gates[i].config);
	return chain;
}
