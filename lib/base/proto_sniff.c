// SPDX-License-Identifier: BSD-3-Clause
#include "base/proto_sniff.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

#define RPC_HEAD_BYTES 12u /* mark, XID, type */
#define RPC_MIN_BYTES  20u /* shortest message: a denied Reply */
#define RPC_VERSION    2u

static const struct prefix {
	enum proto_sniff what;
	unsigned len_bytes;
	const char *bytes;
} prefixes[] = {
	{PROTO_SNIFF_IWARP, 16, "MPA ID Req Frame"},
	{PROTO_SNIFF_IWARP, 16, "MPA ID Rep Frame"},
	{PROTO_SNIFF_HTTP, 4, "GET "},
	{PROTO_SNIFF_HTTP, 5, "HEAD "},
	{PROTO_SNIFF_HTTP, 5, "POST "},
	{PROTO_SNIFF_HTTP, 4, "PUT "},
	{PROTO_SNIFF_HTTP, 8, "OPTIONS "},
	{PROTO_SNIFF_HTTP, 8, "CONNECT "},
	{PROTO_SNIFF_HTTP, 5, "HTTP/"},
	{PROTO_SNIFF_HTTP, 14, "PRI * HTTP/2.0"},
	{PROTO_SNIFF_TLS, 3, "\x16\x03\x00"}, /* a handshake … */
	{PROTO_SNIFF_TLS, 3, "\x16\x03\x01"},
	{PROTO_SNIFF_TLS, 3, "\x16\x03\x02"},
	{PROTO_SNIFF_TLS, 3, "\x16\x03\x03"},
	{PROTO_SNIFF_TLS, 3, "\x15\x03\x01"}, /* … or an alert */
	{PROTO_SNIFF_TLS, 3, "\x15\x03\x03"},
	{PROTO_SNIFF_SSH, 4, "SSH-"},
	{PROTO_SNIFF_PROXY, 6, "PROXY "},
	{PROTO_SNIFF_PROXY, 12, "\r\n\r\n\0\r\nQUIT\n"},
};

static const char *const names[] = {
	[PROTO_SNIFF_RPC] = "RPC over TCP",
	[PROTO_SNIFF_IWARP] = "iWARP",
	[PROTO_SNIFF_HTTP] = "HTTP",
	[PROTO_SNIFF_TLS] = "TLS",
	[PROTO_SNIFF_SSH] = "SSH",
	[PROTO_SNIFF_PROXY] = "PROXY protocol of a load balancer",
};

static uint32_t word_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Returns whether this is a Call of RPC version 2, or an accepted or denied Reply. */
static bool is_rpc(const uint8_t *bytes, size_t len_bytes)
{
	uint32_t type, next;

	if (len_bytes < RPC_HEAD_BYTES || (word_at(bytes) & 0x7fffffffu) < RPC_MIN_BYTES)
		return false;
	type = word_at(bytes + 8);
	if (type > 1 || len_bytes < RPC_HEAD_BYTES + 4)
		return type <= 1;
	next = word_at(bytes + 12);
	return type ? next <= 1 : next == RPC_VERSION;
}

enum proto_sniff proto_sniff_detect(const uint8_t *bytes, size_t len_bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (len_bytes >= prefixes[i].len_bytes &&
		    !memcmp(bytes, prefixes[i].bytes, prefixes[i].len_bytes))
			return prefixes[i].what;
	return is_rpc(bytes, len_bytes) ? PROTO_SNIFF_RPC : PROTO_SNIFF_UNKNOWN;
}

bool proto_sniff_is_prefix(enum proto_sniff what, const uint8_t *bytes, size_t len_bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		const struct prefix *prefix = &prefixes[i];
		size_t n = len_bytes < prefix->len_bytes ? len_bytes : prefix->len_bytes;

		if (prefix->what == what && !memcmp(bytes, prefix->bytes, n))
			return true;
	}
	return false;
}

static bool is_printable(uint8_t c)
{
	return c >= 0x20 && c < 0x7f;
}

static bool is_text(const uint8_t *bytes, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++)
		if (!is_printable(bytes[i]) && bytes[i] != '\r' && bytes[i] != '\n' &&
		    bytes[i] != '\t')
			return false;
	return true;
}

/* Writes the bytes, at most three characters each and two quotes. Returns the length. */
static size_t put_bytes(const uint8_t *bytes, size_t len_bytes, char *to)
{
	bool as_text = is_text(bytes, len_bytes);
	size_t at = 0;

	if (as_text)
		to[at++] = '"';
	for (size_t i = 0; i < len_bytes; i++) {
		uint8_t c = bytes[i];

		if (!as_text)
			at += (size_t)sprintf(to + at, "%s%02x", i ? " " : "", c);
		else
			to[at++] = is_printable(c) && c != '"' && c != '\\' ? (char)c : '.';
	}
	if (as_text)
		to[at++] = '"';
	return at;
}

const char *proto_sniff_text(const uint8_t *bytes, size_t len_bytes,
			     char text[PROTO_SNIFF_TEXT_BYTES])
{
	const char *name = names[proto_sniff_detect(bytes, len_bytes)];
	size_t at;

	at = put_bytes(bytes, len_bytes < PROTO_SNIFF_BYTES ? len_bytes : PROTO_SNIFF_BYTES, text);
	snprintf(text + at, PROTO_SNIFF_TEXT_BYTES - at, "%s%s%s", name ? " (" : "",
		 name ? name : "", name ? ")" : "");
	return text;
}
