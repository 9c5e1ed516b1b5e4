// SPDX-License-Identifier: BSD-3-Clause
/* The start of a TCP connection: its socket, and the choice of the port that it comes from. */
#include "stream/start.h"

#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#include "base/sockaddr.h"

enum verdict {
	UNDER_WAY,
	PORT_TAKEN,     /* by somebody, towards this destination */
	PORT_FORBIDDEN, /* to this process, as are all reserved ones */
	HOPELESS,       /* from any port */
};

/*
 * Binds the source address, if there is one, and @port. SO_REUSEADDR lets one port serve connections to
 * several servers, and again while an earlier connection from it still is in TIME_WAIT; connect() then
 * says EADDRNOTAVAIL if the pair of addresses is really taken. A port left to the kernel is chosen by
 * connect(), which alone knows the pair.
 */
static int bind_source(int fd, const struct stream_target *target, uint16_t port)
{
	struct sockaddr_storage addr = target->source;
	struct sockaddr *from = (struct sockaddr *)&addr;
	int on = 1;

	if (addr.ss_family == AF_UNSPEC && port == 0)
		return 0;
	if (addr.ss_family == AF_UNSPEC)
		addr.ss_family = target->addr.ss_family;
	sockaddr_set_port(from, port);
	if (port == 0)
		setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, from, sockaddr_bytes(from)) < 0)
		return -errno;
	return 0;
}

/* Of bind() EADDRNOTAVAIL is about the address, of connect() about the pair of addresses and ports. */
static enum verdict attempt(int fd, const struct stream_target *target, uint16_t port, int *error)
{
	const struct sockaddr *addr = (const struct sockaddr *)&target->addr;

	*error = bind_source(fd, target, port);
	if (*error)
		return *error == -EADDRINUSE ? PORT_TAKEN
		       : *error == -EACCES   ? PORT_FORBIDDEN
					     : HOPELESS;
	if (!connect(fd, addr, sockaddr_bytes(addr)) || errno == EINPROGRESS)
		return UNDER_WAY;
	*error = -errno;
	return *error == -EADDRNOTAVAIL || *error == -EADDRINUSE ? PORT_TAKEN : HOPELESS;
}

/* From one port, or for 0 from what the kernel gives; sets start->fd. */
static enum verdict start_from(struct start *start, const struct stream_target *target,
			       uint16_t port)
{
	int fd = socket(target->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	enum verdict verdict;

	if (fd < 0) {
		start->fd = -errno;
		return HOPELESS;
	}
	verdict = attempt(fd, target, port, &start->fd);
	if (verdict == UNDER_WAY) {
		start->fd = fd;
		return verdict;
	}
	close(fd);
	if (!port)
		return HOPELESS;
	start->retries += verdict != HOPELESS;
	return verdict;
}

/* From a port that has been taken in the map; what it may not keep is given back. */
static enum verdict start_from_taken(struct start *start, const struct stream_target *target,
				     uint16_t port, uint64_t now_us)
{
	enum verdict verdict = start_from(start, target, port);

	if (verdict == UNDER_WAY)
		start->port = port;
	else if (verdict == PORT_TAKEN)
		ports_avoid(start->map, port, now_us);
	else
		ports_give(start->map, port, now_us);
	return verdict;
}

static bool is_reserved(uint16_t port)
{
	return port < IPPORT_RESERVED;
}

/* These two return whether the outcome is known: it is under way, or hopeless. */

static bool try_preferred(struct start *start, const struct stream_target *target, uint64_t now_us)
{
	enum verdict verdict;

	if (!ports_take_this(start->map, target->preferred_port)) {
		start->retries++;
		return false;
	}
	verdict = start_from_taken(start, target, target->preferred_port, now_us);
	return verdict == UNDER_WAY || verdict == HOPELESS;
}

static bool try_reserved(struct start *start, unsigned turn, const struct stream_target *target,
			 uint64_t now_us)
{
	enum verdict verdict = PORT_TAKEN;
	uint16_t port;

	while (verdict == PORT_TAKEN && (port = ports_take(start->map, turn, now_us)))
		verdict = start_from_taken(start, target, port, now_us);
	return verdict == UNDER_WAY || verdict == HOPELESS;
}

static void try_all(struct start *start, unsigned turn, const struct stream_target *target,
		    uint64_t now_us)
{
	bool may_be_above = target->source_port != SOURCE_PORT_RESERVED;
	bool wants_reserved = target->source_port != SOURCE_PORT_ANY;
	bool has_port = target->preferred_port != 0;
	bool port_first = is_reserved(target->preferred_port) || !wants_reserved ||
			  (may_be_above && target->preferred_above);

	if (has_port && port_first && try_preferred(start, target, now_us))
		return;
	if (wants_reserved && try_reserved(start, turn, target, now_us))
		return;
	if (!may_be_above)
		return;
	start->shortfall = wants_reserved;
	if (has_port && !port_first && try_preferred(start, target, now_us))
		return;
	(void)start_from(start, target, 0);
}

struct start start_connection(struct ports *ports, unsigned turn,
			      const struct stream_target *target, uint64_t now_us)
{
	struct start start = {.fd = -EADDRINUSE};

	start.map = ports_map_get(ports, &target->addr, &target->source, now_us);
	if (!start.map) {
		start.fd = -ENOMEM;
		return start;
	}
	try_all(&start, turn, target, now_us);
	start.shortfall &= start.fd >= 0;
	if (!start.port)
		start_end(&start, now_us);
	return start;
}

bool start_may_be_reserved(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(PORTS_FIRST)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	bool may = true;

	if (fd < 0)
		return may;
	/* Who has the port may go on having it; somebody having it is no refusal either. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&in, sizeof(in)))
		may = errno != EACCES && errno != EPERM;
	close(fd);
	return may;
}

void start_end(struct start *start, uint64_t now_us)
{
	if (start->port)
		ports_give(start->map, start->port, now_us);
	ports_map_put(start->map, now_us);
	start->map = NULL;
	start->port = 0;
}
