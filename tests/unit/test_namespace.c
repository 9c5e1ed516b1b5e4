// SPDX-License-Identifier: BSD-3-Clause
/* Tests the private networks of test programs. */
#include "tests/lib/namespace.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "tests/lib/test.h"

#define TEST_PORT 20049
#define NOBODY    65534

/* A port that is taken in the network which this program was started in. */
static uint16_t outer_port;

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static union address loopback(int family, uint16_t port)
{
	union address address = {.any.sa_family = (sa_family_t)family};

	if (family == AF_INET6) {
		address.in6.sin6_addr = in6addr_loopback;
		address.in6.sin6_port = htons(port);
	} else {
		address.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		address.in.sin_port = htons(port);
	}
	return address;
}

static socklen_t address_len(const union address *address)
{
	return address->any.sa_family == AF_INET6 ? sizeof(address->in6) : sizeof(address->in);
}

/* A socket that listens, or a negative errno. */
static int listen_on(int family, uint16_t port)
{
	union address address = loopback(family, port);
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -errno;
	if (!bind(fd, &address.any, address_len(&address)) && !listen(fd, 1))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

/* 0, or a negative errno. */
static int connect_to(int family, uint16_t port)
{
	union address address = loopback(family, port);
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), error = 0;

	if (fd < 0 || connect(fd, &address.any, address_len(&address)))
		error = -errno;
	if (fd >= 0)
		close(fd);
	return error;
}

static uint16_t port_of(int fd)
{
	union address address;
	socklen_t len = sizeof(address);

	return getsockname(fd, &address.any, &len) ? 0 : ntohs(address.in.sin_port);
}

START_TEST(the_ports_of_others_are_not_seen)
{
	ck_assert_uint_ne(outer_port, 0);
	ck_assert_int_eq(connect_to(AF_INET, outer_port), -ECONNREFUSED);
	ck_assert_int_ge(listen_on(AF_INET, outer_port), 0);
	ck_assert_int_eq(connect_to(AF_INET, outer_port), 0);
}
END_TEST

START_TEST(its_loopback_interface_is_up)
{
	static const int families[] = {AF_INET, AF_INET6};
	int family = families[_i];
	int fd = listen_on(family, TEST_PORT);

	if (family == AF_INET6 && (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL))
		return; /* a kernel without IPv6 */
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect_to(family, TEST_PORT), 0);
}
END_TEST

/* Run in a process of its own, which tells its verdict by one byte and stays until @until is closed. */
static void run_aside(bool (*run)(void), const int tell[2], const int until[2])
{
	pid_t pid = fork();
	char verdict, byte;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return;
	close(until[1]);
	verdict = run() ? 'y' : 'n';
	if (write(tell[1], &verdict, 1) != 1)
		_exit(1);
	while (read(until[0], &byte, 1) > 0)
		;
	_exit(0);
}

static bool takes_the_port(void)
{
	return !namespace_enter() && listen_on(AF_INET, TEST_PORT) >= 0 &&
	       !connect_to(AF_INET, TEST_PORT);
}

START_TEST(two_runs_at_the_same_time_do_not_meet)
{
	int tell[2], until[2];
	char verdict;

	ck_assert_int_eq(pipe(tell), 0);
	ck_assert_int_eq(pipe(until), 0);
	for (int i = 0; i < 2; i++)
		run_aside(takes_the_port, tell, until);
	close(tell[1]);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(read(tell[0], &verdict, 1), 1);
		ck_assert_int_eq(verdict, 'y');
	}
	ck_assert_int_eq(connect_to(AF_INET, TEST_PORT), -ECONNREFUSED);
}
END_TEST

/* What @run says in a process of its own. */
static bool holds_aside(bool (*run)(void))
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(run() ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The name that the kernel gives the network of this process. */
static void network_name(char *name, size_t room)
{
	ssize_t len = readlink("/proc/self/ns/net", name, room - 1);

	name[len < 0 ? 0 : len] = '\0';
}

static bool stays_in_its_network(int error)
{
	char before[64], after[64];

	network_name(before, sizeof(before));
	if (namespace_enter() != error)
		return false;
	network_name(after, sizeof(after));
	return before[0] && !strcmp(before, after) == (error != 0);
}

/* The system call @number fails from now on as what is not permitted. */
static bool forbid(unsigned number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static bool no_namespace_is_permitted(void)
{
	return forbid(SYS_unshare) && stays_in_its_network(-EPERM);
}

static bool no_interface_comes_up(void)
{
	return forbid(SYS_ioctl) && stays_in_its_network(-EPERM);
}

START_TEST(a_process_without_permission_stays_in_its_namespace)
{
	ck_assert(holds_aside(no_namespace_is_permitted));
	ck_assert(holds_aside(no_interface_comes_up));
}
END_TEST

/* As one that was started by an ordinary user: what changes its user may not write its own /proc otherwise. */
static bool become_nobody(void)
{
	if (geteuid() != 0)
		return true;
	return !setgroups(0, NULL) && !setresgid(NOBODY, NOBODY, NOBODY) &&
	       !setresuid(NOBODY, NOBODY, NOBODY) && !prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* It makes no file of another user, and no port below 1024, available. */
static bool may_do_nothing_special(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, sets))
		return false;
	return !sets[0].effective && !sets[0].permitted && !sets[1].effective &&
	       !sets[1].permitted && listen_on(AF_INET, 111) == -EACCES;
}

static bool user_stays_who_he_is(void)
{
	uid_t uid;
	gid_t gid;
	int error;

	if (!become_nobody())
		return false;
	uid = geteuid();
	gid = getegid();
	error = namespace_enter();
	if (error)
		return error == -EPERM || error == -ENOSPC; /* no user namespaces here */
	return geteuid() == uid && getegid() == gid && may_do_nothing_special();
}

START_TEST(an_ordinary_user_keeps_its_identity)
{
	ck_assert(holds_aside(user_stays_who_he_is));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("namespace");
	TCase *tc = tcase_create("namespace");
	int fd = listen_on(AF_INET, 0), error = namespace_enter();

	if (error) {
		printf("1..0 # SKIP no namespace of its own: unshare says \"%s\"\n",
		       strerror(-error));
		return 0;
	}
	outer_port = port_of(fd);
	suite_add_tcase(suite, tc);
	tcase_add_test(tc, the_ports_of_others_are_not_seen);
	tcase_add_loop_test(tc, its_loopback_interface_is_up, 0, 2);
	tcase_add_test(tc, two_runs_at_the_same_time_do_not_meet);
	tcase_add_test(tc, a_process_without_permission_stays_in_its_namespace);
	tcase_add_test(tc, an_ordinary_user_keeps_its_identity);
	return test_main(suite);
}
