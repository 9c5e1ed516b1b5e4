// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/storm_counts.h"

#include <inttypes.h>

#include "tests/lib/test.h"
#include "tests/sim/rig.h"

void storm_counts_gates(struct storm_counts *counts, const struct chain *chain)
{
	for (unsigned i = 0; i < chain->ngates; i++) {
		const struct rdma_leg_counters rdma = gate_rdma(&chain->gates[i]);
		const struct tcp_leg_counters tcp = gate_tcp(&chain->gates[i]);

		/* Private data are found wherever they stand. */
		RIG_ASSERT(rdma.private_data_defaults == 0);
#define ADD_FEATURE(name) counts->name += rdma.name;
		STORM_FEATURES(ADD_FEATURE)
#undef ADD_FEATURE
		counts->reverse_refused += tcp.reverse_refused;
		counts->reverse_timeouts += tcp.reverse_timeouts;
		counts->replies_too_big += tcp.replies_too_big;
		counts->swallowed += tcp.retransmissions_swallowed;
		/* A Call that is sent again is the same Call, whatever its sequence number. */
		RIG_ASSERT(chain_closes(chain, i, LEG_CLOSE_XID_REUSED) == 0);
	}
	counts->lies += sim_net_stats(chain->fabric_net)->lies;
	counts->reverse_lies += sim_net_stats(chain->fabric_net)->reverse_lies;
	/* The end that was connected to makes no other Calls. */
	if (chain->ngates > 1) {
		const struct rdma_leg_counters rdma = gate_rdma(&chain->gates[1]);

		counts->reverse_chunk_bytes += rdma.call_chunk_bytes_offered;
		counts->reverse_bad_replies += rdma.bad_replies;
	}
}

/* All of its members are of one type. */
void storm_counts_add(struct storm_counts *to, const struct storm_counts *from)
{
	uint64_t *sums = (uint64_t *)to;
	const uint64_t *parts = (const uint64_t *)from;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*sums); i++)
		sums[i] += parts[i];
}

void storm_counts_print(const struct storm_counts *counts, enum storm_dialect dialect)
{
	printf("# %s: %" PRIu64 " seeds, %" PRIu64 " RPCs and %" PRIu64 " reverse ones, "
	       "of which %" PRIu64 " and %" PRIu64 " failed; %" PRIu64 " connections, %" PRIu64
	       " faults\n",
	       storm_dialect_name(dialect), counts->seeds, counts->answered,
	       counts->reverse_answered, counts->failed, counts->reverse_failed,
	       counts->connections, counts->faults);
	printf("#   asked again %" PRIu64 " times, and %" PRIu64 " on the same connection (%" PRIu64
	       " of RPCSEC_GSS, %" PRIu64 " were swallowed); %" PRIu64
	       " had been executed; in balance %" PRIu64 " times, %" PRIu64 " connections\n",
	       counts->asked_again, counts->swallowable, counts->gss_swallowable, counts->swallowed,
	       counts->executed_before, counts->rests, counts->rested);
	printf("#   %" PRIu64 " Replies came before all of their Call had; %" PRIu64
	       " times another receive size was asked for\n",
	       counts->early, counts->sizes_asked);
	printf("#   %" PRIu64 " clients were gone while the server hung; %" PRIu64
	       " half-closed connections made room, %" PRIu64 " ended by their time limit\n",
	       counts->gone, counts->half_closed, counts->half_closed_timeouts);
	printf("#  ");
#define PRINT_FEATURE(name) printf(" " #name " %" PRIu64, counts->name);
	STORM_FEATURES(PRINT_FEATURE)
#undef PRINT_FEATURE
	printf(" reverse_chunk_bytes %" PRIu64 " reverse_bad_replies %" PRIu64 "\n",
	       counts->reverse_chunk_bytes, counts->reverse_bad_replies);
	printf("#   lies %" PRIu64 " reverse_lies %" PRIu64 " spoiled %" PRIu64
	       " reverse_spoiled %" PRIu64 " misplaced %" PRIu64 "\n",
	       counts->lies, counts->reverse_lies, counts->spoiled, counts->reverse_spoiled,
	       counts->misplaced);
	fflush(stdout);
}

static void check_version_one(const struct storm_counts *counts)
{
	ck_assert_uint_gt(counts->conf_served, 0);
	ck_assert_uint_eq(counts->recv_raises, 0);
}

static void check_version_two(const struct storm_counts *counts)
{
	ck_assert_uint_gt(counts->recv_raises, 0);
	ck_assert_uint_gt(counts->sizes_asked, 0);
}

/*
 * Spoiled Replies, and peers with false claims. A Reply of these that is accepted differs from the
 * expected one, which its receiver detects.
 */
static void check_bad_replies(const struct storm_counts *counts)
{
	ck_assert_uint_gt(counts->spoiled, counts->reverse_spoiled);
	ck_assert_uint_gt(counts->lies, counts->reverse_lies);
	ck_assert_uint_gt(counts->bad_replies, counts->reverse_bad_replies);
}

void storm_counts_check(const struct storm_counts counts[STORM_DIALECT_COUNT])
{
	uint64_t made_room = 0, timed_out = 0, reverse_spoiled = 0;

	for (unsigned i = 0; i < STORM_TCP_ONLY; i++) {
		const struct storm_counts *it = &counts[i];
		bool draft = i == STORM_DRAFT03;

		ck_assert_uint_gt(it->reverse_answered, 0);
		ck_assert_int_eq(it->sends_msgp > 0, draft);
		ck_assert_int_eq(it->replies_lent > 0, draft);
		ck_assert_int_eq(it->dones_received > 0, draft);
		ck_assert_int_eq(it->lent_timeouts > 0, draft);
		/* Without read chunks they fail. */
		ck_assert(it->failed > 0 || draft);
		ck_assert_uint_gt(it->reverse_timeouts, 0);
		ck_assert_uint_gt(it->reverse_late_replies, 0);
		ck_assert_int_eq(it->reverse_chunk_bytes > 0, i == STORM_V2_REVERSE);
		check_bad_replies(it);
		ck_assert_uint_gt(it->chunks_misplaced, 0);
		/* Only there reverse Replies are written at all; elsewhere those that are spoiled are the bad ones. */
		ck_assert_int_eq(it->reverse_lies > 0, i == STORM_V2_REVERSE);
		ck_assert_int_eq(it->reverse_bad_replies > it->reverse_spoiled,
				 i == STORM_V2_REVERSE);
		ck_assert_uint_gt(it->rested, 0);
		ck_assert_uint_gt(it->early, 0);
		ck_assert_uint_gt(it->gss_swallowable, 0);
		ck_assert_uint_gt(it->swallowed, 0);
		made_room += it->half_closed;
		timed_out += it->half_closed_timeouts;
		reverse_spoiled += it->reverse_spoiled;
	}
	/* Clients are TCP ones in each dialect. */
	ck_assert_uint_gt(made_room, 0);
	ck_assert_uint_gt(timed_out, 0);
	ck_assert_uint_gt(reverse_spoiled, 0);
	check_version_one(&counts[STORM_RFC8166]);
	check_version_one(&counts[STORM_DRAFT03]);
	check_version_two(&counts[STORM_V2]);
	check_version_two(&counts[STORM_V2_REVERSE]);
}
