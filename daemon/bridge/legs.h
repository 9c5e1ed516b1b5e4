/* SPDX-License-Identifier: BSD-3-Clause */
/* How the two legs of a bridge are made, of whatever kind they are. */
#ifndef DAEMON_BRIDGE_LEGS_H
#define DAEMON_BRIDGE_LEGS_H

#include "base/compiler.h"
#include "daemon/bridge/attempts.h"
#include "daemon/service/listener.h"
#include "daemon/service/worker_service.h"
#include "leg/leg.h"

/* Makes legs for bridges: legs_system, or what a test puts in its place. */
struct leg_maker {
	/*
	 * The leg of a client's connection; @in is taken, also on failure. requested() or closing()
	 * follows. Returns 0 or a negative errno.
	 */
	int (*accept)(struct worker_service *ws, const struct leg_config *config,
		      const struct incoming *in, struct leg **out);
	/*
	 * Of a connection that is `either`, once its leg has said requested(): what it is. RDMA gets a leg of its own,
	 * in the place of @leg, and requested() or closing() follows. Returns 0 or a negative errno: then there is no
	 * leg any more. Not from inside an event of the leg.
	 */
	int (*settle)(struct worker_service *ws, const struct leg_config *config, struct leg **leg,
		      bool *is_tcp);
	/* A leg that connects as @attempt says; opened() or closing() follows. Returns 0 or a negative errno. */
	int (*connect)(struct worker_service *ws, const struct leg_config *config,
		       const struct attempt *attempt, struct leg **out);
};

struct proxy_header;
struct service_config;

/** legs_introduce - have the legs made from @config say whose connection it is, if @service has send_proxy. */
void legs_introduce(struct leg_config *config, const struct service_config *service,
		    const struct proxy_header *whose);

/* Legs on sockets and on the service's fabrics. */
extern const struct leg_maker legs_system;

#endif
