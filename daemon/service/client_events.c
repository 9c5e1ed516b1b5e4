// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/client_events.h"

#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"

void client_events_init(struct client_events *events)
{
	*events = (struct client_events){0};
	pthread_mutex_init(&events->lock, NULL);
}

void client_events_fini(struct client_events *events)
{
	pthread_mutex_destroy(&events->lock);
}

void client_events_add(struct client_events *events, unsigned kind, const struct sockaddr *client,
		       const char *detail, uint64_t now_us)
{
	struct client_event *event = &events->list[kind];

	pthread_mutex_lock(&events->lock);
	event->count++;
	event->last_us = now_us;
	event->client = (struct sockaddr_storage){.ss_family = AF_UNSPEC};
	memcpy(&event->client, client, sockaddr_bytes(client));
	snprintf(event->detail, sizeof(event->detail), "%s", detail);
	pthread_mutex_unlock(&events->lock);
}

struct client_event client_events_get(struct client_events *events, unsigned kind)
{
	struct client_event event;

	pthread_mutex_lock(&events->lock);
	event = events->list[kind];
	pthread_mutex_unlock(&events->lock);
	return event;
}
