// SPDX-License-Identifier: BSD-3-Clause
/* The faults of a storm. */
#include "rpcrdma/rdma_leg_priv.h"
#include "tests/sim/storm.h"
#include "tests/sim/storm_spoil.h"

#define DRAIN_US     500000u
#define SILENCE_US   1500000u
#define SILENCE_OF   16u /* one of so many faults lasts that long */
#define SPOILS_OF    8u  /* one of so many others spoils Replies */
#define MISPLACES_OF 16u /* … or misplaces read chunks */
#define HANG_OF      24u /* one of so many is that the server hangs … */
#define SIZES_OF     2u  /* one of so many is that an end asks for another receive size */
#define CALM_OF      32u /* … and then so many fewer happen */

/*
 * Draining a leg has a time limit: a reverse Call in flight on it can wait for a Reply behind Calls
 * that wait for unread ones.
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

/*
 * One end of a connection receives no Sends any more, so that nothing is answered, and no Reply by
 * read chunk is Read.
 */
static void silence(struct storm *storm)
{
	struct chain_tap *tap = storm_below(storm, 2) ? chain_first(storm->chain)->server
						      : chain_last(storm->chain)->client;

	if (storm->chain->ngates == 1 || storm->silence_end_us)
		return;
	if (!tap || !tap->leg || !tap->opened || tap->closing)
		return;
	sim_ep_stop_taking_sends(rdma_leg_of(tap->leg)->conn.ep);
	storm->silence_end_us =
		loop_now_us(storm->chain->loop) + SILENCE_US + storm_below(storm, SILENCE_US);
}

static void end_silence(struct storm *storm)
{
	if (!storm->silence_end_us || loop_now_us(storm->chain->loop) < storm->silence_end_us)
		return;
	sim_net_cut(storm->chain->fabric_net);
	storm->silence_end_us = 0;
}

/*
 * One end wants its peer to have other receives, often smaller ones, whatever Calls are under way:
 * some cross the request, and none of them fails for it.
 */
static void ask_for_size(struct storm *storm)
{
	struct chain_tap *tap = storm_below(storm, 2) ? chain_first(storm->chain)->server
						      : chain_last(storm->chain)->client;
	struct optional_msgs *options;

	if (!tap || !tap->leg || !tap->opened || tap->closing)
		return;
	options = rdma_leg_of(tap->leg)->options;
	if (!options)
		return;
	characteristics_request_size(&options->ch, storm_below(storm, 3) ? 4096 : 16384);
	optional_msgs_run(options);
	storm->counts.sizes_asked++;
}

void storm_faults_turn(struct storm *storm)
{
	end_drain(storm);
	end_silence(storm);
	storm_gone_turn(storm);
}

bool storm_faults_last(const struct storm *storm)
{
	return storm->drained || storm->silence_end_us || storm_gone_lasts(storm);
}

void storm_fail_something(struct storm *storm)
{
	struct storm_client *client = &storm->clients[storm_below(storm, storm->nclients)];
	struct storm_session *session = TAILQ_FIRST(&storm->sessions);

	/* It would end before anybody has noticed. */
	if (storm->silence_end_us)
		return;
	/* Nor would a connection whose server hangs come to its limits. */
	if (storm_gone_hangs(storm) && storm_below(storm, CALM_OF))
		return;
	storm->counts.faults++;
	if (storm_below(storm, SILENCE_OF) == 0) {
		silence(storm);
		return;
	}
	if (storm->plan.sizes && storm->chain->ngates > 1 && storm_below(storm, SIZES_OF) == 0) {
		ask_for_size(storm);
		return;
	}
	if (storm_below(storm, SPOILS_OF) == 0) {
		storm_spoil_some(storm);
		return;
	}
	if (storm_below(storm, MISPLACES_OF) == 0) {
		storm_misplace_some(storm);
		return;
	}
	if (storm_below(storm, HANG_OF) == 0) {
		storm_gone_begin(storm);
		return;
	}
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
