// SPDX-License-Identifier: BSD-3-Clause
/* A server that accepts TCP connections and speaks neither RPC nor iWARP. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 16

static int listen_on(uint16_t port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_port = htons(port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, BACKLOG)) {
		perror("stranger");
		exit(1);
	}
	return fd;
}

static void reset(int fd)
{
	const struct linger linger = {.l_onoff = 1};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	char bytes[4096];
	int fd;

	if (argc < 3 || (!strcmp(how, "says")) != (argc == 4)) {
		fprintf(stderr, "usage: stranger PORT silent|closes|resets|says [TEXT]\n");
		return 2;
	}
	fd = listen_on((uint16_t)atoi(argv[1]));
	for (;;) {
		int conn = accept(fd, NULL, NULL);

		/* Silent ones stay open: there are few. */
		if (conn < 0 || !strcmp(how, "silent"))
			continue;
		if (read(conn, bytes, sizeof(bytes)) < 0)
			perror("stranger");
		if (argc == 4 && write(conn, argv[3], strlen(argv[3])) < 0)
			perror("stranger");
		if (!strcmp(how, "resets"))
			reset(conn);
		close(conn);
	}
}
