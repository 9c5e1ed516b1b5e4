/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the header that only version two has, after the fixed words
 * (draft-cel-nfsv4-rpcrdma-version-two-00 section 4.2); for header.c.
 *
 * Readers and writers are positioned after the fixed words, which the header already holds.
 */
#ifndef RPCRDMA_HEADER_PRIV_H
#define RPCRDMA_HEADER_PRIV_H

#include "rpcrdma/header.h"

struct xdr_reader;
struct xdr_writer;

/**
 * header_v2_get - Decodes what follows the fixed words in version two, except for RDMA_MSG,
 * RDMA_NOMSG and ERR_VERS.
 * @len: of the whole Send
 */
enum rpcrdma_verdict header_v2_get(struct xdr_reader *reader, size_t len,
				   struct rpcrdma_header *hdr);
/** header_v2_put - Encodes the same; returns false if version two has no such message. */
bool header_v2_put(struct xdr_writer *writer, const struct rpcrdma_header *hdr);
/**
 * header_v2_bytes - Returns the length of the whole header, for the same messages; 0: no such
 * message.
 */
size_t header_v2_bytes(const struct rpcrdma_header *hdr);

#endif
