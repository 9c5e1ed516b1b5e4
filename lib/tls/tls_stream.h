/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream that encrypts: TLS 1.3 (RFC 8446) over another stream.
 *
 * It fulfils what stream/stream.h promises. It begins with the handshake: connected() reports its
 * end, and nothing can be read or written before. The cryptography of a handshake runs where
 * struct tls_runner decides, in the daemon on threads of their own; records are encrypted and
 * decrypted by the loop's thread.
 *
 * The peer's end of stream counts only after its close_notify alert: stream_readv() returns 0
 * then, and -ENOLINK for an end without it, since an attacker can cause that (RFC 8446 section
 * 6.1). After an alert it returns -ECONNRESET, and for a bad record -EPROTO.
 */
#ifndef TLS_TLS_STREAM_H
#define TLS_TLS_STREAM_H

#include "base/compiler.h"
#include "base/counters.h"
#include "base/loop.h"
#include "stream/stream.h"
#include "tls/tls_context.h"

/* Ends of handshakes, by result, and what happens later. */
#define TLS_COUNTERS(X)                                                                            \
	X(handshakes_ok, "TLS handshakes completed")                                               \
	X(handshakes_certificate,                                                                  \
	  "TLS handshakes that failed since the peer's certificate was missing or not accepted")   \
	X(handshakes_rejected, "TLS handshakes that the peer ended by an alert")                   \
	X(handshakes_protocol, "TLS handshakes that failed for what the peer sent")                \
	X(handshakes_closed, "TLS handshakes during which the connection ended or timed out")      \
	X(handshakes_resources, "TLS handshakes that failed for lack of memory")                   \
	X(handshakes_limited, "TLS handshakes not begun, since too many were under way")           \
	X(truncations, "TLS connections that ended without close_notify")                          \
	X(record_errors, "TLS connections that ended for a bad record or an alert")                \
	X(key_updates, "TLS keys changed by either end")
COUNTER_STRUCT(tls_counters, TLS_COUNTERS);

/* Where the cryptography of handshakes runs. */
struct tls_runner {
	/*
	 * Calls @work(@arg) on any thread, once, then @done(@arg) on the thread of @loop, in a
	 * later iteration of it. Returns 0, or -EAGAIN when too many wait: nothing is called then.
	 * A runner that ends calls done() without work() for what it has not begun: the handshake
	 * fails.
	 */
	int (*run)(struct tls_runner *runner, struct loop *loop, void (*work)(void *arg),
		   void (*done)(void *arg), void *arg);
};

/* Shared by the TLS streams of one loop. */
struct tls_worker {
	struct loop *loop;
	struct tls_runner *runner; /* outlives the streams */
	uint8_t *out;              /* encrypted output of one call; valid within it only */
	uint8_t *gather;           /* a record's plaintext, likewise */
	unsigned running;          /* work that waits, runs, or is not done() yet */
};

/** tls_worker_init - Allocates the memory that streams share. Returns 0 or -ENOMEM. */
int tls_worker_init(struct tls_worker *worker, struct loop *loop,
		    struct tls_runner *runner) MUST_CHECK;
/** tls_worker_fini - Frees it. No stream may exist, nor a handshake of one. */
void tls_worker_fini(struct tls_worker *worker);

/**
 * tls_stream_new - Begins a handshake over @inner
 * @counters:  outlives the stream
 * @context:   the stream keeps a reference
 * @inner:     connected; owned by the new stream from now on, on failure still by the caller
 * @early:     bytes of the peer that were read from @inner already; not needed afterwards
 *
 * Call stream_bind() and stream_watch() on the new stream, never again on @inner. Events of @inner
 * may be watched: they are not any more. connected() follows, with 0, or with a negative errno and
 * tls_stream_error(); there is no time limit. Returns 0 or -ENOMEM.
 */
int tls_stream_new(struct tls_worker *worker, struct tls_counters *counters,
		   struct tls_context *context, enum tls_role role, struct stream *inner,
		   const uint8_t *early, size_t early_bytes, struct stream **out) MUST_CHECK;
/**
 * tls_stream_error - Returns the reason, as part of a sentence, why the handshake or the connection
 * failed, such as "the client's certificate has expired"; "" if nothing failed.
 */
const char *tls_stream_error(const struct stream *stream);
/**
 * tls_stream_has_output - Returns whether bytes that stream_writev() has accepted still wait for
 * space in the inner stream
 *
 * They are sent before LOOP_WRITE is reported. stream_close() would discard them.
 */
bool tls_stream_has_output(const struct stream *stream);
/** tls_stream_peer - Returns the peer of a completed handshake; valid as long as the stream. */
const struct tls_peer *tls_stream_peer(const struct stream *stream);

/** tls_stream_memory_bytes - Returns how much memory a TLS connection needs at most. */
size_t tls_stream_memory_bytes(void);

#endif
