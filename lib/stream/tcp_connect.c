// SPDX-License-Identifier: BSD-3-Clause
#include "stream/tcp_connect.h"

#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#include "base/ip_transparent.h"
#include "base/sockaddr.h"

enum attempt_verdict {
	UNDER_WAY,
	PORT_TAKEN,     /* in use towards this destination */
	PORT_FORBIDDEN, /* this process may not use reserved ports */
	SOURCE_ABSENT,  /* this host does not have the source address */
	HOPELESS,       /* fails from any port */
};

struct port_choice {
	struct tcp_connect_result start;
	struct reserved_ports *reserved_ports;
	unsigned rr_start;
	const struct stream_target *target;
	const struct sockaddr_storage *source; /* start.map is the map of this address */
	uint64_t now_us;
};

/*
 * Binds the source address, if any, and @port. SO_REUSEADDR lets one port serve connections to
 * several servers, and again while an earlier connection from it is in TIME_WAIT. If the address
 * pair is really in use, connect() returns EADDRNOTAVAIL. If the kernel chooses the port, connect()
 * does it, since only then the pair is known.
 */
static int bind_source(int fd, const struct port_choice *choice, uint16_t port)
{
	struct sockaddr_storage addr = *choice->source;
	struct sockaddr *from = (struct sockaddr *)&addr;
	int on = 1, rc;

	if (addr.ss_family == AF_UNSPEC && port == 0)
		return 0;
	if (addr.ss_family == AF_UNSPEC)
		addr.ss_family = choice->target->addr.ss_family;
	sockaddr_set_port(from, port);
	if (port == 0)
		setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	rc = choice->target->sources.transparent ? ip_transparent_enable(fd, addr.ss_family) : 0;
	if (rc)
		return rc;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, from, sockaddr_bytes(from)) < 0)
		return errno == EADDRNOTAVAIL ? -ENODEV : -errno;
	return 0;
}

static enum attempt_verdict connect_attempt(int fd, const struct port_choice *choice, uint16_t port,
					    int *error)
{
	const struct sockaddr *addr = (const struct sockaddr *)&choice->target->addr;

	*error = bind_source(fd, choice, port);
	if (*error)
		return *error == -EADDRINUSE ? PORT_TAKEN
		       : *error == -EACCES   ? PORT_FORBIDDEN
		       : *error == -ENODEV   ? SOURCE_ABSENT
					     : HOPELESS;
	if (!connect(fd, addr, sockaddr_bytes(addr)) || errno == EINPROGRESS)
		return UNDER_WAY;
	*error = -errno;
	return *error == -EADDRNOTAVAIL || *error == -EADDRINUSE ? PORT_TAKEN : HOPELESS;
}

/* Connects from @port, or for 0 from a port chosen by the kernel. Sets start.fd. */
static enum attempt_verdict connect_from(struct port_choice *choice, uint16_t port)
{
	int fd = socket(choice->target->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			0);
	struct tcp_connect_result *start = &choice->start;
	enum attempt_verdict verdict;

	if (fd < 0) {
		start->fd = -errno;
		return HOPELESS;
	}
	verdict = connect_attempt(fd, choice, port, &start->fd);
	if (verdict == UNDER_WAY) {
		start->fd = fd;
		return verdict;
	}
	close(fd);
	if (port)
		start->retries += verdict == PORT_TAKEN || verdict == PORT_FORBIDDEN;
	else if (verdict != SOURCE_ABSENT)
		verdict = HOPELESS;
	return verdict;
}

/* Connects from a port that is allocated in the map. Releases the port on failure. */
static enum attempt_verdict connect_from_held(struct port_choice *choice, uint16_t port)
{
	enum attempt_verdict verdict = connect_from(choice, port);
	struct tcp_connect_result *start = &choice->start;

	if (verdict == UNDER_WAY)
		start->port = port;
	else if (verdict == PORT_TAKEN)
		reserved_ports_set_in_use(start->map, port, choice->now_us);
	else
		reserved_ports_release(start->map, port, choice->now_us);
	return verdict;
}

/* ---- source addresses ---- */

static unsigned source_count(const struct stream_target *target)
{
	return target->sources.count ? target->sources.count : 1;
}

/*
 * Returns source address number @i, beginning with the first to try; NULL if it is of another
 * family.
 */
static const struct sockaddr_storage *source_at(const struct stream_target *target, unsigned i)
{
	static const struct sockaddr_storage of_the_host;
	const struct stream_sources *sources = &target->sources;
	const struct sockaddr_storage *source;

	if (!sources->count)
		return &of_the_host;
	source = &sources->list[(sources->first + i) % sources->count];
	return source->ss_family == target->addr.ss_family ? source : NULL;
}

static bool has_source(const struct stream_target *target)
{
	for (unsigned i = 0; i < source_count(target); i++)
		if (source_at(target, i))
			return true;
	return false;
}

/* Switches to the map of @source. Returns false without memory. */
static bool choice_set_map(struct port_choice *choice, const struct sockaddr_storage *source)
{
	struct tcp_connect_result *start = &choice->start;

	if (start->map && choice->source == source)
		return true;
	reserved_ports_map_put(start->map, choice->now_us);
	start->map = reserved_ports_map_get(choice->reserved_ports, &choice->target->addr, source,
					    choice->now_us);
	choice->source = source;
	if (!start->map)
		start->fd = -ENOMEM;
	return start->map != NULL;
}

/* ---- the order in which ports are tried ---- */

static bool is_reserved(uint16_t port)
{
	return port < IPPORT_RESERVED;
}

/* These functions return true if the result is final: connecting, or no port can succeed. */

static bool try_preferred(struct port_choice *choice)
{
	const struct sockaddr_storage *source = source_at(choice->target, 0);
	uint16_t port = choice->target->preferred_port;
	enum attempt_verdict verdict;

	if (!source)
		return false;
	if (!choice_set_map(choice, source))
		return true;
	if (!reserved_ports_take_port(choice->start.map, port)) {
		choice->start.retries++;
		return false;
	}
	verdict = connect_from_held(choice, port);
	return verdict == UNDER_WAY || verdict == HOPELESS;
}

static bool try_reserved(struct port_choice *choice)
{
	enum attempt_verdict verdict = PORT_TAKEN;
	uint16_t port;

	for (unsigned i = 0; i < source_count(choice->target) && verdict != PORT_FORBIDDEN; i++) {
		const struct sockaddr_storage *source = source_at(choice->target, i);

		if (!source)
			continue;
		if (!choice_set_map(choice, source))
			return true;
		verdict = PORT_TAKEN;
		while (verdict == PORT_TAKEN &&
		       (port = reserved_ports_take_any(choice->start.map, choice->rr_start,
						       choice->now_us)))
			verdict = connect_from_held(choice, port);
		if (verdict == UNDER_WAY || verdict == HOPELESS)
			return true;
	}
	return false;
}

static void try_any(struct port_choice *choice)
{
	enum attempt_verdict verdict = SOURCE_ABSENT;

	for (unsigned i = 0; i < source_count(choice->target) && verdict == SOURCE_ABSENT; i++) {
		const struct sockaddr_storage *source = source_at(choice->target, i);

		if (!source)
			continue;
		if (!choice_set_map(choice, source))
			return;
		verdict = connect_from(choice, 0);
	}
}

static void try_only(struct port_choice *choice)
{
	int *fd = &choice->start.fd;

	*fd = -EBUSY;
	if (!try_preferred(choice) && (*fd == -EADDRINUSE || *fd == -EADDRNOTAVAIL))
		*fd = -EBUSY;
}

static void try_all(struct port_choice *choice)
{
	const struct stream_target *target = choice->target;
	bool may_be_above = target->source_port != SOURCE_PORT_RESERVED;
	bool wants_reserved = target->source_port != SOURCE_PORT_ANY;
	bool has_port = target->preferred_port != 0;
	bool port_first = is_reserved(target->preferred_port) || !wants_reserved ||
			  (may_be_above && target->preferred_above);

	if (has_port && port_first && try_preferred(choice))
		return;
	if (wants_reserved && try_reserved(choice))
		return;
	if (!may_be_above)
		return;
	choice->start.shortfall = wants_reserved;
	if (has_port && !port_first && try_preferred(choice))
		return;
	try_any(choice);
}

struct tcp_connect_result tcp_connect_start(struct reserved_ports *reserved_ports,
					    unsigned rr_start, const struct stream_target *target,
					    uint64_t now_us)
{
	struct port_choice choice = {
		.start.fd = -EADDRINUSE,
		.reserved_ports = reserved_ports,
		.rr_start = rr_start,
		.target = target,
		.now_us = now_us,
	};
	struct tcp_connect_result *start = &choice.start;

	if (!has_source(target))
		start->fd = -ENODEV;
	else if (target->port_only)
		try_only(&choice);
	else
		try_all(&choice);
	start->shortfall &= start->fd >= 0;
	if (!start->port)
		tcp_connect_release(start, now_us);
	return *start;
}

bool tcp_connect_may_reserve(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(RESERVED_PORTS_FIRST)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	bool may = true;

	if (fd < 0)
		return may;
	/* Another user keeps the port; a port in use is not a refusal. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&in, sizeof(in)))
		may = errno != EACCES && errno != EPERM;
	close(fd);
	return may;
}

void tcp_connect_release(struct tcp_connect_result *start, uint64_t now_us)
{
	if (start->port)
		reserved_ports_release(start->map, start->port, now_us);
	reserved_ports_map_put(start->map, now_us);
	start->map = NULL;
	start->port = 0;
}
