/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares decoded transport headers by their meaning. */
#ifndef TESTS_LIB_HEADER_SAME_H
#define TESTS_LIB_HEADER_SAME_H

#include "rpcrdma/header.h"

/**
 * header_difference - Finds the first difference between two headers
 *
 * Chunks are compared by their segments, wherever these are in the tables. The start of the body is
 * not compared, because only decoding sets it. Returns the name of the differing field, or NULL if
 * the headers are equal.
 */
const char *header_difference(const struct rpcrdma_header *a, const struct rpcrdma_header *b);

#endif
