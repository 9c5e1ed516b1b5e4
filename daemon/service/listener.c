// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proto_sniff.h"
#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/service/accept_filter.h"
#include "daemon/service/listen_error.h"
#include "daemon/service/service.h"
#include "fabric/iwarp/iwarp.h"
#include "stream/tcp_stream.h"

#define LISTEN_BACKLOG   1024
#define ACCEPTS_PER_TURN 64u /* then the loop handles other events */
#define RETRY_US         100000u

/* One socket or fabric listener. */
struct endpoint {
	struct listener *listener;
	const struct config_uri *uri; /* the URI of the service that it serves */
	bool protocol_unknown;        /* shared by TCP and iwarp */
	bool was_absent;              /* the host lacked the address when it was opened */
	int fd;                       /* owned by `fabric` if that is set; -1: on a device */
	struct loop_io *io;
	struct loop_timer *retry;
	struct fabric_listener *fabric;
	struct sockaddr_storage addr;
};

struct listener {
	struct loop *loop;
	const struct service_config *service;
	const struct listen_sockets *have; /* during listener_open() */
	const struct listen_names *names;  /* during listener_open() */
	const struct listener_events *events;
	void *arg;
	struct accept_filter *filter;
	size_t nendpoints;
	struct endpoint endpoints[]; /* up to LISTENER_HOST_SOCKETS for each URI */
};

static void on_admitted(void *arg, struct accepted_conn *in)
{
	struct listener *listener = arg;
	socklen_t len = sizeof(in->local);

	if (in->fabric)
		in->local = in->fabric->local;
	else if (in->local.ss_family == AF_UNSPEC)
		(void)getsockname(in->fd, (struct sockaddr *)&in->local, &len);
	/* The worker detects the protocol from these bytes. */
	if (in->protocol_unknown)
		tcp_stream_set_lowat(in->fd, PROTO_SNIFF_BYTES);
	listener->events->incoming(listener->arg, in);
}

static void on_refused(void *arg, const struct accepted_conn *in, enum leg_close why,
		       const char *detail)
{
	struct listener *listener = arg;

	listener->events->refused(listener->arg, in, why, detail);
}

static const struct accept_filter_events accept_filter_events = {.admitted = on_admitted,
								 .refused = on_refused};

static bool can_accept(const struct endpoint *ep)
{
	const struct listener *listener = ep->listener;

	return accept_filter_can_accept(listener->filter) &&
	       listener->events->can_accept(listener->arg);
}

static void set_accept_watch(struct endpoint *ep, bool on)
{
	if (ep->fabric)
		fabric_listener_pause(ep->fabric, !on);
	else
		loop_io_set(ep->listener->loop, ep->io, on ? LOOP_READ : 0);
}

/* Leaves connections in the kernel's queue for RETRY_US. */
static void pause_accepting(struct endpoint *ep)
{
	set_accept_watch(ep, false);
	loop_timer_set(ep->listener->loop, ep->retry, RETRY_US);
}

static void on_fabric_incoming(void *arg, struct fabric_incoming *fabric)
{
	struct endpoint *ep = arg;
	struct accepted_conn in = {.fd = -1, .fabric = fabric, .peer = fabric->peer};

	accept_filter_add(ep->listener->filter, &in);
	if (!can_accept(ep))
		pause_accepting(ep);
}

static void on_retry(void *arg)
{
	struct endpoint *ep = arg;

	if (can_accept(ep))
		set_accept_watch(ep, true);
	else
		pause_accepting(ep);
}

static bool is_shortage(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

static void on_readable(void *arg, unsigned events)
{
	struct endpoint *ep = arg;

	if (events & LOOP_ERROR) {
		pause_accepting(ep);
		return;
	}
	for (unsigned i = 0; i < ACCEPTS_PER_TURN; i++) {
		struct accepted_conn in = {.fd = -1, .protocol_unknown = ep->protocol_unknown};
		socklen_t len = sizeof(in.peer);

		if (!can_accept(ep)) {
			pause_accepting(ep);
			return;
		}
		in.fd = accept4(ep->fd, (struct sockaddr *)&in.peer, &len,
				SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (in.fd >= 0) {
			accept_filter_add(ep->listener->filter, &in);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (is_shortage(errno))
			pause_accepting(ep);
		return;
	}
}

static void tune_socket(const struct service_config *service, int fd)
{
	tcp_stream_tune_listener(fd, (uint64_t)service->stall_timeout_s * 1000000,
				 service->keepalive_s);
}

static void log_absent(const struct service_config *service, const struct config_uri *uri,
		       const struct sockaddr *addr)
{
	char text[ADDRESS_TEXT_BYTES];

	log_warning(LOG_ABOUT(.service = service->name),
		    "the address of %s://%s is not configured on this host (yet): the service "
		    "becomes reachable once it is",
		    transport_name(uri->transport), address_text(addr, text));
}

static int open_socket(const struct endpoint *ep, const struct sockaddr *addr)
{
	const struct service_config *service = ep->listener->service;
	int fd = listen_socket_new(addr), rc;
	bool absent = false;

	if (fd < 0)
		return fd;
	/* iwarp tunes its sockets itself. */
	if (ep->uri->transport == TRANSPORT_TCP)
		tune_socket(service, fd);
	rc = listen_socket_start(fd, addr, LISTEN_BACKLOG, &absent);
	if (absent)
		log_absent(service, ep->uri, addr);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

static int open_tcp(struct endpoint *ep, const struct sockaddr *addr)
{
	struct loop *loop = ep->listener->loop;
	int rc;

	ep->fd = listen_socket_find(ep->listener->have, addr);
	if (ep->fd == -ENOENT)
		ep->fd = open_socket(ep, addr);
	else if (ep->fd >= 0)
		tune_socket(ep->listener->service, ep->fd);
	if (ep->fd < 0)
		return ep->fd;
	rc = -ENOMEM;
	ep->io = loop_io_new(loop, ep->fd, on_readable, ep);
	if (!ep->io)
		goto out_close;
	loop_io_set(loop, ep->io, LOOP_READ);
	return 0;

out_close:
	close(ep->fd);
	return rc;
}

static int open_verbs(struct endpoint *ep, const struct sockaddr *addr)
{
	struct verbs_config verbs;

	service_verbs_config(ep->listener->service, &verbs);
	ep->fd = -1;
	return fabric_listen(&verbs_fabric_ops, &verbs, ep->listener->loop, addr, LISTEN_BACKLOG,
			     on_fabric_incoming, ep, &ep->fabric);
}

static int open_iwarp(struct endpoint *ep, const struct sockaddr *addr)
{
	struct iwarp_config iwarp;

	service_iwarp_config(ep->listener->service, &iwarp);
	ep->fd = listen_socket_find(ep->listener->have, addr);
	if (ep->fd == -ENOENT)
		ep->fd = open_socket(ep, addr);
	if (ep->fd < 0)
		return ep->fd;
	iwarp.has_socket = true;
	iwarp.socket = ep->fd;
	return fabric_listen(&iwarp_fabric_ops, &iwarp, ep->listener->loop, addr, LISTEN_BACKLOG,
			     on_fabric_incoming, ep, &ep->fabric);
}

static int open_on(struct endpoint *ep, const struct fabric_ops *ops, const struct sockaddr *addr)
{
	if (!ops)
		return open_tcp(ep, addr);
	return ops == &verbs_fabric_ops ? open_verbs(ep, addr) : open_iwarp(ep, addr);
}

/* Returns whether TCP and iwarp share the port of @uri. */
static bool shares_port(const struct service_config *service, const struct config_uri *uri)
{
	for (unsigned i = 0; i < config_nlisteners(service); i++)
		if (config_uri_can_share(config_listener(service, i), uri))
			return true;
	return false;
}

/* Opens the next endpoint, on TCP if @ops is NULL; it counts only on success. */
static int open_endpoint(struct listener *listener, const struct config_uri *uri,
			 const struct fabric_ops *ops, const struct sockaddr *addr)
{
	struct endpoint *ep = &listener->endpoints[listener->nendpoints];
	int rc;

	memset(ep, 0, sizeof(*ep));
	ep->listener = listener;
	ep->uri = uri;
	ep->protocol_unknown = shares_port(listener->service, uri);
	memcpy(&ep->addr, addr, sockaddr_bytes(addr));
	ep->retry = loop_timer_new(listener->loop, on_retry, ep);
	if (!ep->retry)
		return -ENOMEM;
	rc = open_on(ep, ops, addr);
	if (rc) {
		loop_timer_free(listener->loop, ep->retry);
		return rc;
	}
	ep->was_absent = !listen_socket_has_host(addr);
	listener->nendpoints++;
	return 0;
}

/* Logs that only one of two fabrics serves an rdma:// address. */
static void log_failed_fabric(const struct listener *listener, const struct sockaddr *addr,
			      enum log_level level, const char *fabric, int rc)
{
	char text[ADDRESS_TEXT_BYTES];

	if (log_is_on(level))
		log_write(level, LOG_ABOUT(.service = listener->service->name),
			  "not listening on %s at %s: %s", fabric, address_text(addr, text),
			  strerror(-rc));
}

/*
 * rdma:// listens on every fabric that can. Devices come first: a software iWARP device (siw) needs
 * the TCP port that the proxy's own iWARP would take.
 */
static int open_address(struct listener *listener, const struct config_uri *uri,
			const struct sockaddr *addr)
{
	bool on_verbs = false;
	int rc;

	switch (uri->transport) {
	case TRANSPORT_TCP:
		return open_endpoint(listener, uri, NULL, addr);
	case TRANSPORT_VERBS:
		return open_endpoint(listener, uri, &verbs_fabric_ops, addr);
	case TRANSPORT_RDMA:
		if (!verbs_devices_present())
			break;
		rc = open_endpoint(listener, uri, &verbs_fabric_ops, addr);
		on_verbs = !rc;
		if (rc)
			log_failed_fabric(listener, addr, LOG_LEVEL_WARNING, "verbs", rc);
		break;
	case TRANSPORT_IWARP:
		/* The socket shared with TCP already listens. */
		if (shares_port(listener->service, uri))
			return 0;
		break;
	}
	rc = open_endpoint(listener, uri, &iwarp_fabric_ops, addr);
	if (rc && on_verbs)
		log_failed_fabric(listener, addr, LOG_LEVEL_INFO, "iwarp", rc);
	return on_verbs ? 0 : rc;
}

/* Returns false after an error. */
static bool find_addresses(const struct listener *listener, const struct config_uri *uri,
			   const char *host, struct resolver_answer *answer, char *error,
			   size_t error_bytes)
{
	const struct listen_name *name;

	if (resolver_literal(host, uri->port, answer))
		return true;
	name = listen_names_find(listener->names, host);
	if (!name || !name->answer.naddrs) {
		listen_error_name(uri,
				  name && name->answer.error ? name->answer.error
							     : "it was not looked up",
				  error, error_bytes);
		return false;
	}
	*answer = name->answer;
	for (size_t i = 0; i < answer->naddrs; i++)
		sockaddr_set_port((struct sockaddr *)&answer->addrs[i],
				  (uint16_t)strtoul(uri->port, NULL, 10));
	return true;
}

static int open_host(struct listener *listener, const struct config_uri *uri, const char *host,
		     char *error, size_t error_bytes)
{
	size_t most = listener->nendpoints + LISTENER_HOST_SOCKETS;
	struct resolver_answer answer;
	int rc = 0;

	if (!find_addresses(listener, uri, host, &answer, error, error_bytes))
		return -EINVAL;
	for (size_t i = 0; i < answer.naddrs && !rc; i++) {
		const struct sockaddr *addr = (const struct sockaddr *)&answer.addrs[i];

		if (listener->nendpoints + 2 > most)
			break;
		rc = open_address(listener, uri, addr);
		if (rc)
			listen_error_address(uri->transport, addr, rc, error, error_bytes);
	}
	return rc;
}

/* Without a host: one socket for both families, or IPv4 alone if the host has no IPv6. */
static int open_uri(struct listener *listener, const struct config_uri *uri, char *error,
		    size_t error_bytes)
{
	const char *host = uri->host;
	int rc = open_host(listener, uri, host[0] ? host : "::", error, error_bytes);

	if (!host[0] && (rc == -EAFNOSUPPORT || rc == -EADDRNOTAVAIL))
		rc = open_host(listener, uri, "0.0.0.0", error, error_bytes);
	return rc;
}

int listener_open(struct loop *loop, const struct service_config *service,
		  const struct listen_names *names, const struct listen_sockets *have,
		  const struct listener_events *events, void *arg, char *error, size_t error_bytes,
		  struct listener **out)
{
	unsigned n = config_nlisteners(service);
	struct listener *listener = calloc(
		1, sizeof(*listener) + n * LISTENER_HOST_SOCKETS * sizeof(listener->endpoints[0]));
	int rc = 0;

	if (listener)
		listener->filter =
			accept_filter_new(loop, service, &accept_filter_events, listener);
	if (!listener || !listener->filter) {
		free(listener);
		snprintf(error, error_bytes, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	listener->loop = loop;
	listener->service = service;
	listener->names = names;
	listener->have = have;
	listener->events = events;
	listener->arg = arg;
	for (unsigned i = 0; i < n && !rc; i++)
		rc = open_uri(listener, config_listener(service, i), error, error_bytes);
	if (rc) {
		listener_close(listener);
		return rc;
	}
	listener->names = NULL;
	listener->have = NULL;
	*out = listener;
	return 0;
}

const char *listener_fabrics(const struct listener *listener)
{
	bool verbs = false, iwarp = false;

	for (size_t i = 0; i < listener->nendpoints; i++) {
		const struct fabric_listener *fabric = listener->endpoints[i].fabric;

		verbs |= fabric && fabric->ops == &verbs_fabric_ops;
		iwarp |= fabric && fabric->ops == &iwarp_fabric_ops;
		iwarp |= listener->endpoints[i].protocol_unknown;
	}
	return verbs && iwarp ? "verbs and iwarp" : verbs ? "verbs" : iwarp ? "iwarp" : "";
}

static enum transport transport_of(const struct endpoint *ep)
{
	if (!ep->fabric)
		return TRANSPORT_TCP;
	return ep->fabric->ops == &verbs_fabric_ops ? TRANSPORT_VERBS : TRANSPORT_IWARP;
}

const struct sockaddr *listener_address(const struct listener *listener, size_t i, bool *tcp,
					bool *rdma)
{
	if (i >= listener->nendpoints)
		return NULL;
	*tcp = !listener->endpoints[i].fabric;
	*rdma = !*tcp || listener->endpoints[i].protocol_unknown;
	return (const struct sockaddr *)&listener->endpoints[i].addr;
}

const struct sockaddr *listener_absent_address(const struct listener *listener)
{
	for (size_t i = 0; i < listener->nendpoints; i++) {
		const struct endpoint *ep = &listener->endpoints[i];
		const struct sockaddr *addr = (const struct sockaddr *)&ep->addr;

		if (ep->was_absent && !listen_socket_has_host(addr))
			return addr;
	}
	return NULL;
}

unsigned listener_awaiting_header(const struct listener *listener)
{
	return listener ? accept_filter_count(listener->filter) : 0;
}

int listener_add_addresses(const struct listener *listener, struct self_connect *listen_addrs)
{
	for (size_t i = 0; i < listener->nendpoints; i++) {
		const struct endpoint *ep = &listener->endpoints[i];
		int rc = self_connect_add(listen_addrs, transport_of(ep),
					  (const struct sockaddr *)&ep->addr);

		if (rc)
			return rc;
	}
	return 0;
}

struct listen_sockets listener_sockets(const struct listener *listener, int *fds)
{
	struct listen_sockets sockets = {.fds = fds};

	for (size_t i = 0; listener && i < listener->nendpoints; i++)
		if (listener->endpoints[i].fd >= 0)
			fds[sockets.count++] = listener->endpoints[i].fd;
	return sockets;
}

bool listener_on_devices(const struct listener *listener)
{
	for (size_t i = 0; listener && i < listener->nendpoints; i++)
		if (transport_of(&listener->endpoints[i]) == TRANSPORT_VERBS)
			return true;
	return false;
}

void listener_close(struct listener *listener)
{
	if (!listener)
		return;
	for (size_t i = 0; i < listener->nendpoints; i++) {
		struct endpoint *ep = &listener->endpoints[i];

		loop_io_free(listener->loop, ep->io);
		loop_timer_free(listener->loop, ep->retry);
		if (ep->fabric)
			fabric_listener_free(ep->fabric);
		else
			close(ep->fd);
	}
	accept_filter_free(listener->filter);
	free(listener);
}
