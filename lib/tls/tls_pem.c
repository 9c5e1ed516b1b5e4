// SPDX-License-Identifier: BSD-3-Clause
#include "tls/tls_pem.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tls/tls_cert.h"
#include "tls/tls_error.h"

#define FILE_MAX_BYTES (4u << 20)

/* A file's contents in memory. */
struct pem_file {
	const char *path; /* NULL: there is none */
	uint8_t *bytes;
	size_t length;
};

/* What is being loaded. */
struct loading {
	struct tls_pem *pem;
	struct pem_file cert, key, ca;
	char *error;
};

/* Reading */

static int fail_file(const struct loading *loading, const struct pem_file *file, int error)
{
	return tls_error_set(loading->error, -error, "cannot read %s: %s", file->path,
			     strerror(error));
}

static int read_all(const struct loading *loading, int fd, struct pem_file *file)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return fail_file(loading, file, errno);
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX_BYTES)
		return tls_error_set(loading->error, -EINVAL, "%s is not a file of at most %u MiB",
				     file->path, FILE_MAX_BYTES >> 20);
	file->bytes = malloc((size_t)st.st_size + 1);
	if (!file->bytes)
		return tls_error_set_memory(loading->error);
	while (file->length < (size_t)st.st_size) {
		n = read(fd, file->bytes + file->length, (size_t)st.st_size - file->length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_file(loading, file, errno);
		if (n == 0)
			break;
		file->length += (size_t)n;
	}
	return 0;
}

static int read_file(const struct loading *loading, struct pem_file *file, const char *path)
{
	int fd, err;

	file->path = path;
	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail_file(loading, file, errno);
	err = read_all(loading, fd, file);
	close(fd);
	return err;
}

static void file_fini(struct pem_file *file)
{
	if (file->bytes)
		OPENSSL_cleanse(file->bytes, file->length);
	free(file->bytes);
}

/* Parsing */

/* Whether the last error only says that no further object follows. */
static bool is_end(void)
{
	unsigned long err = ERR_peek_last_error();

	return ERR_GET_LIB(err) == ERR_LIB_PEM && ERR_GET_REASON(err) == PEM_R_NO_START_LINE;
}

/* Parses certificates up to the end of the file, or to an error, which stays in OpenSSL's queue. */
static int parse_each(const struct pem_file *file, STACK_OF(X509) * certs)
{
	BIO *bio = BIO_new_mem_buf(file->bytes, (int)file->length);
	X509 *cert;
	int err = bio ? 0 : -ENOMEM;

	while (!err && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)))
		if (!sk_X509_push(certs, cert)) {
			X509_free(cert);
			err = -ENOMEM;
		}
	BIO_free(bio);
	return err;
}

/* Parses all certificates of a file. */
static int parse_certs(const struct loading *loading, const struct pem_file *file,
		       STACK_OF(X509) * *out)
{
	STACK_OF(X509) *certs = sk_X509_new_null();

	*out = certs;
	ERR_clear_error();
	if (!certs || parse_each(file, certs))
		return tls_error_set_memory(loading->error);
	if (!is_end())
		return tls_error_set(loading->error, -EINVAL,
				     "%s: certificate %d cannot be read: %s", file->path,
				     sk_X509_num(certs) + 1, tls_error_reason());
	if (sk_X509_num(certs) == 0)
		return tls_error_set(loading->error, -EINVAL, "%s has no certificate in PEM",
				     file->path);
	ERR_clear_error();
	return 0;
}

/* Whether a file has a private key of any format. OpenSSL's error does not tell. */
static bool has_key(const struct pem_file *file)
{
	static const char label[] = "PRIVATE KEY-----";

	return memmem(file->bytes, file->length, label, strlen(label)) != NULL;
}

/* A daemon cannot ask for a password. */
static int no_password(char *buf, int size, int rwflag, void *arg)
{
	*(bool *)arg = true;
	return -1;
}

static int parse_key(const struct loading *loading)
{
	const struct pem_file *file = loading->key.path ? &loading->key : &loading->cert;
	BIO *bio = BIO_new_mem_buf(file->bytes, (int)file->length);
	bool encrypted = false;

	if (!bio)
		return tls_error_set_memory(loading->error);
	loading->pem->key = PEM_read_bio_PrivateKey(bio, NULL, no_password, &encrypted);
	BIO_free(bio);
	if (encrypted)
		return tls_error_set(loading->error, -EINVAL,
				     "the key in %s is encrypted: remove its password", file->path);
	if (!loading->pem->key && !has_key(file))
		return tls_error_set(loading->error, -EINVAL, "%s has no private key in PEM",
				     file->path);
	if (!loading->pem->key)
		return tls_error_set(loading->error, -EINVAL,
				     "the private key in %s cannot be read: %s", file->path,
				     tls_error_reason());
	return 0;
}

/* Checks */

static int check_dates(const struct loading *loading, X509 *cert)
{
	char name[TLS_PEER_NAME_BYTES];
	const char *words = NULL;

	if (X509_cmp_current_time(X509_get0_notBefore(cert)) > 0)
		words = "is not valid yet";
	else if (X509_cmp_current_time(X509_get0_notAfter(cert)) < 0)
		words = "has expired";
	if (!words)
		return 0;
	tls_cert_name(cert, name, sizeof(name));
	return tls_error_set(loading->error, -EINVAL, "%s: the certificate of %s %s",
			     loading->cert.path, name, words);
}

static void note_expiry(struct tls_pem *pem, const X509 *cert)
{
	int64_t end_s = tls_cert_time_s(X509_get0_notAfter(cert));

	if (!pem->expiry_s || end_s < pem->expiry_s)
		pem->expiry_s = end_s;
}

/* Each certificate must be signed by the one after it. */
static int check_chain(const struct loading *loading)
{
	struct tls_pem *pem = loading->pem;
	char name[TLS_PEER_NAME_BYTES];
	X509 *cert = pem->cert, *issuer;
	int err = check_dates(loading, cert);

	note_expiry(pem, cert);
	for (int i = 0; !err && i < sk_X509_num(pem->chain); i++) {
		issuer = sk_X509_value(pem->chain, i);
		if (X509_check_issued(issuer, cert) != X509_V_OK) {
			tls_cert_name(cert, name, sizeof(name));
			return tls_error_set(loading->error, -EINVAL,
					     "%s: the certificate of %s is not signed by the one "
					     "that follows it",
					     loading->cert.path, name);
		}
		cert = issuer;
		note_expiry(pem, cert);
		err = check_dates(loading, cert);
	}
	return err;
}

static int load_own(const struct loading *loading)
{
	struct tls_pem *pem = loading->pem;
	const char *key_path = loading->key.path ? loading->key.path : loading->cert.path;
	int err = parse_certs(loading, &loading->cert, &pem->chain);

	if (!err)
		err = parse_key(loading);
	if (err)
		return err;
	pem->cert = sk_X509_shift(pem->chain);
	if (X509_check_private_key(pem->cert, pem->key) != 1)
		return tls_error_set(loading->error, -EINVAL,
				     "the key in %s does not belong to the certificate in %s",
				     key_path, loading->cert.path);
	return check_chain(loading);
}

/* All together */

static bool digest_add(EVP_MD_CTX *md, const struct pem_file *file)
{
	return EVP_DigestUpdate(md, &file->length, sizeof(file->length)) == 1 &&
	       (!file->length || EVP_DigestUpdate(md, file->bytes, file->length) == 1);
}

static int digest(const struct loading *loading)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	bool ok = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1 &&
		  digest_add(md, &loading->cert) && digest_add(md, &loading->key) &&
		  digest_add(md, &loading->ca) &&
		  EVP_DigestFinal_ex(md, loading->pem->digest, NULL) == 1;

	EVP_MD_CTX_free(md);
	return ok ? 0 : tls_error_set_memory(loading->error);
}

static int load(struct loading *loading, const struct tls_pem_paths *paths)
{
	int err = read_file(loading, &loading->cert, paths->cert);

	if (!err)
		err = read_file(loading, &loading->key, paths->key);
	if (!err)
		err = read_file(loading, &loading->ca, paths->ca);
	if (!err && paths->cert)
		err = load_own(loading);
	if (!err && paths->ca)
		err = parse_certs(loading, &loading->ca, &loading->pem->authorities);
	if (!err)
		err = digest(loading);
	return err;
}

int tls_pem_load(struct tls_pem *pem, const struct tls_pem_paths *paths,
		 char error[TLS_ERROR_BYTES])
{
	struct loading loading = {.pem = pem, .error = error};
	int err = load(&loading, paths);

	file_fini(&loading.cert);
	file_fini(&loading.key);
	file_fini(&loading.ca);
	return err;
}

static bool share_certs(STACK_OF(X509) * from, STACK_OF(X509) * *to)
{
	*to = from ? X509_chain_up_ref(from) : NULL;
	return !from || *to;
}

int tls_pem_share(struct tls_pem *pem, const struct tls_pem *from)
{
	*pem = (struct tls_pem){.expiry_s = from->expiry_s};
	memcpy(pem->digest, from->digest, TLS_DIGEST_BYTES);
	if (from->cert && X509_up_ref(from->cert) == 1)
		pem->cert = from->cert;
	if (from->key && EVP_PKEY_up_ref(from->key) == 1)
		pem->key = from->key;
	return share_certs(from->chain, &pem->chain) &&
			       share_certs(from->authorities, &pem->authorities)
		       ? 0
		       : -ENOMEM;
}

void tls_pem_fini(struct tls_pem *pem)
{
	X509_free(pem->cert);
	EVP_PKEY_free(pem->key);
	sk_X509_pop_free(pem->chain, X509_free);
	sk_X509_pop_free(pem->authorities, X509_free);
}
