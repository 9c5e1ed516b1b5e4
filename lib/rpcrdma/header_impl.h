/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What header.c, which has the codec of the transport header, and the part for version two (v2/header_v2.c) ask of each other.
 *
 * A reader stands behind the fixed words, which are in the header already; so does a writer.
 */
#ifndef RPCRDMA_HEADER_IMPL_H
#define RPCRDMA_HEADER_IMPL_H

#include "rpcrdma/header.h"

struct xdr_reader;
struct xdr_writer;

/**
 * chunk_lists_get - decode read list, write list and reply chunk
 *
 * RPCRDMA_OK, and body_offset is behind them; or RPCRDMA_BAD_LISTS, and there are none.
 */
enum rpcrdma_verdict chunk_lists_get(struct xdr_reader *reader, struct rpcrdma_header *hdr);
/** chunk_lists_put - encode them. */
void chunk_lists_put(struct xdr_writer *writer, const struct rpcrdma_header *hdr);
/** chunk_lists_bytes - how long chunk_lists_put() makes them. */
size_t chunk_lists_bytes(const struct rpcrdma_header *hdr);

/** header_v2_get - decode what follows the fixed words in version two, except ERR_VERS; @len is of the whole Send. */
enum rpcrdma_verdict header_v2_get(struct xdr_reader *reader, size_t len,
				   struct rpcrdma_header *hdr);
/** header_v2_put - encode what follows them, except ERR_VERS; return false if there is no such message. */
bool header_v2_put(struct xdr_writer *writer, const struct rpcrdma_header *hdr);
/** header_v2_bytes - return how long the whole header is, except ERR_VERS; 0: there is no such message. */
size_t header_v2_bytes(const struct rpcrdma_header *hdr);

#endif
