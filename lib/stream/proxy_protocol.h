/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes and encodes the PROXY protocol header, by which a proxy names the client of a connection.
 *
 *	version 1   "PROXY TCP4 192.0.2.10 192.0.2.30 711 2049\r\n", at most 107 bytes
 *	version 2   signature (12 bytes), version and command (1), family (1), length (2),
 *	            then addresses and TLVs of that length
 *
 * Both versions are accepted; version 2 is sent. All numbers are big-endian. If a header says that
 * the connection is the proxy's own (LOCAL), or that the proxy cannot name the client (UNKNOWN,
 * UNSPEC, UNIX), the connection counts as the proxy's own.
 */
#ifndef STREAM_PROXY_PROTOCOL_H
#define STREAM_PROXY_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define PROXY_HEADER_V1_MAX_BYTES 107u
#define PROXY_HEADER_MAX_BYTES    2048u /* whole header of version 2 */
#define PROXY_HEADER_SENT_BYTES   52u   /* longest header that is sent */

/* The client's connection to the proxy. */
struct proxy_header {
	bool named; /* false: the connection is the proxy's own, and the rest is unset */
	struct sockaddr_storage source, destination; /* IPv4 or IPv6, both of the same family */
};

#define PROXY_HEADER_VERDICTS(X)                                                                   \
	X(MORE, "truncated")                                                                       \
	X(OK, "complete")                                                                          \
	X(NONE, "no PROXY header")                                                                 \
	X(TOO_LONG, "too long")                                                                    \
	X(BAD_LINE, "malformed line")                                                              \
	X(BAD_COMMAND, "unknown version or command")                                               \
	X(BAD_FAMILY, "unknown address family, or a datagram protocol")                            \
	X(BAD_LENGTH, "a length exceeds the header")                                               \
	X(BAD_SOURCE, "source address or port that no client can have")                            \
	X(BAD_CRC, "wrong CRC32C")

enum proxy_header_verdict {
#define PROXY_HEADER_ENUM(name, text) PROXY_HEADER_##name,
	PROXY_HEADER_VERDICTS(PROXY_HEADER_ENUM) PROXY_HEADER_VERDICT_COUNT
#undef PROXY_HEADER_ENUM
};

/**
 * proxy_header_verdict_text - Returns the verdict as text, the detail of LEG_CLOSE_PROXY_HEADER.
 */
const char *proxy_header_verdict_text(enum proxy_header_verdict verdict);

/**
 * proxy_header_decode - Decodes the header at the start of a connection
 * @bytes, @len_bytes: received so far
 * @header:            filled in for PROXY_HEADER_OK
 * @used_bytes:        for PROXY_HEADER_OK the length of the header; later bytes are not examined
 *
 * Returns PROXY_HEADER_MORE if all of @bytes belong to the header and it is incomplete. Missing and
 * too long headers are reported as early as possible.
 */
enum proxy_header_verdict proxy_header_decode(const uint8_t *bytes, size_t len_bytes,
					      struct proxy_header *header,
					      size_t *used_bytes) MUST_CHECK;

/**
 * proxy_header_encode - Encodes a header of version 2
 * @header: v4-mapped addresses are sent as IPv4; without `named` LOCAL is sent
 *
 * Returns its length.
 */
size_t proxy_header_encode(const struct proxy_header *header, uint8_t to[PROXY_HEADER_SENT_BYTES]);

#endif
