/* SPDX-License-Identifier: BSD-3-Clause */
/* A TLS stream as the files of lib/tls see it. */
#ifndef TLS_TLS_STREAM_PRIV_H
#define TLS_TLS_STREAM_PRIV_H

#include <openssl/ssl.h>

#include "tls/tls_bytes.h"
#include "tls/tls_error.h"
#include "tls/tls_record.h"
#include "tls/tls_stream.h"

/* Plaintext that one system call sends; also what an inner stream can leave to be kept. */
#define TLS_BATCH_BYTES (4u * TLS_RECORD_BYTES)
/* A client can demand records of 512 bytes (RFC 6066 section 4). Each adds 22 bytes. */
#define TLS_OUT_BYTES (TLS_BATCH_BYTES + TLS_BATCH_BYTES / 512u * 22u + 8u * TLS_EXPANSION_BYTES)

/* Of an open connection: what one call can leave, and answers to messages such as KeyUpdate. */
#define TLS_PENDING_MAX_BYTES (TLS_OUT_BYTES + 8192u)

/* What a peer can send during a handshake. The largest part is its chain of certificates. */
#define TLS_HANDSHAKE_BYTES   (128u << 10)
#define TLS_HANDSHAKE_RECORDS 512u
/* Messages after the handshake, such as KeyUpdate, without data between them; or not to be answered. */
#define TLS_MESSAGES_MAX 32u
/*
 * Input of one event: records, of which a peer can send many without much data. A message costs as
 * much time as some records, since it makes a key.
 */
#define TLS_EVENT_RECORDS   256u
#define TLS_MESSAGE_RECORDS 16u
/* RFC 8446 section 5.5: AES-GCM is safe for 2^24.5 full records of one key. */
#define TLS_KEY_RECORDS (1u << 23)

enum tls_state {
	TLS_HANDSHAKE, /* waits for a record, or to send */
	TLS_WORKING,   /* another thread has the SSL object, `in`, `pending` and `outcome` */
	TLS_OPEN,
	TLS_FAILED, /* connected() has reported it, or is about to */
};

enum tls_outcome { TLS_CONTINUE, TLS_DONE, TLS_FAIL };

struct tls_stream {
	struct stream stream;
	struct tls_worker *worker;
	struct tls_counters *counters;
	struct tls_context *context;
	enum tls_role role;
	struct stream *inner;   /* NULL: freed, while work still ran */
	unsigned inner_watched; /* requested from inner */
	unsigned watched;       /* requested from us */
	enum tls_state state;
	bool closed, orphaned; /* orphaned: freed by the owner while work ran */
	SSL *ssl;
	struct loop_task task; /* what no event of the inner stream starts */
	char error[TLS_ERROR_BYTES];
	struct tls_peer peer;

	/* The handshake. A work can have only the first `usable` bytes of `in`. */
	struct tls_bytes in;
	size_t usable;
	size_t in_total;
	unsigned in_records;
	bool start_due; /* a client's first step needs no input */
	void (*on_complete)(struct tls_stream *tls);
	enum tls_outcome outcome;
	enum tls_failure failure;

	/* Records */
	struct tls_bytes pending; /* encrypted output that the inner stream has not taken */
	size_t out_used;          /* in worker->out, during a call */
	unsigned reads_left;      /* from the inner stream, during a call */
	unsigned records_left;    /* that can be decrypted before the next event */
	bool more;                /* input may be left where the inner stream does not see it */
	bool got_close;           /* close_notify */
	bool sent_close;
	bool shutdown_due; /* of the inner stream, once `pending` is sent */
	bool inner_ended;
	int inner_error; /* negative errno */
	int broken;      /* negative errno of every call from now on */
	unsigned messages;
	unsigned records, max_records; /* sent with the current key */
};

static inline struct tls_stream *tls_stream_of(struct stream *stream)
{
	return container_of(stream, struct tls_stream, stream);
}

static inline const struct tls_stream *tls_stream_of_const(const struct stream *stream)
{
	return container_of(stream, const struct tls_stream, stream);
}

/* tls_state.c */

/** tls_state_watch - Requests exactly @events of the inner stream. */
void tls_state_watch(struct tls_stream *tls, unsigned events);
/** tls_state_free - Frees a stream of which no work runs. */
void tls_state_free(struct tls_stream *tls);

/* tls_bio.c */

/**
 * tls_bio_attach - Connects the SSL object with the stream's input and output. Returns 0 or -ENOMEM.
 */
int tls_bio_attach(struct tls_stream *tls) MUST_CHECK;
/**
 * tls_bio_flush - Sends `pending` and what is in the worker's output
 *
 * Returns 0 if all was sent, -EAGAIN if some is in `pending` now, or another negative errno.
 */
int tls_bio_flush(struct tls_stream *tls);

/* tls_handshake.c */

/** tls_handshake_blind - Ends the handshake, since the inner stream cannot be watched. */
void tls_handshake_blind(struct tls_stream *tls);
/** tls_handshake_advance - Does what can be done for the handshake now, and reports its end. */
void tls_handshake_advance(struct tls_stream *tls);

/* tls_stream.c */

/** tls_stream_idle_bytes - Returns how much memory a connection has at most while nothing happens. */
size_t tls_stream_idle_bytes(void);

#endif
