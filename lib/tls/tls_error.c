// SPDX-License-Identifier: BSD-3-Clause
#include "tls/tls_error.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/compiler.h"

static bool is_memory(unsigned long error)
{
	return ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE;
}

int tls_error_set_memory(char text[TLS_ERROR_BYTES])
{
	snprintf(text, TLS_ERROR_BYTES, "no memory for TLS");
	ERR_clear_error();
	return -ENOMEM;
}

int tls_error_set(char text[TLS_ERROR_BYTES], int err, const char *fmt, ...)
{
	unsigned long error;
	va_list args;

	while ((error = ERR_get_error()))
		if (is_memory(error))
			return tls_error_set_memory(text);
	va_start(args, fmt);
	vsnprintf(text, TLS_ERROR_BYTES, fmt, args);
	va_end(args);
	return err;
}

const char *tls_error_reason(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	return reason ? reason : "unknown error";
}

const char *tls_error_peer(enum tls_role own_role)
{
	return own_role == TLS_ROLE_SERVER ? "client" : "server";
}

int tls_error_errno(enum tls_failure failure)
{
	static const int errors[] = {
		[TLS_FAILURE_CERTIFICATE] = -EKEYREJECTED, [TLS_FAILURE_REJECTED] = -ECONNABORTED,
		[TLS_FAILURE_PROTOCOL] = -EPROTO,          [TLS_FAILURE_CLOSED] = -ECONNRESET,
		[TLS_FAILURE_RESOURCES] = -ENOMEM,         [TLS_FAILURE_LIMITED] = -EAGAIN,
	};

	return errors[failure];
}

/* Certificates */

/* Why a certificate was not accepted, after "the certificate of NAME". */
static const struct {
	long code;
	const char *words;
} verdicts[] = {
	{X509_V_ERR_CERT_HAS_EXPIRED, "has expired"},
	{X509_V_ERR_CERT_NOT_YET_VALID, "is not valid yet"},
	{X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "is not signed by a known authority"},
	{X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, "is not signed by a known authority"},
	{X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, "is not signed by a known authority"},
	{X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "is not signed by a known authority"},
	{X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "is signed by itself"},
	{X509_V_ERR_INVALID_PURPOSE, "is not for this purpose (extendedKeyUsage)"},
	{X509_V_ERR_CERT_SIGNATURE_FAILURE, "has a wrong signature"},
};

/* The server's name that was asked for. */
static void describe_other_name(SSL *ssl, const struct tls_peer *peer, char text[TLS_ERROR_BYTES])
{
	X509_VERIFY_PARAM *asked = SSL_get0_param(ssl);
	char *address = X509_VERIFY_PARAM_get1_ip_asc(asked);
	const char *name = address ? address : X509_VERIFY_PARAM_get0_host(asked, 0);

	if (peer->unnamed)
		snprintf(
			text, TLS_ERROR_BYTES,
			"the certificate of the server (%s) has no name or address (subjectAltName)",
			peer->name);
	else
		snprintf(text, TLS_ERROR_BYTES,
			 "the certificate of the server (%s) is for another name than %s",
			 peer->name, name ? name : "ours");
	OPENSSL_free(address);
}

static void describe_certificate(SSL *ssl, enum tls_role role, const struct tls_peer *peer,
				 char text[TLS_ERROR_BYTES])
{
	long code = SSL_get_verify_result(ssl);
	const char *words = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(verdicts) && !words; i++)
		if (verdicts[i].code == code)
			words = verdicts[i].words;
	if (words)
		snprintf(text, TLS_ERROR_BYTES, "the certificate of the %s%s (%s) %s",
			 tls_error_peer(role), peer->of_authority ? "'s authority" : "", peer->name,
			 words);
	else if (role == TLS_ROLE_SERVER && code == X509_V_ERR_HOSTNAME_MISMATCH)
		snprintf(text, TLS_ERROR_BYTES,
			 "the certificate of the client (%s) has no name in tls_client_names",
			 peer->name);
	else if (code == X509_V_ERR_HOSTNAME_MISMATCH || code == X509_V_ERR_IP_ADDRESS_MISMATCH)
		describe_other_name(ssl, peer, text);
	else
		snprintf(text, TLS_ERROR_BYTES,
			 "the certificate of the %s (%s) is not accepted: %s", tls_error_peer(role),
			 peer->name, X509_verify_cert_error_string(code));
}

/* Other errors */

/* What the peer did, after "the client" or "the server". */
static const struct {
	int reason;
	const char *words;
} reasons[] = {
	{SSL_R_UNSUPPORTED_PROTOCOL, "does not support TLS 1.3"},
	{SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, "does not support TLS 1.3"},
	{SSL_R_NO_APPLICATION_PROTOCOL, "wants another protocol than RPC (ALPN)"},
	{SSL_R_WRONG_VERSION_NUMBER, "does not speak TLS"},
	{SSL_R_HTTP_REQUEST, "does not speak TLS"},
	{SSL_R_NO_SHARED_CIPHER, "supports none of our ciphers"},
	{SSL_R_NO_SUITABLE_KEY_SHARE, "supports none of our key exchange groups"},
	{SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, "does not support our certificate's kind of key"},
	{SSL_R_UNEXPECTED_EOF_WHILE_READING, "ended the connection without close_notify"},
	{SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, "sent a record that cannot be decrypted"},
	{SSL_R_PACKET_LENGTH_TOO_LONG, "sent a record that is too long"},
	{SSL_R_ENCRYPTED_LENGTH_TOO_LONG, "sent a record that is too long"},
	{SSL_R_DATA_LENGTH_TOO_LONG, "sent a record that is too long"},
	{SSL_R_EXCESSIVE_MESSAGE_SIZE, "sent a message that is too long"},
};

static void describe_reason(int reason, enum tls_role role, char text[TLS_ERROR_BYTES])
{
	const char *peer = tls_error_peer(role);

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].reason == reason) {
			snprintf(text, TLS_ERROR_BYTES, "the %s %s", peer, reasons[i].words);
			return;
		}
	snprintf(text, TLS_ERROR_BYTES, "the %s broke the protocol: %s", peer,
		 ERR_reason_error_string(ERR_PACK(ERR_LIB_SSL, 0, reason)));
}

static enum tls_failure describe_alert(int alert, enum tls_role role, char text[TLS_ERROR_BYTES])
{
	const char *words = SSL_alert_desc_string_long(alert);

	/* Those for which OpenSSL has no words. */
	if (alert == SSL_AD_CERTIFICATE_REQUIRED)
		words = "certificate required";
	else if (alert == SSL_AD_NO_APPLICATION_PROTOCOL)
		words = "no application protocol";
	snprintf(text, TLS_ERROR_BYTES, "the %s ended it by the alert \"%s\"", tls_error_peer(role),
		 words);
	return TLS_FAILURE_REJECTED;
}

static enum tls_failure describe(unsigned long error, SSL *ssl, enum tls_role role,
				 const struct tls_peer *peer, char text[TLS_ERROR_BYTES])
{
	int reason = ERR_GET_REASON(error);

	if (!error || is_memory(error)) {
		tls_error_set_memory(text);
		return TLS_FAILURE_RESOURCES;
	}
	if (ERR_GET_LIB(error) != ERR_LIB_SSL) {
		const char *words = ERR_reason_error_string(error);

		snprintf(text, TLS_ERROR_BYTES, "the %s broke the protocol: %s",
			 tls_error_peer(role), words ? words : "unknown error");
		return TLS_FAILURE_PROTOCOL;
	}
	if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
		describe_certificate(ssl, role, peer, text);
		return TLS_FAILURE_CERTIFICATE;
	}
	if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
		snprintf(text, TLS_ERROR_BYTES, "the client has no certificate");
		return TLS_FAILURE_CERTIFICATE;
	}
	if (reason > SSL_AD_REASON_OFFSET)
		return describe_alert(reason - SSL_AD_REASON_OFFSET, role, text);
	describe_reason(reason, role, text);
	return TLS_FAILURE_PROTOCOL;
}

enum tls_failure tls_error_describe(SSL *ssl, enum tls_role role, const struct tls_peer *peer,
				    char text[TLS_ERROR_BYTES])
{
	enum tls_failure failure = describe(ERR_peek_error(), ssl, role, peer, text);

	ERR_clear_error();
	return failure;
}
