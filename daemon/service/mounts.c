// SPDX-License-Identifier: BSD-3-Clause
/* The servers of a service to which Calls of MOUNT go. */
#include "daemon/service/mounts.h"

#include <errno.h>

/* Of rpcbind: what is found out there is the port alone. */
static struct config_uri rpcbind_of(const struct config_uri *server)
{
	static char port[] = "111";

	return (struct config_uri){TRANSPORT_TCP, server->host, port};
}

void mounts_view_init(struct mounts_view *view, const struct service_config *config)
{
	view->service = *config;
	view->service.more = view->more;
	if (config->mount.way == MOUNT_AT) {
		view->service.connect = config->mount.at;
		view->service.nmore = 0;
		return;
	}
	view->service.connect = rpcbind_of(&config->connect);
	for (size_t i = 0; i < config->nmore; i++)
		view->more[i] = rpcbind_of(&config->more[i]);
}

int mounts_init(struct mounts *mounts, const struct service_config *config, struct log_limit *lines)
{
	*mounts = (struct mounts){0};
	if (!config_asks_mount(config))
		return 0;
	mounts_view_init(&mounts->view, config);
	return targets_init(&mounts->targets, &mounts->view.service, lines);
}

void mounts_fini(struct mounts *mounts)
{
	targets_fini(&mounts->targets);
}

void mounts_order(struct mounts *mounts, unsigned index, enum target_order order)
{
	if (mounts->view.service.mount.way == MOUNT_RPCBIND)
		target_set(&mounts->targets, &mounts->targets.list[index], order);
}

void mounts_all_up(struct mounts *mounts)
{
	targets_all_up(&mounts->targets);
}
