/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams bytes to a client of the control socket, through a bounded queue.
 *
 * lost() is called if the client reads nothing for STREAM_CLIENT_STALL_US, or sends more than
 * STREAM_CLIENT_MAX_INPUT_BYTES. Its input is otherwise ignored. A client that closes its sending
 * side requests the end of the stream; the queued bytes are still sent.
 */
#ifndef DAEMON_CONTROL_STREAM_CLIENT_H
#define DAEMON_CONTROL_STREAM_CLIENT_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/loop.h"

#define STREAM_CLIENT_STALL_US        5000000u
#define STREAM_CLIENT_MAX_INPUT_BYTES 4096u

struct stream_client;

struct stream_client_events {
	/* The queue has more space than before. Never called by a stream_client function. */
	void (*on_space)(void *arg);
	/* The client wants no more: call stream_client_end(). Called once. */
	void (*stop_requested)(void *arg);
	/*
	 * The client disconnected or reads nothing: call stream_client_free(). @why is constant
	 * text, part of a sentence.
	 */
	void (*lost)(void *arg, const char *why);
	/* After stream_client_end(): everything is sent. Call stream_client_free(). */
	void (*drained)(void *arg);
};

/**
 * stream_client_new - Starts streaming to a client.
 * @fd:                non-blocking; duplicated, so the caller keeps it
 * @queue_limit_bytes: capacity of the queue
 *
 * Returns NULL if memory or descriptors ran out.
 */
struct stream_client *stream_client_new(struct loop *loop, int fd, size_t queue_limit_bytes,
					const struct stream_client_events *events,
					void *arg) MUST_CHECK;
/**
 * stream_client_free - Closes the connection and frees @stream_client; accepts NULL. An event may
 * call it.
 */
void stream_client_free(struct stream_client *stream_client);
/** stream_client_space - Returns how many bytes stream_client_put() accepts now. */
size_t stream_client_space(const struct stream_client *stream_client);
/**
 * stream_client_put - Queues @len bytes, at most stream_client_space(). A later loop iteration
 * sends them.
 */
void stream_client_put(struct stream_client *stream_client, const void *data, size_t len);
/**
 * stream_client_end - Ends the stream. drained() or lost() follows in a later loop iteration as the
 * last event.
 */
void stream_client_end(struct stream_client *stream_client);

#endif
