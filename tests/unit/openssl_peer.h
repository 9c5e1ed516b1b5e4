/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer of one TLS stream that is not ours: OpenSSL with its own buffers, over the raw end of a rig. */
#ifndef TESTS_UNIT_OPENSSL_PEER_H
#define TESTS_UNIT_OPENSSL_PEER_H

#include <openssl/ssl.h>

#include "tests/unit/tls_fixture.h"

#define PEER_BYTES (512u << 10)

struct openssl_peer {
	struct tls_rig *rig;
	SSL_CTX *ctx;
	SSL *ssl;
	BIO *in, *out;
	uint8_t *input; /* plaintext, PEER_BYTES at most */
	size_t input_bytes;
	unsigned reason; /* of the error that ended it; 0: none */
	bool got_end;    /* close_notify */
};

/**
 * openssl_peer_init - Makes the settings of a peer, which a test can change before
 * openssl_peer_begin(): TLS 1.2 and 1.3, ALPN "sunrpc" for a client, no check of certificates
 * @cert: a file of certificate and key; NULL: none
 */
void openssl_peer_init(struct openssl_peer *peer, struct tls_rig *rig, enum tls_role role,
		       const char *cert);
/** openssl_peer_begin - Makes the connection. A client's first message is in peer->out. */
void openssl_peer_begin(struct openssl_peer *peer);
/** openssl_peer_fini - Frees all. Accepts an all-zero one. */
void openssl_peer_fini(struct openssl_peer *peer);
/** openssl_peer_receive - Takes what has arrived, and does what follows from it, but sends nothing. */
void openssl_peer_receive(struct openssl_peer *peer);
/** openssl_peer_send - Sends its output. */
void openssl_peer_send(struct openssl_peer *peer);
/** openssl_peer_run - Receives and sends until nothing is left to do. */
void openssl_peer_run(struct openssl_peer *peer);
/** openssl_peer_write - Encrypts @bytes into its output. */
void openssl_peer_write(struct openssl_peer *peer, const void *bytes, size_t length);
/** openssl_peer_take - Takes its output instead of sending it. Returns the length. */
size_t openssl_peer_take(struct openssl_peer *peer, uint8_t *to, size_t size);
/** tls_rig_send_raw - Sends bytes from the raw end of a rig, and runs it. */
void tls_rig_send_raw(struct tls_rig *rig, const void *bytes, size_t length);

#endif
