// SPDX-License-Identifier: BSD-3-Clause
#include "base/keepalive.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define QUESTIONS      10u /* probes within a time equal to the idle time, … */
#define INTERVAL_MAX_S 3u  /* … but at most this far apart */
/* From the first probe to the end of the connection. */
#define END_MIN_S 3u
#define END_MAX_S (QUESTIONS * INTERVAL_MAX_S)

unsigned keepalive_ask_s(unsigned idle_s, int fd)
{
	/* Golden ratio: neighbouring descriptors get values far apart. */
	unsigned mixed = (unsigned)fd * 2654435761u >> 16;

	return idle_s - mixed % (idle_s / 2 + 1);
}

static unsigned interval_s(unsigned idle_s)
{
	unsigned part_s = idle_s / QUESTIONS;

	if (part_s > INTERVAL_MAX_S)
		return INTERVAL_MAX_S;
	return part_s ? part_s : 1;
}

unsigned keepalive_end_s(unsigned idle_s)
{
	if (idle_s < END_MIN_S)
		return idle_s + END_MIN_S;
	return idle_s + (idle_s < END_MAX_S ? idle_s : END_MAX_S);
}

void keepalive_tune(int fd, unsigned idle_s, unsigned end_ms)
{
	const struct {
		int level, name, value;
	} options[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1},
		{SOL_SOCKET, SO_KEEPALIVE, 1},
		{IPPROTO_TCP, TCP_KEEPIDLE, (int)keepalive_ask_s(idle_s, fd)},
		{IPPROTO_TCP, TCP_KEEPINTVL, (int)interval_s(idle_s)},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, (int)end_ms},
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		(void)setsockopt(fd, options[i].level, options[i].name, &options[i].value,
				 sizeof(options[i].value));
}

void keepalive_spread(int fd, unsigned idle_s)
{
	int ask_s = (int)keepalive_ask_s(idle_s, fd);

	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &ask_s, sizeof(ask_s));
}

bool keepalive_says_silent(int err)
{
	return err == ETIMEDOUT || err == EHOSTUNREACH || err == ENETUNREACH;
}
