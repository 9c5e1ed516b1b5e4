// SPDX-License-Identifier: BSD-3-Clause
/* Connections are plain TCP connections until an endpoint adopts them. */
#include "fabric/iwarp/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/listen_socket.h"
#include "base/sockaddr.h"
#include "fabric/iwarp/iwarp_socket.h"
#include "fabric/iwarp/mpa.h"

#define ACCEPTS_PER_ITERATION 64u
#define RETRY_US              100000u /* after running out of descriptors or memory */

struct iwarp_listener {
	struct fabric_listener listener;
	struct loop *loop;
	int fd;
	struct loop_io *io;
	struct loop_timer *retry;
	bool paused;      /* paused by the owner */
	bool backing_off; /* out of descriptors or memory */
	void (*incoming)(void *arg, struct fabric_incoming *in);
	void *arg;
};

static struct iwarp_listener *listener_of(struct fabric_listener *listener)
{
	return container_of(listener, struct iwarp_listener, listener);
}

static void listener_io_update(struct iwarp_listener *listener)
{
	bool accept = !listener->paused && !listener->backing_off;

	loop_io_set(listener->loop, listener->io, accept ? LOOP_READ : 0);
}

static void on_retry(void *arg)
{
	struct iwarp_listener *listener = arg;

	listener->backing_off = false;
	listener_io_update(listener);
}

static void listener_back_off(struct iwarp_listener *listener)
{
	listener->backing_off = true;
	listener_io_update(listener);
	loop_timer_set(listener->loop, listener->retry, RETRY_US);
}

/* Consumes @fd; without memory it closes it, and the peer tries again. */
static void incoming_deliver(struct iwarp_listener *listener, int fd,
			     const struct sockaddr_storage *peer)
{
	struct iwarp_incoming *incoming = calloc(1, sizeof(*incoming));
	socklen_t len = sizeof(incoming->in.local);

	if (!incoming) {
		close(fd);
		listener_back_off(listener);
		return;
	}
	incoming->in.ops = listener->listener.ops;
	incoming->in.peer = *peer;
	(void)getsockname(fd, (struct sockaddr *)&incoming->in.local, &len);
	incoming->fd = fd;
	listener->incoming(listener->arg, &incoming->in);
}

static void on_ready(void *arg, unsigned events)
{
	struct iwarp_listener *listener = arg;

	if (events & LOOP_ERROR) {
		listener_back_off(listener);
		return;
	}
	for (unsigned i = 0; i < ACCEPTS_PER_ITERATION; i++) {
		struct sockaddr_storage peer = {0};
		socklen_t len = sizeof(peer);
		int fd;

		if (listener->paused || listener->backing_off)
			return;
		fd = accept4(listener->fd, (struct sockaddr *)&peer, &len,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			incoming_deliver(listener, fd, &peer);
			continue;
		}
		switch (errno) {
		case EAGAIN:
			return;
		case EMFILE:
		case ENFILE:
		case ENOBUFS:
		case ENOMEM:
			listener_back_off(listener);
			return;
		default: /* the connection to accept has gone */
			break;
		}
	}
}

static int socket_open(const struct iwarp_config *config, const struct sockaddr *addr, int backlog)
{
	int fd = config->has_socket ? config->socket : listen_socket_new(addr);
	int err;

	if (fd < 0)
		return fd;
	iwarp_socket_tune(fd, config);
	err = config->has_socket ? 0 : listen_socket_start(fd, addr, backlog, NULL);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int iwarp_listen(void *config, struct loop *loop, const struct sockaddr *addr, int backlog,
		 void (*incoming)(void *arg, struct fabric_incoming *in), void *arg,
		 struct fabric_listener **out)
{
	struct iwarp_listener *listener;
	int fd;

	if (!sockaddr_bytes(addr))
		return -EAFNOSUPPORT;
	fd = socket_open(config, addr, backlog);
	if (fd < 0)
		return fd;
	listener = calloc(1, sizeof(*listener));
	if (!listener) {
		close(fd);
		return -ENOMEM;
	}
	listener->loop = loop;
	listener->fd = fd;
	listener->incoming = incoming;
	listener->arg = arg;
	listener->io = loop_io_new(loop, fd, on_ready, listener);
	listener->retry = loop_timer_new(loop, on_retry, listener);
	if (!listener->io || !listener->retry) {
		iwarp_listener_free(&listener->listener);
		return -ENOMEM;
	}
	listener_io_update(listener);
	*out = &listener->listener;
	return 0;
}

void iwarp_listener_pause(struct fabric_listener *base, bool paused)
{
	struct iwarp_listener *listener = listener_of(base);

	listener->paused = paused;
	listener_io_update(listener);
}

void iwarp_listener_addr(const struct fabric_listener *base, struct sockaddr_storage *addr)
{
	const struct iwarp_listener *listener =
		container_of((struct fabric_listener *)base, struct iwarp_listener, listener);
	socklen_t len = sizeof(*addr);

	memset(addr, 0, sizeof(*addr));
	(void)getsockname(listener->fd, (struct sockaddr *)addr, &len);
}

void iwarp_listener_free(struct fabric_listener *base)
{
	struct iwarp_listener *listener = listener_of(base);

	loop_io_free(listener->loop, listener->io);
	loop_timer_free(listener->loop, listener->retry);
	close(listener->fd);
	free(listener);
}

/*
 * Sends the reject only if the whole request has arrived; the socket buffer is empty then. No
 * unread bytes remain, so no reset can overtake the reject.
 */
static void reject_send(int fd, const void *private_data, size_t len_bytes)
{
	uint8_t bytes[MPA_MAX_FRAME_BYTES];
	struct mpa_frame request, reply = {
					  .reply = true,
					  .reject = true,
					  .private_data = private_data,
					  .private_data_bytes = len_bytes,
				  };
	ssize_t have = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	size_t used;

	if (have <= 0 || mpa_frame_decode(bytes, (size_t)have, false, &request, &used) != MPA_OK ||
	    request.revision < 1 || request.revision > 2)
		return;
	reply.revision = request.revision;
	reply.enhanced = request.enhanced;
	(void)send(fd, bytes, mpa_frame_encode(&reply, bytes), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void iwarp_incoming_drop(struct fabric_incoming *in, const void *private_data, size_t len_bytes)
{
	struct iwarp_incoming *incoming = container_of(in, struct iwarp_incoming, in);

	if (len_bytes)
		reject_send(incoming->fd, private_data, len_bytes);
	close(incoming->fd);
	free(incoming);
}
