// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/openssl_peer.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>

#include "tests/lib/test.h"

void openssl_peer_init(struct openssl_peer *peer, struct tls_rig *rig, enum tls_role role,
		       const char *cert)
{
	static const uint8_t alpn[] = "\x06sunrpc";
	bool server = role == TLS_ROLE_SERVER;

	*peer = (struct openssl_peer){.rig = rig};
	peer->ctx = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
	ck_assert_ptr_nonnull(peer->ctx);
	SSL_CTX_set_min_proto_version(peer->ctx, TLS1_2_VERSION);
	if (!server)
		ck_assert_int_eq(SSL_CTX_set_alpn_protos(peer->ctx, alpn, sizeof(alpn) - 1), 0);
	if (cert) {
		ck_assert_int_eq(SSL_CTX_use_certificate_chain_file(peer->ctx, cert), 1);
		ck_assert_int_eq(SSL_CTX_use_PrivateKey_file(peer->ctx, cert, SSL_FILETYPE_PEM), 1);
	}
	peer->input = malloc(PEER_BYTES);
	ck_assert_ptr_nonnull(peer->input);
}

static void advance(struct openssl_peer *peer)
{
	size_t n;
	int ret;

	ERR_clear_error();
	if (peer->reason || peer->got_end)
		return;
	ret = SSL_is_init_finished(peer->ssl) ? 1 : SSL_do_handshake(peer->ssl);
	while (ret == 1) {
		ret = SSL_read_ex(peer->ssl, peer->input + peer->input_bytes,
				  PEER_BYTES - peer->input_bytes, &n);
		if (ret == 1)
			peer->input_bytes += n;
	}
	if (SSL_get_error(peer->ssl, ret) == SSL_ERROR_ZERO_RETURN)
		peer->got_end = true;
	else if (SSL_get_error(peer->ssl, ret) == SSL_ERROR_SSL)
		peer->reason = (unsigned)ERR_GET_REASON(ERR_peek_error());
	ERR_clear_error();
}

void openssl_peer_begin(struct openssl_peer *peer)
{
	peer->ssl = SSL_new(peer->ctx);
	peer->in = BIO_new(BIO_s_mem());
	peer->out = BIO_new(BIO_s_mem());
	ck_assert(peer->ssl && peer->in && peer->out);
	SSL_set_bio(peer->ssl, peer->in, peer->out);
	if (SSL_CTX_get_ssl_method(peer->ctx) == TLS_server_method())
		SSL_set_accept_state(peer->ssl);
	else
		SSL_set_connect_state(peer->ssl);
	advance(peer);
}

void openssl_peer_fini(struct openssl_peer *peer)
{
	SSL_free(peer->ssl);
	SSL_CTX_free(peer->ctx);
	free(peer->input);
}

/* Returns whether anything came. */
static bool receive(struct openssl_peer *peer)
{
	uint8_t bytes[16384];
	struct iovec iov = {bytes, sizeof(bytes)};
	bool any = false;
	ssize_t n;

	while ((n = stream_readv(peer->rig->raw, &iov, 1)) > 0) {
		ck_assert_int_eq(BIO_write(peer->in, bytes, (int)n), n);
		any = true;
	}
	if (any)
		advance(peer);
	return any;
}

void openssl_peer_receive(struct openssl_peer *peer)
{
	tls_rig_run(peer->rig);
	receive(peer);
}

size_t openssl_peer_take(struct openssl_peer *peer, uint8_t *to, size_t size)
{
	int n = BIO_read(peer->out, to, (int)size);

	return n > 0 ? (size_t)n : 0;
}

void tls_rig_send_raw(struct tls_rig *rig, const void *bytes, size_t length)
{
	unsigned stalls = 0;

	while (length > 0) {
		struct iovec iov = {(void *)bytes, length};
		ssize_t n = stream_writev(rig->raw, &iov, 1);

		if (n > 0) {
			bytes = (const char *)bytes + n;
			length -= (size_t)n;
		} else if (n != -EAGAIN || ++stalls > 100) {
			return; /* the other end does not read any more */
		}
		tls_rig_run(rig);
	}
	tls_rig_run(rig);
}

void openssl_peer_send(struct openssl_peer *peer)
{
	uint8_t bytes[16384];
	size_t n;

	while ((n = openssl_peer_take(peer, bytes, sizeof(bytes))) > 0)
		tls_rig_send_raw(peer->rig, bytes, n);
}

void openssl_peer_run(struct openssl_peer *peer)
{
	do {
		openssl_peer_send(peer);
		tls_rig_run(peer->rig);
	} while (receive(peer));
}

void openssl_peer_write(struct openssl_peer *peer, const void *bytes, size_t length)
{
	size_t n;

	ck_assert_int_eq(SSL_write_ex(peer->ssl, bytes, length, &n), 1);
	ck_assert_uint_eq(n, length);
}
