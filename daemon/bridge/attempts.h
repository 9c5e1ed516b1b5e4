/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The attempts to reach a server: a list that is made once its name is resolved, and only advances.
 *
 *	tcp://              each address
 *	iwarp://, verbs://  each address on that fabric
 *	rdma://             each address on verbs, if there is a device, and then on iwarp
 *
 * All of them come from the port that the client's last connection had, where that is to be had. An address
 * that has several ways to it has an element for each, one behind the other: what else may be tried at the
 * same address, such as another version of the protocol, is one more element.
 */
#ifndef DAEMON_BRIDGE_ATTEMPTS_H
#define DAEMON_BRIDGE_ATTEMPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/config/config.h"
#include "fabric/fabric.h"

#define ATTEMPT_MIN_US 500000u /* for one on a fabric, however many there are */

struct attempt {
	struct sockaddr_storage addr;
	struct fabric *fabric;    /* NULL: TCP */
	uint32_t rpcrdma_version; /* on a fabric; else 0 */
	uint16_t source_port;     /* where to come from if that can be had; 0: no matter where */
	bool source_above;        /* TCP: as stream_target.preferred_above */
	bool has_other;           /* the next one is another way to the same address */
};

/* All zero is a list without attempts. */
struct attempts {
	struct attempt *list;
	unsigned count, next; /* next: the one that attempts_next() looks at */
};

/**
 * attempts_init - the attempts that a service's transport asks for
 * @addrs:  of the server, in the order to try them
 * @iwarp:  the fabrics of this host; @verbs may be NULL: no device
 * @source_port, @source_above: of all attempts
 *
 * Returns 0, -EDESTADDRREQ without an address, -ENODEV if the transport cannot be had here, or -ENOMEM.
 */
int attempts_init(struct attempts *attempts, enum transport transport,
		  const struct sockaddr_storage *addrs, size_t naddrs, struct fabric *iwarp,
		  struct fabric *verbs, uint16_t source_port, bool source_above) MUST_CHECK;
/** attempts_fini - free the list; accepts one that is all zero. */
void attempts_fini(struct attempts *attempts);

/**
 * attempts_next - go on to the next attempt
 * @avoided: a fabric that is passed over where the same address has another way; may be NULL
 *
 * Returns NULL after the last one.
 */
const struct attempt *attempts_next(struct attempts *attempts, const struct fabric *avoided);
/** attempts_last - the one that attempts_next() has come to, also once it has none left; NULL before the first. */
const struct attempt *attempts_last(const struct attempts *attempts);
/** attempts_forget_port - those that have not been made come from any port. */
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

#endif
