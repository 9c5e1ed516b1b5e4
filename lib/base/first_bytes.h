/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the first bytes of a TCP connection look like, for the sentence that tells why it ended.
 *
 * Both rooms that read from TCP find out by themselves that a peer does not speak their protocol; here it gets a
 * name. A port that was mistaken for another one is the common case, so the protocols known are those that stand
 * beside NFS: the other one of our own two, and what scans, checks and browsers send.
 */
#ifndef BASE_FIRST_BYTES_H
#define BASE_FIRST_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIRST_BYTES_MAX        16u /* that are shown, and looked at */
#define FIRST_BYTES_TEXT_BYTES 96u /* room for first_bytes_text(), its end included */

enum first_bytes {
	FIRST_BYTES_UNKNOWN,
	FIRST_BYTES_RPC,   /* a record mark, and the header of an RPC message */
	FIRST_BYTES_IWARP, /* an MPA request or reply */
	FIRST_BYTES_HTTP,
	FIRST_BYTES_TLS,
	FIRST_BYTES_SSH,
	FIRST_BYTES_PROXY, /* the header that load balancers put before a connection */
};

/**
 * first_bytes_look - what a connection that begins so carries
 * @bytes, @len_bytes: what has come, of which no more than FIRST_BYTES_MAX is looked at
 *
 * An RPC message is told by 12 bytes, the others by 3 to 16; with fewer it is FIRST_BYTES_UNKNOWN.
 */
enum first_bytes first_bytes_look(const uint8_t *bytes, size_t len_bytes);

/** first_bytes_may_be - whether what has come is the beginning of one of those; of nothing it is. */
bool first_bytes_may_be(enum first_bytes what, const uint8_t *bytes, size_t len_bytes);

/**
 * first_bytes_text - the bytes for the log, and the name of what they look like if it is known
 * @text: filled; printable whatever the bytes are, and without a quote or a backslash of theirs
 *
 * Such as `"GET / HTTP/1.1.." (HTTP)` or `16 03 01 02 (TLS)`: as text if all of them are some. Returns @text.
 */
const char *first_bytes_text(const uint8_t *bytes, size_t len_bytes,
			     char text[FIRST_BYTES_TEXT_BYTES]);

#endif
