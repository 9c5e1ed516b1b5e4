/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What version two alone has behind the fixed words (draft-cel-nfsv4-rpcrdma-version-two-00 section 4.2), for header.c.
 *
 * A reader stands behind the fixed words, which are in the header already; so does a writer.
 */
#ifndef RPCRDMA_HEADER_IMPL_H
#define RPCRDMA_HEADER_IMPL_H

#include "rpcrdma/header.h"

struct xdr_reader;
struct xdr_writer;

/**
 * header_v2_get - decode what follows the fixed words in version two, except RDMA_MSG, RDMA_NOMSG and ERR_VERS
 * @len: of the whole Send
 */
enum rpcrdma_verdict header_v2_get(struct xdr_reader *reader, size_t len,
				   struct rpcrdma_header *hdr);
/** header_v2_put - encode what follows them, except in those; return false if there is no such message. */
bool header_v2_put(struct xdr_writer *writer, const struct rpcrdma_header *hdr);
/** header_v2_bytes - return how long the whole header is, except of those; 0: there is no such message. */
size_t header_v2_bytes(const struct rpcrdma_header *hdr);

#endif
