// SPDX-License-Identifier: BSD-3-Clause
#include "tests/e2e/replay_turns.h"

#include <stdio.h>

/* Each of a turn's choices in a bit. */
static unsigned number_of(const struct replay_turn *turn)
{
	return (unsigned)(turn->answered | turn->fin << 1 | turn->reversed << 2 |
			  turn->same_port << 3 | turn->one_address << 4 | turn->flooded << 5);
}

static void choose(struct replay_turn *turn, unsigned number)
{
	turn->answered = number & 1;
	turn->fin = number & 2;
	turn->reversed = number & 4;
	turn->same_port = number & 8;
	turn->one_address = number & 16;
	turn->flooded = number & 32;
}

/*
 * An RDMA client reconnects from a new port, and is blocked by credits, not by reading. The port of
 * a connection that was ended by FIN is not available for a second: that is tested with two clients
 * of one address only.
 */
static bool makes_sense(const struct replay_turn *turn)
{
	if (turn->rdma && (turn->same_port || (turn->flooded && !turn->hasty)))
		return false;
	if (turn->own && !turn->rdma && !turn->same_port)
		return false;
	if (turn->flooded && (turn->answered || (turn->fin && !turn->hasty)))
		return false;
	if (turn->hasty && !turn->flooded)
		return false;
	if (turn->fin && turn->same_port)
		return turn->clients == 2 && turn->one_address && !turn->reversed;
	return turn->clients > 1 || !(turn->reversed || turn->one_address);
}

bool replay_turn_next(struct replay_turn *turn)
{
	for (unsigned number = number_of(turn) + 1; number < 64; number++) {
		choose(turn, number);
		if (makes_sense(turn))
			return true;
	}
	return false;
}

void replay_turn_print(const struct replay_turn *turn)
{
	printf("%u %s %s, %s, ended by %s, back %s from %s of %s%s", turn->clients,
	       turn->rdma ? "RDMA" : "TCP", turn->clients == 1 ? "client" : "clients",
	       turn->answered ? "answered" : "unanswered", turn->fin ? "FIN" : "RST",
	       turn->reversed ? "in reversed order" : "in the same order",
	       turn->same_port ? "the same ports" : "other ports",
	       turn->one_address ? "one address" : "an address each",
	       !turn->flooded ? ""
	       : turn->hasty  ? ", while their Calls were being read"
			      : ", while nothing was read from them");
}
