/* SPDX-License-Identifier: BSD-3-Clause */
/* The two roles, and what is known of the peer. */
#ifndef TLS_TLS_PEER_H
#define TLS_TLS_PEER_H

#include <stdbool.h>

#define TLS_ERROR_BYTES 256u /* of a sentence about an error, with its terminating null byte */

enum tls_role { TLS_ROLE_SERVER, TLS_ROLE_CLIENT };

#define TLS_PEER_NAME_BYTES 128u

/* What is known of the peer, after the handshake. */
struct tls_peer {
	/*
	 * The name by which its certificate was accepted: the first of its names that a rule has,
	 * else its first DNS name, IP address, or subject; "" without a certificate.
	 */
	char name[TLS_PEER_NAME_BYTES];
	bool verified;      /* an authority has signed its certificate */
	bool unnamed;       /* its certificate has no name or address: `name` is the subject */
	bool of_authority;  /* a date is wrong of an authority: `name` is that one's */
	const char *cipher; /* a constant string, such as "TLS_AES_128_GCM_SHA256" */
};

#endif
