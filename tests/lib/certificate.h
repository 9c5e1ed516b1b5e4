/* SPDX-License-Identifier: BSD-3-Clause */
/* Certificates and keys that tests make at run time. A failure ends the test. */
#ifndef TESTS_LIB_CERTIFICATE_H
#define TESTS_LIB_CERTIFICATE_H

#include <stdbool.h>
#include <stdint.h>

#define CERTIFICATE_FINGERPRINT_CHARS 65u /* with the terminating null byte */
#define CERTIFICATE_DAY_S             86400

struct certificate;

struct certificate_spec {
	const struct certificate *issuer; /* NULL: signed by itself */
	const char *subject;              /* its common name */
	const char *alt_names;            /* such as "DNS:a.example,IP:192.0.2.1"; NULL: none */
	const char *purpose;              /* extendedKeyUsage, such as "clientAuth"; NULL: none */
	bool authority;                   /* it can sign others */
	/* Relative to now; both 0: from yesterday for 30 days. */
	int64_t starts_s, ends_s;
	unsigned padding_bytes; /* of an extension without meaning */
	const char *curve;      /* of the key; NULL: "P-256" */
};

/** certificate_new - Makes a key and its certificate. */
struct certificate *certificate_new(const struct certificate_spec *spec);
/** certificate_free - Accepts NULL. */
void certificate_free(struct certificate *certificate);
/** certificate_save - Writes the certificate to a file, in PEM. @append: after what is in it. */
void certificate_save(const struct certificate *certificate, const char *path, bool append);
/** certificate_save_key - Writes the private key likewise. @password: encrypts it; NULL: does not. */
void certificate_save_key(const struct certificate *certificate, const char *path, bool append,
			  const char *password);
/** certificate_fingerprint - Gets the SHA-256 of the certificate in hexadecimal digits. */
void certificate_fingerprint(const struct certificate *certificate,
			     char hex[CERTIFICATE_FINGERPRINT_CHARS]);
/** certificate_end_s - Returns when it expires, in seconds of Unix time. */
int64_t certificate_end_s(const struct certificate *certificate);

#endif
