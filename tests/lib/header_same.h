/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares decoded transport headers by their meaning. */
#ifndef TESTS_LIB_HEADER_SAME_H
#define TESTS_LIB_HEADER_SAME_H

#include "rpcrdma/header.h"

/**
 * header_difference - the first thing in which two headers differ
 *
 * Chunks are compared by their segments, wherever these are in the tables. Where the body starts is
 * not compared: only decoding sets it. Returns its name, or NULL if the headers say the same.
 */
const char *header_difference(const struct rpcrdma_header *a, const struct rpcrdma_header *b);

#endif
