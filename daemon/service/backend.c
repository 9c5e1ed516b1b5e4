// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/backend.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/service/service_net.h"

int backend_init(struct backend *backend, struct targets *targets, bool asks_rpcbind,
		 const struct worker_ground *ground)
{
	unsigned n = targets->count;

	*backend = (struct backend){
		.targets = targets,
		.names = calloc(n + 1, sizeof(*backend->names)),
		.mount_places = asks_rpcbind ? calloc(n + 1, sizeof(*backend->mount_places)) : NULL,
	};
	if (!backend->names || (asks_rpcbind && !backend->mount_places))
		return -ENOMEM;
	for (unsigned i = 0; asks_rpcbind && i < n; i++)
		mount_desk_init(&backend->mount_places[i], ground->loop);
	for (unsigned i = 0; i < n; i++)
		if (name_desk_init(&backend->names[i], &targets->list[i].name, ground->loop,
				   ground->resolver, ground->wake, ground->arg))
			return -ENOMEM;
	return 0;
}

void backend_fini(struct backend *backend)
{
	for (unsigned i = 0; backend->targets && i < backend->targets->count; i++) {
		if (backend->names)
			name_desk_fini(&backend->names[i]);
		if (backend->mount_places)
			mount_desk_fini(&backend->mount_places[i]);
	}
	free(backend->names);
	free(backend->mount_places);
	*backend = (struct backend){0};
}

void backend_woken(struct backend *backend)
{
	for (unsigned i = 0; i < backend->targets->count; i++)
		name_desk_woken(&backend->names[i]);
}
