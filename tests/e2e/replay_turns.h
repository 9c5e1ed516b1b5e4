/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways in which clients lose their connections and reconnect, one after another. */
#ifndef TESTS_E2E_REPLAY_TURNS_H
#define TESTS_E2E_REPLAY_TURNS_H

#include "tests/e2e/net.h"

/* One way in which @clients lose their connections and reconnect. */
struct replay_turn {
	unsigned clients;
	bool rdma; /* they are RDMA clients, which reconnect from new ports */
	bool own; /* the server sees their own addresses, and the ports of those over TCP, which therefore reuse them */
	bool answered;    /* each has its Reply, unread; else the server still has it */
	bool fin;         /* they end by FIN; else by RST */
	bool reversed;    /* the last one reconnects first */
	bool same_port;   /* they reconnect from the ports that they had */
	bool one_address; /* they share an address; else each has its own */
	bool flooded; /* their connections are not read when they end: too many Calls are in flight */
	bool hasty;   /* flooded: these Calls are still being read when the connections end */
};

/**
 * replay_turn_next - Returns the turn after @turn; false if that was the last for its number of
 * clients.
 */
bool replay_turn_next(struct replay_turn *turn);
/** replay_turn_print - Prints the turn, without a newline. */
void replay_turn_print(const struct replay_turn *turn);

#endif
