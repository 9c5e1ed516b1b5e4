/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the transport header's codec: the four fixed words, ERR_VERS and all that is common are header.c's;
 * what a version has besides is in a file of its own, and the chunk lists are in chunk_lists.c.
 *
 * A reader stands behind the fixed words, which are in the header already; so does a writer.
 */
#ifndef RPCRDMA_HEADER_IMPL_H
#define RPCRDMA_HEADER_IMPL_H

#include "rpcrdma/header.h"

struct xdr_reader;
struct xdr_writer;

/** chunk_lists_clear - no lists. */
void chunk_lists_clear(struct rpcrdma_header *hdr);
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

/* A version of the header. */
struct header_codec {
	/** get - decode what follows the fixed words, but for ERR_VERS; @len is of the whole Send. */
	enum rpcrdma_verdict (*get)(struct xdr_reader *reader, size_t len,
				    struct rpcrdma_header *hdr);
	/** put - encode what follows them, but for ERR_VERS; false: there is no such message. */
	bool (*put)(struct xdr_writer *writer, const struct rpcrdma_header *hdr);
	/** bytes - how long the whole header is, but for ERR_VERS; 0: there is no such message. */
	size_t (*bytes)(const struct rpcrdma_header *hdr);
};

extern const struct header_codec header_v1, header_v2;

#endif
