/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the balance of a storm while it is idle. Each end of each connection has as many Receives
 * posted as its grants and its Calls in flight need, which is as many as the other end can send to.
 * Only RPCs in flight hold credits, keys and memory. The only RPCs in flight then are reverse Calls
 * that a client never answers, known to both ends.
 */
#ifndef TESTS_SIM_STORM_BALANCE_H
#define TESTS_SIM_STORM_BALANCE_H

#include "tests/sim/chain.h"

/** storm_balance_always - assert what of that holds of a leg at any time, if it is one of RDMA; accepts NULL. */
void storm_balance_always(const struct chain_tap *tap);
/** storm_balance - assert all that of @chain, on which nothing goes on; returns how many RDMA connections it has. */
unsigned storm_balance(const struct chain *chain);

/**
 * storm_balance_end - assert that no end did what the other one may not be sent, nor closed a connection over it
 *
 * Else the client would come back, and nobody notice. With @withdrawn, Replies that are lent may have been read too late.
 */
void storm_balance_end(const struct chain *chain, bool withdrawn);

#endif
