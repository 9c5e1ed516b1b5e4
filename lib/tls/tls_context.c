// SPDX-License-Identifier: BSD-3-Clause
#include "tls/tls_context.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

#include "tls/tls_cert.h"
#include "tls/tls_context_priv.h"
#include "tls/tls_error.h"
#include "tls/tls_record.h"

/*
 * AES-128 first: it is the fastest with the instructions of all usual processors, and as safe. A
 * client that prefers ChaCha20 has no such instructions.
 */
#define CIPHERS "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
/* No finite fields: a client could choose one for which our handshake takes very long. */
#define GROUPS "X25519:P-256:X448:P-384:P-521"
/* From OpenSSL 3.5 on; a client sends key shares for those with an asterisk, most peers have one. */
#define GROUPS_HYBRID "*X25519MLKEM768:*X25519:P-256:X448:P-384:P-521"
/* RSA from 2048 bits, elliptic curves from 224 bits, no SHA-1. */
#define SECURITY_LEVEL 2

static const uint8_t alpn[] = {6, 's', 'u', 'n', 'r', 'p', 'c'};

/* What OpenSSL calls in a handshake, on its thread */

/* Selects "sunrpc". A client that offers only other protocols is at the wrong place. */
static int select_alpn(SSL *ssl, const uint8_t **out, uint8_t *out_bytes, const uint8_t *in,
		       unsigned in_bytes, void *arg)
{
	for (unsigned i = 0; i < in_bytes; i += in[i] + 1u) {
		if (in[i] != alpn[0] || in_bytes - i < sizeof(alpn) ||
		    memcmp(in + i, alpn, sizeof(alpn)) != 0)
			continue;
		*out = in + i + 1;
		*out_bytes = alpn[0];
		return SSL_TLSEXT_ERR_OK;
	}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* Whether a rule accepts the client's certificate, which an authority has signed. */
static bool accepts_client(const struct tls_context *context, X509 *cert, struct tls_peer *peer)
{
	for (unsigned i = 0; i < context->nclient_names; i++)
		if (tls_cert_matches(cert, context->client_names[i], peer->name,
				     sizeof(peer->name)))
			return true;
	return context->nclient_names == 0;
}

static SSL *ssl_of(X509_STORE_CTX *store)
{
	return X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
}

/* An authority that has expired makes each certificate of it invalid. */
static void note_authority(X509_STORE_CTX *store, struct tls_peer *peer)
{
	int error = X509_STORE_CTX_get_error(store);

	peer->of_authority =
		X509_STORE_CTX_get_error_depth(store) > 0 &&
		(error == X509_V_ERR_CERT_HAS_EXPIRED || error == X509_V_ERR_CERT_NOT_YET_VALID);
	if (peer->of_authority)
		tls_cert_name(X509_STORE_CTX_get_current_cert(store), peer->name,
			      sizeof(peer->name));
}

/* Verifies the peer's certificate. */
static int verify_peer(X509_STORE_CTX *store, void *arg)
{
	const struct tls_context *context = arg;
	X509 *cert = X509_STORE_CTX_get0_cert(store);
	SSL *ssl = ssl_of(store);
	struct tls_peer *peer = SSL_get_app_data(ssl);
	int ok;

	peer->unnamed = !tls_cert_name(cert, peer->name, sizeof(peer->name));
	ok = X509_verify_cert(store);
	if (ok <= 0) {
		note_authority(store, peer);
		return ok;
	}
	if (!SSL_is_server(ssl)) {
		snprintf(peer->name, sizeof(peer->name), "%s", context->server_name);
		return 1;
	}
	if (accepts_client(context, cert, peer))
		return 1;
	X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
	return 0;
}

/* OpenSSL's contexts. These functions return false and leave an error in OpenSSL's queue. */

static bool set_common(struct tls_context *context, SSL_CTX *ctx)
{
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
					 SSL_OP_PRIORITIZE_CHACHA);
	/* The chain is what cert_file has, whatever ca_file has. */
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
	SSL_CTX_set_security_level(ctx, SECURITY_LEVEL);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_default_read_buffer_len(ctx, TLS_READ_BUFFER_BYTES);
	SSL_CTX_set_cert_verify_callback(ctx, verify_peer, context);
	return SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_ciphersuites(ctx, CIPHERS) == 1 &&
	       (SSL_CTX_set1_groups_list(ctx, GROUPS_HYBRID) == 1 ||
		SSL_CTX_set1_groups_list(ctx, GROUPS) == 1);
}

static bool set_own(const struct tls_pem *pem, SSL_CTX *ctx)
{
	return !pem->cert || (SSL_CTX_use_certificate(ctx, pem->cert) == 1 &&
			      SSL_CTX_use_PrivateKey(ctx, pem->key) == 1 &&
			      SSL_CTX_set1_chain(ctx, pem->chain) == 1);
}

/* Reading the authorities of the system takes milliseconds: @like has them already, unless NULL. */
static bool set_authorities(STACK_OF(X509) * authorities, SSL_CTX *ctx, enum tls_role role,
			    SSL_CTX *like)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	bool ok = true;

	if (like) {
		SSL_CTX_set1_cert_store(ctx, SSL_CTX_get_cert_store(like));
		return true;
	}
	/* Each certificate of the file is trusted, not only those that sign themselves. */
	X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
	if (!authorities)
		return role == TLS_ROLE_SERVER || SSL_CTX_set_default_verify_paths(ctx) == 1;
	for (int i = 0; ok && i < sk_X509_num(authorities); i++) {
		X509 *cert = sk_X509_value(authorities, i);

		ok = X509_STORE_add_cert(store, cert) == 1 &&
		     (role == TLS_ROLE_CLIENT || SSL_CTX_add_client_CA(ctx, cert) == 1);
	}
	return ok;
}

static bool set_server_rules(const struct tls_context *context, SSL_CTX *ctx)
{
	static const int modes[] = {
		[TLS_VERIFY_NONE] = SSL_VERIFY_NONE,
		[TLS_VERIFY_OPTIONAL] = SSL_VERIFY_PEER,
		[TLS_VERIFY_REQUIRED] = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
	};

	SSL_CTX_set_verify(ctx, modes[context->verify_client], NULL);
	SSL_CTX_set_alpn_select_cb(ctx, select_alpn, NULL);
	/* Connections last long, so resumption would save little. */
	return SSL_CTX_set_num_tickets(ctx, 0) == 1;
}

static bool set_client_rules(struct tls_context *context, SSL_CTX *ctx)
{
	X509_VERIFY_PARAM *param = SSL_CTX_get0_param(ctx);

	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	/* This function returns 0 for success. */
	if (SSL_CTX_set_alpn_protos(ctx, alpn, sizeof(alpn)) != 0)
		return false;
	if (!context->server_name)
		return true;
	X509_VERIFY_PARAM_set_hostflags(param, TLS_CERT_HOST_FLAGS);
	context->server_name_is_address = tls_cert_is_address(context->server_name);
	if (context->server_name_is_address)
		return X509_VERIFY_PARAM_set1_ip_asc(param, context->server_name) == 1;
	return X509_VERIFY_PARAM_set1_host(param, context->server_name, 0) == 1;
}

static bool set_all(struct tls_context *context, SSL_CTX *ctx, enum tls_role role, SSL_CTX *like)
{
	return set_common(context, ctx) && set_own(&context->pem, ctx) &&
	       set_authorities(context->pem.authorities, ctx, role, like) &&
	       (role == TLS_ROLE_SERVER ? set_server_rules(context, ctx)
					: set_client_rules(context, ctx));
}

/* @like: of the same role, whose authorities are shared; NULL: none. */
static int make_ctx(struct tls_context *context, enum tls_role role, SSL_CTX *like,
		    char error[TLS_ERROR_BYTES])
{
	SSL_CTX *ctx =
		SSL_CTX_new(role == TLS_ROLE_SERVER ? TLS_server_method() : TLS_client_method());

	context->ctx[role] = ctx;
	ERR_clear_error();
	if (!ctx)
		return tls_error_set_memory(error);
	if (set_all(context, ctx, role, like)) {
		ERR_clear_error();
		return 0;
	}
	if (!ERR_peek_last_error())
		return tls_error_set_memory(error);
	return tls_error_set(error, -EINVAL, "the certificates cannot be used: %s",
			     tls_error_reason());
}

/* The rules */

/* Certificates, and the name that a client sends, have no dot at the end (RFC 6066 section 3). */
static int set_server_name(struct tls_context *context, const char *name)
{
	size_t length = name ? strlen(name) : 0;

	if (!name)
		return 0;
	if (length > 1 && name[length - 1] == '.')
		length--;
	context->server_name = strndup(name, length);
	return context->server_name ? 0 : -ENOMEM;
}

static int copy_names(struct tls_context *context, const char *const *names, unsigned count)
{
	context->client_names = calloc(count + 1, sizeof(char *));
	if (!context->client_names)
		return -ENOMEM;
	for (; context->nclient_names < count; context->nclient_names++) {
		char *name = strdup(names[context->nclient_names]);

		if (!name)
			return -ENOMEM;
		context->client_names[context->nclient_names] = name;
	}
	return 0;
}

static int copy_rules(struct tls_context *context, const struct tls_context_config *config)
{
	int err = copy_names(context, config->client_names, config->nclient_names);

	context->verify_client = config->verify_client;
	return err ? err : set_server_name(context, config->server_name);
}

static int check_rules(const struct tls_context_config *config, char error[TLS_ERROR_BYTES])
{
	if (config->accepts && !config->cert_file)
		return tls_error_set(error, -EINVAL, "a server needs a certificate");
	if (config->accepts && config->verify_client != TLS_VERIFY_NONE && !config->ca_file)
		return tls_error_set(error, -EINVAL,
				     "clients cannot be verified without a file of authorities");
	for (unsigned i = 0; i < config->nclient_names; i++)
		if (!tls_cert_is_rule(config->client_names[i]))
			return tls_error_set(error, -EINVAL,
					     "\"%s\" is neither a DNS name, nor an IP address, nor "
					     "sha256: and a fingerprint",
					     config->client_names[i]);
	return 0;
}

static bool digest_add(EVP_MD_CTX *md, const void *bytes, size_t length)
{
	return EVP_DigestUpdate(md, &length, sizeof(length)) == 1 &&
	       (!length || EVP_DigestUpdate(md, bytes, length) == 1);
}

static bool digest_all(struct tls_context *context, EVP_MD_CTX *md)
{
	const unsigned rules[] = {context->ctx[TLS_ROLE_SERVER] != NULL,
				  context->ctx[TLS_ROLE_CLIENT] != NULL, context->verify_client,
				  context->nclient_names};
	const char *server_name = context->server_name ? context->server_name : "";
	bool ok = EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1 &&
		  digest_add(md, context->pem.digest, TLS_DIGEST_BYTES) &&
		  digest_add(md, rules, sizeof(rules)) &&
		  digest_add(md, server_name, strlen(server_name));

	for (unsigned i = 0; ok && i < context->nclient_names; i++)
		ok = digest_add(md, context->client_names[i], strlen(context->client_names[i]));
	return ok && EVP_DigestFinal_ex(md, context->digest, NULL) == 1;
}

static int make_digest(struct tls_context *context)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	bool ok = md && digest_all(context, md);

	EVP_MD_CTX_free(md);
	ERR_clear_error();
	return ok ? 0 : -ENOMEM;
}

/* Making one */

static struct tls_context *allocate(void)
{
	struct tls_context *context = calloc(1, sizeof(*context));

	if (context)
		atomic_init(&context->refs, 1);
	return context;
}

static int make(struct tls_context *context, const struct tls_context_config *config,
		char error[TLS_ERROR_BYTES])
{
	const struct tls_pem_paths paths = {
		.cert = config->cert_file, .key = config->key_file, .ca = config->ca_file};
	int err = check_rules(config, error);

	if (!err && copy_rules(context, config))
		err = tls_error_set_memory(error);
	if (!err)
		err = tls_pem_load(&context->pem, &paths, error);
	if (!err && config->accepts)
		err = make_ctx(context, TLS_ROLE_SERVER, NULL, error);
	if (!err && config->connects)
		err = make_ctx(context, TLS_ROLE_CLIENT, NULL, error);
	if (!err && make_digest(context))
		err = tls_error_set_memory(error);
	return err;
}

int tls_context_new(const struct tls_context_config *config, struct tls_context **out,
		    char error[TLS_ERROR_BYTES])
{
	struct tls_context *context = allocate();
	int err = context ? make(context, config, error) : tls_error_set_memory(error);

	if (err)
		tls_context_put(context);
	else
		*out = context;
	return err;
}

static int make_for_server(struct tls_context *context, const struct tls_context *from,
			   const char *name)
{
	char error[TLS_ERROR_BYTES];
	int err = tls_pem_share(&context->pem, &from->pem);

	context->verify_client = from->verify_client;
	if (!err)
		err = copy_names(context, (const char *const *)from->client_names,
				 from->nclient_names);
	if (!err)
		err = set_server_name(context, name);
	if (!err)
		err = make_ctx(context, TLS_ROLE_CLIENT, from->ctx[TLS_ROLE_CLIENT], error);
	return err ? err : make_digest(context);
}

int tls_context_for_server(struct tls_context *context, const char *name, struct tls_context **out)
{
	struct tls_context *made = allocate();

	/* Nothing but a lack of memory can be wrong with what was good before. */
	if (!made || make_for_server(made, context, name)) {
		tls_context_put(made);
		return -ENOMEM;
	}
	*out = made;
	return 0;
}

struct tls_context *tls_context_ref(struct tls_context *context)
{
	atomic_fetch_add_explicit(&context->refs, 1, memory_order_relaxed);
	return context;
}

void tls_context_put(struct tls_context *context)
{
	if (!context || atomic_fetch_sub_explicit(&context->refs, 1, memory_order_acq_rel) != 1)
		return;
	SSL_CTX_free(context->ctx[TLS_ROLE_SERVER]);
	SSL_CTX_free(context->ctx[TLS_ROLE_CLIENT]);
	tls_pem_fini(&context->pem);
	free(context->server_name);
	for (unsigned i = 0; i < context->nclient_names; i++)
		free(context->client_names[i]);
	free(context->client_names);
	free(context);
}

int64_t tls_context_expiry_s(const struct tls_context *context)
{
	return context->pem.expiry_s;
}

bool tls_context_covers(const struct tls_context *context, const char *name)
{
	return context->pem.cert && tls_cert_has_name(context->pem.cert, name);
}

bool tls_context_same(const struct tls_context *a, const struct tls_context *b)
{
	return memcmp(a->digest, b->digest, TLS_DIGEST_BYTES) == 0;
}

SSL *tls_context_ssl(struct tls_context *context, enum tls_role role, struct tls_peer *peer)
{
	bool can_connect = role == TLS_ROLE_SERVER || context->server_name;
	SSL *ssl = can_connect ? SSL_new(context->ctx[role]) : NULL;

	if (!ssl)
		return NULL;
	if (SSL_set_app_data(ssl, peer) != 1 ||
	    (role == TLS_ROLE_CLIENT && !context->server_name_is_address &&
	     SSL_set_tlsext_host_name(ssl, context->server_name) != 1)) {
		SSL_free(ssl);
		return NULL;
	}
	if (role == TLS_ROLE_SERVER)
		SSL_set_accept_state(ssl);
	else
		SSL_set_connect_state(ssl);
	return ssl;
}
