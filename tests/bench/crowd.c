// SPDX-License-Identifier: BSD-3-Clause
/*
 * Clients that connect all at once through a proxy, and each make one Call: when has each of them its Reply?
 *
 * The server is a process of its own. It answers whatever record comes, and notes who comes from a port above 1023.
 *
 * usage: crowd FRONT BACK CLIENTS [HELD]
 *
 * HELD clients are there before the others, and stay: their connections to the server keep its reserved ports.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/message.h"

#define CLIENTS_MAX 20000
#define EVENTS      256
#define WAIT_MS     60000
#define PRIVILEGED  1024

/* What the server tells. */
struct told {
	unsigned long answered, unprivileged;
};

struct crowd {
	int epoll, *fds;
	struct sockaddr_in front;
	uint64_t *took_us;
	struct buf call; /* with its record mark */
};

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void watch(int epoll, int fd, uint32_t events, uint32_t id)
{
	struct epoll_event event = {.events = events,
				    .data.u64 = (uint64_t)id << 32 | (uint32_t)fd};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		fail("epoll_ctl: %s", strerror(errno));
}

/* ---- the server ---- */

static void server_accept(int epoll, int listener, struct told *told)
{
	struct sockaddr_in peer;
	socklen_t len = sizeof(peer);
	int fd;

	while ((fd = accept4(listener, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK)) >= 0) {
		told->unprivileged += ntohs(peer.sin_port) >= PRIVILEGED;
		watch(epoll, fd, EPOLLIN, 1);
		len = sizeof(peer);
	}
}

/* The Calls are small, and each comes in one piece. */
static void server_answer(int fd, struct told *told)
{
	uint8_t data[4096];
	ssize_t n = recv(fd, data, sizeof(data), 0);
	struct buf record = {0}, reply = {0};
	uint32_t xid;

	if (n < 8) {
		close(fd);
		return;
	}
	memcpy(&xid, data + 4, sizeof(xid));
	reply_begin(&reply, ntohl(xid), ACCEPT_SUCCESS);
	buf_u32(&record, 0x80000000u | (uint32_t)reply.len);
	buf_put(&record, reply.data, reply.len);
	if (send(fd, record.data, record.len, MSG_NOSIGNAL) == (ssize_t)record.len)
		told->answered++;
	buf_free(&record);
	buf_free(&reply);
}

static _Noreturn void serve(int listener, struct told *told)
{
	struct epoll_event events[EVENTS];
	int epoll = epoll_create1(0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	watch(epoll, listener, EPOLLIN, 0);
	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			int fd = (int)(uint32_t)events[i].data.u64;

			if (fd == listener)
				server_accept(epoll, listener, told);
			else
				server_answer(fd, told);
		}
	}
}

static pid_t server_start(uint16_t port, struct told **told)
{
	struct sockaddr_in at = loopback(port);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
	pid_t pid;

	*told = mmap(NULL, sizeof(**told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (*told == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 4096))
		fail("listen on %u: %s", port, strerror(errno));
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid)
		serve(listener, *told);
	close(listener);
	return pid;
}

/* ---- the clients ---- */

static void client_start(struct crowd *crowd, unsigned i)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		fail("socket: %s", strerror(errno));
	if (connect(fd, (struct sockaddr *)&crowd->front, sizeof(crowd->front)) &&
	    errno != EINPROGRESS)
		fail("client %u: connect: %s", i, strerror(errno));
	crowd->fds[i] = fd;
	watch(crowd->epoll, fd, EPOLLOUT, i);
}

static void client_call(struct crowd *crowd, unsigned i)
{
	struct epoll_event event = {.events = EPOLLIN,
				    .data.u64 = (uint64_t)i << 32 | (uint32_t)crowd->fds[i]};
	ssize_t len = (ssize_t)crowd->call.len;

	if (send(crowd->fds[i], crowd->call.data, crowd->call.len, MSG_NOSIGNAL) != len)
		fail("client %u cannot send: %s", i, strerror(errno));
	if (epoll_ctl(crowd->epoll, EPOLL_CTL_MOD, crowd->fds[i], &event))
		fail("epoll_ctl: %s", strerror(errno));
}

static void client_take(struct crowd *crowd, unsigned i)
{
	uint8_t data[4096];
	ssize_t n = recv(crowd->fds[i], data, sizeof(data), 0);

	if (n <= 0)
		fail("client %u lost its connection before it had a Reply: %s", i,
		     n ? strerror(errno) : "closed");
	if (epoll_ctl(crowd->epoll, EPOLL_CTL_DEL, crowd->fds[i], NULL))
		fail("epoll_ctl: %s", strerror(errno));
}

/* Clients @from to @to - 1 come; each has its Reply when this returns. */
static void clients_come(struct crowd *crowd, unsigned from, unsigned to)
{
	struct epoll_event events[EVENTS];
	uint64_t begin_us = now_us();
	unsigned waiting = to - from;

	for (unsigned i = from; i < to; i++)
		client_start(crowd, i);
	while (waiting) {
		int n = epoll_wait(crowd->epoll, events, EVENTS, WAIT_MS);

		if (n <= 0)
			fail("%u clients have no Reply after %d s", waiting, WAIT_MS / 1000);
		for (int e = 0; e < n; e++) {
			unsigned i = (unsigned)(events[e].data.u64 >> 32);

			if (events[e].events & EPOLLOUT) {
				client_call(crowd, i);
				continue;
			}
			client_take(crowd, i);
			crowd->took_us[i] = now_us() - begin_us;
			waiting--;
		}
	}
}

static int compare_us(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void crowd_init(struct crowd *crowd, uint16_t front, unsigned clients)
{
	struct buf call = {0};

	*crowd = (struct crowd){.epoll = epoll_create1(0), .front = loopback(front)};
	crowd->fds = calloc(clients, sizeof(*crowd->fds));
	crowd->took_us = calloc(clients, sizeof(*crowd->took_us));
	if (!crowd->fds || !crowd->took_us)
		fail("out of memory");
	call_begin(&call, 0x10000, NFS_PROGRAM, 3, 0, AUTH_SYS);
	buf_u32(&crowd->call, 0x80000000u | (uint32_t)call.len);
	buf_put(&crowd->call, call.data, call.len);
	buf_free(&call);
}

static void crowd_fini(struct crowd *crowd)
{
	free(crowd->fds);
	free(crowd->took_us);
	buf_free(&crowd->call);
}

int main(int argc, char **argv)
{
	unsigned clients = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	unsigned held = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	struct rlimit limit;
	struct crowd crowd;
	struct told *told;
	pid_t server;

	if (!clients || clients + held > CLIENTS_MAX)
		fail("usage: crowd FRONT BACK CLIENTS [HELD]");
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	server = server_start((uint16_t)atoi(argv[2]), &told);
	crowd_init(&crowd, (uint16_t)atoi(argv[1]), held + clients);
	clients_come(&crowd, 0, held);
	clients_come(&crowd, held, held + clients);
	qsort(crowd.took_us + held, clients, sizeof(*crowd.took_us), compare_us);
	printf("%u clients: median %.1f ms, last %.1f ms, %lu of %u connections from ports above 1023\n",
	       clients, crowd.took_us[held + clients / 2] / 1e3,
	       crowd.took_us[held + clients - 1] / 1e3, told->unprivileged, held + clients);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	crowd_fini(&crowd);
	return 0;
}
