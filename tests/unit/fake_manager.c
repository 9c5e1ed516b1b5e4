// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/fake_manager.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"

static int manager;
static char path[64];

void manager_open(void)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	snprintf(path, sizeof(path), "/tmp/test-manager-%d", (int)getpid());
	strcpy(addr.sun_path, path);
	manager = socket(AF_UNIX, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(manager, (struct sockaddr *)&addr, sizeof(addr)), 0);
	setenv("NOTIFY_SOCKET", path, 1);
}

void manager_close(void)
{
	close(manager);
	unlink(path);
}

void manager_await(const char *what, char *text, size_t bytes, int *fd)
{
	char control[CMSG_SPACE(16 * sizeof(int))];
	struct cmsghdr *cmsg;
	ssize_t n;

	do {
		struct iovec iov = {text, bytes - 1};
		struct msghdr msg = {.msg_iov = &iov,
				     .msg_iovlen = 1,
				     .msg_control = control,
				     .msg_controllen = sizeof(control)};

		n = recvmsg(manager, &msg, 0);
		ck_assert_int_gt(n, 0);
		text[n] = '\0';
		cmsg = CMSG_FIRSTHDR(&msg);
		*fd = -1;
		while (cmsg && cmsg->cmsg_type != SCM_RIGHTS)
			cmsg = CMSG_NXTHDR(&msg, cmsg);
		if (cmsg)
			memcpy(fd, CMSG_DATA(cmsg), sizeof(*fd));
		if (*fd >= 0 && !strstr(text, what))
			close(*fd);
	} while (!strstr(text, what));
}

bool manager_hears(const char *what, double seconds)
{
	struct pollfd pfd = {.fd = manager, .events = POLLIN};
	struct time_limit limit;
	char text[512];
	ssize_t n;

	time_limit_begin(&limit, seconds);
	while (!time_limit_passed(&limit)) {
		if (poll(&pfd, 1, time_limit_left_ms(&limit)) <= 0)
			continue;
		n = recv(manager, text, sizeof(text) - 1, 0);
		ck_assert_int_gt(n, 0);
		text[n] = '\0';
		if (strstr(text, what))
			return true;
	}
	return false;
}

void manager_forget(void)
{
	char text[512];

	while (recv(manager, text, sizeof(text), MSG_DONTWAIT) > 0)
		;
}
