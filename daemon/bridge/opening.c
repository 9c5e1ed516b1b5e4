// SPDX-License-Identifier: BSD-3-Clause
/*
 * How a bridge opens.
 *
 * A TCP client's upstream is opened at its first byte, so that port scans and health checks cost the server
 * nothing; an RDMA client is accepted only once its upstream is up, so that a refusal reaches it as the refusal
 * of a connection.
 */
#include "daemon/bridge/opening.h"

#include <string.h>

#include "daemon/base/address.h"
#include "daemon/bridge/closing.h"

#define RDMA_CONNECT_TIMEOUT_US 4000000u /* kernel clients give up soon after */

void bridge_server_connecting(void *arg)
{
	bridge_set_state(((struct side *)arg)->bridge, BRIDGE_CONNECTING);
}

void bridge_server_opened(void *arg, struct leg *leg)
{
	struct side *side = arg;

	side->leg = leg;
	leg_accept(side->other->leg);
}

void bridge_client_requested(void *arg)
{
	struct bridge *bridge = ((struct side *)arg)->bridge;
	uint64_t timeout_us =
		bridge_client_is_tcp(bridge) ? BRIDGE_CONNECT_TIMEOUT_US : RDMA_CONNECT_TIMEOUT_US;
	int rc;

	if (bridge_is_decided(bridge))
		return;
	bridge_set_state(bridge, BRIDGE_RESOLVING);
	rc = upstream_start(&bridge->upstream, timeout_us);
	if (rc)
		bridge_give_up(bridge, LEG_CLOSE_RESOURCES, "server", strerror(-rc));
}

void bridge_client_opened(void *arg)
{
	struct bridge *bridge = ((struct side *)arg)->bridge;
	struct log_limit *limit = bridge_line_limit(bridge, LINE_OPEN);
	char text[ADDRESS_TEXT_BYTES];
	struct leg_info info;

	if (bridge_is_decided(bridge))
		return;
	bridge_set_state(bridge, BRIDGE_OPEN);
	leg_info(bridge->server.leg, &info);
	address_text((struct sockaddr *)&info.peer, text);
	if (info.peer_profile)
		log_limited(LOG_LEVEL_INFO, limit, &bridge->log,
			    "open to %s over %s, peer profile %s: %s", text, info.kind,
			    info.peer_profile, info.peer_why);
	else
		log_limited(LOG_LEVEL_INFO, limit, &bridge->log, "open to %s over %s", text,
			    info.kind);
}
