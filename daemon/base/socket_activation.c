// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/socket_activation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/sd_notify.h"

#define STATE_BYTES 160u

static void free_names(char **names)
{
	for (char **at = names; at && *at; at++)
		free(*at);
	free(names);
}

/* Cuts off SOCKET_ACTIVATION_STORED. Returns whether it was there. */
static bool strip_stored(char *name)
{
	size_t len = strlen(name), mark = strlen(SOCKET_ACTIVATION_STORED);

	if (len <= mark || strcmp(name + len - mark, SOCKET_ACTIVATION_STORED) != 0)
		return false;
	name[len - mark] = '\0';
	return true;
}

int socket_activation_receive(struct socket_activation *fds)
{
	int n = sd_listen_fds_with_names(1, &fds->names);

	*fds = (struct socket_activation){.names = n > 0 ? fds->names : NULL};
	if (n <= 0)
		return n;
	fds->fds = calloc((size_t)n, sizeof(*fds->fds));
	fds->stored = calloc((size_t)n, sizeof(*fds->stored));
	if (!fds->fds || !fds->stored) {
		socket_activation_fini(fds);
		return -ENOMEM;
	}
	for (; fds->count < (size_t)n; fds->count++) {
		fds->fds[fds->count] = SD_LISTEN_FDS_START + (int)fds->count;
		fds->stored[fds->count] = strip_stored(fds->names[fds->count]);
	}
	return 0;
}

static void close_one(struct socket_activation *fds, size_t i)
{
	if (fds->fds[i] >= 0)
		close(fds->fds[i]);
	fds->fds[i] = -1;
}

void socket_activation_fini(struct socket_activation *fds)
{
	for (size_t i = 0; i < fds->count; i++)
		close_one(fds, i);
	free_names(fds->names);
	free(fds->fds);
	free(fds->stored);
	*fds = (struct socket_activation){0};
}

bool socket_activation_has(const struct socket_activation *fds, const char *service)
{
	for (size_t i = 0; i < fds->count; i++)
		if (!fds->stored[i] && !strcmp(fds->names[i], service))
			return true;
	return false;
}

void socket_activation_close_stored(struct socket_activation *fds)
{
	for (size_t i = 0; i < fds->count; i++)
		if (fds->stored[i])
			close_one(fds, i);
}

/* All failures mean the same: systemd reads no messages. */
static struct log_limit lost = {.repeats = true};

static void log_store_failed(const char *service, int rc)
{
	if (rc)
		log_limited(LOG_LEVEL_WARNING, &lost, LOG_ABOUT(.service = service),
			    "cannot pass listening sockets to the service manager: %s",
			    strerror(-rc));
}

void socket_activation_store(const char *service, const struct listen_sockets *sockets)
{
	char state[STATE_BYTES];

	if (!sockets->count)
		return;
	/* systemd must not poll them: a listening socket never hangs up. */
	snprintf(state, sizeof(state), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s" SOCKET_ACTIVATION_STORED,
		 service);
	log_store_failed(service, sd_notify_send(state, sockets->fds, sockets->count, true));
}

void socket_activation_unstore(const char *service)
{
	char state[STATE_BYTES];

	snprintf(state, sizeof(state), "FDSTOREREMOVE=1\nFDNAME=%s" SOCKET_ACTIVATION_STORED,
		 service);
	log_store_failed(service, sd_notify_send(state, NULL, 0, true));
}
