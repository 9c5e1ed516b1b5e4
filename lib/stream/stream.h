/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interface of a bidirectional byte stream, which the TCP leg uses.
 *
 * It is implemented by sockets (stream/tcp_stream.h) and, for tests, by pairs in memory
 * (tests/lib/stream_pair.h).
 *
 * Every stream guarantees:
 *  - No callback from inside a call into the stream, nor after stream_close().
 *  - Nothing is watched until stream_watch(). LOOP_READ and LOOP_WRITE are level-triggered: ready()
 *    is called in each iteration of the loop in which they hold. LOOP_LOST reports, even without
 *    reading, that the connection has ended both ways: once each time that stream_watch() adds it.
 *    Input or the peer's end of stream alone do not cause it. LOOP_END is requested together with
 *    LOOP_LOST, and is reported once.
 *  - A stream is destroyed in two steps: stream_close() ends the connection immediately.
 *    stream_free() frees the memory, and must not be called from an event of that stream.
 *
 * A stream, its net and their loop belong to one thread.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/compiler.h"
#include "base/loop.h"

struct stream;

struct stream_events {
	/*
	 * An event that stream_watch() requested: LOOP_READ, LOOP_WRITE or both. LOOP_LOST: the
	 * connection has ended both ways. LOOP_END: the peer has closed its sending side. Input
	 * from before may be unread in both cases. LOOP_ERROR: the stream cannot be watched, and no
	 * further event will be reported; close it.
	 */
	void (*ready)(void *arg, unsigned events);
	/*
	 * Called for a stream of stream_connect(): @error is 0 once it is connected, else a
	 * negative errno.
	 */
	void (*connected)(void *arg, int error);
};

/* Which source ports a connection to a server can use. */
enum source_port {
	SOURCE_PORT_AUTO,     /* below 1024 if one is available, else chosen by the kernel */
	SOURCE_PORT_RESERVED, /* below 1024, or fail */
	SOURCE_PORT_ANY,      /* chosen by the kernel */
};

/* The source addresses that a connection can use. All zero: chosen by the host. */
struct stream_sources {
	/* Ports are ignored, and addresses of another family are skipped. */
	const struct sockaddr_storage *list;
	unsigned count;
	/*
	 * Index of the first address to try, with the preferred port; the others follow in order.
	 */
	unsigned first;
	bool transparent; /* they can belong to other hosts (base/ip_transparent.h) */
};

/* Where to connect to, and from where. */
struct stream_target {
	struct sockaddr_storage addr;
	struct stream_sources sources; /* must stay valid during stream_connect() */
	uint16_t preferred_port;       /* tried before others; 0: none */
	bool port_only;                /* from the preferred port, or fail */
	/*
	 * With SOURCE_PORT_AUTO: try a preferred port above 1023 before the reserved ports, so that
	 * the server recognises the client's earlier requests. Otherwise try it after them.
	 */
	bool preferred_above;
	enum source_port source_port;
};

struct stream_ops {
	ssize_t (*readv)(struct stream *stream, const struct iovec *iov, int niov);
	ssize_t (*writev)(struct stream *stream, const struct iovec *iov, int niov);
	int (*peek)(struct stream *stream);
	int (*shutdown)(struct stream *stream);
	void (*watch)(struct stream *stream, unsigned events);
	unsigned (*ended)(const struct stream *stream);
	uint64_t (*unacked_bytes)(const struct stream *stream);
	uint64_t (*unsent_bytes)(const struct stream *stream);
	void (*addrs)(const struct stream *stream, struct sockaddr_storage *local,
		      struct sockaddr_storage *peer);
	void (*close)(struct stream *stream, bool reset);
	void (*free)(struct stream *stream);
};

/* Common head of each implementation's structure. */
struct stream {
	const struct stream_ops *ops;
	const struct stream_events *events;
	void *arg;
	unsigned port_retries; /* source ports that turned out to be in use */
	bool port_shortfall;   /* SOURCE_PORT_AUTO, but no reserved port was free */
};

/* Creates connecting streams. */
struct stream_net {
	int (*connect)(struct stream_net *net, const struct stream_target *target,
		       struct stream **out);
};

/**
 * stream_connect - Creates a stream that connects to @target
 *
 * connected() reports the result, however late: there is no time limit. Call stream_bind() before
 * the next iteration of the loop. Returns 0 or -ENOMEM.
 */
static inline int MUST_CHECK stream_connect(struct stream_net *net,
					    const struct stream_target *target, struct stream **out)
{
	return net->connect(net, target, out);
}

/** stream_bind - Sets the receiver of @stream's events. */
static inline void stream_bind(struct stream *stream, const struct stream_events *events, void *arg)
{
	stream->events = events;
	stream->arg = arg;
}

/**
 * stream_readv - Reads received bytes
 *
 * Returns their number, 0 at the peer's end of stream, -EAGAIN if none, or another negative errno
 * if the connection is broken.
 */
static inline ssize_t stream_readv(struct stream *stream, const struct iovec *iov, int niov)
{
	return stream->ops->readv(stream, iov, niov);
}

/**
 * stream_writev - Sends the gathered bytes, or as many as fit the send buffer
 * @niov: at most IOV_MAX
 *
 * Returns their number, -EAGAIN if none fit, or another negative errno if the connection is broken.
 */
static inline ssize_t stream_writev(struct stream *stream, const struct iovec *iov, int niov)
{
	return stream->ops->writev(stream, iov, niov);
}

/** stream_peek - Like stream_readv() of one byte, which stays unread. */
static inline int stream_peek(struct stream *stream)
{
	return stream->ops->peek(stream);
}

/**
 * stream_shutdown - Closes the sending side; data sent before still arrive. Returns 0 or a negative
 * errno.
 */
static inline int stream_shutdown(struct stream *stream)
{
	return stream->ops->shutdown(stream);
}

/** stream_watch - Requests ready() for exactly these LOOP_* events from now on; 0 for none. */
static inline void stream_watch(struct stream *stream, unsigned events)
{
	stream->ops->watch(stream, events);
}

/**
 * stream_ended - Returns which end of the connection has arrived, even if input before it is unread
 *
 * Returns LOOP_LOST if the connection has ended both ways, LOOP_END if the peer has closed its
 * sending side, both, or 0. Makes a system call.
 */
static inline unsigned stream_ended(const struct stream *stream)
{
	return stream->ops->ended(stream);
}

/**
 * stream_unacked_bytes - Returns how many sent bytes the peer has not acknowledged
 *
 * Makes a system call. Our end of stream can count as one byte.
 */
static inline uint64_t stream_unacked_bytes(const struct stream *stream)
{
	return stream->ops->unacked_bytes(stream);
}

/**
 * stream_unsent_bytes - Returns how many bytes in the send buffer have not left this host, because
 * the peer's window is full. Makes a system call.
 */
static inline uint64_t stream_unsent_bytes(const struct stream *stream)
{
	return stream->ops->unsent_bytes(stream);
}

/**
 * stream_addrs - Gets the addresses of a connected stream; unknown ones stay unchanged
 * @peer: NULL: not needed
 *
 * Makes a system call for each.
 */
static inline void stream_addrs(const struct stream *stream, struct sockaddr_storage *local,
				struct sockaddr_storage *peer)
{
	stream->ops->addrs(stream, local, peer);
}

/**
 * stream_close - Ends the connection immediately
 * @reset: discard unsent data and send a reset. Otherwise sent data arrive first, and then the end
 *         of stream; unread input turns that into a reset too.
 */
static inline void stream_close(struct stream *stream, bool reset)
{
	stream->ops->close(stream, reset);
}

/** stream_free - Frees a stream after stream_close(). Accepts NULL. */
static inline void stream_free(struct stream *stream)
{
	if (stream)
		stream->ops->free(stream);
}

#endif
