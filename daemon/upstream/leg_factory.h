/* SPDX-License-Identifier: BSD-3-Clause */
/* How legs are made, of whatever kind they are: those of a bridge, and those of checks. */
#ifndef DAEMON_UPSTREAM_LEG_FACTORY_H
#define DAEMON_UPSTREAM_LEG_FACTORY_H

#include "base/compiler.h"
#include "daemon/service/incoming.h"
#include "daemon/service/service_net.h"
#include "daemon/upstream/connect_plan.h"
#include "leg/leg.h"

/* Makes legs: legs_system, or what a test puts in its place. */
struct leg_maker {
	/*
	 * The leg of a client's connection; @in is taken, also on failure. requested() or closing()
	 * follows. Returns 0 or a negative errno.
	 */
	int (*accept)(struct service_net *net, const struct leg_config *config,
		      const struct incoming *in, struct leg **out);
	/*
	 * Of a connection that is `either`, once its leg has said requested(): what it is. RDMA gets a leg of its own,
	 * in the place of @leg, and requested() or closing() follows. Returns 0 or a negative errno: then there is no
	 * leg any more. Not from inside an event of the leg.
	 */
	int (*settle)(struct service_net *net, const struct leg_config *config, struct leg **leg,
		      bool *is_tcp);
	/* A leg that connects as @attempt says; opened() or closing() follows. Returns 0 or a negative errno. */
	int (*connect)(struct service_net *net, const struct leg_config *config,
		       const struct connect_attempt *attempt, struct leg **out);
};

struct proxy_header;
struct service_config;

/** legs_introduce - have the legs made from @config say whose connection it is, if @service has send_proxy. */
void legs_introduce(struct leg_config *config, const struct service_config *service,
		    const struct proxy_header *whose);

/* Legs on sockets and on the service's fabrics. */
extern const struct leg_maker legs_system;

#endif
