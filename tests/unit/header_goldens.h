/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every form of the transport header, written twice: as bytes and as decoded values (requirements
 * 1.0, A4).
 */
#ifndef TESTS_UNIT_HEADER_GOLDENS_H
#define TESTS_UNIT_HEADER_GOLDENS_H

#include "rpcrdma/header.h"

#define GOLDEN_XID       0x01020304u
#define GOLDEN_CREDIT    32u
#define GOLDEN_MAX_BYTES 1024u
#define GOLDEN_COUNT     24

/* One form on the wire and its meaning. */
struct golden {
	const char *name;
	const char *header; /* the header's bytes; an RPC message may follow */
	const char *body;
	size_t header_bytes; /* requirements 1.0 */
	size_t least_bytes;  /* shorter is RPCRDMA_SHORT */
	size_t enough_bytes; /* the smallest size at which it decodes */
	void (*say)(struct rpcrdma_header *hdr);
};

extern const struct golden goldens[GOLDEN_COUNT];

/** golden_send - Builds the whole Send, header and RPC message; returns its length. */
size_t golden_send(const struct golden *golden, uint8_t send[GOLDEN_MAX_BYTES]);

#endif
