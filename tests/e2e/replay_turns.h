/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways in which clients lose their connections and reconnect, one after another. */
#ifndef TESTS_E2E_REPLAY_TURNS_H
#define TESTS_E2E_REPLAY_TURNS_H

#include "tests/e2e/net.h"

/* One way: how @clients lose their connections, and how they come back. */
struct replay_turn {
	unsigned clients;
	bool rdma; /* they are RDMA clients, which come back from new ports */
	bool own; /* the server sees their own addresses, and the ports of those over TCP, which so return to them */
	bool answered; /* the Reply has come to each of them, unread; else the server has it still */
	bool fin;      /* they end by FIN; else by RST */
	bool reversed;    /* the last one is back first */
	bool same_port;   /* they come back from the ports that they had */
	bool one_address; /* they share an address; else each has its own */
	bool flooded; /* their connections are not read when they end: too many Calls are in flight */
	bool hasty;   /* flooded: these Calls are still being read when the connections end */
};

/** replay_turn_next - the turn after @turn; false if that was the last for its number of clients. */
bool replay_turn_next(struct replay_turn *turn);
/** replay_turn_print - what it is, without a newline. */
void replay_turn_print(const struct replay_turn *turn);

#endif
