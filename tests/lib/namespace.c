// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a process may do: two words of each set (capget(2)). */
struct capabilities {
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
};

static int capabilities_get(struct capabilities *capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, capabilities->sets) ? -errno : 0;
}

static int capabilities_set(const struct capabilities *capabilities)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capset, &header, capabilities->sets) ? -errno : 0;
}

static int write_file(const char *path, const char *text)
{
	size_t len = strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len)
		error = -errno;
	close(fd);
	return error;
}

/* A namespace starts with its loopback interface down. */
static int loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = 0;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCGIFFLAGS, &request))
		error = -errno;
	request.ifr_flags |= IFF_UP;
	if (!error && ioctl(fd, SIOCSIFFLAGS, &request))
		error = -errno;
	close(fd);
	return error;
}

/* In a new user namespace, where this user and group have the numbers that they have outside. */
static int enter_as_user(void)
{
	unsigned uid = geteuid(), gid = getegid();
	char uid_map[32], gid_map[32];
	int error;

	snprintf(uid_map, sizeof(uid_map), "%u %u 1", uid, uid);
	snprintf(gid_map, sizeof(gid_map), "%u %u 1", gid, gid);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return -errno;
	error = write_file("/proc/self/setgroups", "deny");
	if (!error)
		error = write_file("/proc/self/uid_map", uid_map);
	if (!error)
		error = write_file("/proc/self/gid_map", gid_map);
	return error ? error : loopback_up();
}

static int enter(void)
{
	struct capabilities before;
	int error = capabilities_get(&before);

	if (error)
		return error;
	if (!unshare(CLONE_NEWNET))
		return loopback_up();
	error = enter_as_user();
	return error ? error : capabilities_set(&before);
}

/* A process that has entered half of the way cannot go back, so another one tries first. */
static int try_to_enter(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(-enter());
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPERM;
}

static bool is_own;

int namespace_enter(void)
{
	int error = try_to_enter();

	if (!error)
		error = enter();
	is_own = is_own || !error;
	return error;
}

bool namespace_is_own(void)
{
	return is_own;
}
