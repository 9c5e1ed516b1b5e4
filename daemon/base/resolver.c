// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/resolver.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/thread.h"

/*
 * The lookups whose thread has not ended, and the last thread that ended. Each thread joins the one
 * before it, and resolver_quiesce() joins the last: getaddrinfo() keeps memory per thread, which is
 * freed when the thread ends.
 */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned count;
	bool has_ended;
	pthread_t ended;
} pending = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct query {
	char *host, *port;
	struct resolver_answer *answer;
	void (*done)(void *arg);
	void *arg;
};

static void pending_add(int change)
{
	pthread_mutex_lock(&pending.lock);
	pending.count += change;
	pthread_cond_broadcast(&pending.changed);
	pthread_mutex_unlock(&pending.lock);
}

/* Marks the calling thread as ending. */
static void pending_end(void)
{
	bool has_before;
	pthread_t before;

	pthread_mutex_lock(&pending.lock);
	has_before = pending.has_ended;
	before = pending.ended;
	pending.has_ended = true;
	pending.ended = pthread_self();
	pending.count--;
	pthread_cond_broadcast(&pending.changed);
	pthread_mutex_unlock(&pending.lock);
	if (has_before)
		pthread_join(before, NULL);
}

bool resolver_quiesce(unsigned timeout_ms)
{
	struct timespec until = thread_deadline(timeout_ms);
	bool quiet, has_ended;
	pthread_t ended;

	pthread_mutex_lock(&pending.lock);
	while (pending.count &&
	       !pthread_cond_clockwait(&pending.changed, &pending.lock, CLOCK_MONOTONIC, &until))
		;
	quiet = pending.count == 0;
	has_ended = quiet && pending.has_ended;
	ended = pending.ended;
	pending.has_ended = !quiet && pending.has_ended;
	pthread_mutex_unlock(&pending.lock);
	if (has_ended)
		pthread_join(ended, NULL);
	return quiet;
}

static void query_free(struct query *query)
{
	free(query->host);
	free(query->port);
	free(query);
}

static int query_addresses(const char *host, const char *port, int flags, struct addrinfo **list)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC,
				       .ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICSERV | flags};

	return getaddrinfo(host, port, &hints, list);
}

/* Copies the results of getaddrinfo() and frees them. */
static void set_addresses(struct resolver_answer *answer, struct addrinfo *list)
{
	memset(answer, 0, sizeof(*answer));
	for (const struct addrinfo *ai = list; ai && answer->naddrs < RESOLVER_MAX_ADDRS;
	     ai = ai->ai_next)
		if (ai->ai_addrlen <= sizeof(answer->addrs[0]))
			memcpy(&answer->addrs[answer->naddrs++], ai->ai_addr, ai->ai_addrlen);
	freeaddrinfo(list);
}

bool resolver_literal(const char *host, const char *port, struct resolver_answer *answer)
{
	struct addrinfo *list;

	if (query_addresses(host, port, AI_NUMERICHOST, &list))
		return false;
	set_addresses(answer, list);
	return true;
}

static void resolve(const struct query *query)
{
	struct resolver_answer *answer = query->answer;
	struct addrinfo *list;
	int rc = query_addresses(query->host, query->port, 0, &list);

	if (!rc) {
		set_addresses(answer, list);
		return;
	}
	*answer = (struct resolver_answer){
		.error = gai_strerror(rc),
		.is_final = rc == EAI_NONAME || rc == EAI_NODATA || rc == EAI_ADDRFAMILY,
	};
}

static void *run(void *arg)
{
	struct query *query = arg;

	resolve(query);
	query->done(query->arg);
	query_free(query);
	pending_end();
	return NULL;
}

int resolver_start(const char *host, const char *port, struct resolver_answer *answer,
		   void (*done)(void *arg), void *arg)
{
	struct query *query = calloc(1, sizeof(*query));
	pthread_t thread;
	int rc;

	if (!query)
		return -ENOMEM;
	*query = (struct query){strdup(host), strdup(port), answer, done, arg};
	if (!query->host || !query->port) {
		query_free(query);
		return -ENOMEM;
	}
	pending_add(1);
	rc = thread_start("resolver", run, query, &thread);
	if (!rc)
		return 0;
	pending_add(-1);
	query_free(query);
	return rc;
}

const struct resolver resolver_system = {.start = resolver_start};
