/* SPDX-License-Identifier: BSD-3-Clause */
/* Random transport headers, and the contents of a header as plain numbers. */
#ifndef TESTS_UNIT_HEADER_RANDOM_H
#define TESTS_UNIT_HEADER_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "rpcrdma/header.h"

/**
 * header_random - Makes a header that can be sent in a version, with random contents. @vers: 1 or
 * 2; an ERR_VERS has any
 *
 * The contents of an RDMA_OPTIONAL stay valid until the next.
 */
void header_random(struct rpcrdma_header *hdr, uint32_t vers);

/**
 * header_numbers - Returns its contents, in the order of rpcrdma_v1_peer.h and rpcrdma_v2_peer.h
 *
 * Returns their number. The buffer has space for all numbers of a header of 16 KiB.
 */
size_t header_numbers(const struct rpcrdma_header *hdr, uint64_t *numbers);

#endif
