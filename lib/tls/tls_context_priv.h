/* SPDX-License-Identifier: BSD-3-Clause */
/* What contexts and streams share, inside lib/tls. */
#ifndef TLS_TLS_CONTEXT_PRIV_H
#define TLS_TLS_CONTEXT_PRIV_H

#include <openssl/ssl.h>
#include <stdatomic.h>

#include "tls/tls_context.h"
#include "tls/tls_pem.h"

struct tls_context {
	atomic_uint refs;
	SSL_CTX *ctx[2]; /* by role; NULL: not needed */
	struct tls_pem pem;
	enum tls_verify verify_client;
	char *server_name; /* NULL: it cannot connect */
	bool server_name_is_address;
	char **client_names;
	unsigned nclient_names;
	uint8_t digest[TLS_DIGEST_BYTES]; /* of the files' contents and the rules */
};

/**
 * tls_context_ssl - Returns a connection with the rules of @context, or NULL without memory
 * @peer: the name of the peer's certificate is set here when it is verified, even if that fails
 */
SSL *tls_context_ssl(struct tls_context *context, enum tls_role role,
		     struct tls_peer *peer) MUST_CHECK;

#endif
