/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second implementation of the version-two transport header and of the characteristics: rpcgen's,
 * from rpcrdma_v2.x.
 *
 * It shares no code and no header with the library. The contents of a header cross this interface
 * as in rpcrdma_v1_peer.h, except that RDMA_MSGP has none, and that RDMA_OPTIONAL has
 *
 *	opttype, count of bytes, each: byte
 *
 * The contents of an operation:
 *
 *	INIT                   values, subset
 *	REQ                    values
 *	RESP                   three subsets
 *	UPD                    value, 0 or 1
 *	values                 count, each: value
 *	subset                 count of words, each: word
 *	value, decoded         id, 1 and the number, or 0 if the id is unknown
 *	value, to be encoded   id, count of bytes, each: byte
 */
#ifndef TESTS_UNIT_RPCRDMA_V2_PEER_H
#define TESTS_UNIT_RPCRDMA_V2_PEER_H

#include <stddef.h>
#include <stdint.h>

#define V2_MAX_NUMBERS (1 << 15)

/**
 * v2_peer_decode - what a Send says
 * @header_bytes: where the header ends
 *
 * Returns how many numbers, or 0 if it does not decode.
 */
size_t v2_peer_decode(const uint8_t *send, size_t len, uint64_t numbers[V2_MAX_NUMBERS],
		      size_t *header_bytes);

/**
 * v2_peer_encode - Encodes a header with these contents; returns its length, or 0 if it does not
 * encode.
 */
size_t v2_peer_encode(const uint64_t *numbers, uint8_t *to, size_t room);

/**
 * xchar_peer_decode - Decodes the contents of an RDMA_OPTIONAL of the types 1 to 4
 *
 * Returns the number of values, or 0 if it does not decode, or violates the document in another
 * way: invalid data of a known id, or bytes after the operation.
 */
size_t xchar_peer_decode(uint32_t opttype, const uint8_t *info, size_t len,
			 uint64_t numbers[V2_MAX_NUMBERS]);

/**
 * xchar_peer_encode - Encodes an operation with these contents; returns its length, or 0 if it does
 * not encode.
 */
size_t xchar_peer_encode(uint32_t opttype, const uint64_t *numbers, uint8_t *to, size_t room);

#endif
