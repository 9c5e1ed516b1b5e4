// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/routing.h"

#include <inttypes.h>

#include "base/probes.h"
#include "daemon/bridge/call_tell.h"
#include "daemon/bridge/returning.h"
#include "daemon/bridge/standing.h"
#include "nfs/table.h"
#include "rpc/msg.h"

static enum bridge_route route_of(const struct bridge *bridge, const struct exchange *x)
{
	const struct service_config *config = bridge->ws->service->config;

	switch (x->facts.hdr.prog) {
	case NFS_PROGRAM_NFS:
	case NFS_PROGRAM_NFSACL:
		return ROUTE_CONNECT;
	case NFS_PROGRAM_MOUNT:
		return config_asks_mount(config) ? ROUTE_MOUNT : ROUTE_NOWHERE;
	default:
		return ROUTE_NOWHERE;
	}
}

void routing_begin(struct bridge *bridge, const struct exchange *x)
{
	if (bridge->routing.route != ROUTE_OPEN)
		return;
	bridge->routing.route = routing_is_plain(bridge) ? ROUTE_CONNECT : route_of(bridge, x);
	if (bridge->routing.route == ROUTE_NOWHERE)
		bridge->routing.route = ROUTE_CONNECT;
}

bool routing_takes(const struct bridge *bridge, const struct exchange *x)
{
	return routing_is_plain(bridge) || route_of(bridge, x) == bridge->routing.route;
}

static void tell(struct bridge *bridge, const struct exchange *x)
{
	char name[CALL_NAME_BYTES];

	if (bridge->routing.refusal_told)
		return;
	bridge->routing.refusal_told = true;
	call_facts_name(&x->facts, name);
	log_note(&bridge->log,
		 "client: %s is not available on this connection (see mount): answered %s", name,
		 rpc_call_wants_verifier(&x->facts.hdr) ? "AUTH_FAILED" : "PROG_UNAVAIL");
}

/* The taps copy the Reply after the leg has chosen its form. */
static void send_rejection(struct bridge *bridge, struct exchange *x)
{
	struct exchange *kept = bridge_is_tapped(bridge) ? exchange_ref(x) : NULL;

	leg_reply(bridge->client.leg, x);
	if (kept)
		call_tell_message(&bridge->client, kept, true);
	exchange_put(kept);
}

void routing_refuse(struct bridge *bridge, struct exchange *x)
{
	tell(bridge, x);
	exchange_enter(x, CALL_STAGE_CLIENT, loop_now_us(bridge_loop(bridge)));
	if (rpc_msg_get(bridge->ws->ground->pool, RPC_ERROR_REPLY_BYTES, &x->reply)) {
		x->fault = EXCHANGE_FAULT_CANT_SEND;
	} else {
		x->reply.len_bytes = (uint32_t)rpc_encode_failure(x->reply.data, &x->facts.hdr,
								  RPC_PROG_UNAVAIL);
		x->reply.have_bytes = x->reply.len_bytes;
	}
	PROBE4(call__answered, x, x->facts.hdr.xid, x->reply.len_bytes, x->fault);
	bridge_call_ends(bridge, x);
	if (bridge->limits.half_closed)
		standing_half_closed_goes_on(bridge);
	send_rejection(bridge, x);
}
