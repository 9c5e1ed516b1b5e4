// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/certificate.h"

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct certificate {
	X509 *x509;
	EVP_PKEY *key;
	int64_t end_s;
};

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

static void set_name(X509 *x509, const char *subject)
{
	X509_NAME *name = X509_get_subject_name(x509);

	MUST(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)subject, -1, -1,
					0) == 1);
}

static void add_extension(X509 *x509, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *extension;

	X509V3_set_ctx(&ctx, issuer, x509, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	MUST(extension && X509_add_ext(x509, extension, -1) == 1);
	X509_EXTENSION_free(extension);
}

static void add_padding(X509 *x509, X509 *issuer, unsigned bytes)
{
	char *text = malloc(bytes + 1);

	MUST(text);
	memset(text, 'x', bytes);
	text[bytes] = '\0';
	add_extension(x509, issuer, NID_netscape_comment, text);
	free(text);
}

static void add_extensions(X509 *x509, X509 *issuer, const struct certificate_spec *spec)
{
	add_extension(x509, issuer, NID_basic_constraints,
		      spec->authority ? "critical,CA:TRUE" : "CA:FALSE");
	add_extension(x509, issuer, NID_subject_key_identifier, "hash");
	add_extension(x509, issuer, NID_authority_key_identifier, "keyid");
	if (spec->alt_names)
		add_extension(x509, issuer, NID_subject_alt_name, spec->alt_names);
	if (spec->purpose)
		add_extension(x509, issuer, NID_ext_key_usage, spec->purpose);
	if (spec->padding_bytes)
		add_padding(x509, issuer, spec->padding_bytes);
}

struct certificate *certificate_new(const struct certificate_spec *spec)
{
	static long serial;
	struct certificate *own = calloc(1, sizeof(*own));
	const struct certificate *issuer = spec->issuer ? spec->issuer : own;
	bool dated = spec->starts_s || spec->ends_s;
	int64_t now_s = (int64_t)time(NULL);
	int64_t start_s = now_s + (dated ? spec->starts_s : -CERTIFICATE_DAY_S);

	MUST(own);
	own->end_s = now_s + (dated ? spec->ends_s : 29 * CERTIFICATE_DAY_S);
	own->key = EVP_EC_gen(spec->curve ? spec->curve : "P-256");
	own->x509 = X509_new();
	MUST(own->key && own->x509);
	MUST(X509_set_version(own->x509, X509_VERSION_3) == 1);
	ASN1_INTEGER_set(X509_get_serialNumber(own->x509), ++serial);
	MUST(ASN1_TIME_set(X509_getm_notBefore(own->x509), (time_t)start_s));
	MUST(ASN1_TIME_set(X509_getm_notAfter(own->x509), (time_t)own->end_s));
	set_name(own->x509, spec->subject);
	MUST(X509_set_issuer_name(own->x509, X509_get_subject_name(issuer->x509)) == 1);
	MUST(X509_set_pubkey(own->x509, own->key) == 1);
	add_extensions(own->x509, issuer->x509, spec);
	MUST(X509_sign(own->x509, issuer->key, EVP_sha256()) > 0);
	return own;
}

void certificate_free(struct certificate *certificate)
{
	if (!certificate)
		return;
	X509_free(certificate->x509);
	EVP_PKEY_free(certificate->key);
	free(certificate);
}

void certificate_save(const struct certificate *certificate, const char *path, bool append)
{
	FILE *file = fopen(path, append ? "a" : "w");

	MUST(file && PEM_write_X509(file, certificate->x509) == 1);
	MUST(fclose(file) == 0);
}

void certificate_save_key(const struct certificate *certificate, const char *path, bool append,
			  const char *password)
{
	FILE *file = fopen(path, append ? "a" : "w");
	const EVP_CIPHER *cipher = password ? EVP_aes_128_cbc() : NULL;

	MUST(file && PEM_write_PrivateKey(file, certificate->key, cipher, NULL, 0, NULL,
					  (void *)password) == 1);
	MUST(fclose(file) == 0);
}

void certificate_fingerprint(const struct certificate *certificate,
			     char hex[CERTIFICATE_FINGERPRINT_CHARS])
{
	uint8_t md[EVP_MAX_MD_SIZE];
	unsigned bytes = 0;

	MUST(X509_digest(certificate->x509, EVP_sha256(), md, &bytes) == 1);
	for (unsigned i = 0; i < bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", md[i]);
}

int64_t certificate_end_s(const struct certificate *certificate)
{
	return certificate->end_s;
}
