// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config.h"

#include <stdio.h>
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

const char *config_listen_text(const struct service_config *service,
			       char text[static CONFIG_LISTEN_TEXT_BYTES])
{
	char one[CONFIG_URI_TEXT_BYTES];
	size_t at = 0;

	for (unsigned i = 0; i < config_nlisteners(service); i++)
		at += (size_t)snprintf(text + at, CONFIG_LISTEN_TEXT_BYTES - at, "%s%s",
				       i ? ", " : "",
				       config_uri_text(config_listener(service, i), one));
	return text;
}

bool config_listens_on(const struct service_config *service, enum transport transport)
{
	for (unsigned i = 0; i < config_nlisteners(service); i++)
		if (config_listener(service, i)->transport == transport)
			return true;
	return false;
}

bool config_listens_rdma(const struct service_config *service)
{
	for (unsigned i = 0; i < config_nlisteners(service); i++)
		if (config_listener(service, i)->transport != TRANSPORT_TCP)
			return true;
	return false;
}

bool config_listens_nonlocal(const struct service_config *service)
{
	for (unsigned i = 0; i < config_nlisteners(service); i++)
		if (!config_uri_is_loopback(config_listener(service, i)))
			return true;
	return false;
}

static void free_uris(struct config_uri *uris, size_t count)
{
	for (size_t i = 0; i < count; i++)
		config_uri_fini(&uris[i]);
	free(uris);
}

void config_tls_fini(struct config_tls *tls)
{
	free(tls->cert_file);
	free(tls->key_file);
	free(tls->ca_file);
	config_hosts_fini(&tls->client_names);
	free(tls->server_name);
	tls_context_put(tls->context);
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
		free_uris(service->more_listen, service->nmore_listen);
		free_uris(service->more_servers, service->nmore_servers);
		config_uri_fini(&service->mount.at);
		free(service->allow);
		free(service->sources);
		free(service->accept_proxy_from.list);
		free(service->trusted_proxies.list);
		config_tls_fini(&service->tls);
	}
	for (size_t i = 0; i < config->ndefaults; i++)
		free(config->defaults[i].place);
	free(config->defaults);
	for (size_t i = 0; i < config->nfiles; i++)
		free(config->files[i]);
	free(config->files);
	free(config->include_dir);
	free(config->include_stray);
	free(config->include_place);
	free(config->http_allow.list);
	config_hosts_fini(&config->http_hosts);
	free(config->services);
	free(config->control);
	free(config->file);
	free(config);
}
