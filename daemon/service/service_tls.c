// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/service_tls.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/config/config_tls.h"

struct service_tls {
	atomic_uint refs; /* in addition to the first one */
	bool accepts, connects;
	bool names_servers; /* tls_server_name is the name of every server */
	char *server_name;  /* of the context: the host of the first server; NULL: not needed */
	pthread_mutex_t lock;
	struct tls_context *context; /* under the lock; NULL: no TLS */
};

struct service_tls *service_tls_new(const struct service_config *config)
{
	const struct config_tls *keys = &config->tls;
	struct service_tls *tls = calloc(1, sizeof(*tls));
	char host[CONFIG_TLS_HOST_BYTES];

	if (!tls)
		return NULL;
	atomic_init(&tls->refs, 0);
	tls->accepts = keys->accept != CONFIG_TLS_OFF;
	tls->connects = keys->connect;
	tls->names_servers = keys->server_name;
	if (tls->connects && !tls->names_servers) {
		tls->server_name = strdup(config_tls_host_name(config->connect.host, host));
		if (!tls->server_name)
			goto out;
	}
	if (pthread_mutex_init(&tls->lock, NULL))
		goto out;
	if (keys->context)
		tls->context = tls_context_ref(keys->context);
	return tls;
out:
	free(tls->server_name);
	free(tls);
	return NULL;
}

struct service_tls *service_tls_ref(struct service_tls *tls)
{
	atomic_fetch_add_explicit(&tls->refs, 1, memory_order_relaxed);
	return tls;
}

void service_tls_put(struct service_tls *tls)
{
	if (!tls || atomic_fetch_sub_explicit(&tls->refs, 1, memory_order_acq_rel))
		return;
	pthread_mutex_destroy(&tls->lock);
	tls_context_put(tls->context);
	free(tls->server_name);
	free(tls);
}

/* Returns a reference to the current context, or NULL. */
static struct tls_context *current(struct service_tls *tls)
{
	struct tls_context *context = NULL;

	pthread_mutex_lock(&tls->lock);
	if (tls->context)
		context = tls_context_ref(tls->context);
	pthread_mutex_unlock(&tls->lock);
	return context;
}

struct tls_context *service_tls_for_clients(struct service_tls *tls)
{
	return tls->accepts ? current(tls) : NULL;
}

int service_tls_for_server(struct service_tls *tls, const char *host, struct tls_context **out)
{
	struct tls_context *context = tls->connects ? current(tls) : NULL;
	char name[CONFIG_TLS_HOST_BYTES];
	int rc = 0;

	if (context && !tls->names_servers &&
	    strcasecmp(config_tls_host_name(host, name), tls->server_name)) {
		struct tls_context *shared = context;

		rc = tls_context_for_server(shared, name, &context);
		tls_context_put(shared);
	}
	if (!rc)
		*out = context;
	return rc;
}

int64_t service_tls_expiry_s(struct service_tls *tls)
{
	struct tls_context *context = current(tls);
	int64_t expiry_s = context ? tls_context_expiry_s(context) : 0;

	tls_context_put(context);
	return expiry_s;
}

bool service_tls_replace(struct service_tls *tls, const struct service_config *fresh)
{
	struct tls_context *next = fresh->tls.context, *old = tls->context;

	/* Only this function changes the context, on the main thread. */
	if (!old || !next || tls_context_same(old, next))
		return false;
	tls_context_ref(next);
	pthread_mutex_lock(&tls->lock);
	tls->context = next;
	pthread_mutex_unlock(&tls->lock);
	tls_context_put(old);
	return true;
}
