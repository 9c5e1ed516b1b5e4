// SPDX-License-Identifier: BSD-3-Clause
#include "tls/tls_context.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tls/tls_cert.h"
#include "tls/tls_context_priv.h"
#include "tls/tls_stream_priv.h"

#define FILE_MAX_BYTES (4u << 20)

/*
 * AES-128 first: it is the fastest with the instructions of all usual processors, and as safe. A
 * client that prefers ChaCha20 has no such instructions.
 */
#define CIPHERS "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
/* No finite fields: a client could choose one for which our handshake takes very long. */
#define GROUPS        "X25519:P-256:X448:P-384:P-521"
#define GROUPS_HYBRID "X25519MLKEM768:" GROUPS

static const uint8_t alpn[] = {6, 's', 'u', 'n', 'r', 'p', 'c'};

/* A file's contents while a context is made. */
struct pem_file {
	const char *path;
	uint8_t *bytes;
	size_t length;
};

/* A context that is being made. */
struct making {
	struct tls_context *context;
	struct pem_file cert, key, ca;
	char *error;
};

static int PRINTF_LIKE(3, 4) fail(struct making *making, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(making->error, TLS_ERROR_BYTES, fmt, args);
	va_end(args);
	ERR_clear_error();
	return err;
}

static int fail_memory(struct making *making)
{
	return fail(making, -ENOMEM, "no memory for TLS");
}

/* OpenSSL's own words for the last error. */
static const char *last_reason(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	return reason ? reason : "unknown error";
}

/* Files */

static int read_all(struct making *making, int fd, struct pem_file *file)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return fail(making, -errno, "cannot read %s: %s", file->path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES)
		return fail(making, -EINVAL, "%s is not a file of at most %u MiB", file->path,
			    FILE_MAX_BYTES >> 20);
	file->bytes = malloc((size_t)st.st_size + 1);
	if (!file->bytes)
		return fail_memory(making);
	while (file->length < (size_t)st.st_size) {
		n = read(fd, file->bytes + file->length, (size_t)st.st_size - file->length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(making, -errno, "cannot read %s: %s", file->path,
				    strerror(errno));
		if (n == 0)
			break;
		file->length += (size_t)n;
	}
	return 0;
}

static int read_file(struct making *making, struct pem_file *file, const char *path)
{
	int fd, err;

	file->path = path;
	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail(making, -errno, "cannot read %s: %s", path, strerror(errno));
	err = read_all(making, fd, file);
	close(fd);
	return err;
}

static void file_fini(struct pem_file *file)
{
	if (file->bytes)
		OPENSSL_cleanse(file->bytes, file->length);
	free(file->bytes);
}

/* Whether the last error only says that no further PEM object follows. */
static bool is_end_of_pem(void)
{
	unsigned long err = ERR_peek_last_error();

	return ERR_GET_LIB(err) == ERR_LIB_PEM && ERR_GET_REASON(err) == PEM_R_NO_START_LINE;
}

/* Reads all certificates of a file. */
static int parse_certs(struct making *making, const struct pem_file *file, STACK_OF(X509) * *out)
{
	STACK_OF(X509) *certs = sk_X509_new_null();
	BIO *bio = BIO_new_mem_buf(file->bytes, (int)file->length);
	X509 *cert;
	int err = 0;

	*out = certs;
	if (!certs || !bio) {
		BIO_free(bio);
		return fail_memory(making);
	}
	ERR_clear_error();
	while (!err && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)))
		if (!sk_X509_push(certs, cert)) {
			X509_free(cert);
			err = fail_memory(making);
		}
	BIO_free(bio);
	if (err)
		return err;
	if (!is_end_of_pem())
		return fail(making, -EINVAL, "%s: certificate %d cannot be read: %s", file->path,
			    sk_X509_num(certs) + 1, last_reason());
	ERR_clear_error();
	if (sk_X509_num(certs) == 0)
		return fail(making, -EINVAL, "%s has no certificate in PEM", file->path);
	return 0;
}

/* A key that is encrypted cannot be used: nobody is there who has the password. */
static int no_password(char *buf, int size, int rwflag, void *arg)
{
	*(bool *)arg = true;
	return -1;
}

static int parse_key(struct making *making)
{
	const struct pem_file *file = making->key.path ? &making->key : &making->cert;
	BIO *bio = BIO_new_mem_buf(file->bytes, (int)file->length);
	bool encrypted = false;

	if (!bio)
		return fail_memory(making);
	making->context->key = PEM_read_bio_PrivateKey(bio, NULL, no_password, &encrypted);
	BIO_free(bio);
	if (encrypted)
		return fail(making, -EINVAL, "the key in %s is encrypted: remove its password",
			    file->path);
	if (!making->context->key && is_end_of_pem())
		return fail(making, -EINVAL, "%s has no private key in PEM", file->path);
	if (!making->context->key)
		return fail(making, -EINVAL, "the private key in %s cannot be read: %s", file->path,
			    last_reason());
	return 0;
}

/* The own certificate */

static int check_dates(struct making *making, X509 *cert)
{
	char name[TLS_PEER_NAME_BYTES];

	tls_cert_name(cert, name, sizeof(name));
	if (X509_cmp_current_time(X509_get0_notBefore(cert)) > 0)
		return fail(making, -EINVAL, "%s: the certificate of %s is not valid yet",
			    making->cert.path, name);
	if (X509_cmp_current_time(X509_get0_notAfter(cert)) < 0)
		return fail(making, -EINVAL, "%s: the certificate of %s has expired",
			    making->cert.path, name);
	return 0;
}

/* Each certificate of the file must be signed by the one after it. */
static int check_chain(struct making *making)
{
	char name[TLS_PEER_NAME_BYTES];
	X509 *cert = making->context->cert, *issuer;
	int err = check_dates(making, cert);

	making->context->expiry_s = tls_cert_time_s(X509_get0_notAfter(cert));
	for (int i = 0; !err && i < sk_X509_num(making->context->chain); i++) {
		issuer = sk_X509_value(making->context->chain, i);
		if (X509_check_issued(issuer, cert) != X509_V_OK) {
			tls_cert_name(cert, name, sizeof(name));
			return fail(making, -EINVAL,
				    "%s: the certificate of %s is not signed by the one that "
				    "follows it",
				    making->cert.path, name);
		}
		cert = issuer;
		err = check_dates(making, cert);
		if (tls_cert_time_s(X509_get0_notAfter(cert)) < making->context->expiry_s)
			making->context->expiry_s = tls_cert_time_s(X509_get0_notAfter(cert));
	}
	return err;
}

static int load_own(struct making *making)
{
	int err = parse_certs(making, &making->cert, &making->context->chain);

	if (!err)
		err = parse_key(making);
	if (err)
		return err;
	making->context->cert = sk_X509_shift(making->context->chain);
	if (X509_check_private_key(making->context->cert, making->context->key) != 1)
		return fail(
			making, -EINVAL, "the key in %s does not belong to the certificate in %s",
			making->key.path ? making->key.path : making->cert.path, making->cert.path);
	return check_chain(making);
}

/* OpenSSL's contexts */

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

/* Verifies the peer's certificate, on the thread of the handshake. */
static int verify_peer(X509_STORE_CTX *store, void *arg)
{
	const struct tls_context *context = arg;
	X509 *cert = X509_STORE_CTX_get0_cert(store);
	SSL *ssl = ssl_of(store);
	struct tls_peer *peer = SSL_get_app_data(ssl);
	int ok;

	tls_cert_name(cert, peer->name, sizeof(peer->name));
	ok = X509_verify_cert(store);
	if (ok <= 0)
		return ok;
	if (!SSL_is_server(ssl)) {
		snprintf(peer->name, sizeof(peer->name), "%s", context->server_name);
		return 1;
	}
	if (accepts_client(context, cert, peer))
		return 1;
	X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH);
	return 0;
}

static int set_own(struct making *making, SSL_CTX *ctx)
{
	const struct tls_context *context = making->context;

	if (!context->cert)
		return 0;
	if (SSL_CTX_use_certificate(ctx, context->cert) != 1 ||
	    SSL_CTX_use_PrivateKey(ctx, making->context->key) != 1 ||
	    SSL_CTX_set1_chain(ctx, making->context->chain) != 1)
		return fail(making, -EINVAL, "the certificate in %s cannot be used: %s",
			    making->cert.path, last_reason());
	return 0;
}

static int set_authorities(struct making *making, SSL_CTX *ctx, enum tls_role role)
{
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);

	/* Each certificate of the file is trusted, not only those that sign themselves. */
	X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
	if (!making->context->authorities) {
		if (SSL_CTX_set_default_verify_paths(ctx) != 1)
			return fail_memory(making);
		return 0;
	}
	for (int i = 0; i < sk_X509_num(making->context->authorities); i++) {
		X509 *cert = sk_X509_value(making->context->authorities, i);

		if (X509_STORE_add_cert(store, cert) != 1 ||
		    (role == TLS_ROLE_SERVER && SSL_CTX_add_client_CA(ctx, cert) != 1))
			return fail_memory(making);
	}
	return 0;
}

static int set_server_rules(struct making *making, SSL_CTX *ctx)
{
	static const int modes[] = {
		[TLS_VERIFY_NONE] = SSL_VERIFY_NONE,
		[TLS_VERIFY_OPTIONAL] = SSL_VERIFY_PEER,
		[TLS_VERIFY_REQUIRED] = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
	};

	SSL_CTX_set_verify(ctx, modes[making->context->verify_client], NULL);
	SSL_CTX_set_alpn_select_cb(ctx, select_alpn, NULL);
	/* Connections last long, so resumption would save little. */
	if (SSL_CTX_set_num_tickets(ctx, 0) != 1)
		return fail_memory(making);
	return 0;
}

static int set_client_rules(struct making *making, SSL_CTX *ctx)
{
	struct tls_context *context = making->context;
	X509_VERIFY_PARAM *param = SSL_CTX_get0_param(ctx);

	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	/* 0 is success here, unlike in the other functions. */
	if (SSL_CTX_set_alpn_protos(ctx, alpn, sizeof(alpn)) != 0)
		return fail_memory(making);
	if (!context->server_name)
		return 0;
	X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
						       X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	context->server_name_is_address =
		X509_VERIFY_PARAM_set1_ip_asc(param, context->server_name) == 1;
	ERR_clear_error();
	if (!context->server_name_is_address &&
	    X509_VERIFY_PARAM_set1_host(param, context->server_name, 0) != 1)
		return fail_memory(making);
	return 0;
}

static void set_common(struct tls_context *context, SSL_CTX *ctx)
{
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
					 SSL_OP_PRIORITIZE_CHACHA);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
	SSL_CTX_set_security_level(ctx, 2);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_default_read_buffer_len(ctx, TLS_READ_BUFFER_BYTES);
	SSL_CTX_set_cert_verify_callback(ctx, verify_peer, context);
}

static int make_ctx(struct making *making, enum tls_role role)
{
	const SSL_METHOD *method =
		role == TLS_ROLE_SERVER ? TLS_server_method() : TLS_client_method();
	SSL_CTX *ctx = SSL_CTX_new(method);
	int err;

	making->context->ctx[role] = ctx;
	if (!ctx)
		return fail_memory(making);
	set_common(making->context, ctx);
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_ciphersuites(ctx, CIPHERS) != 1 ||
	    (SSL_CTX_set1_groups_list(ctx, GROUPS_HYBRID) != 1 &&
	     SSL_CTX_set1_groups_list(ctx, GROUPS) != 1))
		return fail(making, -EINVAL, "OpenSSL cannot do TLS 1.3: %s", last_reason());
	ERR_clear_error();
	err = set_own(making, ctx);
	if (!err)
		err = set_authorities(making, ctx, role);
	if (!err)
		err = role == TLS_ROLE_SERVER ? set_server_rules(making, ctx)
					      : set_client_rules(making, ctx);
	return err;
}

/* The rules */

static int set_server_name(struct making *making, const char *name)
{
	if (!name)
		return 0;
	making->context->server_name = strdup(name);
	return making->context->server_name ? 0 : fail_memory(making);
}

static int copy_names(struct making *making, const char *const *names, unsigned count)
{
	struct tls_context *context = making->context;

	context->client_names = calloc(count + 1, sizeof(char *));
	if (!context->client_names)
		return fail_memory(making);
	for (unsigned i = 0; i < count; i++) {
		if (!tls_cert_is_rule(names[i]))
			return fail(making, -EINVAL,
				    "\"%s\" is neither a DNS name nor an IP address nor "
				    "sha256: and a fingerprint",
				    names[i]);
		context->client_names[i] = strdup(names[i]);
		if (!context->client_names[i])
			return fail_memory(making);
		context->nclient_names++;
	}
	return 0;
}

/* Digests, by which contexts are compared */

static bool digest_add(EVP_MD_CTX *md, const void *bytes, size_t length)
{
	return EVP_DigestUpdate(md, &length, sizeof(length)) == 1 &&
	       (!length || EVP_DigestUpdate(md, bytes, length) == 1);
}

static bool digest_files(const struct making *making, EVP_MD_CTX *md)
{
	const struct pem_file *files[] = {&making->cert, &making->key, &making->ca};
	bool ok = EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1;

	for (unsigned i = 0; ok && i < ARRAY_SIZE(files); i++)
		ok = digest_add(md, files[i]->bytes, files[i]->length);
	return ok && EVP_DigestFinal_ex(md, making->context->files_digest, NULL) == 1;
}

static bool digest_all(struct tls_context *context, EVP_MD_CTX *md)
{
	const unsigned rules[] = {context->ctx[TLS_ROLE_SERVER] != NULL,
				  context->ctx[TLS_ROLE_CLIENT] != NULL, context->verify_client,
				  context->nclient_names};
	const char *server_name = context->server_name ? context->server_name : "";
	bool ok = EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1 &&
		  digest_add(md, context->files_digest, TLS_DIGEST_BYTES) &&
		  digest_add(md, rules, sizeof(rules)) &&
		  digest_add(md, server_name, strlen(server_name));

	for (unsigned i = 0; ok && i < context->nclient_names; i++)
		ok = digest_add(md, context->client_names[i], strlen(context->client_names[i]));
	return ok && EVP_DigestFinal_ex(md, context->digest, NULL) == 1;
}

/* @files: read just now, or as in the context that this one is made from */
static int make_digests(struct making *making, bool files)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	bool ok = md && (!files || digest_files(making, md)) && digest_all(making->context, md);

	EVP_MD_CTX_free(md);
	return ok ? 0 : fail_memory(making);
}

/* Making one */

static int read_files(struct making *making, const struct tls_context_config *config)
{
	int err = read_file(making, &making->cert, config->cert_file);

	if (!err)
		err = read_file(making, &making->key, config->key_file);
	if (!err)
		err = read_file(making, &making->ca, config->ca_file);
	if (!err && config->cert_file)
		err = load_own(making);
	else if (!err && config->accepts)
		err = fail(making, -EINVAL, "a server needs a certificate");
	if (!err && config->ca_file)
		err = parse_certs(making, &making->ca, &making->context->authorities);
	return err;
}

static int make_context(struct making *making, const struct tls_context_config *config)
{
	int err = copy_names(making, config->client_names, config->nclient_names);

	making->context->verify_client = config->verify_client;
	if (!err)
		err = set_server_name(making, config->server_name);
	if (!err)
		err = read_files(making, config);
	if (!err && config->accepts)
		err = make_ctx(making, TLS_ROLE_SERVER);
	if (!err && config->connects)
		err = make_ctx(making, TLS_ROLE_CLIENT);
	if (!err)
		err = make_digests(making, true);
	return err;
}

/* Allocates what is to be made. */
static int begin(struct making *making)
{
	making->context = calloc(1, sizeof(*making->context));
	if (!making->context)
		return fail_memory(making);
	atomic_init(&making->context->refs, 1);
	return 0;
}

static int end(struct making *making, int err, struct tls_context **out)
{
	file_fini(&making->cert);
	file_fini(&making->key);
	file_fini(&making->ca);
	if (err)
		tls_context_put(making->context);
	else
		*out = making->context;
	return err;
}

int tls_context_new(const struct tls_context_config *config, struct tls_context **out,
		    char error[TLS_ERROR_BYTES])
{
	struct making making = {.error = error};
	int err = begin(&making);

	if (!err)
		err = make_context(&making, config);
	return end(&making, err, out);
}

static bool share_certs(STACK_OF(X509) * from, STACK_OF(X509) * *to)
{
	*to = from ? X509_chain_up_ref(from) : NULL;
	return !from || *to;
}

/* Takes the files' contents of another context. */
static int share_files(struct making *making, const struct tls_context *from)
{
	struct tls_context *context = making->context;

	memcpy(context->files_digest, from->files_digest, TLS_DIGEST_BYTES);
	context->expiry_s = from->expiry_s;
	context->verify_client = from->verify_client;
	if (from->cert && X509_up_ref(from->cert) == 1)
		context->cert = from->cert;
	if (from->key && EVP_PKEY_up_ref(from->key) == 1)
		context->key = from->key;
	if (!share_certs(from->chain, &context->chain) ||
	    !share_certs(from->authorities, &context->authorities))
		return fail_memory(making);
	return copy_names(making, (const char *const *)from->client_names, from->nclient_names);
}

int tls_context_for_server(struct tls_context *context, const char *name, struct tls_context **out)
{
	char error[TLS_ERROR_BYTES];
	struct making making = {.error = error};
	int err = begin(&making);

	if (!err)
		err = share_files(&making, context);
	if (!err)
		err = set_server_name(&making, name);
	if (!err)
		err = make_ctx(&making, TLS_ROLE_CLIENT);
	if (!err)
		err = make_digests(&making, false);
	/* The rules and files were good before. */
	return end(&making, err ? -ENOMEM : 0, out);
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
	X509_free(context->cert);
	EVP_PKEY_free(context->key);
	sk_X509_pop_free(context->chain, X509_free);
	sk_X509_pop_free(context->authorities, X509_free);
	free(context->server_name);
	for (unsigned i = 0; i < context->nclient_names; i++)
		free(context->client_names[i]);
	free(context->client_names);
	free(context);
}

int64_t tls_context_expiry_s(const struct tls_context *context)
{
	return context->expiry_s;
}

bool tls_context_covers(const struct tls_context *context, const char *name)
{
	return context->cert && tls_cert_has_name(context->cert, name);
}

bool tls_context_same(const struct tls_context *a, const struct tls_context *b)
{
	return memcmp(a->digest, b->digest, TLS_DIGEST_BYTES) == 0;
}

SSL *tls_context_ssl(struct tls_context *context, enum tls_role role, struct tls_peer *peer)
{
	bool usable = role == TLS_ROLE_SERVER || context->server_name;
	SSL *ssl = usable ? SSL_new(context->ctx[role]) : NULL;

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
