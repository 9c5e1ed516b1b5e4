/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The attempts to connect to a server: a list that is made once its name is resolved, and only advances.
 *
 *	tcp://              each address
 *	iwarp://, verbs://  each address on that fabric
 *	rdma://             each address on verbs, if there is a device, and then on iwarp
 *
 * All of them connect from the address and port that the client's last connection had, where these are free. An address
 * that has several ways to it has an element for each, one behind the other.
 *
 * On a fabric the version of RPC-over-RDMA to begin with is chosen when an attempt's turn comes: the highest, or one if
 * the address is known to speak no other. If that is found out by an attempt that fails, its element has a second turn.
 */
#ifndef DAEMON_UPSTREAM_CONNECT_PLAN_H
#define DAEMON_UPSTREAM_CONNECT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/service/targets.h"
#include "daemon/upstream/held_port.h"
#include "fabric/fabric.h"
#include "stream/stream.h"

#define ATTEMPT_MIN_US 500000u /* for one on a fabric, however many there are */

struct connect_attempt {
	/* The same of all attempts of a plan. */
	struct target *target;         /* whose address it is; outlives the plan */
	uint64_t client;               /* targets_client_number() of the client to serve; 0: none */
	struct stream_sources sources; /* where to connect from; its list outlives the plan */
	uint16_t source_port;   /* of the first of these, if it is free; 0: no matter which */
	bool source_above;      /* TCP: as stream_target.preferred_above */
	bool source_only;       /* from that port or not at all */
	bool privileged;        /* the client is: connect from a port below 1024, if one is free */
	struct held_port *held; /* iwarp: takes what is held of such a port until the leg is over */
	/* Its own. */
	struct sockaddr_storage addr;
	struct fabric *fabric;    /* NULL: TCP */
	uint32_t rpcrdma_version; /* on a fabric, the highest, once its turn has come; else 0 */
	bool has_other;           /* the next one is another way to the same address */
};

/* All zero is a plan without attempts. */
struct connect_plan {
	struct connect_attempt *list;
	unsigned count, next; /* next: the one that connect_plan_next() looks at */
	uint32_t highest_version;
	bool again; /* the last one has a second turn: connect_plan_again() */
};

/**
 * connect_plan_init - the attempts that a target's transport asks for
 * @plan:   all zero
 * @common: what is the same of all
 * @iwarp, @verbs: the fabrics of this host; @verbs may be NULL: no device
 * @highest_version: of RPC-over-RDMA, to try
 * @addrs:  of the server, in the order to try them
 *
 * Returns 0, -EDESTADDRREQ without an address, -ENODEV if the transport cannot be had here, or -ENOMEM.
 */
int connect_plan_init(struct connect_plan *plan, const struct connect_attempt *common,
		      struct fabric *iwarp, struct fabric *verbs, uint32_t highest_version,
		      const struct sockaddr_storage *addrs, size_t naddrs) MUST_CHECK;
/** connect_plan_fini - free the list; accepts one that is all zero. */
void connect_plan_fini(struct connect_plan *plan);

/**
 * connect_plan_next - go on to the next attempt, or to the second turn of the last one
 * @avoided: a fabric that is passed over where the same address has another way; may be NULL
 * @now_us:  of the loop; what version to begin with is chosen now
 *
 * Returns NULL after the last one.
 */
const struct connect_attempt *connect_plan_next(struct connect_plan *plan,
						const struct fabric *avoided, uint64_t now_us);
/**
 * connect_plan_again - the last attempt has failed: give it a second turn, if version one is worth one
 *
 * So it is where a higher version was tried, and it is known by now that the address speaks no other than version one:
 * then the connection was lost before a Call went out. Returns whether connect_plan_next() gives it once more,
 * from the same port, in version one.
 */
bool connect_plan_again(struct connect_plan *plan, uint64_t now_us);
/** connect_plan_last - the one that connect_plan_next() gave last, also once it has none left; NULL before the first. */
const struct connect_attempt *connect_plan_last(const struct connect_plan *plan);
/** connect_plan_forget_port - those that have not been made connect from any port, unless they need theirs. */
void connect_plan_forget_port(struct connect_plan *plan);
/** connect_plan_left - whether connect_plan_next() has another one. */
bool connect_plan_left(const struct connect_plan *plan);

/**
 * connect_plan_share_us - how long the attempt that connect_plan_next() gave last may take
 * @left_us: what is left for all of them
 *
 * Each address has an equal share of it, and a way that has another one behind it half of that.
 */
uint64_t connect_plan_share_us(const struct connect_plan *plan, uint64_t left_us);
/** connect_plan_why - why no leg was made, by that negative errno: what is lacking here is not the server's fault. */
enum leg_close connect_plan_why(int rc);

#endif
