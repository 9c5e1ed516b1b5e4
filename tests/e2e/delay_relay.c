// SPDX-License-Identifier: BSD-3-Clause
/*
 * A relay that delays the bytes of the server.
 *
 *	delay_relay PORT SERVER_PORT MS    on 127.0.0.1, until killed
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK_BYTES (256u * 1024)

struct chunk {
	STAILQ_ENTRY(chunk) entry;
	uint64_t due_ms;
	size_t len;
	uint8_t data[];
};

/* One direction of one connection. */
struct pipe {
	int from, to;
	unsigned delay_ms;
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static int write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n <= 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static struct chunk *read_chunk(const struct pipe *pipe)
{
	static _Thread_local uint8_t buf[CHUNK_BYTES];
	ssize_t n = read(pipe->from, buf, sizeof(buf));
	struct chunk *chunk = n > 0 ? malloc(sizeof(*chunk) + (size_t)n) : NULL;

	if (!chunk)
		return NULL;
	chunk->due_ms = now_ms() + pipe->delay_ms;
	chunk->len = (size_t)n;
	memcpy(chunk->data, buf, (size_t)n);
	return chunk;
}

/* Forwards what is due; drops the rest when either end has closed. */
static void *run(void *arg)
{
	struct pipe *pipe = arg;
	STAILQ_HEAD(, chunk) queue = STAILQ_HEAD_INITIALIZER(queue);
	struct chunk *first, *chunk;

	for (;;) {
		struct pollfd pollfd = {pipe->from, POLLIN, 0};
		uint64_t now = now_ms();

		while ((first = STAILQ_FIRST(&queue)) && first->due_ms <= now) {
			if (write_all(pipe->to, first->data, first->len))
				goto out;
			STAILQ_REMOVE_HEAD(&queue, entry);
			free(first);
		}
		if (poll(&pollfd, 1, first ? (int)(first->due_ms - now) : -1) <= 0)
			continue;
		chunk = read_chunk(pipe);
		if (!chunk)
			break;
		STAILQ_INSERT_TAIL(&queue, chunk, entry);
	}
out:
	shutdown(pipe->from, SHUT_RDWR);
	shutdown(pipe->to, SHUT_RDWR);
	while ((first = STAILQ_FIRST(&queue))) {
		STAILQ_REMOVE_HEAD(&queue, entry);
		free(first);
	}
	free(pipe);
	return NULL;
}

static void start(int from, int to, unsigned delay_ms)
{
	struct pipe *pipe = malloc(sizeof(*pipe));
	pthread_t thread;

	if (!pipe)
		exit(1);
	*pipe = (struct pipe){from, to, delay_ms};
	if (pthread_create(&thread, NULL, run, pipe))
		exit(1);
	pthread_detach(thread);
}

static struct sockaddr_in address(const char *port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

int main(int argc, char **argv)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1, client, server;
	struct sockaddr_in here, there;

	if (argc != 4)
		return 2;
	here = address(argv[1]);
	there = address(argv[2]);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&here, sizeof(here)) || listen(listener, 16))
		return 1;
	while ((client = accept(listener, NULL, NULL)) >= 0) {
		server = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(server, (struct sockaddr *)&there, sizeof(there))) {
			close(server);
			close(client);
			continue;
		}
		start(client, server, 0);
		start(server, client, (unsigned)strtoul(argv[3], NULL, 10));
	}
	return 1;
}
