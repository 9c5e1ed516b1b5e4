// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/bridge_route.h"

#include <inttypes.h>

#include "base/usdt.h"
#include "daemon/bridge/bridge_affinity.h"
#include "daemon/bridge/bridge_limits.h"
#include "daemon/bridge/call_trace.h"
#include "nfs/proc_table.h"
#include "rpc/rpc_header.h"

static enum bridge_route route_of(const struct bridge *bridge, const struct exchange *x)
{
	const struct service_config *config = bridge->ws->service->config;

	switch (x->call_info.hdr.prog) {
	case NFS_PROGRAM_NFS:
	case NFS_PROGRAM_NFSACL:
		return ROUTE_CONNECT;
	case NFS_PROGRAM_MOUNT:
		return config_has_mount_server(config) ? ROUTE_MOUNT : ROUTE_NONE;
	default:
		return ROUTE_NONE;
	}
}

void bridge_route_choose(struct bridge *bridge, const struct exchange *x)
{
	if (bridge->routing.route != ROUTE_UNDECIDED)
		return;
	bridge->routing.route =
		bridge_route_is_single(bridge) ? ROUTE_CONNECT : route_of(bridge, x);
	if (bridge->routing.route == ROUTE_NONE)
		bridge->routing.route = ROUTE_CONNECT;
}

bool bridge_route_matches(const struct bridge *bridge, const struct exchange *x)
{
	return bridge_route_is_single(bridge) || route_of(bridge, x) == bridge->routing.route;
}

static void log_rejection(struct bridge *bridge, const struct exchange *x)
{
	char name[CALL_NAME_BYTES];

	if (bridge->routing.rejection_logged)
		return;
	bridge->routing.rejection_logged = true;
	call_info_name(&x->call_info, name);
	log_note(&bridge->log,
		 "client: %s is not available on this connection (see mount): answered %s", name,
		 rpc_call_wants_verifier(&x->call_info.hdr) ? "AUTH_FAILED" : "PROG_UNAVAIL");
}

/* Returns whether a Reply says that the server does not have the program. */
static bool is_prog_unavail(const struct exchange *x)
{
	struct rpc_reply_hdr hdr;

	return x->fault == EXCHANGE_OK && x->reply.data && rpc_msg_is_whole(&x->reply) &&
	       rpc_reply_decode(x->reply.data, x->reply.len_bytes, &hdr) == RPC_OK &&
	       hdr.stat == RPC_MSG_ACCEPTED && hdr.accept_stat == RPC_PROG_UNAVAIL;
}

void bridge_route_first_reply(struct bridge *bridge, const struct exchange *x)
{
	struct service *service = bridge->ws->service;
	uint32_t program = x->call_info.hdr.prog;
	bool is_nfs = program == NFS_PROGRAM_NFS;

	if ((!is_nfs && (program != NFS_PROGRAM_MOUNT || !bridge_route_is_single(bridge))) ||
	    !is_prog_unavail(x) ||
	    atomic_exchange(is_nfs ? &service->nfs_logged : &service->mount_logged, true))
		return;
	if (is_nfs)
		log_warning(&bridge->log,
			    "the client asks for NFS, which the server does not serve at the "
			    "address in connect: mounts fail; correct the port, or start the NFS "
			    "server there (logged once)");
	else
		log_warning(
			&bridge->log,
			"the client asks for MOUNT, which the server does not serve at the "
			"address in connect: NFSv3 mounts fail; set mount = \"rpcbind\" in the "
			"service, or the address of mountd, or mount with vers=4 (logged once)");
}

/* The taps copy the Reply after the leg has chosen its form. */
static void send_rejection(struct bridge *bridge, struct exchange *x)
{
	struct exchange *kept = bridge_has_taps(bridge) ? exchange_ref(x) : NULL;

	leg_reply(bridge->client.leg, x);
	if (kept)
		call_trace_message(&bridge->client, kept, true);
	exchange_put(kept);
}

void bridge_route_reject(struct bridge *bridge, struct exchange *x)
{
	log_rejection(bridge, x);
	exchange_stage_enter(x, CALL_STAGE_CLIENT, loop_now_us(bridge_loop(bridge)));
	if (rpc_msg_get(bridge->ws->env->pool, RPC_ERROR_REPLY_BYTES, &x->reply)) {
		x->fault = EXCHANGE_FAULT_CANT_SEND;
	} else {
		x->reply.len_bytes = (uint32_t)rpc_encode_failure(x->reply.data, &x->call_info.hdr,
								  RPC_PROG_UNAVAIL);
		x->reply.have_bytes = x->reply.len_bytes;
	}
	USDT4(call__answered, x, x->call_info.hdr.xid, x->reply.len_bytes, x->fault);
	bridge_affinity_call_done(bridge, x);
	if (bridge->limits.half_closed)
		bridge_limits_half_closed_progress(bridge);
	send_rejection(bridge, x);
}
