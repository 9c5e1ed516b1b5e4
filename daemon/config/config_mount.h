/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a service's Calls of MOUNT go, as the configuration file writes it. */
#ifndef DAEMON_CONFIG_CONFIG_MOUNT_H
#define DAEMON_CONFIG_CONFIG_MOUNT_H

#include "base/compiler.h"
#include "daemon/config/config_value.h"

enum mount_way {
	MOUNT_CONNECT, /* where all others go */
	MOUNT_RPCBIND, /* to the port that rpcbind of the server's host names */
	MOUNT_OFF,     /* nowhere */
	MOUNT_AT,      /* to an address */
};

struct config_mount {
	enum mount_way way;
	struct config_uri at; /* of MOUNT_AT; else all zero */
};

/**
 * config_mount_parse - "connect", "rpcbind", "off" or tcp://HOST:PORT
 * @mount: set on success; its address is freed with config_uri_fini()
 *
 * Returns NULL, or what is wrong with it; the text lasts until the next call in this thread.
 */
const char *config_mount_parse(const char *text, struct config_mount *mount) MUST_CHECK;
/** config_mount_text - as the file has it, with the address in @text. Returns a word, or @text. */
const char *config_mount_text(const struct config_mount *mount,
			      char text[static CONFIG_URI_TEXT_BYTES]);

#endif
