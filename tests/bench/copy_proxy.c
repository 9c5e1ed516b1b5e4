// SPDX-License-Identifier: BSD-3-Clause
/*
 * The least that a proxy can do: it reads from one connection into a buffer and writes that to
 * another. No other proxy with one thread and the same buffer can be faster, so it is the upper
 * bound of the comparison.
 *
 * usage: copy_proxy [-a LISTEN_ADDR] LISTEN_PORT ADDR PORT [BUFFER_BYTES]
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "tests/bench/sockets.h"
#include "tests/e2e/net.h"

#define EVENTS       256
#define BUFFER_BYTES (256u * 1024)

union buffer {
	union buffer *next; /* while it is spare */
	uint8_t data[1];
};

struct proxy {
	int poll, listener;
	struct address server;
	size_t buffer_bytes;
	union buffer *buffer; /* what is read into */
	union buffer *spares;
};

/* One end of a pair, and what it could not be sent yet of what the other one received. */
struct end {
	struct pair *pair;
	int fd;
	uint32_t watched;
	bool ended; /* it sends no more */
	union buffer *rest;
	size_t rest_bytes, rest_sent;
};

struct pair {
	struct proxy *proxy;
	struct end ends[2];
	bool over;
	struct pair *next_over;
};

static struct pair *over;

static struct end *other(struct end *end)
{
	return &end->pair->ends[end == &end->pair->ends[0]];
}

/* Freed at the end of the turn: the turn may have events of its other end. */
static void pair_close(struct pair *pair)
{
	if (pair->over)
		return;
	pair->over = true;
	pair->next_over = over;
	over = pair;
}

static void end_watch(struct end *end)
{
	uint32_t wanted = 0;

	if (!end->ended && !other(end)->rest_bytes)
		wanted |= EPOLLIN;
	if (end->rest_bytes)
		wanted |= EPOLLOUT;
	if (wanted != end->watched)
		poll_change(end->pair->proxy->poll, end->fd, wanted, end);
	end->watched = wanted;
}

/* A buffer to read into: one that was given back, or a new one. */
static union buffer *buffer_get(struct proxy *proxy)
{
	union buffer *buffer = proxy->spares;

	if (buffer)
		proxy->spares = buffer->next;
	else
		buffer = malloc(proxy->buffer_bytes + sizeof(*buffer));
	if (!buffer)
		fail("a buffer of %zu bytes: out of memory", proxy->buffer_bytes);
	return buffer;
}

static void buffer_put(struct proxy *proxy, union buffer *buffer)
{
	buffer->next = proxy->spares;
	proxy->spares = buffer;
}

static void free_those_over(void)
{
	while (over) {
		struct pair *pair = over;

		over = pair->next_over;
		for (int i = 0; i < 2; i++) {
			close(pair->ends[i].fd);
			if (pair->ends[i].rest)
				buffer_put(pair->proxy, pair->ends[i].rest);
		}
		free(pair);
	}
}

/* Returns how much was taken, or -errno. */
static ssize_t write_some(struct end *to, const uint8_t *data, size_t len)
{
	ssize_t n = send(to->fd, data, len, MSG_NOSIGNAL);

	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == ENOTCONN ? 0 : -errno;
}

static void copy(struct end *from)
{
	struct proxy *proxy = from->pair->proxy;
	struct end *to = other(from);
	ssize_t n = recv(from->fd, proxy->buffer->data, proxy->buffer_bytes, 0), sent;

	if (n < 0) {
		if (errno != EAGAIN)
			pair_close(from->pair);
		return;
	}
	if (!n) {
		from->ended = true;
		shutdown(to->fd, SHUT_WR);
		if (to->ended)
			pair_close(from->pair);
		return;
	}
	sent = write_some(to, proxy->buffer->data, (size_t)n);
	if (sent < 0) {
		pair_close(from->pair);
	} else if (sent < n) {
		to->rest = proxy->buffer;
		to->rest_bytes = (size_t)n;
		to->rest_sent = (size_t)sent;
		proxy->buffer = buffer_get(proxy);
	}
}

static void copy_rest(struct end *to)
{
	ssize_t sent =
		write_some(to, to->rest->data + to->rest_sent, to->rest_bytes - to->rest_sent);

	if (sent < 0) {
		pair_close(to->pair);
		return;
	}
	to->rest_sent += (size_t)sent;
	if (to->rest_sent < to->rest_bytes)
		return;
	buffer_put(to->pair->proxy, to->rest);
	to->rest = NULL;
	to->rest_bytes = 0;
}

static void end_serve(struct end *end, uint32_t events)
{
	if (end->pair->over)
		return;
	if ((events & (EPOLLHUP | EPOLLERR)) && !(end->watched & EPOLLIN)) {
		pair_close(end->pair);
		return;
	}
	if ((events & EPOLLOUT) && end->rest_bytes)
		copy_rest(end);
	if ((events & ~(uint32_t)EPOLLOUT) && (end->watched & EPOLLIN))
		copy(end);
	if (end->pair->over)
		return;
	end_watch(end);
	end_watch(other(end));
}

static void pair_new(struct proxy *proxy, int client)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	int server = socket_connect(&proxy->server);

	if (!pair || server < 0)
		fail("connect to the server: %s", pair ? strerror(-server) : "out of memory");
	pair->proxy = proxy;
	for (int i = 0; i < 2; i++) {
		struct end *end = &pair->ends[i];

		end->pair = pair;
		end->fd = i ? server : client;
		end->watched = EPOLLIN;
		poll_watch(proxy->poll, end->fd, EPOLLIN, end);
	}
}

static void proxy_run(struct proxy *proxy)
{
	struct epoll_event events[EVENTS];

	for (;;) {
		int n = epoll_wait(proxy->poll, events, EVENTS, -1), fd;

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr != proxy) {
				end_serve(events[i].data.ptr, events[i].events);
				continue;
			}
			while ((fd = socket_accept(proxy->listener, NULL)) >= 0)
				pair_new(proxy, fd);
		}
		free_those_over();
	}
}

int main(int argc, char **argv)
{
	struct proxy proxy = {.buffer_bytes = BUFFER_BYTES};
	struct address address;
	const char *host = "127.0.0.1";
	char **arg;

	while (getopt(argc, argv, "a:") == 'a')
		host = optarg;
	arg = argv + optind;
	if (argc - optind < 3 || argc - optind > 4)
		fail("usage: copy_proxy [-a LISTEN_ADDR] LISTEN_PORT ADDR PORT [BUFFER_BYTES]");
	address = address_parse(host, arg[0]);
	proxy.server = address_parse(arg[1], arg[2]);
	if (arg[3])
		proxy.buffer_bytes = strtoul(arg[3], NULL, 10);
	if (!proxy.buffer_bytes)
		fail("%s is no size", arg[3]);
	proxy.buffer = buffer_get(&proxy);
	files_unlimited();
	proxy.poll = poll_new();
	proxy.listener = socket_listen(&address);
	poll_watch(proxy.poll, proxy.listener, EPOLLIN, &proxy);
	proxy_run(&proxy);
}
