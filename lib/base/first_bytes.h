/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognises the protocol of a TCP connection by its first bytes, for log messages.
 *
 * lib/rpctcp and lib/fabric/iwarp detect by themselves that a peer does not speak their protocol; this module names what
 * it speaks. The usual cause is a wrong port. So the known protocols are RPC and iWARP, and those of scanners, health
 * checks and browsers.
 */
#ifndef BASE_FIRST_BYTES_H
#define BASE_FIRST_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIRST_BYTES_MAX        16u /* bytes that are examined and shown */
#define FIRST_BYTES_TEXT_BYTES 96u /* of first_bytes_text(), including the terminating null byte */

enum first_bytes {
	FIRST_BYTES_UNKNOWN,
	FIRST_BYTES_RPC,   /* a record mark and an RPC message header */
	FIRST_BYTES_IWARP, /* an MPA request or reply */
	FIRST_BYTES_HTTP,
	FIRST_BYTES_TLS,
	FIRST_BYTES_SSH,
	FIRST_BYTES_PROXY, /* the PROXY header of a load balancer */
};

/**
 * first_bytes_look - Returns the protocol that begins with these bytes
 * @bytes, @len_bytes: received so far; at most FIRST_BYTES_MAX are examined
 *
 * RPC needs 12 bytes, the others 3 to 16; with fewer bytes the result is FIRST_BYTES_UNKNOWN.
 */
enum first_bytes first_bytes_look(const uint8_t *bytes, size_t len_bytes);

/** first_bytes_may_be - Returns whether the bytes can be the start of protocol @what; true for no bytes. */
bool first_bytes_may_be(enum first_bytes what, const uint8_t *bytes, size_t len_bytes);

/**
 * first_bytes_text - Writes the bytes for the log, and the name of the protocol if it is known
 * @text: receives printable text without quotes or backslashes from the bytes
 *
 * Text is written as such, other bytes in hexadecimal: `"GET / HTTP/1.1.." (HTTP)` or `16 03 01 02 (TLS)`. Returns @text.
 */
const char *first_bytes_text(const uint8_t *bytes, size_t len_bytes,
			     char text[FIRST_BYTES_TEXT_BYTES]);

#endif
