// SPDX-License-Identifier: BSD-3-Clause
/* Addresses and prefixes as the configuration file writes them. */
#include "daemon/config/config_value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/verbs/verbs.h"

#define PORT_TEXT_BYTES 24u /* any long, though a port has five digits */

static const char *const transport_names[] = {
	[TRANSPORT_TCP] = "tcp",
	[TRANSPORT_RDMA] = "rdma",
	[TRANSPORT_IWARP] = "iwarp",
	[TRANSPORT_VERBS] = "verbs",
};

/* What a listener of each transport binds. */
#define BINDS_TCP 0x1u
#define BINDS_CM  0x2u
static const unsigned transport_binds[] = {
	[TRANSPORT_TCP] = BINDS_TCP,
	[TRANSPORT_RDMA] = BINDS_TCP | BINDS_CM,
	[TRANSPORT_IWARP] = BINDS_TCP,
	[TRANSPORT_VERBS] = BINDS_CM,
};

const char *transport_name(enum transport transport)
{
	return transport_names[transport];
}

static const char *PRINTF_LIKE(1, 2) complaint(const char *format, ...)
{
	static _Thread_local char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return text;
}

/* A plain decimal number of at most @max; -1 for anything else. */
static long decimal(const char *text, long max)
{
	long value = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return -1;
		value = value * 10 + (*text - '0');
		if (value > max)
			return -1;
	}
	return value;
}

static const char *check_literal(const char *host)
{
	char addr[CONFIG_HOST_MAX_BYTES + 1];
	struct in6_addr in6;
	char *scope;

	strcpy(addr, host);
	scope = strchr(addr, '%');
	if (scope)
		*scope++ = '\0';
	if (inet_pton(AF_INET6, addr, &in6) != 1)
		return complaint("\"%s\" is not an IPv6 address", addr);
	if (scope && (!*scope || strlen(scope) >= IF_NAMESIZE))
		return complaint("\"%s\" is not an interface", scope);
	return NULL;
}

static const char *check_name(const char *host)
{
	struct in_addr in;

	if (!strcmp(host, "*"))
		return "\"*\" is not a host name: a listener without any listens on every address, tcp://:2049";
	for (const char *c = host; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-._", *c))
			return complaint("\"%s\" is not a host name", host);
	if (host[0] == '-' || host[0] == '.')
		return complaint("\"%s\" is not a host name", host);
	/* What has only digits and dots was meant to be an address. */
	if (*host && strspn(host, "0123456789.") == strlen(host) &&
	    inet_pton(AF_INET, host, &in) != 1)
		return complaint("\"%s\" is not an IPv4 address", host);
	return NULL;
}

/* Takes HOST apart from PORT; sets *port to what follows the colon, or NULL. */
static const char *split_host(const char *text, char host[CONFIG_HOST_MAX_BYTES + 1],
			      const char **port, bool *literal)
{
	const char *end;
	size_t len;

	*literal = text[0] == '[';
	if (*literal) {
		end = strchr(++text, ']');
		if (!end)
			return "the bracket of the IPv6 address is not closed";
		len = (size_t)(end++ - text);
	} else {
		end = text + strcspn(text, ":/");
		len = (size_t)(end - text);
	}
	if (len > CONFIG_HOST_MAX_BYTES)
		return "the host is too long";
	memcpy(host, text, len);
	host[len] = '\0';
	*port = *end == ':' ? end + 1 : NULL;
	if (strchr(end, '/'))
		return complaint(
			"\"%.64s\": an address has no path; the export is named at the mount",
			strchr(end, '/'));
	if (*end && *end != ':')
		return complaint("\"%s\" follows the address: it ends with its port", end);
	if (*port && strchr(*port, ':'))
		return "an IPv6 address stands in brackets: [::1]:2049";
	return NULL;
}

static int transport_find(const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(transport_names); i++)
		if (strlen(transport_names[i]) == len && !memcmp(transport_names[i], text, len))
			return (int)i;
	return -1;
}

/* What is said of a transport that there is not. */
static const char *unknown_transport(const char *text, size_t len)
{
	static const struct {
		const char *name, *meant;
	} known[] = {
		{"nfs", ": NFS over TCP is tcp://, over RDMA rdma://"},
		{"nfs4", ": NFS over TCP is tcp://, over RDMA rdma://"},
		{"udp", ": NFS over UDP is not joined"},
		{"ib", ": InfiniBand is verbs://, or rdma:// for any device"},
		{"roce", ": RoCE is verbs://, or rdma:// for any device"},
		{"tcp", ", in small letters"},
		{"rdma", ", in small letters"},
		{"iwarp", ", in small letters"},
		{"verbs", ", in small letters"},
	};
	const char *meant = "";

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strlen(known[i].name) == len && !strncasecmp(known[i].name, text, len))
			meant = known[i].meant;
	return complaint("transport \"%.*s\" is none of tcp, rdma, iwarp, verbs%s",
			 (int)(len > 32 ? 32 : len), text, meant);
}

const char *config_uri_parse(const char *text, bool listen, struct config_uri *uri)
{
	char host[CONFIG_HOST_MAX_BYTES + 1], digits[PORT_TEXT_BYTES];
	const char *sep = strstr(text, "://"), *port, *wrong;
	struct config_uri found;
	int transport;
	bool literal;
	long number;

	if (!sep)
		return complaint(
			"\"%.64s\" has no transport: an address is tcp://HOST:PORT, rdma://, iwarp:// "
			"or verbs://%s",
			text,
			strchr(text, '/') ? ", and ends there: the export is named at the mount"
					  : "");
	transport = transport_find(text, (size_t)(sep - text));
	if (transport < 0)
		return unknown_transport(text, (size_t)(sep - text));
	wrong = split_host(sep + 3, host, &port, &literal);
	if (wrong)
		return wrong;
	if (!*host && (literal || !listen))
		return "the host is missing";
	wrong = literal ? check_literal(host) : check_name(host);
	if (wrong)
		return wrong;
	number = transport == TRANSPORT_TCP ? 2049 : 20049;
	if (port)
		number = decimal(port, 65535);
	if (number < 1)
		return complaint("port \"%.32s\" is not a number from 1 to 65535", port);
	snprintf(digits, sizeof(digits), "%ld", number);

	found = (struct config_uri){transport, strdup(host), strdup(digits)};
	if (!found.host || !found.port) {
		config_uri_fini(&found);
		return "out of memory";
	}
	*uri = found;
	return NULL;
}

void config_uri_fini(struct config_uri *uri)
{
	free(uri->host);
	free(uri->port);
	uri->host = uri->port = NULL;
}

/* The address as 16 bytes, IPv4 as v4-mapped; false for a name. "" counts as "::". */
static bool literal_bytes(const char *host, struct in6_addr *addr)
{
	char text[CONFIG_HOST_MAX_BYTES + 1];
	struct in_addr in;

	if (inet_pton(AF_INET, host, &in) == 1) {
		memset(addr, 0, sizeof(*addr));
		addr->s6_addr[10] = addr->s6_addr[11] = 0xff;
		memcpy(addr->s6_addr + 12, &in, sizeof(in));
		return true;
	}
	strcpy(text, *host ? host : "::");
	text[strcspn(text, "%")] = '\0';
	return inet_pton(AF_INET6, text, addr) == 1;
}

static bool is_v4(const struct in6_addr *addr)
{
	return IN6_IS_ADDR_V4MAPPED(addr);
}

static bool is_any_v4(const struct in6_addr *addr)
{
	return is_v4(addr) && !memcmp(addr->s6_addr + 12, "\0\0\0\0", 4);
}

bool config_uri_overlaps(const struct config_uri *a, const struct config_uri *b)
{
	struct in6_addr in_a, in_b;

	if (strcmp(a->port, b->port))
		return false;
	if (!(transport_binds[a->transport] & transport_binds[b->transport]))
		return false;
	if (!strcasecmp(a->host, b->host))
		return true;
	if (!literal_bytes(a->host, &in_a) || !literal_bytes(b->host, &in_b))
		return false;
	/* An IPv6 socket takes the IPv4 addresses too. */
	if (IN6_IS_ADDR_UNSPECIFIED(&in_a) || IN6_IS_ADDR_UNSPECIFIED(&in_b))
		return true;
	if ((is_any_v4(&in_a) && is_v4(&in_b)) || (is_any_v4(&in_b) && is_v4(&in_a)))
		return true;
	return IN6_ARE_ADDR_EQUAL(&in_a, &in_b) && !strchr(a->host, '%') && !strchr(b->host, '%');
}

const char *config_uri_text(const struct config_uri *uri, char text[static CONFIG_URI_TEXT_BYTES])
{
	bool brackets = strchr(uri->host, ':');

	snprintf(text, CONFIG_URI_TEXT_BYTES, "%s://%s%s%s:%s", transport_name(uri->transport),
		 brackets ? "[" : "", uri->host[0] ? uri->host : "*", brackets ? "]" : "",
		 uri->port);
	return text;
}

bool config_uri_is_loopback(const struct config_uri *uri)
{
	struct in6_addr addr;

	if (!strcasecmp(uri->host, "localhost"))
		return true;
	if (!literal_bytes(uri->host, &addr))
		return false;
	return is_v4(&addr) ? addr.s6_addr[12] == 127 : IN6_IS_ADDR_LOOPBACK(&addr);
}

bool config_uri_is_any(const struct config_uri *uri)
{
	struct in6_addr addr;

	return *uri->host && literal_bytes(uri->host, &addr) &&
	       (IN6_IS_ADDR_UNSPECIFIED(&addr) || is_any_v4(&addr));
}

const char *config_verbs_missing(void)
{
	return verbs_devices_present() ? NULL : "there is no RDMA device: use rdma:// or iwarp://";
}

static size_t addr_bytes(sa_family_t family)
{
	return family == AF_INET ? 4 : 16;
}

/* Whether the first @bits of the two addresses are the same. */
static bool same_prefix(const uint8_t *a, const uint8_t *b, unsigned bits)
{
	unsigned rest = bits % 8;

	if (memcmp(a, b, bits / 8))
		return false;
	return !rest || !((a[bits / 8] ^ b[bits / 8]) >> (8 - rest));
}

/* Clears what lies behind the prefix; returns whether there was something. */
static bool clear_host_bits(struct config_cidr *cidr)
{
	uint8_t zero[16] = {0}, *addr = cidr->addr;
	size_t len = addr_bytes(cidr->family), byte = cidr->prefix_bits / 8;
	struct config_cidr before = *cidr;

	if (byte < len)
		addr[byte] &= (uint8_t)(0xff00u >> cidr->prefix_bits % 8);
	if (byte + 1 < len)
		memcpy(addr + byte + 1, zero, len - byte - 1);
	return memcmp(before.addr, addr, len) != 0;
}

/* What is said of an entry that is no address. */
static const char *not_an_address(const char *text)
{
	const char *cure = "";

	if (!strcmp(text, "*") || !strcasecmp(text, "any") || !strcasecmp(text, "all"))
		cure = ": everyone is \"0.0.0.0/0\" and \"::/0\"";
	else if (strpbrk(text, ",; "))
		cure = ": each is a string of its own, without blanks: [ \"10.0.0.0/8\", \"192.0.2.1\" ]";
	else if (strchr(text, '['))
		cure = ": write it without brackets and port";
	else if (strchr(text, '*') || (isdigit((unsigned char)*text) && strchr(text, '-')))
		cure = ": write a range as a prefix such as 10.0.0.0/8";
	else if (strspn(text, "0123456789.:abcdefABCDEF/") != strlen(text))
		cure = ": names are not looked up here";
	return complaint("\"%.100s\" is not an IPv4 or IPv6 address%s", text, cure);
}

/* How many bits a netmask has; -1 for what is none. */
static int mask_bits(const char *text)
{
	struct in_addr in;
	uint32_t mask;

	if (inet_pton(AF_INET, text, &in) != 1)
		return -1;
	mask = ntohl(in.s_addr);
	return ~mask & (~mask + 1) ? -1 : __builtin_popcount(mask);
}

/* What is said of what stands behind the slash. */
static const char *not_a_prefix(const char *bits, const struct config_cidr *found, long max)
{
	int mask = found->family == AF_INET ? mask_bits(bits) : -1;
	char cure[16] = "";

	if (mask >= 0)
		snprintf(cure, sizeof(cure), ": write /%d", mask);
	return complaint("prefix length \"%.32s\" is not a number from 0 to %ld%s", bits, max,
			 cure);
}

const char *config_cidr_parse(const char *text, struct config_cidr *cidr)
{
	struct config_cidr found = {0};
	char addr[INET6_ADDRSTRLEN + 1], clean[INET6_ADDRSTRLEN];
	size_t len = strcspn(text, "/");
	long bits, max;

	if (len > INET6_ADDRSTRLEN || strpbrk(text, ",; "))
		return not_an_address(text);
	memcpy(addr, text, len);
	addr[len] = '\0';
	if (inet_pton(AF_INET, addr, found.addr) == 1)
		found.family = AF_INET;
	else if (inet_pton(AF_INET6, addr, found.addr) == 1)
		found.family = AF_INET6;
	else
		return not_an_address(text);
	max = (long)addr_bytes(found.family) * 8;
	bits = text[len] ? decimal(text + len + 1, max) : max;
	if (bits < 0)
		return not_a_prefix(text + len + 1, &found, max);
	found.prefix_bits = (unsigned)bits;
	if (clear_host_bits(&found))
		return complaint(
			"\"%.64s\" has bits behind its prefix: %s/%u is meant, or %s alone?", text,
			inet_ntop(found.family, found.addr, clean, sizeof(clean)),
			found.prefix_bits, addr);
	if (found.family == AF_INET6 && bits >= 96 &&
	    IN6_IS_ADDR_V4MAPPED((struct in6_addr *)found.addr)) {
		found.family = AF_INET;
		found.prefix_bits -= 96;
		memmove(found.addr, found.addr + 12, 4);
		memset(found.addr + 4, 0, 12);
	}
	*cidr = found;
	return NULL;
}

bool config_cidr_contains(const struct config_cidr *cidr, const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	sa_family_t family = addr->sa_family;
	const uint8_t *bytes;

	if (family == AF_INET) {
		bytes = (const uint8_t *)&((const struct sockaddr_in *)addr)->sin_addr;
	} else if (family == AF_INET6) {
		bytes = in6->sin6_addr.s6_addr;
		if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
			family = AF_INET;
			bytes += 12;
		}
	} else {
		return false;
	}
	return family == cidr->family && same_prefix(bytes, cidr->addr, cidr->prefix_bits);
}
