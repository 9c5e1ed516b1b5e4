// SPDX-License-Identifier: BSD-3-Clause
/* The configuration in memory: whom a service takes, and letting go of it all. */
#include "daemon/config/config.h"

#include <stdlib.h>

bool config_allows(const struct service_config *service, const struct sockaddr *addr)
{
	if (!service->has_allow)
		return true;
	for (size_t i = 0; i < service->nallow; i++)
		if (config_cidr_contains(&service->allow[i], addr))
			return true;
	return false;
}

void config_free(struct config *config)
{
	if (!config || config->refs--)
		return;
	for (size_t i = 0; i < config->nservices; i++) {
		struct service_config *service = &config->services[i];

		free(service->name);
		config_uri_fini(&service->listen);
		config_uri_fini(&service->connect);
		for (size_t k = 0; k < service->nmore; k++)
			config_uri_fini(&service->more[k]);
		free(service->more);
		free(service->allow);
	}
	for (size_t i = 0; i < config->ndefaults; i++)
		free(config->defaults[i].place);
	free(config->defaults);
	for (size_t i = 0; i < config->nfiles; i++)
		free(config->files[i]);
	free(config->files);
	free(config->include_dir);
	free(config->http_allow.list);
	free(config->services);
	free(config->control);
	free(config->file);
	free(config);
}
