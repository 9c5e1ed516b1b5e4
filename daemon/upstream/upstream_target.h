/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server that an upstream has selected of its list (daemon/service/targets.h): which it is, how long it may take
 * there, and what is learned of it by that.
 */
#ifndef DAEMON_UPSTREAM_UPSTREAM_TARGET_H
#define DAEMON_UPSTREAM_UPSTREAM_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/service/backend.h"
#include "leg/leg.h"

struct upstream_target {
	const struct backend *backend; /* the list */
	struct loop *loop;
	const struct service_config *config;
	struct target_seat seat;
	uint64_t deadline_us; /* for the leg to open … */
	uint64_t until_us;    /* … at the present target */
	bool abandoned;       /* the present target */
	bool waits;           /* for the server's first Reply, as its state counts */
	bool served;          /* it has had that, and is counted with those who have */
	bool failure_told;    /* with those of the service's other clients: nobody else need */
};

/** upstream_target_names - where the name of the present one is waited for. */
struct name_desk *upstream_target_names(const struct upstream_target *target);
/** upstream_target_mount_place - where rpcbind's answer is waited for, which it is; NULL: rpcbind is not asked. */
struct mount_desk *upstream_target_mount_place(const struct upstream_target *target);
/** upstream_target_left_us - how much time there is left for the present one. */
uint64_t upstream_target_left_us(const struct upstream_target *target);

/**
 * upstream_target_next - select the next one, and until when it may be tried
 * @client: whose connections all lead to the same; of no family: nobody's
 *
 * Returns NULL if there is none that was not tried.
 */
const struct target *upstream_target_next(struct upstream_target *target,
					  const struct sockaddr_storage *client) MUST_CHECK;
/**
 * upstream_target_failed - it cannot be reached for @why: that is its fault, unless it is one of this host's
 * @addr:    that was tried last; NULL: none
 * @suspect: the client, if what it is may be why; NULL: it cannot be
 */
void upstream_target_failed(struct upstream_target *target, const struct sockaddr_storage *addr,
			    const struct sockaddr_storage *suspect, enum leg_close why,
			    const char *detail);
/** upstream_target_may_try_another - whether what failed for @why goes on at another one. */
bool upstream_target_may_try_another(const struct upstream_target *target, enum leg_close why);
/** upstream_target_opened - there is a connection to it. */
void upstream_target_opened(struct upstream_target *target);
/** upstream_target_first_reply - its first Reply is here, from @addr. */
void upstream_target_first_reply(struct upstream_target *target,
				 const struct sockaddr_storage *addr);
/** upstream_target_no_reply - its connection ends for @why before that; the others as upstream_target_failed(). */
void upstream_target_no_reply(struct upstream_target *target, const struct sockaddr_storage *addr,
			      const struct sockaddr_storage *suspect, enum leg_close why,
			      const char *detail);
/** upstream_target_wait_no_longer, upstream_target_disconnected - it is not, any more, one of those that wait for the target, or that it serves. */
void upstream_target_wait_no_longer(struct upstream_target *target);
void upstream_target_disconnected(struct upstream_target *target);
/** upstream_target_release - there is no connection to the target. */
void upstream_target_release(struct upstream_target *target);

#endif
