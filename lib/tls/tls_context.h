/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Certificates and rules of a service's TLS, for both roles: RPC-with-TLS (RFC 9289), TLS 1.3 only.
 *
 * ALPN: a client offers "sunrpc". A server selects it, and rejects a client that offers only other
 * protocols. Either accepts a peer without ALPN, since tlshd of Linux (ktls-utils up to 1.4) and
 * rpc.tlsclntd and rpc.tlsservd of FreeBSD have none.
 *
 * A context is made from files once and never changes. A reload makes another one; connections keep
 * the one that they began with. Every function can be called by any thread.
 */
#ifndef TLS_TLS_CONTEXT_H
#define TLS_TLS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "tls/tls_peer.h"

/* Whether a server demands a client's certificate. */
enum tls_verify { TLS_VERIFY_NONE, TLS_VERIFY_OPTIONAL, TLS_VERIFY_REQUIRED };

struct tls_context_config {
	bool accepts;  /* the role of the server is needed, … */
	bool connects; /* … that of the client */
	const char
		*cert_file;   /* PEM: certificate and chain; NULL: none (a client can do without) */
	const char *key_file; /* PEM; NULL: in cert_file */
	const char *ca_file;  /* PEM: authorities; NULL: for servers those of the system */
	enum tls_verify verify_client;
	/*
	 * Names of clients that are accepted (RFC 9525 forms: a DNS name, with a wildcard as the
	 * whole first label; an IP address; or "sha256:HEX", the fingerprint of the certificate).
	 * None: each certificate that an authority has signed.
	 */
	const char *const *client_names;
	unsigned nclient_names;
	/*
	 * The server's name or IP address, which its certificate must have. NULL: no stream can
	 * have the role of the client, only those with a context of tls_context_for_server().
	 */
	const char *server_name;
};

struct tls_context;

/**
 * tls_context_new - Reads the files and makes a context
 * @config: not needed afterwards
 * @error:  set on failure: a sentence that names the file and what is wrong with it
 *
 * Refuses a key that does not belong to the certificate, and a certificate that has expired or is
 * not valid yet. Returns 0; -EINVAL for bad contents; -ENOMEM; or the errno of a file.
 */
int tls_context_new(const struct tls_context_config *config, struct tls_context **out,
		    char error[TLS_ERROR_BYTES]) MUST_CHECK;
/** tls_context_ref - Returns another reference to @context. */
struct tls_context *tls_context_ref(struct tls_context *context);
/**
 * tls_context_for_server - Makes a context with the files and rules of @context for connections to
 * a server of another name
 * @name: replaces server_name of its configuration; copied
 *
 * Reads no file. Returns 0 or -ENOMEM.
 */
int tls_context_for_server(struct tls_context *context, const char *name,
			   struct tls_context **out) MUST_CHECK;
/** tls_context_put - Drops a reference; the last one frees. Accepts NULL. */
void tls_context_put(struct tls_context *context);

/**
 * tls_context_expiry_s - Returns when the first certificate of the own chain expires, in seconds of
 * Unix time; 0: there is none.
 */
int64_t tls_context_expiry_s(const struct tls_context *context);
/** tls_context_covers - Returns whether the own certificate has @name, a DNS name or IP address. */
bool tls_context_covers(const struct tls_context *context, const char *name);
/**
 * tls_context_same - Returns whether two contexts are made of the same certificates, key and
 * rules: then a reload has nothing to change.
 */
bool tls_context_same(const struct tls_context *a, const struct tls_context *b);

#endif
