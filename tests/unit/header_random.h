/* SPDX-License-Identifier: BSD-3-Clause */
/* Random transport headers, and the contents of a header as plain numbers. */
#ifndef TESTS_UNIT_HEADER_RANDOM_H
#define TESTS_UNIT_HEADER_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "rpcrdma/header.h"

/**
 * header_random - a header that may be sent in a version, with anything in it
 * @vers: 1 or 2; an ERR_VERS has any
 *
 * What an RDMA_OPTIONAL holds stays until the next.
 */
void header_random(struct rpcrdma_header *hdr, uint32_t vers);

/**
 * header_numbers - what it says, in the order of rpcrdma_v1_peer.h and rpcrdma_v2_peer.h
 *
 * Returns how many; there is room for as many as a header of 16 KiB can say.
 */
size_t header_numbers(const struct rpcrdma_header *hdr, uint64_t *numbers);

#endif
