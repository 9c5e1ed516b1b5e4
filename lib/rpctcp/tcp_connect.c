// SPDX-License-Identifier: BSD-3-Clause
/* The TCP leg's way up: addresses in turn, and the port to come from. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpctcp/tcp_leg_impl.h"

#define RESERVED_PORTS (TCP_RESERVED_PORT_FIRST - TCP_RESERVED_PORT_LAST + 1)

/* The source ports to try for one address, in order. */
struct port_choice {
	enum { CHOOSE_PREFERRED, CHOOSE_RESERVED, CHOOSE_ANY, CHOOSE_NONE } next;
	unsigned reserved_tried;
};

static uint16_t next_reserved(struct tcp_worker *worker)
{
	unsigned port = worker->next_reserved_port;

	worker->next_reserved_port =
		port > TCP_RESERVED_PORT_LAST ? port - 1 : TCP_RESERVED_PORT_FIRST;
	return (uint16_t)port;
}

static bool preferred_is_allowed(const struct tcp_connect *connect)
{
	return connect->preferred_port && (connect->source_port != SOURCE_PORT_RESERVED ||
					   connect->preferred_port < IPPORT_RESERVED);
}

/* The next port to bind, 0 to leave it to the kernel, -1 if there is no other choice. */
static int choose_port(struct tcp_leg *leg, struct port_choice *choice)
{
	const struct tcp_connect *connect = &leg->connect;

	if (choice->next == CHOOSE_PREFERRED) {
		choice->next = CHOOSE_RESERVED;
		if (preferred_is_allowed(connect))
			return connect->preferred_port;
	}
	if (choice->next == CHOOSE_RESERVED) {
		if (connect->source_port != SOURCE_PORT_ANY &&
		    choice->reserved_tried++ < RESERVED_PORTS)
			return next_reserved(leg->config.worker);
		choice->next = CHOOSE_ANY;
	}
	if (choice->next == CHOOSE_ANY) {
		choice->next = CHOOSE_NONE;
		if (connect->source_port != SOURCE_PORT_RESERVED)
			return 0;
	}
	return -1;
}

static socklen_t sockaddr_bytes(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					   : sizeof(struct sockaddr_in);
}

/*
 * Binds the wildcard address and @port. SO_REUSEADDR lets one port serve connections to several
 * servers, and again while an earlier connection from it still is in TIME_WAIT; connect() then says
 * EADDRNOTAVAIL if the pair of addresses is really taken.
 */
static int bind_port(int fd, sa_family_t family, uint16_t port)
{
	struct sockaddr_storage addr = {.ss_family = family};
	int on = 1;

	if (family == AF_INET6)
		((struct sockaddr_in6 *)&addr)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)&addr)->sin_port = htons(port);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&addr, sockaddr_bytes(&addr)) < 0)
		return -errno;
	return 0;
}

/* One address from one port; returns the socket, on its way, or a negative errno. */
static int start(struct tcp_leg *leg, const struct sockaddr_storage *addr, uint16_t port)
{
	int fd = socket(addr->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	tcp_leg_socket_setup(leg, fd);
	rc = port ? bind_port(fd, addr->ss_family, port) : 0;
	if (rc < 0)
		goto out_fd;
	if (connect(fd, (const struct sockaddr *)addr, sockaddr_bytes(addr)) < 0 &&
	    errno != EINPROGRESS) {
		rc = -errno;
		goto out_fd;
	}
	return fd;
out_fd:
	close(fd);
	return rc;
}

/* One address, from the first port that can be had; returns the socket or a negative errno. */
static int start_from_any_port(struct tcp_leg *leg, const struct sockaddr_storage *addr)
{
	struct port_choice choice = {.next = CHOOSE_PREFERRED};
	int port, rc = -EADDRINUSE;

	while ((port = choose_port(leg, &choice)) >= 0) {
		rc = start(leg, addr, (uint16_t)port);
		if (rc >= 0 || port == 0)
			return rc;
		if (rc == -EACCES) {
			/* No port below 1024 is for us. */
			choice.reserved_tried = RESERVED_PORTS;
		} else if (rc != -EADDRINUSE && rc != -EADDRNOTAVAIL) {
			return rc;
		}
		tcp_counters(leg)->source_port_retries++;
	}
	return rc;
}

static enum leg_close close_reason(int error)
{
	switch (error) {
	case ECONNREFUSED:
	case ECONNRESET:
		return LEG_CLOSE_REFUSED;
	case ETIMEDOUT:
		return LEG_CLOSE_TIMEOUT;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
	case EACCES:
	case EADDRINUSE:
	case EADDRNOTAVAIL:
		return LEG_CLOSE_RESOURCES;
	default:
		return LEG_CLOSE_UNREACHABLE;
	}
}

static void address_failed(struct tcp_leg *leg, int error)
{
	tcp_counters(leg)->connect_failures++;
	leg->connect.error = error;
}

/* Each address gets an equal share of the time that is left, so that a silent one leaves some to
 * the next. */
static void set_deadline(struct tcp_leg *leg)
{
	struct tcp_connect *connect = &leg->connect;
	uint64_t now_us = loop_now_us(leg->config.leg.loop);
	uint64_t left_us = connect->deadline_us > now_us ? connect->deadline_us - now_us : 0;

	leg->state_deadline_us = now_us + left_us / (connect->count - connect->next + 1);
	tcp_leg_arm(leg);
}

void tcp_connect_next(struct tcp_leg *leg)
{
	struct tcp_connect *connect = &leg->connect;

	while (connect->next < connect->count) {
		int fd = start_from_any_port(leg, &connect->addrs[connect->next++]);

		if (fd < 0) {
			address_failed(leg, -fd);
			continue;
		}
		if (tcp_leg_socket_take(leg, fd) < 0) {
			close(fd);
			address_failed(leg, ENOMEM);
			continue;
		}
		leg->peer = connect->addrs[connect->next - 1];
		set_deadline(leg);
		tcp_leg_watch(leg);
		return;
	}
	tcp_leg_fail(leg, close_reason(connect->error), "%s", strerror(connect->error));
}

void tcp_connect_ready(struct tcp_leg *leg)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(leg->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error) {
		address_failed(leg, error);
		tcp_leg_socket_drop(leg);
		tcp_connect_next(leg);
		return;
	}
	len = sizeof(leg->local);
	getsockname(leg->fd, (struct sockaddr *)&leg->local, &len);
	tcp_connect_fini(leg);
	leg->state_deadline_us = 0;
	leg->state = TCP_OPEN;
	tcp_counters(leg)->connections_opened++;
	tcp_leg_watch(leg);
	/* What was queued meanwhile goes out. */
	loop_defer(leg->config.leg.loop, &leg->task);
	leg->config.leg.events->opened(leg->config.leg.arg);
}

void tcp_connect_expired(struct tcp_leg *leg)
{
	address_failed(leg, ETIMEDOUT);
	tcp_leg_socket_drop(leg);
	tcp_connect_next(leg);
}

void tcp_connect_fini(struct tcp_leg *leg)
{
	free(leg->connect.addrs);
	leg->connect.addrs = NULL;
	leg->connect.count = leg->connect.next = 0;
}

int tcp_leg_connect(const struct tcp_leg_config *config, const struct tcp_leg_addrs *addrs,
		    struct leg **out)
{
	struct tcp_leg *leg = tcp_leg_new(config);
	struct tcp_connect *connect;

	if (!leg)
		return -ENOMEM;
	connect = &leg->connect;
	connect->addrs = calloc(addrs->count, sizeof(*connect->addrs));
	if (!connect->addrs) {
		tcp_leg_discard(leg);
		return -ENOMEM;
	}
	memcpy(connect->addrs, addrs->addrs, addrs->count * sizeof(*connect->addrs));
	connect->count = addrs->count;
	connect->preferred_port = addrs->preferred_port;
	connect->source_port = addrs->source_port;
	connect->deadline_us = loop_now_us(config->leg.loop) + config->leg.connect_timeout_us;
	connect->error = EDESTADDRREQ;
	leg->connecting = true;
	leg->state = TCP_CONNECTING;
	*out = &leg->leg;
	tcp_connect_next(leg);
	return 0;
}
