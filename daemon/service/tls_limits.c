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

const char *tls_limits_begin(struct tls_limits *limits, unsigned *of_worker,
			     const struct sockaddr *client, struct tls_handshake *handshake)
{
	int rc;

	if (*of_worker == TLS_LIMITS_PER_WORKER)
		return "at most " TEXT_OF(TLS_LIMITS_PER_WORKER) " at a time on one worker thread";
	pthread_mutex_lock(&limits->lock);
	rc = client_limits_add(&limits->clients, client, TLS_LIMITS_PER_CLIENT, &handshake->client);
	pthread_mutex_unlock(&limits->lock);
	if (rc == -EDQUOT)
		return "at most " TEXT_OF(TLS_LIMITS_PER_CLIENT) " at a time from one address";
	if (rc)
		return "out of memory";
	(*of_worker)++;
	return NULL;
}

void tls_limits_end(struct tls_limits *limits, unsigned *of_worker, struct tls_handshake *handshake)
{
	if (!handshake->client)
		return;
	pthread_mutex_lock(&limits->lock);
	client_limits_remove(&limits->clients, handshake->client);
	pthread_mutex_unlock(&limits->lock);
	handshake->client = NULL;
	(*of_worker)--;
}
