// SPDX-License-Identifier: BSD-3-Clause
#include "tls/tls_cert.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define FINGERPRINT       "sha256:"
#define FINGERPRINT_BYTES 32u

/* Copies what a peer chose into a text for logs. */
static void copy_printable(char *to, size_t to_bytes, const char *from, size_t from_bytes)
{
	size_t n = from_bytes < to_bytes ? from_bytes : to_bytes - 1;

	for (size_t i = 0; i < n; i++)
		to[i] = from[i] > ' ' && from[i] < 0x7f && from[i] != '"' ? from[i] : '?';
	to[n] = '\0';
}

bool tls_cert_is_address(const char *name)
{
	uint8_t addr[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, name, addr) == 1 || inet_pton(AF_INET6, name, addr) == 1;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses a rule of the form sha256:HEX. */
static bool parse_fingerprint(const char *rule, uint8_t fingerprint[FINGERPRINT_BYTES])
{
	const char *at = rule + strlen(FINGERPRINT);

	if (strncasecmp(rule, FINGERPRINT, strlen(FINGERPRINT)) != 0)
		return false;
	for (size_t i = 0; i < FINGERPRINT_BYTES; i++) {
		int high = hex_digit(at[0]), low = high < 0 ? -1 : hex_digit(at[1]);

		if (low < 0)
			return false;
		fingerprint[i] = (uint8_t)(high << 4 | low);
		at += 2;
		if (*at == ':' && i + 1 < FINGERPRINT_BYTES)
			at++;
	}
	return !*at;
}

static bool is_dns_name(const char *name)
{
	size_t label = 0, length = strlen(name);

	for (size_t i = 0; i < length; i++) {
		bool inner = label > 0 && name[i + 1] && name[i + 1] != '.';

		if (name[i] == '.' ? !label
				   : !isalnum((unsigned char)name[i]) && name[i] != '_' &&
					     !(name[i] == '-' && inner))
			return false;
		label = name[i] == '.' ? 0 : label + 1;
		if (label > 63)
			return false;
	}
	return length > 0 && length <= 253 && label > 0;
}

bool tls_cert_is_rule(const char *rule)
{
	uint8_t fingerprint[FINGERPRINT_BYTES];

	if (strchr(rule, ':') && !tls_cert_is_address(rule))
		return parse_fingerprint(rule, fingerprint);
	return tls_cert_is_address(rule) ||
	       is_dns_name(strncmp(rule, "*.", 2) == 0 ? rule + 2 : rule);
}

bool tls_cert_has_name(X509 *cert, const char *name)
{
	if (tls_cert_is_address(name))
		return X509_check_ip_asc(cert, name, 0) == 1;
	return is_dns_name(name) && X509_check_host(cert, name, 0, TLS_CERT_HOST_FLAGS, NULL) == 1;
}

static bool has_fingerprint(X509 *cert, const uint8_t fingerprint[FINGERPRINT_BYTES])
{
	uint8_t md[EVP_MAX_MD_SIZE];
	unsigned bytes = 0;

	return X509_digest(cert, EVP_sha256(), md, &bytes) == 1 && bytes == FINGERPRINT_BYTES &&
	       memcmp(md, fingerprint, FINGERPRINT_BYTES) == 0;
}

bool tls_cert_matches(X509 *cert, const char *rule, char *name, size_t name_bytes)
{
	uint8_t fingerprint[FINGERPRINT_BYTES];
	unsigned flags = TLS_CERT_HOST_FLAGS;
	char *found = NULL;

	if (parse_fingerprint(rule, fingerprint)) {
		if (!has_fingerprint(cert, fingerprint))
			return false;
		tls_cert_name(cert, name, name_bytes);
		return true;
	}
	if (tls_cert_is_address(rule)) {
		if (X509_check_ip_asc(cert, rule, 0) != 1)
			return false;
		copy_printable(name, name_bytes, rule, strlen(rule));
		return true;
	}
	/* For OpenSSL ".example.org" means any name below. */
	if (strncmp(rule, "*.", 2) == 0) {
		rule++;
		flags |= X509_CHECK_FLAG_SINGLE_LABEL_SUBDOMAINS;
	}
	if (X509_check_host(cert, rule, 0, flags, &found) != 1)
		return false;
	if (found)
		copy_printable(name, name_bytes, found, strlen(found));
	OPENSSL_free(found);
	return found != NULL;
}

/* Gets one entry of a subjectAltName, if it is of a kind that names a host. */
static bool alt_name(const GENERAL_NAME *entry, char *name, size_t name_bytes)
{
	char text[INET6_ADDRSTRLEN];
	const uint8_t *data;
	int type, length;

	if (entry->type != GEN_DNS && entry->type != GEN_IPADD)
		return false;
	data = ASN1_STRING_get0_data(entry->type == GEN_DNS ? entry->d.dNSName : entry->d.ip);
	length = ASN1_STRING_length(entry->type == GEN_DNS ? entry->d.dNSName : entry->d.ip);
	if (entry->type == GEN_DNS) {
		copy_printable(name, name_bytes, (const char *)data, (size_t)length);
		return length > 0;
	}
	type = length == 4 ? AF_INET : AF_INET6;
	if ((length != 4 && length != 16) || !inet_ntop(type, data, text, sizeof(text)))
		return false;
	copy_printable(name, name_bytes, text, strlen(text));
	return true;
}

static void subject(X509 *cert, char *name, size_t name_bytes)
{
	char *line = NULL;
	long length;
	BIO *bio = BIO_new(BIO_s_mem());

	name[0] = '\0';
	if (!bio)
		return;
	X509_NAME_print_ex(bio, X509_get_subject_name(cert), 0, XN_FLAG_RFC2253);
	length = BIO_get_mem_data(bio, &line);
	if (line && length > 0)
		copy_printable(name, name_bytes, line, (size_t)length);
	BIO_free(bio);
}

bool tls_cert_name(X509 *cert, char *name, size_t name_bytes)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	bool found = false;

	for (int i = 0; !found && i < sk_GENERAL_NAME_num(names); i++)
		found = alt_name(sk_GENERAL_NAME_value(names, i), name, name_bytes);
	GENERAL_NAMES_free(names);
	if (!found)
		subject(cert, name, name_bytes);
	return found;
}

int64_t tls_cert_time_s(const ASN1_TIME *time)
{
	struct tm tm;

	return ASN1_TIME_to_tm(time, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}
