// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/tls_limits.h"

#include <errno.h>

#define TEXT_OF(macro) TEXT(macro)
#define TEXT(number)   #number

int tls_limits_init(struct tls_limits *limits)
{
	if (client_limits_init(&limits->clients))
		return -ENOMEM;
	pthread_mutex_init(&limits->lock, NULL);
	return 0;
}

void tls_limits_fini(struct tls_limits *limits)
{
	client_limits_fini(&limits->clients);
	pthread_mutex_destroy(&limits->lock);
}

void tls_worker_limits_init(struct tls_worker_limits *of_worker)
{
	of_worker->count = 0;
	TAILQ_INIT(&of_worker->list);
}

struct tls_handshake *tls_worker_limits_evictable(const struct tls_worker_limits *of_worker,
						  uint64_t now_us)
{
	struct tls_handshake *oldest = TAILQ_FIRST(&of_worker->list);

	if (of_worker->count < TLS_LIMITS_PER_WORKER ||
	    now_us - oldest->start_us < TLS_LIMITS_GRACE_US)
		return NULL;
	return oldest;
}

const char *tls_limits_begin(struct tls_limits *limits, struct tls_worker_limits *of_worker,
			     const struct sockaddr *client, uint64_t now_us,
			     struct tls_handshake *handshake)
{
	int rc;

	if (of_worker->count == TLS_LIMITS_PER_WORKER)
		return "at most " TEXT_OF(TLS_LIMITS_PER_WORKER) " at a time on one worker thread";
	pthread_mutex_lock(&limits->lock);
	rc = client_limits_add(&limits->clients, client, TLS_LIMITS_PER_CLIENT, &handshake->client);
	pthread_mutex_unlock(&limits->lock);
	if (rc == -EDQUOT)
		return "at most " TEXT_OF(TLS_LIMITS_PER_CLIENT) " at a time from one address";
	if (rc)
		return "out of memory";
	handshake->start_us = now_us;
	TAILQ_INSERT_TAIL(&of_worker->list, handshake, entry);
	of_worker->count++;
	return NULL;
}

void tls_limits_end(struct tls_limits *limits, struct tls_worker_limits *of_worker,
		    struct tls_handshake *handshake)
{
	if (!handshake->client)
		return;
	pthread_mutex_lock(&limits->lock);
	client_limits_remove(&limits->clients, handshake->client);
	pthread_mutex_unlock(&limits->lock);
	handshake->client = NULL;
	TAILQ_REMOVE(&of_worker->list, handshake, entry);
	of_worker->count--;
}
