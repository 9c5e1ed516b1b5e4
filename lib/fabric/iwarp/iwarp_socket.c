// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/iwarp_socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include "base/ip_transparent.h"
#include "base/sockaddr.h"
#include "base/tcp_keepalive.h"

#define SEGMENT_FIRST_BYTES 32768u
#define SEGMENT_LAST_BYTES  1048576u

static unsigned keepalive_of(const struct iwarp_config *config)
{
	return config->keepalive_s ? config->keepalive_s : IWARP_KEEPALIVE_S;
}

void iwarp_socket_spread(int fd, const struct iwarp_config *config)
{
	tcp_keepalive_set_jitter(fd, keepalive_of(config));
}

/* A peer that acknowledges no data has the same time limit as a silent one. */
void iwarp_socket_tune(int fd, const struct iwarp_config *config)
{
	unsigned keepalive_s = keepalive_of(config);

	tcp_keepalive_set(fd, keepalive_s, tcp_keepalive_dead_s(keepalive_s) * 1000);
}

enum fabric_close iwarp_socket_close_reason(bool connecting, int err)
{
	if (!connecting)
		return tcp_keepalive_timed_out(err) ? FABRIC_CLOSE_SILENT : FABRIC_CLOSE_LOST;
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
	rc = params->source_transparent ? ip_transparent_enable(fd, from->sa_family) : 0;
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

void iwarp_tcp_mss_sent(struct iwarp_tcp_mss *tcp_mss, size_t len_bytes)
{
	tcp_mss->sent_bytes += len_bytes;
}

bool iwarp_tcp_mss_changed(struct iwarp_tcp_mss *tcp_mss, int fd)
{
	int mss = 0;
	socklen_t len = sizeof(mss);

	if (tcp_mss->sent_bytes < tcp_mss->every_bytes)
		return false;
	tcp_mss->sent_bytes = 0;
	if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len) == 0 && mss > 0 &&
	    mss != tcp_mss->mss_bytes) {
		tcp_mss->mss_bytes = mss;
		tcp_mss->every_bytes = SEGMENT_FIRST_BYTES;
		return true;
	}
	if (tcp_mss->every_bytes < SEGMENT_LAST_BYTES)
		tcp_mss->every_bytes =
			tcp_mss->every_bytes ? tcp_mss->every_bytes * 2 : SEGMENT_FIRST_BYTES;
	return false;
}
