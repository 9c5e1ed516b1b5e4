/* SPDX-License-Identifier: BSD-3-Clause */
/* What an upstream is made of: for the files of this folder that are one, and for who has one within. */
#ifndef DAEMON_BRIDGE_UPSTREAM_IMPL_H
#define DAEMON_BRIDGE_UPSTREAM_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/state.h"
#include "daemon/base/log.h"
#include "daemon/bridge/attempts.h"
#include "daemon/service/mount_desk.h"
#include "daemon/service/worker_service.h"
#include "leg/leg.h"

/* What an upstream tells its owner (upstream.h). */
struct upstream_events {
	/* The name of a target is resolved, and the attempts begin; once. */
	void (*connecting)(void *arg);
	/* The server is reached. From now on @leg calls `leg`, but for closed(). */
	void (*opened)(void *arg, struct leg *leg);
	/* A Reply is here, which is to be passed on next: the first one of this connection, or since the server was down. */
	void (*answered)(void *arg);
	/* Optional: returns whether a Call of the client's was sent on the leg. Without it none was. */
	bool (*has_called)(void *arg);
	/* The server cannot be reached; why the last attempt failed, or what else stood in the way. */
	void (*failed)(void *arg, enum leg_close why, const char *detail);
	/* After failed(), the leg's closing(), or upstream_close(): nothing is left that could call back. */
	void (*closed)(void *arg);
	/* What the leg calls once it is open: call, reply, more, call_ready, closing, note. */
	const struct leg_events *leg;
};

struct upstream {
	struct worker_service *ws;
	struct log_ctx *log;
	const struct upstream_events *events;
	void *arg;
	struct leg_config leg_config; /* of the attempts; its events are the upstream's own */
	struct state state;
	struct sockaddr_storage client; /* IPv4 never as v4-mapped */
	bool keeps_port;                /* the server is to see the port of that, too */
	bool privileged;                /* it is, on its host: so is the port that it comes from */
	struct target_seat seat;
	uint64_t deadline_us;     /* for the leg to open */
	uint64_t target_until_us; /* … at the present target */
	bool gave_up;             /* the present target */
	bool connecting_told;
	bool to_mount; /* it leads where Calls of MOUNT go */
	struct name_wait name;
	struct mount_wait place;      /* where rpcbind says that MOUNT is … */
	bool place_is_kept;           /* … which it said some time ago */
	bool asks_again;              /* it is not there any more */
	struct loop_timer *resolving; /* the time limit for the name */
	struct loop_task retry;
	struct attempts attempts;
	const struct attempt *attempt; /* the present one, until the leg opens */
	struct leg *leg;
	bool leg_over;         /* it may be freed */
	struct held_port held; /* of the leg */
	enum leg_close why;    /* the last attempt failed */
	char detail[LEG_DETAIL_BYTES];
	/* Where it comes from: until it is open what it was asked for, then what it has; 0: none. */
	uint16_t port;
	uint16_t
		source; /* which of the service's source addresses, if it has any; good with a port */
	bool port_is_due; /* a Call waits for the Reply that the server sent there */
	const char *
		source_lack; /* why no address of the present target can be come to; NULL: one can */
	bool waits;          /* for the server's first Reply, as its state counts */
	bool served;         /* it has had that, and is counted with those who have */
	bool failure_told;   /* with those of the service's other clients: nobody else need */
};

#endif
