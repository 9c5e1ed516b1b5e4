/* SPDX-License-Identifier: BSD-3-Clause */
/* A service at one worker: as its bridges there see it, its memory account, and who waits to be taken. */
#ifndef DAEMON_PROXY_STATION_H
#define DAEMON_PROXY_STATION_H

#include <sys/queue.h>

#include "base/account.h"
#include "daemon/proxy/intake.h"
#include "daemon/service/worker_service.h"

struct worker;

struct station {
	TAILQ_ENTRY(station) entry; /* the worker's, as is all that follows */
	struct worker *worker;
	struct worker_service service;
	struct budget_account account;
	struct intake_queue queue;
};
TAILQ_HEAD(station_list, station);

/** station_of - the station that @ws is in. */
static inline struct station *station_of(struct worker_service *ws)
{
	return (struct station *)(void *)((char *)ws - offsetof(struct station, service));
}

#endif
