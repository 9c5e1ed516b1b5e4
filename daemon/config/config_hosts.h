/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of names of hosts. */
#ifndef DAEMON_CONFIG_CONFIG_HOSTS_H
#define DAEMON_CONFIG_CONFIG_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

struct config_hosts {
	size_t count;
	char **names; /* each of them, and the array, are the list's */
};

/**
 * config_host_wrong - why @text is no host's name
 *
 * A name has no scheme, port or path, and letters, digits, '-', '_' and '.' only. Returns a sentence without a full
 * stop, constant; NULL if it is one.
 */
const char *config_host_wrong(const char *text);
/** config_hosts_fini - free the names. */
void config_hosts_fini(struct config_hosts *hosts);

#endif
