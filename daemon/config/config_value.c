// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/sockaddr.h"
#include "daemon/base/resolver.h"
#include "daemon/config/config_cidr.h"
#include "fabric/verbs/verbs.h"

#define PORT_TEXT_BYTES 24u /* holds any long */

static const char *const transport_names[] = {
	[TRANSPORT_TCP] = "tcp",
	[TRANSPORT_RDMA] = "rdma",
	[TRANSPORT_IWARP] = "iwarp",
	[TRANSPORT_VERBS] = "verbs",
};

/* The kinds of ports that a listener of each transport binds. */
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
		return config_value_error("\"%s\" is not an IPv6 address", addr);
	if (scope && (!*scope || strlen(scope) >= IF_NAMESIZE))
		return config_value_error("\"%s\" is not an interface", scope);
	return NULL;
}

static const char *check_name(const char *host)
{
	struct in_addr in;

	if (!strcmp(host, "*"))
		return "\"*\" is not a host name: leave out the host to listen on every address, "
		       "tcp://:2049";
	for (const char *c = host; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-._", *c))
			return config_value_error("\"%s\" is not a host name", host);
	if (host[0] == '-' || host[0] == '.')
		return config_value_error("\"%s\" is not a host name", host);
	/* A name of digits and dots only is a mistyped address. */
	if (*host && strspn(host, "0123456789.") == strlen(host) &&
	    inet_pton(AF_INET, host, &in) != 1)
		return config_value_error("\"%s\" is not an IPv4 address", host);
	return NULL;
}

/* Splits HOST and PORT; sets *port to the text after the colon, or NULL. */
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
		return config_value_error(
			"\"%.64s\": an address has no path; name the export when mounting",
			strchr(end, '/'));
	if (*end && *end != ':')
		return config_value_error(
			"\"%s\" follows the address, which must end with its port", end);
	if (*port && strchr(*port, ':'))
		return "put the IPv6 address in brackets, e.g. [fe80::1]:20049";
	return NULL;
}

static int transport_find(const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(transport_names); i++)
		if (strlen(transport_names[i]) == len && !memcmp(transport_names[i], text, len))
			return (int)i;
	return -1;
}

/* Returns the error text for an unknown transport. */
static const char *unknown_transport(const char *text, size_t len)
{
	static const struct {
		const char *name, *meant;
	} known[] = {
		{"nfs", ": NFS over TCP is tcp://, over RDMA rdma://"},
		{"nfs4", ": NFS over TCP is tcp://, over RDMA rdma://"},
		{"udp", ": NFS over UDP is not supported"},
		{"ib", ": InfiniBand is verbs://, or rdma:// for any device"},
		{"roce", ": RoCE is verbs://, or rdma:// for any device"},
		{"tcp", "; write it in lower case"},
		{"rdma", "; write it in lower case"},
		{"iwarp", "; write it in lower case"},
		{"verbs", "; write it in lower case"},
	};
	const char *meant = "";

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strlen(known[i].name) == len && !strncasecmp(known[i].name, text, len))
			meant = known[i].meant;
	return config_value_error("transport \"%.*s\" is none of tcp, rdma, iwarp, verbs%s",
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
		return config_value_error(
			"\"%.64s\" has no transport: an address is tcp://HOST:PORT, rdma://, "
			"iwarp:// or verbs://%s",
			text,
			strchr(text, '/') ? ", and has no path: name the export when mounting"
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
		number = config_decimal(port, 65535);
	if (number < 1)
		return config_value_error("port \"%.32s\" is not a number from 1 to 65535", port);
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

size_t config_uri_addrs(const struct config_uri *uri,
			struct sockaddr_storage addrs[static CONFIG_URI_ADDRS])
{
	bool is_localhost = !strcasecmp(uri->host, "localhost");
	const char *hosts[] = {uri->host, "::1"};
	struct resolver_answer answer;
	size_t n = 0;

	if (is_localhost)
		hosts[0] = "127.0.0.1";
	else if (!*uri->host)
		hosts[0] = "::";
	for (size_t i = 0; i < (is_localhost ? 2 : 1); i++) {
		if (!resolver_literal(hosts[i], uri->port, &answer))
			continue;
		addrs[n] = answer.addrs[0];
		sockaddr_unmap(&addrs[n++]);
	}
	return n;
}

/* Gets the address as 16 bytes, IPv4 v4-mapped; "" means "::". Returns false for a name. */
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
	/* A wildcard IPv6 socket accepts IPv4 connections, too. */
	if (IN6_IS_ADDR_UNSPECIFIED(&in_a) || IN6_IS_ADDR_UNSPECIFIED(&in_b))
		return true;
	if ((is_any_v4(&in_a) && is_v4(&in_b)) || (is_any_v4(&in_b) && is_v4(&in_a)))
		return true;
	return IN6_ARE_ADDR_EQUAL(&in_a, &in_b) && !strchr(a->host, '%') && !strchr(b->host, '%');
}

bool config_uri_can_share(const struct config_uri *a, const struct config_uri *b)
{
	bool both = (a->transport == TRANSPORT_TCP && b->transport == TRANSPORT_IWARP) ||
		    (a->transport == TRANSPORT_IWARP && b->transport == TRANSPORT_TCP);

	return both && !strcmp(a->port, b->port) && !strcasecmp(a->host, b->host);
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

bool config_uri_lacks_zone(const struct config_uri *uri)
{
	struct in6_addr addr;

	return !strchr(uri->host, '%') && literal_bytes(uri->host, &addr) &&
	       IN6_IS_ADDR_LINKLOCAL(&addr);
}

const char *config_verbs_missing(void)
{
	return verbs_devices_present() ? NULL
				       : "this host has no RDMA device: use rdma:// or iwarp://";
}

/* ---- host names ---- */

#define NAME_MAX_BYTES 255u /* RFC 1035, section 2.3.4 */

const char *config_host_error(const char *text)
{
	size_t len = strlen(text);

	if (!len || len > NAME_MAX_BYTES)
		return "a name must have from 1 to 255 characters";
	if (!text[strspn(text, ".")])
		return "a name must not consist of dots only";
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("-_.", *text))
			return "write the name alone, without http:// and port; it can contain "
			       "only letters, digits, '-', '_' and '.'; addresses need not be "
			       "listed";
	return NULL;
}

#define A_FINGERPRINT      "sha256:"
#define FINGERPRINT_DIGITS 64u

static bool is_address(const char *text)
{
	struct in6_addr addr;

	return inet_pton(AF_INET, text, &addr) == 1 || inet_pton(AF_INET6, text, &addr) == 1;
}

const char *config_tls_server_error(const char *text)
{
	if (is_address(text))
		return NULL;
	/* For OpenSSL a dot before the name means any name below it. */
	if (text[0] != '.' && !config_host_error(text))
		return NULL;
	return "it must be a DNS name or an IP address of a certificate, without port";
}

/* Returns whether the text is 64 hexadecimal digits; a colon can separate pairs of them. */
static bool is_fingerprint(const char *text)
{
	for (unsigned pairs = FINGERPRINT_DIGITS / 2; pairs; pairs--) {
		if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]))
			return false;
		text += 2;
		if (*text == ':' && pairs > 1)
			text++;
	}
	return !*text;
}

const char *config_tls_peer_error(const char *text)
{
	if (!strncasecmp(text, A_FINGERPRINT, strlen(A_FINGERPRINT)))
		return is_fingerprint(text + strlen(A_FINGERPRINT))
			       ? NULL
			       : "a fingerprint must be sha256: and 64 hexadecimal digits";
	if (!strncmp(text, "*.", 2) && !is_address(text + 2))
		text += 2;
	if (strchr(text, '*'))
		return "a wildcard must be the whole first label of a name: *.example.net";
	if (is_address(text) || !config_host_error(text))
		return NULL;
	return "it must be a DNS name, an IP address or a fingerprint (sha256:HEX) of a certificate";
}

void config_hosts_fini(struct config_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		free(hosts->names[i]);
	free(hosts->names);
	*hosts = (struct config_hosts){0};
}

/* ---- destination of MOUNT Calls ---- */

#define TCP "tcp://"

static const char *const words[] = {
	[MOUNT_CONNECT] = "connect",
	[MOUNT_RPCBIND] = "rpcbind",
	[MOUNT_OFF] = "off",
};

/* The default port of an address is that of NFS, so MOUNT must have one. */
static bool has_port(const char *address)
{
	const char *colon = strrchr(address, ':');

	return colon && colon[1] != '/' && !strchr(colon, ']');
}

const char *config_mount_parse(const char *text, struct config_mount *mount)
{
	const char *wrong;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i], text))
			continue;
		*mount = (struct config_mount){.way = (enum mount_mode)i};
		return NULL;
	}
	if (strncmp(text, TCP, strlen(TCP)))
		return "it must be \"connect\", \"rpcbind\", \"off\" or tcp://HOST:PORT";
	if (!has_port(text))
		return "the port of MOUNT is missing: tcp://HOST:PORT";
	wrong = config_uri_parse(text, false, &mount->at);
	if (!wrong)
		mount->way = MOUNT_AT;
	return wrong;
}

const char *config_mount_text(const struct config_mount *mount,
			      char text[static CONFIG_URI_TEXT_BYTES])
{
	return mount->way == MOUNT_AT ? config_uri_text(&mount->at, text) : words[mount->way];
}
