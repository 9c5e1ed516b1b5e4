// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/upstream/leg_factory.h"

#include <errno.h>

#include "base/proto_sniff.h"
#include "base/sockaddr.h"
#include "daemon/base/log.h"
#include "daemon/config/self_connect.h"
#include "daemon/service/service_tls.h"
#include "fabric/iwarp/iwarp.h"
#include "nfs/proc_table.h"
#include "stream/proxy_protocol.h"
#include "stream/tcp_connect.h"

/* Versions that the probes for TLS name; servers look only at the credential. */
#define PROBE_VERSION_NFS   4u
#define PROBE_VERSION_MOUNT 3u

#define SHORTFALL_QUIET_US  600000000u /* between two warnings about one service */

_Static_assert(LEG_PREFACE_BYTES >= PROXY_HEADER_SENT_BYTES, "a PROXY header does not fit");

void leg_factory_set_proxy_header(struct leg_config *config, const struct service_config *service,
				  const struct proxy_header *header)
{
	if (service->send_proxy)
		config->preface_bytes = (unsigned)proxy_header_encode(header, config->preface);
}

static void rdma_config(struct service_net *net, const struct leg_config *leg,
			uint32_t highest_version, enum dialect_id version_one,
			struct rdma_leg_config *config)
{
	const struct service_config *service = net->config;

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
		.strict_chunks = service->strict_chunks,
		.counters = &net->rdma,
	};
}

static int accept_rdma(struct service_net *net, const struct leg_config *leg,
		       struct fabric_incoming *in, struct leg **out)
{
	struct fabric *fabric = in->ops == net->iwarp->ops ? net->iwarp : net->verbs;
	const struct service_config *service = net->config;
	struct rdma_leg_config config;

	if (!fabric) {
		fabric_incoming_drop(in);
		return -ENODEV;
	}
	rdma_config(net, leg, service->listen_version, service->listen_compat, &config);
	return rdma_leg_adopt(&config, fabric, in, out);
}

/* Only RDMA servers need the timeout: an unanswered reverse Call keeps one of their credits. */
static uint64_t reverse_timeout_us(const struct service_config *service)
{
	bool has_credits = service->connect.transport != TRANSPORT_TCP;

	return has_credits ? (uint64_t)service->reverse_timeout_s * 1000000 : 0;
}

/* Sets @tls->context to a reference, which the caller drops. */
static void set_tls_of_clients(struct service_net *net, struct tcp_tls_config *tls)
{
	static const enum tcp_tls_policy policies[] = {
		[CONFIG_TLS_OFF] = TCP_TLS_OFF,
		[CONFIG_TLS_ALLOWED] = TCP_TLS_ALLOWED,
		[CONFIG_TLS_REQUIRED] = TCP_TLS_REQUIRED,
	};

	if (net->config->tls.accept == CONFIG_TLS_OFF)
		return;
	*tls = (struct tcp_tls_config){
		.policy = policies[net->config->tls.accept],
		.context = service_tls_for_clients(net->tls_contexts),
		.worker = &net->tls_worker,
		.counters = &net->tls,
	};
}

static int accept_tcp(struct service_net *net, const struct leg_config *leg,
		      const struct accepted_conn *in, struct leg **out)
{
	const struct tcp_addrs ends = {.local = in->local, .peer = in->peer};
	struct tcp_leg_config config = {
		.leg = *leg,
		.worker = &net->tcp,
		.reverse_timeout_us = reverse_timeout_us(net->config),
	};
	struct stream *stream;
	int rc = tcp_stream_adopt(&net->sockets, in->fd, &stream);

	if (rc)
		return rc;
	set_tls_of_clients(net, &config.tls);
	rc = tcp_leg_accept(&config, stream, &ends, out);
	tls_context_put(config.tls.context);
	return rc;
}

static int accept_leg(struct service_net *net, const struct leg_config *leg,
		      const struct accepted_conn *in, struct leg **out)
{
	return in->fabric ? accept_rdma(net, leg, in->fabric, out) : accept_tcp(net, leg, in, out);
}

static bool is_iwarp(struct stream *stream)
{
	uint8_t bytes[PROTO_SNIFF_BYTES];
	ssize_t n = tcp_stream_peek(stream, bytes, sizeof(bytes));

	return n > 0 && proto_sniff_detect(bytes, (size_t)n) == PROTO_SNIFF_IWARP;
}

static int detect_leg_protocol(struct service_net *net, const struct leg_config *config,
			       struct leg **leg, bool *is_tcp)
{
	struct stream *stream = tcp_leg_stream(*leg);
	struct fabric_incoming *in;
	struct iwarp_config iwarp;
	struct tcp_addrs ends;

	*is_tcp = !stream || !is_iwarp(stream);
	if (*is_tcp)
		return 0;
	service_iwarp_config(net->config, &iwarp);
	stream = tcp_leg_detach(*leg, &ends);
	*leg = NULL;
	in = iwarp_incoming_new(tcp_stream_detach(stream), &iwarp, &ends.local, &ends.peer);
	return in ? accept_rdma(net, config, in, leg) : -ENOMEM;
}

const char *leg_factory_shortfall_text(void)
{
	return tcp_connect_may_reserve() ? "all reserved ports are in use"
					 : "CAP_NET_BIND_SERVICE is missing";
}

/* The proxy cannot see that an NFS export rejects unprivileged ports. */
static void log_shortfall(const char *service)
{
	log_warning(LOG_ABOUT(.service = service),
		    "connections to the server come from unprivileged ports: %s. NFS exports "
		    "without \"insecure\" refuse such connections: %s, or export with \"insecure\" "
		    "and set source_port = \"any\"",
		    leg_factory_shortfall_text(),
		    tcp_connect_may_reserve() ? "add an address to source_address"
					      : "grant the capability");
}

/* The source port matters only if the server is another proxy. */
static void log_shortfall_iwarp(const char *service)
{
	log_info(LOG_ABOUT(.service = service),
		 "connections of privileged clients to the server come from unprivileged ports: "
		 "%s. If the server is a proxy, it treats these clients as unprivileged unless its "
		 "trusted_proxies contains this host",
		 leg_factory_shortfall_text());
}

static void log_shortfall_once(struct service_net *net, void (*log)(const char *service))
{
	struct service *service = net->service;
	uint64_t now_us = loop_now_us(net->env->loop);
	uint64_t until_us;

	if (!service)
		return;
	until_us = atomic_load(&service->shortfall_quiet_until_us);
	if (now_us < until_us ||
	    !atomic_compare_exchange_strong(&service->shortfall_quiet_until_us, &until_us,
					    now_us + SHORTFALL_QUIET_US))
		return;
	log(service->config->name);
}

/* "auto" uses a reserved port only for a privileged client. */
static enum source_port source_port_of(const struct service_config *service,
				       const struct connect_attempt *attempt)
{
	if (service->source_port == SOURCE_PORT_AUTO && !attempt->privileged)
		return SOURCE_PORT_ANY;
	return service->source_port;
}

/*
 * Sets @tls->context to a reference, which the caller drops. Returns 0, or -ENOMEM: the connection
 * must fail, since clear text could be read.
 */
static int set_tls_of_server(struct service_net *net, const struct connect_attempt *attempt,
			     struct tcp_tls_config *tls)
{
	bool is_mount = attempt->program == NFS_PROGRAM_MOUNT;

	if (!net->config->tls.connect || (attempt->program != NFS_PROGRAM_NFS && !is_mount))
		return 0;
	*tls = (struct tcp_tls_config){
		.policy = TCP_TLS_REQUIRED,
		.worker = &net->tls_worker,
		.counters = &net->tls_upstream,
		.probe_program = attempt->program,
		.probe_version = is_mount ? PROBE_VERSION_MOUNT : PROBE_VERSION_NFS,
	};
	return service_tls_for_server(net->tls_contexts, attempt->server->uri.host, &tls->context);
}

static int connect_tcp(struct service_net *net, const struct leg_config *leg,
		       const struct connect_attempt *attempt, struct leg **out)
{
	struct tcp_leg_config config = {
		.leg = *leg, .worker = &net->tcp, .counters = &net->tcp_upstream};
	const struct stream_target target = {
		.addr = attempt->addr,
		.sources = attempt->sources,
		.preferred_port = attempt->source_port,
		.preferred_above = attempt->source_above,
		.port_only = attempt->source_only,
		.source_port = source_port_of(net->config, attempt),
	};
	uint64_t shortfalls = net->tcp_upstream.source_port_shortfalls;
	int rc = set_tls_of_server(net, attempt, &config.tls);

	if (rc)
		return rc;
	rc = tcp_leg_connect(&config, &target, out);
	tls_context_put(config.tls.context);
	if (net->tcp_upstream.source_port_shortfalls != shortfalls)
		log_shortfall_once(net, log_shortfall);
	return rc;
}

/* ---- reserved ports over iWARP ---- */

/* One connection attempt from a reserved port. */
struct reserved_connect {
	struct service_net *net;
	const struct connect_attempt *attempt;
	struct rdma_leg_config *config;
	struct held_port reserved_port;
	uint64_t now_us;
};

static bool is_port_error(int rc)
{
	return rc == -EADDRINUSE || rc == -EADDRNOTAVAIL || rc == -EACCES;
}

/* Connects from @port, which was reserved in the map; releases it after an error. */
static int connect_from_port(struct reserved_connect *connecting, uint16_t port, struct leg **out)
{
	struct reserved_ports_map *map = connecting->reserved_port.map;
	int rc;

	connecting->config->source_port = port;
	connecting->config->source_port_only = true;
	rc = rdma_leg_connect(connecting->config, connecting->attempt->fabric,
			      (const struct sockaddr *)&connecting->attempt->addr, out);
	if (!rc)
		connecting->reserved_port.port = port;
	else if (rc == -EADDRINUSE || rc == -EADDRNOTAVAIL)
		reserved_ports_set_in_use(map, port, connecting->now_us);
	else
		reserved_ports_release(map, port, connecting->now_us);
	return rc;
}

static int connect_any_reserved(struct reserved_connect *connecting, struct leg **out)
{
	unsigned rr_start = connecting->net->sockets.reserved_ports_rr_start;
	int rc = -EADDRINUSE;
	uint16_t port;

	while ((rc == -EADDRINUSE || rc == -EADDRNOTAVAIL) &&
	       (port = reserved_ports_take_any(connecting->reserved_port.map, rr_start,
					       connecting->now_us)))
		rc = connect_from_port(connecting, port, out);
	return rc;
}

/*
 * Tries the previous @port first if it is below 1024 or required, then any below 1024, as TCP
 * (stream/tcp_connect.h).
 */
static int connect_from_source(struct reserved_connect *connecting, uint16_t port, struct leg **out)
{
	bool port_first = port && (port < IPPORT_RESERVED || connecting->attempt->source_above);
	const struct connect_attempt *attempt = connecting->attempt;
	int rc = -EADDRINUSE;

	connecting->reserved_port.map =
		reserved_ports_map_get(connecting->net->env->reserved_ports, &attempt->addr,
				       &connecting->config->source, connecting->now_us);
	if (!connecting->reserved_port.map)
		return -ENOMEM;
	if (port_first && reserved_ports_take_port(connecting->reserved_port.map, port))
		rc = connect_from_port(connecting, port, out);
	if (is_port_error(rc))
		rc = connect_any_reserved(connecting, out);
	if (rc)
		reserved_ports_map_put(connecting->reserved_port.map, connecting->now_us);
	else
		*attempt->reserved_port = connecting->reserved_port;
	return rc;
}

/* Checks the address first: with a missing one every port would be tried in vain. */
static bool has_source(const struct rdma_leg_config *config, sa_family_t family)
{
	if (config->source.ss_family == AF_UNSPEC || config->source_transparent)
		return true;
	return config->source.ss_family == family &&
	       self_connect_is_local((const struct sockaddr *)&config->source);
}

/*
 * Connects from a port below 1024. If the server is another proxy, it treats an iWARP client as
 * privileged by that port. Each source address has its own ports. Returns 0, or an error of
 * rdma_leg_connect(), one for which is_port_error() is true if no port is free.
 */
static int connect_privileged(struct service_net *net, const struct connect_attempt *attempt,
			      struct rdma_leg_config *config, struct leg **out)
{
	struct reserved_connect connecting = {
		net, attempt, config, {0}, loop_now_us(net->env->loop)};
	const struct stream_sources *sources = &attempt->sources;
	unsigned count = sources->count ? sources->count : 1;
	int rc = -EADDRINUSE;

	for (unsigned i = 0; i < count && is_port_error(rc); i++) {
		if (sources->count)
			config->source = sources->list[(sources->first + i) % count];
		if (has_source(config, attempt->addr.ss_family))
			rc = connect_from_source(&connecting, i ? 0 : attempt->source_port, out);
	}
	return rc;
}

/* Returns whether the server may be another proxy, which checks the source port. */
static bool wants_reserved(const struct connect_attempt *attempt)
{
	return attempt->fabric->ops == &iwarp_fabric_ops && attempt->privileged &&
	       !attempt->source_only;
}

/* ---- RDMA ---- */

/*
 * Connects from the first source address that exists here. The source port applies only to the
 * first in the list.
 */
static int connect_unreserved(const struct connect_attempt *attempt, struct rdma_leg_config *config,
			      struct leg **out)
{
	const struct sockaddr *addr = (const struct sockaddr *)&attempt->addr;
	const struct stream_sources *sources = &attempt->sources;
	int rc = -EADDRNOTAVAIL;

	config->source = (struct sockaddr_storage){0};
	config->source_port = attempt->source_port;
	config->source_port_only = attempt->source_only;
	if (!sources->count)
		return rdma_leg_connect(config, attempt->fabric, addr, out);
	for (unsigned i = 0; i < sources->count && rc == -EADDRNOTAVAIL; i++) {
		config->source = sources->list[(sources->first + i) % sources->count];
		if (config->source.ss_family == addr->sa_family)
			rc = rdma_leg_connect(config, attempt->fabric, addr, out);
		config->source_port = 0;
	}
	return rc;
}

static int connect_rdma(struct service_net *net, const struct leg_config *leg,
			const struct connect_attempt *attempt, struct leg **out)
{
	struct rdma_leg_config config;
	int rc;

	rdma_config(net, leg, attempt->rpcrdma_version, net->config->connect_compat, &config);
	config.counters = &net->rdma_upstream;
	config.source_transparent = attempt->sources.transparent;
	config.peer_cache = &attempt->server->peer_cache;
	config.peer_client = attempt->client;
	config.version_cache = &attempt->server->versions;
	if (!wants_reserved(attempt))
		return connect_unreserved(attempt, &config, out);
	rc = connect_privileged(net, attempt, &config, out);
	if (!is_port_error(rc))
		return rc;
	rc = connect_unreserved(attempt, &config, out);
	if (!rc)
		log_shortfall_once(net, log_shortfall_iwarp);
	return rc;
}

static int connect_leg(struct service_net *net, const struct leg_config *leg,
		       const struct connect_attempt *attempt, struct leg **out)
{
	return attempt->fabric ? connect_rdma(net, leg, attempt, out)
			       : connect_tcp(net, leg, attempt, out);
}

const struct leg_factory_ops leg_factory_system = {
	.accept = accept_leg,
	.detect_protocol = detect_leg_protocol,
	.connect = connect_leg,
};
