/* SPDX-License-Identifier: BSD-3-Clause */
/* Certificates and keys in files. */
#ifndef TLS_TLS_PEM_H
#define TLS_TLS_PEM_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdint.h>

#include "base/compiler.h"
#include "tls/tls_peer.h"

#define TLS_DIGEST_BYTES 32u /* SHA-256 */

/* Paths of files; NULL: none. */
struct tls_pem_paths {
	const char *cert; /* the own certificate, and those that signed it */
	const char *key;  /* NULL: in @cert */
	const char *ca;
};

/* The contents of a service's files. All zero: no files. */
struct tls_pem {
	X509 *cert;                       /* the own one; NULL: none */
	EVP_PKEY *key;                    /* of the own certificate */
	STACK_OF(X509) * chain;           /* those that signed the own one, without it */
	STACK_OF(X509) * authorities;     /* NULL: no file */
	int64_t expiry_s;                 /* of the first certificate that expires; 0: none */
	uint8_t digest[TLS_DIGEST_BYTES]; /* of all contents */
};

/**
 * tls_pem_load - Reads and checks files
 * @pem:   receives the contents; tls_pem_fini() frees them, even after a failure
 * @error: set on failure: names the file, and what is wrong with it
 *
 * The files are read once, so what was checked is what is used. Returns 0, -EINVAL, -ENOMEM, or the
 * errno of a file.
 */
int tls_pem_load(struct tls_pem *pem, const struct tls_pem_paths *paths,
		 char error[TLS_ERROR_BYTES]) MUST_CHECK;
/**
 * tls_pem_share - Makes @pem the same contents as @from, which stays. Returns 0 or -ENOMEM; call
 * tls_pem_fini() in both cases.
 */
int tls_pem_share(struct tls_pem *pem, const struct tls_pem *from) MUST_CHECK;
/** tls_pem_fini - Frees the contents. */
void tls_pem_fini(struct tls_pem *pem);

#endif
