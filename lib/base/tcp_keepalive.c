// SPDX-License-Identifier: BSD-3-Clause
#include "base/tcp_keepalive.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define PROBES         10u /* probes within a time equal to the idle time, … */
#define INTERVAL_MAX_S 3u  /* … but at most this far apart */
/* From the first probe to the end of the connection. */
#define END_MIN_S 3u
#define END_MAX_S (PROBES * INTERVAL_MAX_S)

unsigned tcp_keepalive_idle_s(unsigned idle_s, int fd)
{
	/* Golden ratio: neighbouring descriptors get values far apart. */
	unsigned mixed = (unsigned)fd * 2654435761u >> 16;

	return idle_s - mixed % (idle_s / 2 + 1);
}

static unsigned interval_s(unsigned idle_s)
{
	unsigned interval = idle_s / PROBES;

	if (interval > INTERVAL_MAX_S)
		return INTERVAL_MAX_S;
	return interval ? interval : 1;
}

unsigned tcp_keepalive_dead_s(unsigned idle_s)
{
	if (idle_s < END_MIN_S)
		return idle_s + END_MIN_S;
	return idle_s + (idle_s < END_MAX_S ? idle_s : END_MAX_S);
}

void tcp_keepalive_set(int fd, unsigned idle_s, unsigned end_ms)
{
	const struct {
		int level, name, value;
	} options[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, (int)tcp_keepalive_idle_s(idle_s, fd)},
		{IPPROTO_TCP, TCP_KEEPINTVL, (int)interval_s(idle_s)},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, (int)end_ms},
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		(void)setsockopt(fd, options[i].level, options[i].name, &options[i].value,
				 sizeof(options[i].value));
}

void tcp_keepalive_set_jitter(int fd, unsigned idle_s)
{
	int first_s = (int)tcp_keepalive_idle_s(idle_s, fd);

	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &first_s, sizeof(first_s));
}

bool tcp_keepalive_timed_out(int err)
{
	return err == ETIMEDOUT || err == EHOSTUNREACH || err == ENETUNREACH;
}
