/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognises the protocol of a TCP connection by its first bytes, for log messages.
 *
 * lib/rpctcp and lib/fabric/iwarp detect that a peer does not speak their protocol; this module
 * names the protocol that it speaks. The usual cause is a wrong port. So the known protocols are
 * RPC and iWARP, and those of scanners, health checks and browsers.
 */
#ifndef BASE_PROTO_SNIFF_H
#define BASE_PROTO_SNIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTO_SNIFF_BYTES      16u /* bytes that are examined and shown */
#define PROTO_SNIFF_TEXT_BYTES 96u /* of proto_sniff_text(), including the terminating null byte */

enum proto_sniff {
	PROTO_SNIFF_UNKNOWN,
	PROTO_SNIFF_RPC,   /* a record mark and an RPC message header */
	PROTO_SNIFF_IWARP, /* an MPA request or reply */
	PROTO_SNIFF_HTTP,
	PROTO_SNIFF_TLS,
	PROTO_SNIFF_SSH,
	PROTO_SNIFF_PROXY, /* the PROXY header of a load balancer */
};

/**
 * proto_sniff_detect - Returns the protocol that begins with these bytes
 * @bytes, @len_bytes: received so far; at most PROTO_SNIFF_BYTES are examined
 *
 * RPC needs 12 bytes, the others 3 to 16; with fewer bytes the result is PROTO_SNIFF_UNKNOWN.
 */
enum proto_sniff proto_sniff_detect(const uint8_t *bytes, size_t len_bytes);

/**
 * proto_sniff_is_prefix - Returns whether the bytes can be the start of protocol @what; true for no
 * bytes.
 */
bool proto_sniff_is_prefix(enum proto_sniff what, const uint8_t *bytes, size_t len_bytes);

/**
 * proto_sniff_text - Writes the bytes for the log, and the name of the protocol if it is known
 * @text: receives printable text
 *
 * If all bytes are text they are written in quotes, with a dot for each control character, quote
 * and backslash; otherwise in hexadecimal: `"GET / HTTP/1.1.." (HTTP)` or `16 03 01 02 (TLS)`.
 * Returns @text.
 */
const char *proto_sniff_text(const uint8_t *bytes, size_t len_bytes,
			     char text[PROTO_SNIFF_TEXT_BYTES]);

#endif
