// SPDX-License-Identifier: BSD-3-Clause
/*
 * Both ends of a connection that falls silent.
 *
 *	held_call serve ADDRESS PORT          answers NULL Calls and never answers others, until killed
 *	held_call ask ADDRESS PORT idle|held  gets one NULL Call answered, with "held" makes another Call,
 *	                                      prints "ready", and waits for the end of the connection
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_CONNS  64
#define CALL_WORDS 11u /* with the mark */
#define LAST       0x80000000u
#define PROGRAM    0x20000123u

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int make_socket(const char *address, const char *port, struct sockaddr_in *addr)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	*addr = (struct sockaddr_in){.sin_family = AF_INET,
				     .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
	if (fd < 0 || inet_pton(AF_INET, address, &addr->sin_addr) != 1)
		die(address);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return fd;
}

static bool get_words(int fd, uint32_t *words, size_t count)
{
	size_t len = count * sizeof(*words);

	return recv(fd, words, len, MSG_WAITALL) == (ssize_t)len;
}

/* A Call of no arguments and AUTH_NONE; a NULL Call is answered. False at the end of the connection. */
static bool serve_call(int fd)
{
	uint32_t call[CALL_WORDS];

	if (!get_words(fd, call, CALL_WORDS) || ntohl(call[0]) != (LAST | 40))
		return false;
	if (call[6] == 0) {
		const uint32_t reply[] = {htonl(LAST | 24), call[1], htonl(1), 0, 0, 0, 0};

		return send(fd, reply, sizeof(reply), MSG_NOSIGNAL) == sizeof(reply);
	}
	return true;
}

static void serve(const char *address, const char *port)
{
	struct pollfd fds[MAX_CONNS + 1];
	struct sockaddr_in addr;
	nfds_t n = 1;

	fds[0] = (struct pollfd){.fd = make_socket(address, port, &addr), .events = POLLIN};
	if (bind(fds[0].fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    listen(fds[0].fd, 64) < 0)
		die("listen");
	while (poll(fds, n, -1) > 0) {
		for (nfds_t i = n - 1; i > 0; i--) {
			if (!fds[i].revents || serve_call(fds[i].fd))
				continue;
			close(fds[i].fd);
			fds[i] = fds[--n];
		}
		if (fds[0].revents && n <= MAX_CONNS)
			fds[n++] = (struct pollfd){.fd = accept(fds[0].fd, NULL, NULL),
						   .events = POLLIN};
	}
}

static void send_call(int fd, uint32_t xid, uint32_t procedure)
{
	const uint32_t call[CALL_WORDS] = {
		htonl(LAST | 40), htonl(xid),       0, htonl(2), htonl(PROGRAM),
		htonl(1),         htonl(procedure),
	};

	if (send(fd, call, sizeof(call), MSG_NOSIGNAL) != sizeof(call))
		die("send");
}

static void ask(const char *address, const char *port, bool held)
{
	struct sockaddr_in addr;
	int fd = make_socket(address, port, &addr);
	uint32_t reply[7];

	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		die("connect");
	send_call(fd, 1, 0);
	if (!get_words(fd, reply, 7) || ntohl(reply[1]) != 1)
		die("no reply");
	if (held)
		send_call(fd, 2, 1);
	puts("ready");
	fflush(stdout);
	while (recv(fd, reply, sizeof(reply), 0) > 0)
		puts("a reply that nobody has sent");
	puts("closed");
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "serve"))
		serve(argv[2], argv[3]);
	else if (argc == 5 && !strcmp(argv[1], "ask"))
		ask(argv[2], argv[3], !strcmp(argv[4], "held"));
	else
		return 2;
	return 0;
}
