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

/**
 * storm_balance_always - Asserts the conditions that hold of an RDMA leg at any time; accepts NULL
 * and other legs.
 */
void storm_balance_always(const struct chain_tap *tap);
/**
 * storm_balance - Asserts all conditions of @chain, which must be idle; returns its number of RDMA
 * connections.
 */
unsigned storm_balance(const struct chain *chain);

/**
 * storm_balance_end - Asserts that no end sent what the other does not permit, nor closed a
 * connection because of it
 *
 * Otherwise the client would reconnect, and the error would stay hidden. With @withdrawn, Replies
 * by read chunk can have been Read too late.
 */
void storm_balance_end(const struct chain *chain, bool withdrawn);

#endif
