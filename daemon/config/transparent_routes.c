// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/transparent_routes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/ip_transparent.h"
#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/base/paths.h"
#include "daemon/config/self_connect.h"
#include "stream/return_route.h"

#define TABLE        "2049" /* routing table: a number that is free on most hosts */
#define SAMPLES_MAX  16u    /* entries of allow to check */
#define SAMPLE_STEPS 4u     /* addresses of an entry to try, until one is not this host's */
#define CLIENT_PORT  1023u
#define TEXT_BYTES   256u
#define LINE_BYTES   512u /* holds any host name */

static const sa_family_t families[] = {AF_INET, AF_INET6};

/* ---- the commands ---- */

/* The output, and a copy of its unconditional commands to avoid duplicates. */
struct routes_report {
	FILE *out, *copy;
	char *printed;
	size_t bytes;
	bool in_case; /* the following commands are conditional */
};

static void PRINTF_LIKE(2, 3) print_once(struct routes_report *page, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (fflush(page->copy) || strstr(page->printed, line))
		return;
	if (!page->in_case)
		fprintf(page->copy, "%s\n", line);
	fprintf(page->out, "    %s\n", line);
}

static const char *ip(sa_family_t family)
{
	return family == AF_INET ? "ip" : "ip -6";
}

static void print_table(struct routes_report *page, sa_family_t family)
{
	print_once(page, "%s route replace local %s dev lo table " TABLE, ip(family),
		   family == AF_INET ? "0.0.0.0/0" : "::/0");
}

static void print_local(struct routes_report *page, sa_family_t family)
{
	print_table(page, family);
	print_once(page, "%s rule add from %s iif lo lookup " TABLE, ip(family),
		   family == AF_INET ? "127.0.0.0/8" : "::1");
}

static void print_elsewhere(struct routes_report *page, sa_family_t family, const char *host,
			    const char *port)
{
	print_table(page, family);
	if (port)
		print_once(page, "%s rule add from %s ipproto tcp sport %s lookup " TABLE,
			   ip(family), host, port);
	else
		print_once(page, "%s rule add from %s ipproto tcp lookup " TABLE, ip(family), host);
}

/* A named server can be this host or another one, with addresses of both families. */
static void print_for_name(struct routes_report *page, const struct config_uri *server,
			   const char *port)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		print_table(page, families[i]);
	page->in_case = true;
	print_once(page, "# if %s is this host itself, by 127.0.0.1 or ::1", server->host);
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		print_local(page, families[i]);
	print_once(page, "# if %s is another host, for each ADDRESS of it", server->host);
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		print_elsewhere(page, families[i], "ADDRESS", port);
	page->in_case = false;
}

/* @port: NULL: all ports, because only rpcbind knows the port of MOUNT. */
static void print_server(struct routes_report *page, const struct config_uri *server,
			 const char *port, bool is_named)
{
	struct sockaddr_storage addrs[CONFIG_URI_ADDRS];
	size_t n = config_uri_addrs(server, addrs);
	char host[ADDRESS_HOST_BYTES];

	if (!n && is_named)
		print_for_name(page, server, port);
	for (size_t i = 0; i < n && !is_named; i++) {
		const struct sockaddr *addr = (const struct sockaddr *)&addrs[i];

		if (sockaddr_is_loopback(addr))
			print_local(page, addr->sa_family);
		else
			print_elsewhere(page, addr->sa_family, address_host_text(addr, host), port);
	}
}

static void print_service(struct routes_report *page, const struct service_config *service,
			  bool are_named)
{
	bool any_port = service->mount.way == MOUNT_RPCBIND;

	for (unsigned k = 0; k < config_nservers(service); k++) {
		const struct config_uri *server = config_server(service, k);

		print_server(page, server, any_port ? NULL : server->port, are_named);
	}
	if (service->mount.way == MOUNT_AT)
		print_server(page, &service->mount.at, service->mount.at.port, are_named);
}

/* Prints the servers with names, or the others. */
static void print_servers(struct routes_report *page, const struct config *config, bool are_named)
{
	for (size_t i = 0; i < config->nservices; i++)
		if (config->services[i].source == SOURCE_CLIENT)
			print_service(page, &config->services[i], are_named);
}

static bool any_needs_routes(const struct config *config)
{
	for (size_t i = 0; i < config->nservices; i++)
		if (config->services[i].source == SOURCE_CLIENT)
			return true;
	return false;
}

void transparent_routes_print(const struct config *config, FILE *out)
{
	struct routes_report page = {.out = out};

	if (!any_needs_routes(config))
		return;
	page.copy = open_memstream(&page.printed, &page.bytes);
	if (!page.copy)
		return;
	fprintf(out,
		"%s: source = \"client\" needs CAP_NET_RAW, which the unit has "
		"by " SOURCE_CLIENT_EXAMPLE ", and these routes:\n",
		config->file);
	print_servers(&page, config, false);
	print_servers(&page, config, true);
	fclose(page.copy);
	free(page.printed);
}

/* ---- checks ---- */

/* Sets @client to an address of the prefix that does not belong to this host, if possible. */
static void sample_of(const struct config_cidr *cidr, struct sockaddr_storage *client)
{
	struct config_cidr alone = *cidr;
	unsigned last = cidr->family == AF_INET ? 3 : 15;

	alone.prefix_bits = (last + 1) * 8;
	(void)config_cidr_addr(&alone, client);
	/* The first address of a network belongs to no host. */
	for (unsigned i = 0; i < SAMPLE_STEPS && cidr->prefix_bits + 2 < alone.prefix_bits; i++) {
		alone.addr[last]++;
		(void)config_cidr_addr(&alone, client);
		if (!self_connect_is_local((const struct sockaddr *)client))
			return;
	}
}

/* Sets @client to a documentation address, which no client has, to stand for all addresses. */
static void sample_of_all(sa_family_t family, struct sockaddr_storage *client)
{
	memset(client, 0, sizeof(*client));
	client->ss_family = family;
	if (family == AF_INET)
		(void)inet_pton(family, "192.0.2.1", &((struct sockaddr_in *)client)->sin_addr);
	else
		(void)inet_pton(family, "2001:db8::1", &((struct sockaddr_in6 *)client)->sin6_addr);
}

/* Chooses sample clients, one per entry of allow. Returns their number. */
static size_t samples(const struct service_config *service, sa_family_t family,
		      struct sockaddr_storage clients[static SAMPLES_MAX])
{
	size_t n = 0;

	if (!service->has_allow)
		sample_of_all(family, &clients[n++]);
	for (size_t i = 0; i < service->nallow && n < SAMPLES_MAX; i++) {
		if (service->allow[i].family != family)
			continue;
		if (!service->allow[i].prefix_bits)
			sample_of_all(family, &clients[n]);
		else
			sample_of(&service->allow[i], &clients[n]);
		n++;
	}
	for (size_t i = 0; i < n; i++)
		sockaddr_set_port((struct sockaddr *)&clients[i], CLIENT_PORT);
	return n;
}

/* Returns whether the route is good; otherwise sets @text. */
static bool comes_back(const struct sockaddr *server, const struct sockaddr *client,
		       char text[TEXT_BYTES])
{
	char from[ADDRESS_TEXT_BYTES], to[ADDRESS_HOST_BYTES];
	int rc = 0;

	/* A client on this host can use a server on this host only by a loopback address. */
	if (!sockaddr_is_loopback(client) || sockaddr_is_loopback(server))
		rc = return_route_check(server, client);
	address_text(server, from);
	address_host_text(client, to);
	if (rc == -ENETUNREACH)
		snprintf(text, TEXT_BYTES, "no route to the server %s", from);
	else if (rc == -EHOSTUNREACH)
		snprintf(text, TEXT_BYTES,
			 "packets from the server %s to a client such as %s are not routed to "
			 "this host: set the routes that rpcrdma-proxy -t prints",
			 from, to);
	return rc != -ENETUNREACH && rc != -EHOSTUNREACH;
}

/* Stops at the first client without a route. */
static bool has_routes(const struct service_config *service, const struct sockaddr *server,
		       char text[TEXT_BYTES])
{
	struct sockaddr_storage clients[SAMPLES_MAX];
	size_t n = samples(service, server->sa_family, clients);

	for (size_t i = 0; i < n; i++)
		if (!comes_back(server, (const struct sockaddr *)&clients[i], text))
			return false;
	return true;
}

static void report_server(const struct service_config *service, const struct config_uri *server,
			  void (*report)(void *arg, const struct service_config *service,
					 const char *text),
			  void *arg)
{
	struct sockaddr_storage addrs[CONFIG_URI_ADDRS];
	size_t n = config_uri_addrs(server, addrs);
	char text[TEXT_BYTES];

	for (size_t k = 0; k < n; k++)
		if (!has_routes(service, (struct sockaddr *)&addrs[k], text))
			report(arg, service, text);
}

void transparent_routes_missing(const struct service_config *service,
				void (*report)(void *arg, const struct service_config *service,
					       const char *text),
				void *arg)
{
	if (service->source != SOURCE_CLIENT)
		return;
	if (!ip_transparent_is_permitted())
		report(arg, service,
		       "source = \"client\": CAP_NET_RAW is missing, so its clients are refused: "
		       "the unit has it by " SOURCE_CLIENT_EXAMPLE);
	for (unsigned i = 0; i < config_nservers(service); i++)
		report_server(service, config_server(service, i), report, arg);
	if (service->mount.way == MOUNT_AT)
		report_server(service, &service->mount.at, report, arg);
}
