/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates legs of every kind, for bridges and for health checks. */
#ifndef DAEMON_UPSTREAM_LEG_FACTORY_H
#define DAEMON_UPSTREAM_LEG_FACTORY_H

#include "base/compiler.h"
#include "daemon/service/accepted_conn.h"
#include "daemon/service/service_net.h"
#include "daemon/upstream/connect_plan.h"
#include "leg/leg.h"

/* The functions that create legs: leg_factory_system, or replacements in tests. */
struct leg_factory_ops {
	/*
	 * Creates the leg of an accepted connection; owns @in from now on, even after an error.
	 * requested() or closing() follows. Returns 0 or a negative errno.
	 */
	int (*accept)(struct service_net *net, const struct leg_config *config,
		      const struct accepted_conn *in, struct leg **out);
	/*
	 * Detects the protocol of a connection that can be TCP or iWARP, after requested() of its
	 * leg. For iWARP a new leg replaces @leg, and requested() or closing() follows. Returns 0,
	 * or a negative errno; after an error the leg is freed. Do not call it inside an event of
	 * the leg.
	 */
	int (*detect_protocol)(struct service_net *net, const struct leg_config *config,
			       struct leg **leg, bool *is_tcp);
	/*
	 * Creates a leg that connects by @attempt; opened() or closing() follows. Returns 0 or a
	 * negative errno.
	 */
	int (*connect)(struct service_net *net, const struct leg_config *config,
		       const struct connect_attempt *attempt, struct leg **out);
};

struct proxy_header;
struct service_config;

/**
 * leg_factory_set_proxy_header - Makes legs created from @config send the PROXY header @header, if
 * @service has send_proxy.
 */
void leg_factory_set_proxy_header(struct leg_config *config, const struct service_config *service,
				  const struct proxy_header *header);

/**
 * leg_factory_shortfall_text - Returns why a connection that should come from a reserved port comes
 * from another one. A service warns of that while it is before its shortfall_quiet_until_us.
 */
const char *leg_factory_shortfall_text(void);

/* Creates legs on sockets and on the fabrics of the service. */
extern const struct leg_factory_ops leg_factory_system;

#endif
