// SPDX-License-Identifier: BSD-3-Clause
/* Where a service's Calls of MOUNT go, as the configuration file writes it. */
#include "daemon/config/config_mount.h"

#include <string.h>

#define TCP "tcp://"

static const char *const words[] = {
	[MOUNT_CONNECT] = "connect",
	[MOUNT_RPCBIND] = "rpcbind",
	[MOUNT_OFF] = "off",
};

/* Without its port, an address would be that of NFS. */
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
		*mount = (struct config_mount){.way = (enum mount_way)i};
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
