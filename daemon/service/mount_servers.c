// SPDX-License-Identifier: BSD-3-Clause
/* The servers of a service to which Calls of MOUNT go. */
#include "daemon/service/mount_servers.h"

struct server_uris mount_servers_of(const struct service_config *config)
{
	static char rpcbind_port[] = "111";
	struct server_uris uris = {.count = 0};

	if (!config_asks_mount(config))
		return uris;
	if (config->mount.way == MOUNT_AT)
		return (struct server_uris){.list = {config->mount.at}, .count = 1};
	/* What is found out there is the port alone. */
	for (; uris.count < config_nservers(config); uris.count++)
		uris.list[uris.count] = (struct config_uri){
			TRANSPORT_TCP, config_server(config, uris.count)->host, rpcbind_port};
	return uris;
}
