// SPDX-License-Identifier: BSD-3-Clause
/* Each message is posted to the owner's loop, holds a reference meanwhile, and is dropped if the client has left. */
#include "daemon/service/client_messages.h"

#include <stdlib.h>

void client_put(struct client *client)
{
	if (--client->refs)
		return;
	free(client->marks);
	free(client);
}

static int tell(struct client *client, void (*fn)(void *arg))
{
	int rc;

	client->refs++;
	rc = client->owner.post(client->owner.loop, fn, client);
	if (rc)
		client->refs--;
	return rc;
}

static void take_message(struct client *client, void (*fn)(void *arg))
{
	struct client_part *part = client->part;

	if (client->owned)
		fn(client->owner.arg);
	pthread_mutex_lock(&part->lock);
	client_put(client);
	pthread_mutex_unlock(&part->lock);
}

static void on_superseded(void *arg)
{
	struct client *client = arg;

	take_message(client, client->owner.superseded);
}

static void on_resumed(void *arg)
{
	struct client *client = arg;

	take_message(client, client->owner.resumed);
}

int client_tell_superseded(struct client *client)
{
	return tell(client, on_superseded);
}

int client_tell_resumed(struct client *client)
{
	return tell(client, on_resumed);
}
