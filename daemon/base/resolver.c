// SPDX-License-Identifier: BSD-3-Clause
/* Names to addresses, without blocking the loop. */
#include "daemon/base/resolver.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/loop.h"

/* Queries that glibc's threads still know. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned count;
} pending = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

struct resolver_query {
	struct loop *loop;
	char *host, *port;
	struct addrinfo hints;
	struct gaicb request;
	void (*done)(void *arg, const struct sockaddr_storage *addrs, size_t naddrs,
		     const char *error);
	void *arg; /* loop's thread only, as is done: NULL once cancelled */
};

static void pending_add(int change)
{
	pthread_mutex_lock(&pending.lock);
	pending.count += change;
	pthread_cond_broadcast(&pending.changed);
	pthread_mutex_unlock(&pending.lock);
}

bool resolver_quiesce(unsigned timeout_ms)
{
	struct timespec until;
	bool quiet;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&pending.lock);
	while (pending.count && !pthread_cond_timedwait(&pending.changed, &pending.lock, &until))
		;
	quiet = pending.count == 0;
	pthread_mutex_unlock(&pending.lock);
	return quiet;
}

static void query_free(struct resolver_query *query)
{
	if (!query)
		return;
	if (query->request.ar_result)
		freeaddrinfo(query->request.ar_result);
	free(query->host);
	free(query->port);
	free(query);
}

/* In the loop's thread. */
static void deliver(void *arg)
{
	struct resolver_query *query = arg;
	struct sockaddr_storage addrs[RESOLVER_MAX_ADDRS];
	size_t naddrs = 0;
	int rc = gai_error(&query->request);

	for (const struct addrinfo *ai = query->request.ar_result;
	     ai && naddrs < RESOLVER_MAX_ADDRS; ai = ai->ai_next) {
		if (ai->ai_addrlen > sizeof(addrs[0]))
			continue;
		memset(&addrs[naddrs], 0, sizeof(addrs[0]));
		memcpy(&addrs[naddrs++], ai->ai_addr, ai->ai_addrlen);
	}
	if (query->done)
		query->done(query->arg, addrs, naddrs, rc ? gai_strerror(rc) : NULL);
	query_free(query);
}

/* In a thread of glibc's. */
static void on_notify(union sigval value)
{
	struct resolver_query *query = value.sival_ptr;

	/* Without memory for the post the query stays with whoever waits, whose own timer ends that. */
	if (event_loop_post(query->loop, deliver, query))
		query = NULL;
	pending_add(-1);
}

/* A literal needs no server, so no thread either. */
static bool find_literal(struct resolver_query *query)
{
	struct addrinfo hints = query->hints;

	hints.ai_flags |= AI_NUMERICHOST;
	return getaddrinfo(query->host, query->port, &hints, &query->request.ar_result) == 0;
}

int resolver_start(struct loop *loop, const char *host, const char *port,
		   void (*done)(void *arg, const struct sockaddr_storage *addrs, size_t naddrs,
				const char *error),
		   void *arg, struct resolver_query **out)
{
	struct resolver_query *query = calloc(1, sizeof(*query));
	struct gaicb *list[1];
	struct sigevent notify = {.sigev_notify = SIGEV_THREAD};

	if (!query)
		return -ENOMEM;
	query->loop = loop;
	query->host = strdup(host);
	query->port = strdup(port);
	query->done = done;
	query->arg = arg;
	query->hints.ai_family = AF_UNSPEC;
	query->hints.ai_socktype = SOCK_STREAM;
	query->hints.ai_flags = AI_NUMERICSERV;
	query->request.ar_name = query->host;
	query->request.ar_service = query->port;
	query->request.ar_request = &query->hints;
	if (!query->host || !query->port) {
		query_free(query);
		return -ENOMEM;
	}
	if (find_literal(query)) {
		*out = query;
		if (!event_loop_post(loop, deliver, query))
			return 0;
		query_free(query);
		return -ENOMEM;
	}
	list[0] = &query->request;
	notify.sigev_notify_function = on_notify;
	notify.sigev_value.sival_ptr = query;
	pending_add(1);
	if (getaddrinfo_a(GAI_NOWAIT, list, 1, &notify)) {
		pending_add(-1);
		query_free(query);
		return -EAGAIN;
	}
	*out = query;
	return 0;
}

void resolver_cancel(struct resolver_query *query)
{
	if (!query)
		return;
	query->done = NULL;
	/* If no thread has begun on it the answer comes at once, and deliver() frees the query. */
	gai_cancel(&query->request);
}

const struct resolver resolver_system = {.start = resolver_start, .cancel = resolver_cancel};
