// SPDX-License-Identifier: BSD-3-Clause
#include "stream/proxy_protocol.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/be_bytes.h"
#include "base/crc32c.h"
#include "base/sockaddr.h"

#define V1_PREFIX          "PROXY "
#define V1_PREFIX_BYTES    6u

#define V2_SIGNATURE       "\r\n\r\n\0\r\nQUIT\n"
#define V2_SIGNATURE_BYTES 12u
#define V2_HEAD_BYTES      16u /* before the addresses */

#define V2_VERSION         0x20u /* in the byte that holds version and command */
#define V2_COMMAND_LOCAL   0x0u
#define V2_COMMAND_PROXY   0x1u

#define V2_UNSPEC          0x00u
#define V2_TCP4            0x11u
#define V2_UDP4            0x12u
#define V2_TCP6            0x21u
#define V2_UDP6            0x22u
#define V2_UNIX            0x31u
#define V2_UNIX_DGRAM      0x32u

#define V2_INET_BYTES      12u  /* two addresses, two ports */
#define V2_INET6_BYTES     36u  /* likewise */
#define V2_UNIX_BYTES      216u /* two paths */

#define TLV_HEAD_BYTES     3u /* type, length */
#define TLV_CRC32C         0x03u
#define CRC_BYTES          4u

const char *proxy_header_verdict_text(enum proxy_header_verdict verdict)
{
	static const char *const texts[] = {
#define VERDICT_TEXT(name, text) [PROXY_HEADER_##name] = (text),
		PROXY_HEADER_VERDICTS(VERDICT_TEXT)
#undef VERDICT_TEXT
	};

	return texts[verdict];
}

static bool begins(const uint8_t *bytes, size_t len_bytes, const char *with, size_t with_bytes)
{
	return !memcmp(bytes, with, len_bytes < with_bytes ? len_bytes : with_bytes);
}

/* ---- version 1 ---- */

/* Returns the next word of the line and terminates it; NULL if none. */
static char *take_word(char **line)
{
	char *word = *line, *end;

	if (!word || !*word)
		return NULL;
	end = strchr(word, ' ');
	*line = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return word;
}

static bool take_address(char **line, int family, struct sockaddr_storage *addr)
{
	const char *word = take_word(line);
	void *to = family == AF_INET ? (void *)&((struct sockaddr_in *)addr)->sin_addr
				     : (void *)&((struct sockaddr_in6 *)addr)->sin6_addr;

	memset(addr, 0, sizeof(*addr));
	addr->ss_family = (sa_family_t)family;
	return word && inet_pton(family, word, to) == 1;
}

static bool take_port(char **line, struct sockaddr_storage *addr)
{
	const char *word = take_word(line);
	size_t digits = word ? strspn(word, "0123456789") : 0;
	unsigned port = 0;

	if (!digits || digits > 5 || word[digits] || (word[0] == '0' && digits > 1))
		return false;
	for (; *word; word++)
		port = port * 10 + (unsigned)(*word - '0');
	sockaddr_set_port((struct sockaddr *)addr, (uint16_t)port);
	return port <= UINT16_MAX;
}

/* No client has such an address, and a socket bound to it would use an address of this host. */
static bool may_be_clients(const struct sockaddr_storage *addr)
{
	struct in6_addr host;
	uint32_t v4;

	if (!sockaddr_port((const struct sockaddr *)addr) ||
	    !sockaddr_host((const struct sockaddr *)addr, &host))
		return false;
	if (!IN6_IS_ADDR_V4MAPPED(&host))
		return !IN6_IS_ADDR_UNSPECIFIED(&host) && !IN6_IS_ADDR_MULTICAST(&host);
	memcpy(&v4, &host.s6_addr[12], sizeof(v4));
	v4 = ntohl(v4);
	return v4 != INADDR_ANY && v4 != INADDR_BROADCAST && !IN_MULTICAST(v4);
}

/* @line: after the prefix, without the line end. */
static enum proxy_header_verdict decode_line(char *line, struct proxy_header *header)
{
	struct proxy_header found = {.named = true};
	const char *protocol = take_word(&line);
	int family;

	if (protocol && !strcmp(protocol, "UNKNOWN")) {
		*header = (struct proxy_header){0};
		return PROXY_HEADER_OK;
	}
	if (protocol && !strcmp(protocol, "TCP4"))
		family = AF_INET;
	else if (protocol && !strcmp(protocol, "TCP6"))
		family = AF_INET6;
	else
		return PROXY_HEADER_BAD_LINE;
	if (!take_address(&line, family, &found.source) ||
	    !take_address(&line, family, &found.destination) || !take_port(&line, &found.source) ||
	    !take_port(&line, &found.destination) || line)
		return PROXY_HEADER_BAD_LINE;
	if (!may_be_clients(&found.source))
		return PROXY_HEADER_BAD_SOURCE;
	*header = found;
	return PROXY_HEADER_OK;
}

static enum proxy_header_verdict decode_v1(const uint8_t *bytes, size_t len_bytes,
					   struct proxy_header *header, size_t *used_bytes)
{
	size_t look = len_bytes < PROXY_HEADER_V1_MAX_BYTES ? len_bytes : PROXY_HEADER_V1_MAX_BYTES;
	const uint8_t *end = memchr(bytes, '\n', look);
	char line[PROXY_HEADER_V1_MAX_BYTES];
	enum proxy_header_verdict verdict;
	size_t used;

	if (!end)
		return look < PROXY_HEADER_V1_MAX_BYTES ? PROXY_HEADER_MORE : PROXY_HEADER_TOO_LONG;
	used = (size_t)(end - bytes) + 1;
	if (end[-1] != '\r' || memchr(bytes, '\0', used))
		return PROXY_HEADER_BAD_LINE;
	memcpy(line, bytes, used - 2);
	line[used - 2] = '\0';
	verdict = decode_line(line + V1_PREFIX_BYTES, header);
	if (verdict == PROXY_HEADER_OK)
		*used_bytes = used;
	return verdict;
}

/* ---- version 2 ---- */

/* The checksum is computed with its own bytes as zeros. */
static bool crc_is_right(const uint8_t *bytes, size_t len_bytes, const uint8_t *crc)
{
	static const uint8_t zeros[CRC_BYTES];
	const uint8_t *behind = crc + CRC_BYTES;
	uint32_t sum;

	sum = crc32c_add(CRC32C_START, bytes, (size_t)(crc - bytes));
	sum = crc32c_add(sum, zeros, sizeof(zeros));
	sum = crc32c_add(sum, behind, len_bytes - (size_t)(behind - bytes));
	return ~sum == be32_get(crc);
}

/* @bytes is the whole header; its TLVs begin at @at. */
static enum proxy_header_verdict check_tlvs(const uint8_t *bytes, size_t len_bytes, size_t at)
{
	while (at < len_bytes) {
		size_t length;

		if (len_bytes - at < TLV_HEAD_BYTES)
			return PROXY_HEADER_BAD_LENGTH;
		length = be16_get(bytes + at + 1);
		if (length > len_bytes - at - TLV_HEAD_BYTES)
			return PROXY_HEADER_BAD_LENGTH;
		if (bytes[at] == TLV_CRC32C) {
			if (length != CRC_BYTES)
				return PROXY_HEADER_BAD_LENGTH;
			if (!crc_is_right(bytes, len_bytes, bytes + at + TLV_HEAD_BYTES))
				return PROXY_HEADER_BAD_CRC;
		}
		at += TLV_HEAD_BYTES + length;
	}
	return PROXY_HEADER_OK;
}

static void load_inet(const uint8_t *host, const uint8_t *port, struct sockaddr_storage *addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	*in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(be16_get(port))};
	memcpy(&in->sin_addr, host, sizeof(in->sin_addr));
}

static void load_inet6(const uint8_t *host, const uint8_t *port, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;

	*in6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(be16_get(port))};
	memcpy(&in6->sin6_addr, host, sizeof(in6->sin6_addr));
}

static void load_addresses(unsigned family, const uint8_t *at, struct proxy_header *header)
{
	*header = (struct proxy_header){.named = true};
	if (family == V2_TCP4) {
		load_inet(at, at + 8, &header->source);
		load_inet(at + 4, at + 10, &header->destination);
	} else {
		load_inet6(at, at + 32, &header->source);
		load_inet6(at + 16, at + 34, &header->destination);
	}
}

/* Returns the length of the addresses; -1 for an undefined family. */
static int address_bytes(unsigned family)
{
	switch (family) {
	case V2_UNSPEC:
		return 0;
	case V2_TCP4:
	case V2_UDP4:
		return V2_INET_BYTES;
	case V2_TCP6:
	case V2_UDP6:
		return V2_INET6_BYTES;
	case V2_UNIX:
	case V2_UNIX_DGRAM:
		return V2_UNIX_BYTES;
	default:
		return -1;
	}
}

/*
 * The header is complete. The contents of a LOCAL header, or of one without a family, are ignored,
 * except for a CRC if it can be found.
 */
static enum proxy_header_verdict decode_whole(const uint8_t *bytes, size_t len_bytes,
					      struct proxy_header *header)
{
	unsigned family = bytes[13];
	bool unnamed = (bytes[12] & 0x0fu) == V2_COMMAND_LOCAL || family == V2_UNSPEC;
	size_t rest = len_bytes - V2_HEAD_BYTES;
	int addresses = address_bytes(family);
	enum proxy_header_verdict verdict = PROXY_HEADER_OK;
	bool fits = addresses >= 0 && (size_t)addresses <= rest;

	if (!unnamed && (addresses < 0 || family == V2_UDP4 || family == V2_UDP6))
		return PROXY_HEADER_BAD_FAMILY;
	if (!unnamed && !fits)
		return PROXY_HEADER_BAD_LENGTH;
	if (fits)
		verdict = check_tlvs(bytes, len_bytes, V2_HEAD_BYTES + (size_t)addresses);
	if (verdict != PROXY_HEADER_OK && !(unnamed && verdict == PROXY_HEADER_BAD_LENGTH))
		return verdict;
	*header = (struct proxy_header){0};
	if (unnamed || (family != V2_TCP4 && family != V2_TCP6))
		return PROXY_HEADER_OK;
	load_addresses(family, bytes + V2_HEAD_BYTES, header);
	return may_be_clients(&header->source) ? PROXY_HEADER_OK : PROXY_HEADER_BAD_SOURCE;
}

static enum proxy_header_verdict decode_v2(const uint8_t *bytes, size_t len_bytes,
					   struct proxy_header *header, size_t *used_bytes)
{
	enum proxy_header_verdict verdict;
	unsigned command;
	size_t total;

	if (len_bytes < V2_HEAD_BYTES)
		return PROXY_HEADER_MORE;
	command = bytes[12] & 0x0fu;
	if ((bytes[12] & 0xf0u) != V2_VERSION || command > V2_COMMAND_PROXY)
		return PROXY_HEADER_BAD_COMMAND;
	total = V2_HEAD_BYTES + be16_get(bytes + 14);
	if (total > PROXY_HEADER_MAX_BYTES)
		return PROXY_HEADER_TOO_LONG;
	if (len_bytes < total)
		return PROXY_HEADER_MORE;
	verdict = decode_whole(bytes, total, header);
	if (verdict == PROXY_HEADER_OK)
		*used_bytes = total;
	return verdict;
}

enum proxy_header_verdict proxy_header_decode(const uint8_t *bytes, size_t len_bytes,
					      struct proxy_header *header, size_t *used_bytes)
{
	if (!len_bytes)
		return PROXY_HEADER_MORE;
	if (begins(bytes, len_bytes, V2_SIGNATURE, V2_SIGNATURE_BYTES))
		return decode_v2(bytes, len_bytes, header, used_bytes);
	if (!begins(bytes, len_bytes, V1_PREFIX, V1_PREFIX_BYTES))
		return PROXY_HEADER_NONE;
	if (len_bytes < V1_PREFIX_BYTES)
		return PROXY_HEADER_MORE;
	return decode_v1(bytes, len_bytes, header, used_bytes);
}

/* ---- sending ---- */

/*
 * Writes both addresses and ports; IPv4 is the last 4 bytes of a v4-mapped address. Returns the
 * length.
 */
static unsigned store_addresses(const struct proxy_header *header, unsigned host_bytes, uint8_t *to)
{
	const struct sockaddr *source = (const struct sockaddr *)&header->source;
	const struct sockaddr *destination = (const struct sockaddr *)&header->destination;
	struct in6_addr host;
	unsigned skip = (unsigned)sizeof(host) - host_bytes;

	sockaddr_host(source, &host);
	memcpy(to, host.s6_addr + skip, host_bytes);
	sockaddr_host(destination, &host);
	memcpy(to + host_bytes, host.s6_addr + skip, host_bytes);
	be16_put(to + 2 * host_bytes, sockaddr_port(source));
	be16_put(to + 2 * host_bytes + 2, sockaddr_port(destination));
	return 2 * host_bytes + 4;
}

static bool is_v4(const struct sockaddr_storage *addr)
{
	struct in6_addr host;

	return sockaddr_host((const struct sockaddr *)addr, &host) && IN6_IS_ADDR_V4MAPPED(&host);
}

static bool is_inet(const struct sockaddr_storage *addr)
{
	return sockaddr_bytes((const struct sockaddr *)addr) > 0;
}

size_t proxy_header_encode(const struct proxy_header *header, uint8_t to[PROXY_HEADER_SENT_BYTES])
{
	bool named = header->named && is_inet(&header->source) && is_inet(&header->destination);
	bool v4 = named && is_v4(&header->source) && is_v4(&header->destination);
	unsigned rest = 0;

	memcpy(to, V2_SIGNATURE, V2_SIGNATURE_BYTES);
	to[12] = V2_VERSION | (named ? V2_COMMAND_PROXY : V2_COMMAND_LOCAL);
	to[13] = !named ? V2_UNSPEC : v4 ? V2_TCP4 : V2_TCP6;
	if (named)
		rest = store_addresses(header, v4 ? 4 : 16, to + V2_HEAD_BYTES);
	be16_put(to + 14, (uint16_t)rest);
	return V2_HEAD_BYTES + rest;
}
