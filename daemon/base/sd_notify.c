// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/sd_notify.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

/*
 * "@" stands for the zero byte of an abstract address. Returns the length; 0 for other kinds of
 * addresses.
 */
static socklen_t make_address(const char *path, struct sockaddr_un *addr)
{
	size_t len = strlen(path);

	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	if ((path[0] != '/' && path[0] != '@') || len < 2 || len >= sizeof(addr->sun_path))
		return 0;
	memcpy(addr->sun_path, path, len);
	if (path[0] == '@')
		addr->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (path[0] == '/'));
}

static int try_send(int fd, const char *state, const int *fds, size_t nfds)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(SD_NOTIFY_MAX_FDS * sizeof(int))];
	} control = {0};
	struct iovec iov = {(char *)state, strlen(state)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (nfds) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, nfds * sizeof(int));
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* After a wait in vain, later messages do not wait until one was sent. */
static bool is_full;

static int send_connected(int fd, const char *state, const int *fds, size_t nfds, bool wait_if_full)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLOUT};
	int rc = try_send(fd, state, fds, nfds);

	if (rc == -EAGAIN && wait_if_full && !is_full) {
		is_full = poll(&pollfd, 1, SD_NOTIFY_SEND_MS) <= 0;
		if (!is_full)
			rc = try_send(fd, state, fds, nfds);
	} else if (!rc) {
		is_full = false;
	}
	return rc;
}

int sd_notify_send(const char *state, const int *fds, size_t nfds, bool wait_if_full)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr;
	socklen_t bytes;
	int fd, rc;

	if (!path || !*path)
		return 0;
	bytes = make_address(path, &addr);
	if (!bytes) { /* an address of a virtual machine, which only systemd itself uses */
		rc = sd_pid_notify_with_fds(0, 0, state, fds, (unsigned)nfds);
		return rc < 0 ? rc : 0;
	}
	if (nfds > SD_NOTIFY_MAX_FDS)
		return -E2BIG;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	rc = connect(fd, (struct sockaddr *)&addr, bytes) ? -errno : 0;
	if (!rc)
		rc = send_connected(fd, state, fds, nfds, wait_if_full);
	close(fd);
	return rc;
}

#define STATUS_BYTES  256u
#define MESSAGE_BYTES 512u

/* All failures mean the same: systemd reads no messages. */
static struct log_limit lost = {.repeats = true};

static void PRINTF_LIKE(1, 2) notify(const char *format, ...)
{
	char text[MESSAGE_BYTES];
	va_list ap;
	int rc;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	rc = sd_notify_send(text, NULL, 0, true);
	if (rc)
		log_limited(LOG_LEVEL_WARNING, &lost, NULL,
			    "cannot report %.*s to the service manager: %s",
			    (int)strcspn(text, "\n"), text, strerror(-rc));
}

void sd_notify_ready(void)
{
	notify("READY=1");
}

void sd_notify_reloading(void)
{
	notify("RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\nSTATUS=Reading the file again",
	       clock_us(CLOCK_MONOTONIC));
}

void sd_notify_extend_timeout(uint64_t us)
{
	notify("EXTEND_TIMEOUT_USEC=%" PRIu64, us);
}

void sd_notify_stopping(void)
{
	notify("STOPPING=1\nSTATUS=Closing connections");
}

uint64_t sd_notify_watchdog_us(void)
{
	uint64_t us = 0;

	return sd_watchdog_enabled(0, &us) > 0 ? us : 0;
}

void sd_notify_watchdog(void)
{
	/* The next message follows soon. */
	(void)sd_notify_send("WATCHDOG=1", NULL, 0, false);
}

void sd_notify_status(const char *format, ...)
{
	char text[STATUS_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	text[strcspn(text, "\n")] = '\0';
	notify("STATUS=%s", text);
}
