// SPDX-License-Identifier: BSD-3-Clause
/* Where connections to servers come from: what no single key of that shows. */
#include "daemon/config/config_source.h"

#include <strings.h>

#include "base/sockaddr.h"
#include "daemon/base/resolver.h"
#include "daemon/config/own_doors.h"

size_t config_source_addrs(const struct config_uri *uri,
			   struct sockaddr_storage addrs[static CONFIG_LOCALHOST_ADDRS])
{
	static const char *const localhost[CONFIG_LOCALHOST_ADDRS] = {"127.0.0.1", "::1"};
	bool is_localhost = !strcasecmp(uri->host, "localhost");
	const char *const *hosts = is_localhost ? localhost : (const char *const *)&uri->host;
	size_t nhosts = is_localhost ? CONFIG_LOCALHOST_ADDRS : 1, n = 0;
	struct resolver_answer answer;

	for (size_t i = 0; i < nhosts; i++) {
		if (!resolver_literal(hosts[i], uri->port, &answer))
			continue;
		addrs[n] = answer.addrs[0];
		sockaddr_unmap(&addrs[n++]);
	}
	return n;
}

/* The setting itself, or the group if its value is a default. */
static const config_setting_t *at(const config_setting_t *group, const char *name)
{
	const config_setting_t *setting = config_setting_get_member(group, name);

	return setting ? setting : group;
}

/*
 * What such a server sends would have to be led back whoever it is for, and with it all that this host sends from
 * that address.
 */
static void check_own(struct config_reader *r, const config_setting_t *group,
		      const struct config_uri *server, const struct sockaddr *addr)
{
	if (sockaddr_is_loopback(addr) || !own_doors_is_ours(addr))
		return;
	config_report(
		r, at(group, "connect"),
		"connect: %s is an address of this host: with source = \"client\" a server of "
		"this host is reached by 127.0.0.1 or [::1]",
		server->host);
}

static void check_family(struct config_reader *r, const config_setting_t *group,
			 const struct service_config *service, const struct config_uri *server,
			 const struct sockaddr *addr)
{
	for (size_t i = 0; i < service->nsources; i++)
		if (service->sources[i].ss_family == addr->sa_family)
			return;
	config_report(r, at(group, "source_address"),
		      "source_address: none of them is an %s address, as that of the server %s is",
		      addr->sa_family == AF_INET ? "IPv4" : "IPv6", server->host);
}

/* Of several addresses it is enough if one can be used. */
static void check_server(struct config_reader *r, const config_setting_t *group,
			 const struct service_config *service, const struct config_uri *server)
{
	struct sockaddr_storage addrs[CONFIG_LOCALHOST_ADDRS];

	if (config_source_addrs(server, addrs) != 1)
		return;
	if (service->source == SOURCE_CLIENT)
		check_own(r, group, server, (struct sockaddr *)&addrs[0]);
	else if (service->nsources)
		check_family(r, group, service, server, (struct sockaddr *)&addrs[0]);
}

void config_source_check(struct config_reader *r, const config_setting_t *group,
			 const struct service_config *service)
{
	if (service->source == SOURCE_CLIENT && service->nsources)
		config_report(r, at(group, "source_address"),
			      "source_address has no place beside source = \"client\"");
	for (unsigned i = 0; i < config_nservers(service); i++)
		check_server(r, group, service, config_server(service, i));
	if (service->mount.way == MOUNT_AT)
		check_server(r, group, service, &service->mount.at);
}
