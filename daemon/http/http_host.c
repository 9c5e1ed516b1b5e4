// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/http/http_host.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* The name of a Host, or an address without brackets. */
struct name {
	const char *text;
	size_t len;
};

static bool is_port(const char *text)
{
	return !*text || (*text == ':' && !text[1 + strspn(text + 1, "0123456789")]);
}

/* Returns whether @host is an IPv6 address in brackets, with or without a port. */
static bool is_ipv6(const char *host)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr addr;
	const char *end = strchr(host, ']');
	size_t len = end ? (size_t)(end - host) - 1 : 0;

	if (host[0] != '[' || !end || len >= sizeof(text) || !is_port(end + 1))
		return false;
	memcpy(text, host + 1, len);
	text[len] = '\0';
	return inet_pton(AF_INET6, text, &addr) == 1;
}

static bool is_ipv4(struct name name)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr addr;

	if (name.len >= sizeof(text))
		return false;
	memcpy(text, name.text, name.len);
	text[name.len] = '\0';
	return inet_pton(AF_INET, text, &addr) == 1;
}

/* Returns whether @name equals the first @len letters of @text. */
static bool is_part(struct name name, const char *text, size_t len)
{
	return name.len == len && !strncasecmp(name.text, text, len);
}

static bool is_name(struct name name, const char *text)
{
	size_t len = strlen(text);

	return is_part(name, text, len && text[len - 1] == '.' ? len - 1 : len);
}

bool http_host_is_ours(const char *host, const char *own, const struct config_hosts *hosts)
{
	struct name name = {host, strcspn(host, ":")};

	if (host[0] == '[')
		return is_ipv6(host);
	if (!is_port(host + name.len))
		return false;
	if (name.len && host[name.len - 1] == '.')
		name.len--;
	if (!name.len || is_ipv4(name) || is_name(name, "localhost"))
		return true;
	if (own[0] && (is_name(name, own) || is_part(name, own, strcspn(own, "."))))
		return true;
	for (size_t i = 0; i < hosts->count; i++)
		if (is_name(name, hosts->names[i]))
			return true;
	return false;
}
