// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/bridge_affinity.h"

#include "daemon/bridge/late_call_scan.h"
#include "rpc/rpc_header.h"

struct source_affinity bridge_affinity_source(const struct bridge *bridge)
{
	return bridge->upstream.from.affinity;
}

/*
 * A connection that may be TCP or iWARP counts as TCP here; bridge_detect_protocol() corrects it.
 */
bool bridge_affinity_is_privileged(const struct bridge *bridge, const struct accepted_conn *in)
{
	return accepted_conn_is_privileged(in) || (in->fabric && bridge->open.trusted);
}

static void on_check_peer_close(void *arg)
{
	struct bridge *bridge = arg;

	if (!bridge_is_closing(bridge) && bridge->client.leg)
		leg_check_peer_close(bridge->client.leg);
}

int bridge_affinity_register(struct bridge *bridge, const struct accepted_conn *in,
			     void (*superseded)(void *arg), void (*resumed)(void *arg))
{
	const struct worker_env *env = bridge->ws->env;
	const struct client_owner owner = {
		.loop = env->loop,
		.post = env->post,
		.superseded = superseded,
		.resumed = resumed,
		.arg = bridge,
		.check_peer_close = on_check_peer_close,
	};
	const struct client_endpoints ends = {
		.local = in->local,
		.peer = in->peer,
		.fabric = in->fabric ? in->fabric->ops : NULL,
		.keeps_port = bridge_keeps_port(bridge),
		.privileged = bridge_affinity_is_privileged(bridge, in),
		.needs_first_call = config_has_mount_server(bridge->ws->service->config),
	};

	return client_affinity_add(bridge->ws->service->clients, &ends, &owner,
				   &bridge->affinity.client);
}

/*
 * MOUNT needs no duplicate detection, so a MOUNT connection retains no source port. It gives back
 * the retained port that it may have used before its first Call turned out to be MOUNT.
 */
static struct source_affinity affinity_to_retain(const struct bridge *bridge)
{
	return bridge->routing.route == ROUTE_MOUNT ? bridge->affinity.first_source
						    : bridge_affinity_source(bridge);
}

void bridge_affinity_retain(struct bridge *bridge)
{
	const struct source_affinity affinity = affinity_to_retain(bridge);

	if (!bridge->affinity.client)
		return;
	client_affinity_release(bridge->affinity.client, &affinity,
				loop_now_us(bridge_loop(bridge)));
	bridge->affinity.client = NULL;
}

/* A repeated NULL does no harm, and the first NULL of many clients can be identical. */
static bool needs_fingerprint(const struct exchange *x)
{
	return x->call_info.hdr.proc != 0 && call_fingerprint_possible(x);
}

void bridge_affinity_call_done(struct bridge *bridge, struct exchange *x)
{
	TAILQ_REMOVE(&bridge->calls.list, x, owner_entry);
	if (bridge->calls.late)
		late_call_scan_done(bridge, x, true);
	if (needs_fingerprint(x)) {
		struct call_fingerprint *fingerprint =
			&bridge->calls.answered[bridge->calls.nanswered++ %
						CALL_FINGERPRINTS_ANSWERED_MAX];

		*fingerprint = call_fingerprint_of_answered(x);
	}
	exchange_put(x);
}

/*
 * Stores fingerprints of at most CALL_FINGERPRINTS_UNANSWERED_MAX unanswered Calls, oldest first.
 * Returns how many.
 */
static size_t fingerprint_unanswered(const struct bridge *bridge,
				     struct call_fingerprint *fingerprints)
{
	const struct exchange *x;
	size_t n = 0;

	TAILQ_FOREACH(x, &bridge->calls.list, owner_entry)
		if (n < CALL_FINGERPRINTS_UNANSWERED_MAX && needs_fingerprint(x))
			fingerprints[n++] = call_fingerprint_of(x);
	return n;
}

void bridge_affinity_half_closed(struct bridge *bridge)
{
	struct call_fingerprint fingerprints[CALL_FINGERPRINTS_UNANSWERED_MAX];

	client_affinity_half_closed(bridge->affinity.client, fingerprints,
				    fingerprint_unanswered(bridge, fingerprints));
}

void bridge_affinity_closing(struct bridge *bridge)
{
	struct call_fingerprint fingerprints[CALL_FINGERPRINTS_MAX];
	size_t n = fingerprint_unanswered(bridge, fingerprints);
	struct exchange *x;

	for (unsigned i = 0; i < bridge->calls.nanswered && i < CALL_FINGERPRINTS_ANSWERED_MAX; i++)
		fingerprints[n++] = bridge->calls.answered[i];
	client_affinity_closing(bridge->affinity.client, fingerprints, n);
	while ((x = TAILQ_FIRST(&bridge->calls.list))) {
		TAILQ_REMOVE(&bridge->calls.list, x, owner_entry);
		if (bridge->calls.late)
			late_call_scan_done(bridge, x, false);
		/*
		 * Before a server was connected no leg owns the Call: put the reference of the
		 * delivery, too.
		 */
		if (!bridge->open.forwarding)
			exchange_put(x);
		exchange_put(x);
	}
}
