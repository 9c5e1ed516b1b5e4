// SPDX-License-Identifier: BSD-3-Clause
/*
 * Delays a program's reads from its sockets. Preloaded, each readv() of a socket returns at most
 * SLOWREADS_BYTES, so that a program that reads once per loop iteration needs many iterations. The
 * readv() of each of the first SLOWREADS_HOLDS sockets that their peers have reset blocks its
 * thread for SLOWREADS_HOLD_MS, as on a host without a free core.
 */
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long holds;

static long of_environment(const char *name)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : 0;
}

static int is_socket(int fd)
{
	int type;
	socklen_t len = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_STREAM;
}

static void hold(int fd)
{
	long ms = of_environment("SLOWREADS_HOLD_MS");
	struct timespec left = {ms / 1000, ms % 1000 * 1000000};
	struct pollfd ask = {.fd = fd};

	if (!ms || poll(&ask, 1, 0) <= 0 || !(ask.revents & POLLERR) ||
	    atomic_fetch_add(&holds, 1) >= of_environment("SLOWREADS_HOLDS"))
		return;
	while (nanosleep(&left, &left))
		;
}

ssize_t readv(int fd, const struct iovec *iov, int niov)
{
	long most = of_environment("SLOWREADS_BYTES");
	struct iovec first;

	if (niov < 1 || !is_socket(fd))
		return syscall(SYS_readv, fd, iov, niov);
	hold(fd);
	if (!most)
		return syscall(SYS_readv, fd, iov, niov);
	first = iov[0];
	if (first.iov_len > (size_t)most)
		first.iov_len = (size_t)most;
	return syscall(SYS_readv, fd, &first, 1);
}
