// SPDX-License-Identifier: BSD-3-Clause
/* Legs on sockets and fabrics, as a service's configuration wants them. */
#include "daemon/bridge/legs.h"

#include <errno.h>

#include "base/first_bytes.h"
#include "daemon/base/log.h"
#include "fabric/iwarp/iwarp.h"
#include "stream/proxy_header.h"
#include "stream/start.h"

#define SHORTFALL_QUIET_US 600000000u /* between two warnings about one service */

_Static_assert(LEG_PREFACE_BYTES >= PROXY_HEADER_SENT_BYTES, "a PROXY header does not fit");

void legs_introduce(struct leg_config *config, const struct service_config *service,
		    const struct proxy_header *whose)
{
	if (service->send_proxy)
		config->preface_bytes = (unsigned)proxy_header_encode(whose, config->preface);
}

static void rdma_config(struct worker_service *ws, const struct leg_config *leg,
			uint32_t highest_version, enum dialect_id version_one,
			struct rdma_leg_config *config)
{
	const struct service_config *service = ws->service->config;

	*config = (struct rdma_leg_config){
		.leg = *leg,
		.credits = service->credits,
		.inline_threshold_bytes = service->inline_threshold_bytes,
		.remote_invalidation = true,
		.ddp = service->ddp == DDP_NFS,
		.peer = service->peer,
		.keepalive_us = (uint64_t)service->keepalive_s * 1000000,
		.version_one = version_one,
		.done_timeout_us = (uint64_t)service->done_timeout_s * 1000000,
		.done_policy = service->done_policy,
		.padding_align_bytes = service->padding_align_bytes,
		.padding_threshold_bytes = service->padding_threshold_bytes,
		.config_protocol = service->config_protocol,
		.reverse_timeout_us = (uint64_t)service->reverse_timeout_s * 1000000,
		.highest_version = highest_version,
		.receive_max_bytes = service->receive_max_bytes,
		.characteristics = service->characteristics,
		.reverse_chunks = service->reverse_chunks,
		.counters = &ws->rdma,
	};
}

static int accept_rdma(struct worker_service *ws, const struct leg_config *leg,
		       struct fabric_incoming *in, struct leg **out)
{
	struct fabric *fabric = in->ops == ws->iwarp->ops ? ws->iwarp : ws->verbs;
	const struct service_config *service = ws->service->config;
	struct rdma_leg_config config;

	if (!fabric) {
		fabric_incoming_drop(in);
		return -ENODEV;
	}
	rdma_config(ws, leg, service->listen_version, service->listen_compat, &config);
	return rdma_leg_adopt(&config, fabric, in, out);
}

static int accept_tcp(struct worker_service *ws, const struct leg_config *leg,
		      const struct incoming *in, struct leg **out)
{
	const struct tcp_ends ends = {.local = in->local, .peer = in->peer};
	const struct tcp_leg_config config = {.leg = *leg, .worker = &ws->tcp};
	struct stream *stream;
	int rc = socket_adopt(&ws->sockets, in->fd, &stream);

	return rc ? rc : tcp_leg_accept(&config, stream, &ends, out);
}

static int accept_leg(struct worker_service *ws, const struct leg_config *leg,
		      const struct incoming *in, struct leg **out)
{
	return in->fabric ? accept_rdma(ws, leg, in->fabric, out) : accept_tcp(ws, leg, in, out);
}

static bool is_iwarp(struct stream *stream)
{
	uint8_t bytes[FIRST_BYTES_MAX];
	ssize_t n = socket_first_bytes(stream, bytes, sizeof(bytes));

	return n > 0 && first_bytes_look(bytes, (size_t)n) == FIRST_BYTES_IWARP;
}

static int settle_leg(struct worker_service *ws, const struct leg_config *config, struct leg **leg,
		      bool *is_tcp)
{
	struct stream *stream = tcp_leg_stream(*leg);
	struct fabric_incoming *in;
	struct iwarp_config iwarp;
	struct tcp_ends ends;

	*is_tcp = !stream || !is_iwarp(stream);
	if (*is_tcp)
		return 0;
	service_iwarp_config(ws->service->config, &iwarp);
	stream = tcp_leg_part(*leg, &ends);
	*leg = NULL;
	in = iwarp_incoming_new(socket_part(stream), &iwarp, &ends.local, &ends.peer);
	return in ? accept_rdma(ws, config, in, leg) : -ENOMEM;
}

/* NFS servers refuse what their exports allow from reserved ports only, and the proxy does not see why. */
static void log_shortfall(const char *service)
{
	if (start_may_be_reserved())
		log_warning(
			LOG_ABOUT(.service = service),
			"connections to the server come from unprivileged ports: the "
			"reserved ones are all in use; NFS exports that are not \"insecure\" "
			"refuse those: have fewer connections (max_connections), or export with "
			"that and set source_port = \"any\"");
	else
		log_warning(
			LOG_ABOUT(.service = service),
			"connections to the server come from unprivileged ports: the "
			"reserved ones take CAP_NET_BIND_SERVICE, which is missing; NFS exports "
			"that are not \"insecure\" refuse those: grant it, or export with that "
			"and set source_port = \"any\"");
}

static void tell_shortfall(struct worker_service *ws)
{
	struct service *service = ws->service;
	uint64_t now_us = loop_now_us(ws->ground->loop);
	uint64_t until_us = atomic_load(&service->shortfall_quiet_until_us);

	if (now_us < until_us ||
	    !atomic_compare_exchange_strong(&service->shortfall_quiet_until_us, &until_us,
					    now_us + SHORTFALL_QUIET_US))
		return;
	log_shortfall(service->config->name);
}

static int connect_tcp(struct worker_service *ws, const struct leg_config *leg,
		       const struct attempt *attempt, struct leg **out)
{
	const struct tcp_leg_config config = {
		.leg = *leg, .worker = &ws->tcp, .counters = &ws->tcp_upstream};
	const struct stream_target target = {
		.addr = attempt->addr,
		.sources = attempt->sources,
		.preferred_port = attempt->source_port,
		.preferred_above = attempt->source_above,
		.port_only = attempt->source_only,
		.source_port = ws->service->config->source_port,
	};
	uint64_t shortfalls = ws->tcp_upstream.source_port_shortfalls;
	int rc = tcp_leg_connect(&config, &target, out);

	if (ws->tcp_upstream.source_port_shortfalls != shortfalls)
		tell_shortfall(ws);
	return rc;
}

/* From the first of its addresses that this host has; its port is that of the very first. */
static int connect_rdma(struct worker_service *ws, const struct leg_config *leg,
			const struct attempt *attempt, struct leg **out)
{
	const struct sockaddr *addr = (const struct sockaddr *)&attempt->addr;
	const struct stream_sources *sources = &attempt->sources;
	struct rdma_leg_config config;
	int rc = -EADDRNOTAVAIL;

	rdma_config(ws, leg, attempt->rpcrdma_version, ws->service->config->connect_compat,
		    &config);
	config.counters = &ws->rdma_upstream;
	config.source_port = attempt->source_port;
	config.source_port_only = attempt->source_only;
	config.source_foreign = sources->foreign;
	config.peer_memory = &attempt->target->peer_memory;
	config.version_memory = &attempt->target->versions;
	if (!sources->count)
		return rdma_leg_connect(&config, attempt->fabric, addr, out);
	for (unsigned i = 0; i < sources->count && rc == -EADDRNOTAVAIL; i++) {
		config.source = sources->list[(sources->first + i) % sources->count];
		if (config.source.ss_family == addr->sa_family)
			rc = rdma_leg_connect(&config, attempt->fabric, addr, out);
		config.source_port = 0;
	}
	return rc;
}

static int connect_leg(struct worker_service *ws, const struct leg_config *leg,
		       const struct attempt *attempt, struct leg **out)
{
	return attempt->fabric ? connect_rdma(ws, leg, attempt, out)
			       : connect_tcp(ws, leg, attempt, out);
}

const struct leg_maker legs_system = {
	.accept = accept_leg,
	.settle = settle_leg,
	.connect = connect_leg,
};
