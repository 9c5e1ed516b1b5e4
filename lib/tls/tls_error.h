/* SPDX-License-Identifier: BSD-3-Clause */
/* What failed, in words for logs and as kinds to count. */
#ifndef TLS_TLS_ERROR_H
#define TLS_TLS_ERROR_H

#include <openssl/ssl.h>

#include "base/compiler.h"
#include "tls/tls_peer.h"

/* The counters of struct tls_counters that begin with "handshakes_" have these names. */
enum tls_failure {
	TLS_FAILURE_NONE,
	TLS_FAILURE_CERTIFICATE, /* the peer's certificate was missing or not accepted */
	TLS_FAILURE_REJECTED,    /* the peer sent an alert */
	TLS_FAILURE_PROTOCOL,    /* by what the peer sent */
	TLS_FAILURE_CLOSED,      /* the connection ended */
	TLS_FAILURE_RESOURCES,   /* no memory */
	TLS_FAILURE_LIMITED,     /* too many others */
};

/**
 * tls_error_set - Formats a message, and empties OpenSSL's queue of errors
 *
 * If that queue reports a lack of memory, so does the message. The arguments can be from the
 * queue, as tls_error_reason() is. Returns @err, or -ENOMEM.
 */
int tls_error_set(char text[TLS_ERROR_BYTES], int err, const char *fmt, ...) PRINTF_LIKE(3, 4);
/** tls_error_set_memory - Sets a message about a lack of memory. Returns -ENOMEM. */
int tls_error_set_memory(char text[TLS_ERROR_BYTES]);
/** tls_error_reason - Returns OpenSSL's words for its last error: a constant string. */
const char *tls_error_reason(void);
/** tls_error_peer - Returns the peer's role as a word: "client" or "server". */
const char *tls_error_peer(enum tls_role own_role);
/**
 * tls_error_describe - Describes the oldest error of OpenSSL's queue of this thread, and empties it
 * @role:  the own one
 * @peer:  with the name of the peer's certificate, if it had one
 * @text:  receives a part of a sentence
 */
enum tls_failure tls_error_describe(SSL *ssl, enum tls_role role, const struct tls_peer *peer,
				    char text[TLS_ERROR_BYTES]);
/** tls_error_errno - Returns a negative errno for a kind of failure. */
int tls_error_errno(enum tls_failure failure);

#endif
