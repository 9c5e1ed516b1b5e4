/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon consists of on the main thread. */
#ifndef DAEMON_PROXY_PROXY_PARTS_H
#define DAEMON_PROXY_PROXY_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "base/budget.h"
#include "base/loop.h"
#include "daemon/base/log.h"
#include "daemon/base/sd_fds.h"
#include "daemon/config/config.h"
#include "daemon/config/own_doors.h"
#include "daemon/proxy/worker.h"
#include "daemon/service/lobby.h"
#include "daemon/service/service.h"
#include "leg/leg.h"

struct check;
struct listen_names;
struct listener;
struct proxy;
struct reader;
struct registrar;
struct reload_queue;
struct watchdog;

/* Of the servers that no client uses, and of doubtful ones (daemon/proxy/probing.h). */
struct probing {
	struct proxy_service *ps;
	struct targets *targets;    /* those that are asked */
	bool to_mount;              /* … which are its servers of MOUNT */
	struct loop_timer *timer;   /* NULL: those that no client uses are not asked */
	struct check *check;        /* NULL: no question is out */
	uint32_t doubts;            /* the doubtful ones that `check` asks, a bit each; 0: others */
	uint64_t doubts_us;         /* when doubtful ones may be asked next */
	void (*emptied)(void *arg); /* the last one is over; NULL: they are asked again */
	void *arg;
};

struct proxy_service {
	TAILQ_ENTRY(proxy_service) entry;
	struct proxy *proxy;
	struct config *config; /* that its own part is in: a reference */
	struct service service;
	struct station **stations;         /* one a worker */
	struct listener *listener;         /* NULL: it is drained or leaves */
	struct lobby lobby;                /* connections that were turned away */
	uint64_t refused[LEG_CLOSE_COUNT]; /* …, by reason */
	unsigned users;                    /* who shows it: gathers of the control socket */
	uint64_t cut_us;            /* when draining becomes cutting, on the main loop; 0: never */
	bool refuses;               /* whoever comes: it is drained, and systemd listens for it */
	bool resting;               /* no descriptors are left for it, and it has been said */
	struct log_limit shortages; /* of descriptors */
	struct probing probing;
	struct probing mount_probing; /* of its servers of MOUNT */
};
TAILQ_HEAD(proxy_service_list, proxy_service);

/* Who stands above the proxy and goes by the configuration, too. */
struct proxy_follower {
	/* Make ready for @config; what fails goes to @errors, in lines. Returns 0, or a negative errno: it stays as it was. */
	int (*prepare)(void *arg, const struct config *config, FILE *errors);
	/* What was made ready takes effect: proxy->config is that now; or not, and goes. */
	void (*settle)(void *arg, bool taken);
	void *arg;
};

struct proxy {
	struct config *config; /* the one in force: a reference */
	struct loop *loop;     /* the main thread's */
	size_t nservices;
	struct proxy_service_list services; /* in the order of the file */
	struct proxy_service_list leaving;  /* out of the file; their last connections end */
	size_t nworkers;
	struct worker **workers;
	struct budget budget;   /* of memory; shared with the workers */
	struct own_doors doors; /* where it listens: complete before anybody can connect */
	struct ports
		*ports; /* where connections to TCP servers come from; shared with the workers */
	struct sd_fds held; /* sockets that systemd had for it */
	uint64_t next_id, start_us;
	struct health *health; /* where servers are tried */
	struct watchdog *watchdog;
	unsigned max_connections;    /* that there are descriptors for */
	struct loop_timer *look;     /* at what is told once in a while */
	struct loop_timer *cut;      /* when the first service's time to drain is over */
	uint64_t end_us;             /* of a stop, even if connections are left; 0: not known yet */
	struct registrar *registrar; /* NULL until a service is to be registered */
	uint64_t records_missed;     /* of RPCs, by those who watch them on the control socket */
	struct proxy_follower follower; /* all zero: nobody */
	struct listen_names *names; /* at which its services listen, as they were looked up last */
	struct reload_queue *reloads; /* that were asked for */
	struct reader *names_reader;  /* of names alone, for services that resume */
	bool reload_failed;           /* the last one */
	time_t config_s;              /* when the one in force was read, since 1970 */
	bool stopping;                /* the loop ends when the last connection has */
};

/* proxy_list_connections - those of one list: for proxy_connections(). */
static inline unsigned proxy_list_connections(const struct proxy_service_list *list)
{
	const struct proxy_service *ps;
	unsigned sum = 0;

	TAILQ_FOREACH(ps, list, entry)
		sum += atomic_load(&ps->service.connections);
	return sum;
}

/** proxy_connections - how many there are now, of all services. */
static inline unsigned proxy_connections(const struct proxy *proxy)
{
	return proxy_list_connections(&proxy->services) + proxy_list_connections(&proxy->leaving);
}

/** proxy_service_find - the service of that name; NULL: there is none. One that leaves has none. */
static inline struct proxy_service *proxy_service_find(const struct proxy *proxy, const char *name)
{
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry)
		if (!strcmp(ps->service.config->name, name))
			return ps;
	return NULL;
}

#endif
