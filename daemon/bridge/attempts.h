/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The attempts to reach a server: a list that is made once its name is resolved, and only advances.
 *
 *	tcp://              each address
 *	iwarp://, verbs://  each address on that fabric
 *	rdma://             each address on verbs, if there is a device, and then on iwarp
 *
 * All of them come from the address and port that the client's last connection had, where these are to be had. An address
 * that has several ways to it has an element for each, one behind the other.
 *
 * On a fabric the version of RPC-over-RDMA to begin with is chosen when an attempt's turn comes: the highest, or one if
 * the address is known to speak no other. If that is found out by an attempt that fails, its element has a second turn.
 */
#ifndef DAEMON_BRIDGE_ATTEMPTS_H
#define DAEMON_BRIDGE_ATTEMPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/bridge/held_port.h"
#include "daemon/service/targets.h"
#include "fabric/fabric.h"
#include "stream/stream.h"

#define ATTEMPT_MIN_US 500000u /* for one on a fabric, however many there are */

struct attempt {
	struct target *target; /* whose address it is */
	uint64_t client;       /* targets_client_number() of the client to serve; 0: none */
	struct sockaddr_storage addr;
	struct fabric *fabric;    /* NULL: TCP */
	uint32_t rpcrdma_version; /* on a fabric, the highest, once its turn has come; else 0 */
	struct stream_sources sources; /* where to come from; its list outlives the attempts */
	uint16_t source_port;   /* of the first of these, if it can be had; 0: no matter which */
	bool source_above;      /* TCP: as stream_target.preferred_above */
	bool source_only;       /* from that port or not at all */
	bool privileged;        /* the client is: connect from a port below 1024, if one is free */
	struct held_port *held; /* iwarp: takes what is held of such a port until the leg is over */
	bool has_other;         /* the next one is another way to the same address */
};

/* What a list is made from. */
struct attempts_config {
	struct target *target;         /* which outlives the list */
	uint64_t client;               /* as in struct attempt */
	struct fabric *iwarp, *verbs;  /* of this host; verbs may be NULL: no device */
	uint32_t highest_version;      /* of RPC-over-RDMA, to try */
	struct stream_sources sources; /* of all attempts, and so are these */
	uint16_t source_port;
	bool source_above, source_only, privileged;
	struct held_port *held; /* of the owner of the legs, with `privileged` */
};

/* All zero is a list without attempts. */
struct attempts {
	struct attempt *list;
	unsigned count, next; /* next: the one that attempts_next() looks at */
	uint32_t highest_version;
	struct version_cache *versions; /* of the target */
	bool again;                     /* the last one has a second turn: attempts_again() */
};

/**
 * attempts_init - the attempts that a target's transport asks for
 * @addrs: of the server, in the order to try them
 *
 * Returns 0, -EDESTADDRREQ without an address, -ENODEV if the transport cannot be had here, or -ENOMEM.
 */
int attempts_init(struct attempts *attempts, const struct attempts_config *config,
		  const struct sockaddr_storage *addrs, size_t naddrs) MUST_CHECK;
/** attempts_fini - free the list; accepts one that is all zero. */
void attempts_fini(struct attempts *attempts);

/**
 * attempts_next - go on to the next attempt, or to the second turn of the last one
 * @avoided: a fabric that is passed over where the same address has another way; may be NULL
 * @now_us:  of the loop; what version to begin with is chosen now
 *
 * Returns NULL after the last one.
 */
const struct attempt *attempts_next(struct attempts *attempts, const struct fabric *avoided,
				    uint64_t now_us);
/**
 * attempts_again - the last attempt has failed: give it a second turn, if version one is worth one
 *
 * So it is where a higher version was tried, and it is known by now that the address speaks no other than version one:
 * then the connection was lost before a Call went out. Returns whether attempts_next() gives it once more,
 * from the same port, in version one.
 */
bool attempts_again(struct attempts *attempts, uint64_t now_us);
/** attempts_last - the one that attempts_next() has come to, also once it has none left; NULL before the first. */
const struct attempt *attempts_last(const struct attempts *attempts);
/** attempts_forget_port - those that have not been made come from any port, unless they need theirs. */
void attempts_forget_port(struct attempts *attempts);
/** attempts_left - whether attempts_next() has another one. */
bool attempts_left(const struct attempts *attempts);

/**
 * attempts_share_us - how long the attempt that attempts_next() gave last may take
 * @left_us: what is left for all of them
 *
 * Each address has an equal share of it, and a way that has another one behind it half of that.
 */
uint64_t attempts_share_us(const struct attempts *attempts, uint64_t left_us);
/** attempts_why - why no leg was made, by that negative errno: what is lacking here is not the server's fault. */
enum leg_close attempts_why(int rc);

#endif
