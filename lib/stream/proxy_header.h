/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The header of the PROXY protocol: what a proxy puts before a connection, to say whose connection that is.
 *
 *	version 1   "PROXY TCP4 192.0.2.10 192.0.2.30 711 2049\r\n", at most 107 bytes
 *	version 2   signature (12), version and command (1), family (1), length of the rest (2), addresses, TLVs
 *
 * Both are read; version 2 is sent. All numbers are big-endian. A header may say that the connection is the proxy's
 * own (LOCAL), or that it cannot name whose it is (UNKNOWN, UNSPEC, UNIX): both count as the peer's own.
 */
#ifndef STREAM_PROXY_HEADER_H
#define STREAM_PROXY_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define PROXY_HEADER_V1_MAX_BYTES 107u
#define PROXY_HEADER_MAX_BYTES    2048u /* of version 2, all of it */
#define PROXY_HEADER_SENT_BYTES   52u   /* the longest that is sent */

/* The connection that it stands for. */
struct proxy_header {
	bool named; /* else it is the peer's own, and the rest means nothing */
	struct sockaddr_storage source, destination; /* IPv4 or IPv6, both of one family */
};

#define PROXY_HEADER_VERDICTS(X)                                                                   \
	X(MORE, "it is cut")                                                                       \
	X(OK, "it is whole")                                                                       \
	X(NONE, "there is none")                                                                   \
	X(TOO_LONG, "it is too long")                                                              \
	X(BAD_LINE, "its line cannot be read")                                                     \
	X(BAD_COMMAND, "of an unknown version or command")                                         \
	X(BAD_FAMILY, "its addresses are of an unknown family, or a datagram's")                   \
	X(BAD_LENGTH, "its parts are longer than it is")                                           \
	X(BAD_SOURCE, "it names an address or a port that no client has")                          \
	X(BAD_CRC, "its CRC32C is wrong")

enum proxy_header_verdict {
#define PROXY_HEADER_ENUM(name, text) PROXY_HEADER_##name,
	PROXY_HEADER_VERDICTS(PROXY_HEADER_ENUM) PROXY_HEADER_VERDICT_COUNT
#undef PROXY_HEADER_ENUM
};

/** proxy_header_verdict_text - the verdict in words, behind "PROXY header: ". */
const char *proxy_header_verdict_text(enum proxy_header_verdict verdict);

/**
 * proxy_header_decode - the header that a connection begins with
 * @bytes, @len_bytes: what has come
 * @header:            filled in for PROXY_HEADER_OK
 * @used_bytes:        for PROXY_HEADER_OK how long it is; what is behind it is not looked at
 *
 * PROXY_HEADER_MORE says that all of @bytes is of the header, and does not end it. What is none, or too long, is told
 * as early as it shows.
 */
enum proxy_header_verdict proxy_header_decode(const uint8_t *bytes, size_t len_bytes,
					      struct proxy_header *header,
					      size_t *used_bytes) MUST_CHECK;

/**
 * proxy_header_encode - a header of version 2
 * @header: v4-mapped addresses go as IPv4; one that is not named goes as LOCAL
 *
 * Returns its length.
 */
size_t proxy_header_encode(const struct proxy_header *header, uint8_t to[PROXY_HEADER_SENT_BYTES]);

#endif
