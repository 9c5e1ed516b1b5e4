/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of bytes, both ways, as TCP gives them: what the TCP leg stands on.
 *
 * Behind it are sockets (stream/socket.h) and, for tests, pairs of ends in memory (tests/lib/stream_pair.h).
 *
 * What every stream promises:
 *  - Nothing is called back from inside a call into the stream, nor after stream_close().
 *  - Nothing is watched until stream_watch(). LOOP_READ and LOOP_WRITE are level-triggered: ready() is said
 *    again in each turn of the loop in which it holds. LOOP_LOST, for a stream that is not read, is said once
 *    each time that it is newly watched for; neither bytes nor the end of what the peer sends bring it. LOOP_END
 *    goes with it, and is said once.
 *  - A stream dies in two steps: stream_close() ends the connection at once, stream_free() gives the
 *    memory back, and never from inside an event of that stream.
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
	 * What stream_watch() asked for may be done now: LOOP_READ, LOOP_WRITE or both. Or the connection has ended
	 * both ways, LOOP_LOST, or the peer has ended what it sends, LOOP_END; what came before that may be unread.
	 * Or it cannot be watched, LOOP_ERROR: then nothing will be heard of the stream any more, and it is to be
	 * closed.
	 */
	void (*ready)(void *arg, unsigned events);
	/* A stream of stream_connect(): it is up, for @error 0, or cannot be had, for a negative errno. */
	void (*connected)(void *arg, int error);
};

/* Which local ports a connection to a server may come from. */
enum source_port {
	SOURCE_PORT_AUTO,     /* below 1024 while one is to be had, else what the kernel gives */
	SOURCE_PORT_RESERVED, /* below 1024, or not at all */
	SOURCE_PORT_ANY,      /* what the kernel gives */
};

/* The addresses that a connection may come from. All zero: the host's choice. */
struct stream_sources {
	const struct sockaddr_storage
		*list; /* ports are not looked at; those of another family are passed over */
	unsigned count;
	unsigned
		first; /* the one to begin with, whose port a preferred port is; the others follow in their order */
	bool foreign; /* they may be other hosts' (base/foreign.h) */
};

/* Where to connect to, and where to come from. */
struct stream_target {
	struct sockaddr_storage addr;
	struct stream_sources sources; /* lent for stream_connect() */
	uint16_t preferred_port;       /* to come from rather than from others; 0: none */
	bool port_only;                /* from the preferred port, or not at all */
	/*
	 * SOURCE_PORT_AUTO: a preferred port above 1023 goes before the reserved ones, since the server is to
	 * recognise what it was asked from there. Else it only goes before what the kernel gives.
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
	uint64_t (*untaken_bytes)(const struct stream *stream);
	uint64_t (*unsent_bytes)(const struct stream *stream);
	void (*addrs)(const struct stream *stream, struct sockaddr_storage *local,
		      struct sockaddr_storage *peer);
	void (*close)(struct stream *stream, bool reset);
	void (*free)(struct stream *stream);
};

/* The head of each kind's own structure. */
struct stream {
	const struct stream_ops *ops;
	const struct stream_events *events;
	void *arg;
	unsigned port_retries; /* source ports that were taken when they were wanted */
	bool port_shortfall;   /* SOURCE_PORT_AUTO, and no reserved port was to be had */
};

/* What makes streams that connect. */
struct stream_net {
	int (*connect)(struct stream_net *net, const struct stream_target *target,
		       struct stream **out);
};

/**
 * stream_connect - make a stream to @target
 *
 * connected() follows, whatever the outcome, or nothing at all: there is no time limit. stream_bind() is
 * due before the next turn of the loop. Returns 0 or -ENOMEM.
 */
static inline int MUST_CHECK stream_connect(struct stream_net *net,
					    const struct stream_target *target, struct stream **out)
{
	return net->connect(net, target, out);
}

/** stream_bind - whom to tell of @stream's events. */
static inline void stream_bind(struct stream *stream, const struct stream_events *events, void *arg)
{
	stream->events = events;
	stream->arg = arg;
}

/**
 * stream_readv - read what has come
 *
 * Returns how many bytes, 0 at the end of what the peer sends, -EAGAIN if nothing is here, or another
 * negative errno: the connection is broken.
 */
static inline ssize_t stream_readv(struct stream *stream, const struct iovec *iov, int niov)
{
	return stream->ops->readv(stream, iov, niov);
}

/**
 * stream_writev - send the gathered bytes, or as many as there is room for
 * @niov: at most IOV_MAX
 *
 * Returns how many, -EAGAIN if there is no room, or another negative errno: the connection is broken.
 */
static inline ssize_t stream_writev(struct stream *stream, const struct iovec *iov, int niov)
{
	return stream->ops->writev(stream, iov, niov);
}

/** stream_peek - as stream_readv() of one byte, which stays unread. */
static inline int stream_peek(struct stream *stream)
{
	return stream->ops->peek(stream);
}

/** stream_shutdown - send no more; what was sent before arrives first. Returns 0 or a negative errno. */
static inline int stream_shutdown(struct stream *stream)
{
	return stream->ops->shutdown(stream);
}

/** stream_watch - say ready() for exactly these LOOP_* events from now on; 0 for none. */
static inline void stream_watch(struct stream *stream, unsigned events)
{
	stream->ops->watch(stream, events);
}

/**
 * stream_ended - tell which end of the stream has come, whatever is unread before it
 *
 * Returns LOOP_LOST if the connection has ended both ways, LOOP_END if the peer has ended what it sends, both, or 0. Costs
 * a system call.
 */
static inline unsigned stream_ended(const struct stream *stream)
{
	return stream->ops->ended(stream);
}

/**
 * stream_untaken_bytes - how much of what was sent the peer has not acknowledged
 *
 * Costs a system call. It may count the end of what is sent as a byte.
 */
static inline uint64_t stream_untaken_bytes(const struct stream *stream)
{
	return stream->ops->untaken_bytes(stream);
}

/** stream_unsent_bytes - how much of that has not left this host: the peer has no room for it. Costs a system call. */
static inline uint64_t stream_unsent_bytes(const struct stream *stream)
{
	return stream->ops->unsent_bytes(stream);
}

/**
 * stream_addrs - the addresses of a stream that is up; what is not known stays as it was
 * @peer: NULL: it is known already
 *
 * Costs a system call for each.
 */
static inline void stream_addrs(const struct stream *stream, struct sockaddr_storage *local,
				struct sockaddr_storage *peer)
{
	stream->ops->addrs(stream, local, peer);
}

/**
 * stream_close - end the connection now
 * @reset: drop what was sent and has not arrived, and tell the peer by a reset; else what was sent
 *         arrives, and then the end, unless there is something unread here, which makes it a reset too
 */
static inline void stream_close(struct stream *stream, bool reset)
{
	stream->ops->close(stream, reset);
}

/** stream_free - free a stream after stream_close(); accepts NULL. */
static inline void stream_free(struct stream *stream)
{
	if (stream)
		stream->ops->free(stream);
}

#endif
