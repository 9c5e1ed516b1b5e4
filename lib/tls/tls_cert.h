/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and dates of certificates. RFC 9525 defines which names a certificate is for. */
#ifndef TLS_TLS_CERT_H
#define TLS_TLS_CERT_H

#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RFC 9525: no common names, and a wildcard only as a whole label. */
#define TLS_CERT_HOST_FLAGS                                                                        \
	(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)

/** tls_cert_is_address - Returns whether @name is an IP address. */
bool tls_cert_is_address(const char *name);
/**
 * tls_cert_is_rule - Returns whether @rule is a form that tls_cert_matches() knows: a DNS name, with
 * "*." before it or not, an IP address, or "sha256:" with 64 hexadecimal digits, between which
 * colons can be.
 */
bool tls_cert_is_rule(const char *rule);
/**
 * tls_cert_has_name - Returns whether the subjectAltName of @cert has @name, a DNS name or an IP
 * address. The common name does not count. A wildcard of the certificate stands for one label.
 */
bool tls_cert_has_name(X509 *cert, const char *name);
/**
 * tls_cert_matches - Returns whether @rule accepts @cert
 * @name: if it does, receives the name of the certificate that the rule has (a fingerprint: the
 *        name of tls_cert_name())
 */
bool tls_cert_matches(X509 *cert, const char *rule, char *name, size_t name_bytes);
/**
 * tls_cert_name - Gets the first DNS name or IP address of @cert, or its subject if it has none.
 * Returns whether it has one.
 */
bool tls_cert_name(X509 *cert, char *name, size_t name_bytes);
/** tls_cert_time_s - Returns @time in seconds of Unix time; 0 if it is no time. */
int64_t tls_cert_time_s(const ASN1_TIME *time);

#endif
