// SPDX-License-Identifier: BSD-3-Clause
/* The order that an administrator gives for a server of a service. */
#include "daemon/control/target_command.h"

#include <stdio.h>
#include <string.h>

#include "daemon/control/control_request.h"
#include "daemon/proxy/worker.h"
#include "daemon/view/service_json.h"

static json_t *refuse(const char *why)
{
	return json_pack("{s:s}", "error", why);
}

static void wake_workers(struct proxy *proxy)
{
	for (size_t i = 0; i < proxy->nworkers; i++)
		proxy->workers[i]->ground.wake(proxy->workers[i]->ground.arg);
}

json_t *target_order_json(struct proxy *proxy, const char *argument)
{
	char text[CONTROL_MAX_ARGUMENT_BYTES + 1];
	const char *name, *address, *word;
	enum target_order order;
	struct proxy_service *ps;
	struct target *target;
	char *at;

	snprintf(text, sizeof(text), "%s", argument);
	name = strtok_r(text, " ", &at);
	address = strtok_r(NULL, " ", &at);
	word = strtok_r(NULL, " ", &at);
	if (!name || !address || !word || strtok_r(NULL, " ", &at))
		return refuse("the command takes a service, an address and a word");
	ps = proxy_service_find(proxy, name);
	if (!ps)
		return no_service_json(proxy, name);
	target = target_find(&ps->service.targets, address);
	if (!target)
		return json_pack("{s:o}", "error",
				 json_sprintf("service %s has no server %s, or more than one", name,
					      address));
	if (target_order_parse(word, &order))
		return refuse("the order is up, drain or down");
	if (ps->service.config->mount.way == MOUNT_RPCBIND)
		target_set(&ps->service.mounts, &ps->service.mounts.list[target->index], order);
	target_set(&ps->service.targets, target, order);
	wake_workers(proxy);
	return json_pack("{s:s, s:s, s:s}", "service", name, "target", target->text, "order", word);
}
