// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/bridge_tls.h"

#include <stdio.h>

#include "daemon/bridge/bridge_close.h"
#include "daemon/bridge/bridge_limits.h"
#include "tls/tls_stream.h"

static struct bridge *bridge_of_client(void *arg)
{
	return ((struct bridge_side *)arg)->bridge;
}

/* At the limit of the worker, ends the oldest handshake: its client is silent, or very slow. */
static void evict_oldest(struct worker_service *ws, uint64_t now_us)
{
	struct tls_handshake *oldest = tls_worker_limits_evictable(&ws->tls_handshakes, now_us);
	struct bridge *bridge;

	if (!oldest)
		return;
	bridge = container_of(oldest, struct bridge, limits.tls_handshake);
	tls_limits_end(&ws->service->tls_limits, &ws->tls_handshakes, oldest);
	bridge_close(bridge, LEG_CLOSE_TLS_LIMIT, CLOSE_BY_CLIENT,
		     "the oldest one was ended for another client");
}

const char *bridge_client_securing(void *arg)
{
	struct bridge *bridge = bridge_of_client(arg);
	struct worker_service *ws = bridge->ws;
	uint64_t now_us = loop_now_us(bridge_loop(bridge));

	evict_oldest(ws, now_us);
	return tls_limits_begin(&ws->service->tls_limits, &ws->tls_handshakes,
				(const struct sockaddr *)&bridge->peer, now_us,
				&bridge->limits.tls_handshake);
}

static size_t put_peer(const struct leg_info *info, const char *way, char *text, size_t bytes)
{
	const struct tls_peer *peer = info->tls;
	int len;

	if (!peer)
		return 0;
	if (peer->name[0])
		len = snprintf(text, bytes, ", TLS %s %s%s", way, peer->name,
			       peer->verified ? "" : " (not verified)");
	else
		len = snprintf(text, bytes, ", TLS %s", way);
	return (size_t)len < bytes ? (size_t)len : bytes - 1;
}

const char *bridge_tls_text(const struct leg_info *client, const struct leg_info *server,
			    char text[BRIDGE_TLS_TEXT_BYTES])
{
	size_t used;

	text[0] = '\0';
	used = put_peer(client, client->tls && client->tls->name[0] ? "from" : "from the client",
			text, BRIDGE_TLS_TEXT_BYTES);
	put_peer(server, "to", text + used, BRIDGE_TLS_TEXT_BYTES - used);
	return text;
}

/*
 * With tls = "allowed" the probe can follow Calls in clear. The line "open", which shows TLS, was
 * logged before it then.
 */
static void log_secured(const struct bridge *bridge, const struct leg_info *client)
{
	const struct leg_info none = {0};
	char text[BRIDGE_TLS_TEXT_BYTES];

	bridge_debug(bridge, "TLS handshake completed: %s%s%s", client->tls->cipher,
		     client->tls->name[0] ? ", client " : "", client->tls->name);
	if (bridge->state.now == BRIDGE_OPEN)
		log_limited(LOG_LEVEL_INFO, bridge_line_limit(bridge, LINE_OPEN), &bridge->log,
			    "encrypted from now on%s", bridge_tls_text(client, &none, text));
}

void bridge_client_secured(void *arg)
{
	struct bridge *bridge = bridge_of_client(arg);
	struct leg_info info;

	tls_limits_end(&bridge->ws->service->tls_limits, &bridge->ws->tls_handshakes,
		       &bridge->limits.tls_handshake);
	if (bridge_is_closing(bridge))
		return;
	/* The time for the first Call starts again. */
	if (bridge->state.now == BRIDGE_WAIT_FIRST_CALL)
		bridge_limits_idle_start(bridge);
	leg_info(bridge->client.leg, &info);
	if (info.tls)
		log_secured(bridge, &info);
}
