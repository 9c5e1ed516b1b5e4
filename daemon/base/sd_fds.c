// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/sd_fds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/sd.h"

#define STATE_BYTES 160u

static void free_names(char **names)
{
	for (char **at = names; at && *at; at++)
		free(*at);
	free(names);
}

/* Cuts off SD_FDS_STORED. Returns whether it was there. */
static bool cut_stored(char *name)
{
	size_t len = strlen(name), mark = strlen(SD_FDS_STORED);

	if (len <= mark || strcmp(name + len - mark, SD_FDS_STORED) != 0)
		return false;
	name[len - mark] = '\0';
	return true;
}

int sd_fds_take(struct sd_fds *fds)
{
	int n = sd_listen_fds_with_names(1, &fds->names);

	*fds = (struct sd_fds){.names = n > 0 ? fds->names : NULL};
	if (n <= 0)
		return n;
	fds->fds = calloc((size_t)n, sizeof(*fds->fds));
	fds->stored = calloc((size_t)n, sizeof(*fds->stored));
	if (!fds->fds || !fds->stored) {
		sd_fds_fini(fds);
		return -ENOMEM;
	}
	for (; fds->count < (size_t)n; fds->count++) {
		fds->fds[fds->count] = SD_LISTEN_FDS_START + (int)fds->count;
		fds->stored[fds->count] = cut_stored(fds->names[fds->count]);
	}
	return 0;
}

static void close_one(struct sd_fds *fds, size_t i)
{
	if (fds->fds[i] >= 0)
		close(fds->fds[i]);
	fds->fds[i] = -1;
}

void sd_fds_fini(struct sd_fds *fds)
{
	for (size_t i = 0; i < fds->count; i++)
		close_one(fds, i);
	free_names(fds->names);
	free(fds->fds);
	free(fds->stored);
	*fds = (struct sd_fds){0};
}

bool sd_fds_is_held(const struct sd_fds *fds, const char *service)
{
	for (size_t i = 0; i < fds->count; i++)
		if (!fds->stored[i] && !strcmp(fds->names[i], service))
			return true;
	return false;
}

void sd_fds_forget(struct sd_fds *fds)
{
	for (size_t i = 0; i < fds->count; i++)
		if (fds->stored[i])
			close_one(fds, i);
}

/* All failures mean the same: systemd reads no messages. */
static struct log_limit lost = {.repeats = true};

static void tell(const char *service, int rc)
{
	if (rc)
		log_limited(LOG_LEVEL_WARNING, &lost, LOG_ABOUT(.service = service),
			    "cannot pass listening sockets to the service manager: %s",
			    strerror(-rc));
}

void sd_store(const char *service, const struct listen_sockets *sockets)
{
	char state[STATE_BYTES];

	if (!sockets->count)
		return;
	/* systemd must not poll them: a listening socket never hangs up. */
	snprintf(state, sizeof(state), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s" SD_FDS_STORED, service);
	tell(service, sd_send(state, sockets->fds, sockets->count, true));
}

void sd_unstore(const char *service)
{
	char state[STATE_BYTES];

	snprintf(state, sizeof(state), "FDSTOREREMOVE=1\nFDNAME=%s" SD_FDS_STORED, service);
	tell(service, sd_send(state, NULL, 0, true));
}
