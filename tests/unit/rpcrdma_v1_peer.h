/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second implementation of the version-one transport header: rpcgen's, from rpcrdma_v1.x.
 *
 * It shares no code and no header with the library. The contents of a header cross this interface
 * as plain numbers in wire order:
 *
 *	xid, vers, credit, proc, then
 *	RDMA_MSG, RDMA_NOMSG   lists
 *	RDMA_MSGP              align, thresh, lists
 *	RDMA_ERROR             code, with ERR_VERS low and high
 *	lists                  count of read segments, each: position, segment
 *	                       count of write chunks, each: chunk
 *	                       0, or 1 and the reply chunk
 *	chunk                  count of segments, each: segment
 *	segment                handle, length, offset
 */
#ifndef TESTS_UNIT_RPCRDMA_V1_PEER_H
#define TESTS_UNIT_RPCRDMA_V1_PEER_H

#include <stddef.h>
#include <stdint.h>

#define V1_MAX_NUMBERS 4096

/**
 * v1_peer_decode - what a Send says
 * @header_bytes: where the header ends
 *
 * Returns how many numbers, or 0 if it does not decode.
 */
size_t v1_peer_decode(const uint8_t *send, size_t len, uint64_t numbers[V1_MAX_NUMBERS],
		      size_t *header_bytes);

/**
 * v1_peer_encode - Encodes a header with these contents; returns its length, or 0 if it does not
 * encode.
 */
size_t v1_peer_encode(const uint64_t *numbers, uint8_t *to, size_t room);

#endif
