// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/keepalive.h"
#include "base/sockaddr.h"

#define SEGMENT_FIRST_BYTES 32768u
#define SEGMENT_LAST_BYTES  1048576u

static unsigned keepalive_of(const struct iwarp_config *config)
{
	return config->keepalive_s ? config->keepalive_s : IWARP_KEEPALIVE_S;
}

void iwarp_socket_spread(int fd, const struct iwarp_config *config)
{
	keepalive_spread(fd, keepalive_of(config));
}

/* A peer that acknowledges no data has the same time limit as a silent one. */
void iwarp_socket_tune(int fd, const struct iwarp_config *config)
{
	unsigned keepalive_s = keepalive_of(config);

	keepalive_tune(fd, keepalive_s, keepalive_end_s(keepalive_s) * 1000);
}

enum fabric_close iwarp_socket_why(bool connecting, int err)
{
	if (!connecting)
		return keepalive_says_silent(err) ? FABRIC_CLOSE_SILENT : FABRIC_CLOSE_LOST;
	switch (err) {
	case ECONNREFUSED:
		return FABRIC_CLOSE_REFUSED;
	case ETIMEDOUT:
		return FABRIC_CLOSE_TIMEOUT;
	default:
		return FABRIC_CLOSE_LOST;
	}
}

bool iwarp_socket_has_ended(int fd)
{
	struct pollfd ask = {.fd = fd, .events = POLLRDHUP};

	return poll(&ask, 1, 0) > 0 && ask.revents & (POLLERR | POLLHUP | POLLRDHUP);
}

/*
 * SO_REUSEADDR allows a port whose earlier connection is in TIME_WAIT; connect() then fails with
 * EADDRNOTAVAIL if the address pair is really in use. Without a port connect() chooses one, so that
 * no port is used up that another peer's connection could share.
 */
static int source_bind(int fd, const struct sockaddr *addr, const struct fabric_ep_params *params)
{
	const struct sockaddr *from = (const struct sockaddr *)&params->source;
	int on = 1, rc;

	if (from->sa_family == AF_UNSPEC)
		return 0;
	if (from->sa_family != addr->sa_family)
		return -EAFNOSUPPORT;
	rc = params->source_foreign ? foreign_permit(fd, from->sa_family) : 0;
	if (rc)
		return rc;
	if (sockaddr_port(from))
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	else
		(void)setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	return bind(fd, from, sockaddr_bytes(from)) < 0 ? -errno : 0;
}

int iwarp_socket_connect(const struct sockaddr *addr, const struct fabric_ep_params *params)
{
	socklen_t len = sockaddr_bytes(addr);
	int fd, err;

	if (!len)
		return -EAFNOSUPPORT;
	fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = source_bind(fd, addr, params);
	if (!err && connect(fd, addr, len) < 0 && errno != EINPROGRESS && errno != EINTR)
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

void iwarp_segment_sent(struct iwarp_segment *segment, size_t len_bytes)
{
	segment->sent_bytes += len_bytes;
}

bool iwarp_segment_changed(struct iwarp_segment *segment, int fd)
{
	int mss = 0;
	socklen_t len = sizeof(mss);

	if (segment->sent_bytes < segment->every_bytes)
		return false;
	segment->sent_bytes = 0;
	if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len) == 0 && mss > 0 &&
	    mss != segment->mss_bytes) {
		segment->mss_bytes = mss;
		segment->every_bytes = SEGMENT_FIRST_BYTES;
		return true;
	}
	if (segment->every_bytes < SEGMENT_LAST_BYTES)
		segment->every_bytes =
			segment->every_bytes ? segment->every_bytes * 2 : SEGMENT_FIRST_BYTES;
	return false;
}
