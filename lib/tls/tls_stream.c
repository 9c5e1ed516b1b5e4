// SPDX-License-Identifier: BSD-3-Clause
#include "tls/tls_stream.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "tls/tls_context_priv.h"
#include "tls/tls_stream_priv.h"

COUNTER_TABLE(tls_counters, TLS_COUNTERS);

/* What OpenSSL has for an open connection, besides the buffers of records; measured by a test. */
#define SSL_BYTES (32u << 10)

int tls_worker_init(struct tls_worker *worker, struct loop *loop, struct tls_runner *runner)
{
	*worker = (struct tls_worker){.loop = loop, .runner = runner};
	worker->out = malloc(TLS_OUT_BYTES + TLS_RECORD_BYTES);
	if (!worker->out)
		return -ENOMEM;
	worker->gather = worker->out + TLS_OUT_BYTES;
	return 0;
}

void tls_worker_fini(struct tls_worker *worker)
{
	free(worker->out);
	worker->out = NULL;
}

size_t tls_stream_idle_bytes(void)
{
	return sizeof(struct tls_stream) + SSL_BYTES;
}

size_t tls_stream_memory_bytes(void)
{
	return tls_stream_idle_bytes() + TLS_READ_BUFFER_BYTES + TLS_RECORD_BYTES +
	       TLS_EXPANSION_BYTES + TLS_PENDING_MAX_BYTES;
}

/* Events */

/* Whether stream_readv() has something to return without input of the inner stream. */
static bool is_readable(const struct tls_stream *tls)
{
	return tls->broken || tls->got_close || tls->more;
}

/* Requests of the inner stream and of the loop what the owner waits for. */
static void update(struct tls_stream *tls)
{
	unsigned events = tls->watched;

	/* After the peer's close_notify nothing is read. */
	if (tls->got_close || tls->broken)
		events &= ~LOOP_READ;
	if (tls_bytes_filled(&tls->pending))
		events |= LOOP_WRITE;
	else if (tls->broken)
		events &= ~LOOP_WRITE;
	tls_state_watch(tls, events);
	if ((tls->watched & LOOP_READ && is_readable(tls)) ||
	    (tls->watched & LOOP_WRITE && tls->broken))
		loop_defer(tls->worker->loop, &tls->task);
}

static void notify(struct tls_stream *tls, unsigned events)
{
	tls->records_left = TLS_EVENT_RECORDS;
	if (events)
		tls->stream.events->ready(tls->stream.arg, events);
	if (!tls->closed)
		update(tls);
}

static void run_task(void *arg)
{
	struct tls_stream *tls = arg;
	unsigned events = 0;

	if (tls->state == TLS_HANDSHAKE) {
		tls_handshake_advance(tls);
		return;
	}
	if (is_readable(tls))
		events |= LOOP_READ;
	if (tls->broken)
		events |= LOOP_WRITE;
	notify(tls, events & tls->watched);
}

static void on_inner_open(struct tls_stream *tls, unsigned events)
{
	if (events & LOOP_WRITE && tls_bio_flush(tls) == -EAGAIN)
		events &= ~LOOP_WRITE;
	notify(tls, events & (tls->watched | LOOP_ERROR));
}

static void on_inner_ready(void *arg, unsigned events)
{
	struct tls_stream *tls = arg;

	if (tls->state == TLS_OPEN)
		on_inner_open(tls, events);
	else if (tls->state == TLS_HANDSHAKE && events & LOOP_ERROR)
		tls_handshake_blind(tls);
	else if (tls->state == TLS_HANDSHAKE)
		tls_handshake_advance(tls);
}

static const struct stream_events inner_events = {.ready = on_inner_ready};

/* A connection that fails */

/* Describes why an operation of OpenSSL failed, for all calls from now on. */
static void break_down(struct tls_stream *tls)
{
	enum tls_failure failure;

	if (tls->inner_error) {
		ERR_clear_error();
		tls->broken = tls->inner_error;
		return;
	}
	if (tls->messages > TLS_MESSAGES_MAX) {
		ERR_clear_error();
		snprintf(tls->error, sizeof(tls->error),
			 "the %s sent too many messages of TLS itself", tls_error_peer(tls->role));
		failure = TLS_FAILURE_PROTOCOL;
	} else {
		failure = tls_error_describe(tls->ssl, tls->role, &tls->peer, tls->error);
	}
	if (tls->inner_ended) {
		tls->counters->truncations++;
		tls->broken = -ENOLINK;
		return;
	}
	if (failure != TLS_FAILURE_RESOURCES)
		tls->counters->record_errors++;
	tls->broken = failure == TLS_FAILURE_REJECTED    ? -ECONNRESET
		      : failure == TLS_FAILURE_RESOURCES ? -ENOMEM
							 : -EPROTO;
}

/* Reading */

/* Takes the result of SSL_read_ex() or SSL_peek_ex() that failed. */
static void read_failed(struct tls_stream *tls)
{
	if (tls->messages > TLS_MESSAGES_MAX) {
		break_down(tls);
		return;
	}
	switch (SSL_get_error(tls->ssl, 0)) {
	case SSL_ERROR_WANT_READ:
		break;
	case SSL_ERROR_ZERO_RETURN:
		tls->got_close = true;
		break;
	default:
		break_down(tls);
	}
}

/* Returns whether a part of a record is left, or another can be decrypted before the next event. */
static bool may_decrypt(struct tls_stream *tls)
{
	if (SSL_pending(tls->ssl))
		return true;
	if (!tls->records_left)
		return false;
	tls->records_left--;
	return true;
}

static size_t read_piece(struct tls_stream *tls, const struct iovec *iov)
{
	size_t done = 0, n;

	while (done < iov->iov_len && may_decrypt(tls)) {
		ERR_clear_error();
		if (SSL_read_ex(tls->ssl, (char *)iov->iov_base + done, iov->iov_len - done, &n) !=
		    1) {
			read_failed(tls);
			break;
		}
		tls->messages = 0;
		done += n;
	}
	return done;
}

static size_t total(const struct iovec *iov, int niov)
{
	size_t bytes = 0;

	for (int i = 0; i < niov; i++)
		bytes += iov[i].iov_len;
	return bytes;
}

/*
 * Sends what reading has caused, and returns what a read of @done bytes returns. An alert that cannot
 * be sent at once is dropped with its connection.
 */
static ssize_t end_read(struct tls_stream *tls, size_t done)
{
	int err = tls->broken;

	tls->broken = 0;
	if (tls_bio_flush(tls) == -EAGAIN && err)
		tls_bytes_fini(&tls->pending);
	if (err)
		tls->broken = err;
	update(tls);
	if (done)
		return (ssize_t)done;
	if (tls->broken)
		return tls->broken;
	return tls->got_close ? 0 : -EAGAIN;
}

static ssize_t op_readv(struct stream *stream, const struct iovec *iov, int niov)
{
	struct tls_stream *tls = tls_stream_of(stream);
	size_t asked = total(iov, niov), done = 0, n;

	if (tls->broken || tls->got_close || !asked)
		return tls->broken;
	if (tls->state != TLS_OPEN)
		return -EAGAIN;
	tls->reads_left = 1 + (unsigned)(asked / TLS_READ_BUFFER_BYTES);
	tls->more = false;
	for (int i = 0; i < niov; i++) {
		n = read_piece(tls, &iov[i]);
		done += n;
		if (n < iov[i].iov_len)
			break;
	}
	if ((done == asked || !tls->records_left) && SSL_has_pending(tls->ssl))
		tls->more = true;
	return end_read(tls, done);
}

static int op_peek(struct stream *stream)
{
	struct tls_stream *tls = tls_stream_of(stream);
	uint8_t byte;
	size_t n = 0;

	if (tls->broken || tls->got_close)
		return tls->broken;
	if (tls->state != TLS_OPEN)
		return -EAGAIN;
	tls->reads_left = 1;
	ERR_clear_error();
	if (SSL_peek_ex(tls->ssl, &byte, 1, &n) == 1)
		tls->more = true;
	else
		read_failed(tls);
	return (int)end_read(tls, n);
}

/* Writing */

/* A position in the bytes to be written. */
struct cursor {
	const struct iovec *iov;
	int niov;
	size_t offset; /* in the first one */
};

static void cursor_skip(struct cursor *at, size_t bytes)
{
	at->offset += bytes;
	while (at->niov > 0 && at->offset >= at->iov->iov_len) {
		at->offset -= at->iov->iov_len;
		at->iov++;
		at->niov--;
	}
}

/* Copies up to @most bytes, and skips them. */
static size_t gather(struct cursor *at, uint8_t *to, size_t most)
{
	size_t done = 0, n;

	while (done < most && at->niov > 0) {
		n = at->iov->iov_len - at->offset;
		if (n > most - done)
			n = most - done;
		memcpy(to + done, (const char *)at->iov->iov_base + at->offset, n);
		done += n;
		cursor_skip(at, n);
	}
	return done;
}

/*
 * Finds the plaintext of the next records, at most @most bytes, and skips it. Whole records of one
 * piece are encrypted from where they lie; smaller pieces are gathered into one record.
 */
static const void *next_plaintext(struct tls_stream *tls, struct cursor *at, size_t most,
				  size_t *bytes)
{
	size_t here = at->iov->iov_len - at->offset;
	const char *start = (const char *)at->iov->iov_base + at->offset;

	if (here > most)
		here = most;
	if (here >= TLS_RECORD_BYTES)
		here -= here % TLS_RECORD_BYTES;
	else if (at->niov > 1) {
		*bytes = gather(at, tls->worker->gather,
				most < TLS_RECORD_BYTES ? most : TLS_RECORD_BYTES);
		return tls->worker->gather;
	}
	*bytes = here;
	cursor_skip(at, here);
	return start;
}

/* Takes a new key for the records of @bytes, and all that follow, if the present one was used long. */
static bool change_key(struct tls_stream *tls, size_t bytes)
{
	unsigned records = (unsigned)((bytes + TLS_RECORD_BYTES - 1) / TLS_RECORD_BYTES);

	tls->records += records;
	if (tls->records <= tls->max_records)
		return true;
	tls->records = records;
	return SSL_key_update(tls->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1;
}

/* Encrypts at most TLS_BATCH_BYTES into the worker's output. Returns their number. */
static size_t encrypt_batch(struct tls_stream *tls, struct cursor *at)
{
	size_t done = 0, n, written;
	const void *plaintext;

	while (at->niov > 0 && done < TLS_BATCH_BYTES) {
		plaintext = next_plaintext(tls, at, TLS_BATCH_BYTES - done, &n);
		ERR_clear_error();
		if (!change_key(tls, n) || SSL_write_ex(tls->ssl, plaintext, n, &written) != 1) {
			break_down(tls);
			break;
		}
		done += n;
	}
	return done;
}

static ssize_t op_writev(struct stream *stream, const struct iovec *iov, int niov)
{
	struct tls_stream *tls = tls_stream_of(stream);
	struct cursor at = {iov, niov, 0};
	size_t done = 0;
	int err = tls->state == TLS_OPEN ? tls_bio_flush(tls) : -EAGAIN;

	if (err)
		return err;
	if (tls->sent_close)
		return -EPIPE;
	cursor_skip(&at, 0);
	while (!err && !tls->broken && at.niov > 0) {
		done += encrypt_batch(tls, &at);
		err = tls_bio_flush(tls);
	}
	update(tls);
	return done ? (ssize_t)done : tls->broken;
}

/* The other operations */

static void send_close_notify(struct tls_stream *tls)
{
	if (tls->sent_close)
		return;
	tls->sent_close = true;
	ERR_clear_error();
	SSL_shutdown(tls->ssl);
	ERR_clear_error();
}

static int op_shutdown(struct stream *stream)
{
	struct tls_stream *tls = tls_stream_of(stream);
	int err;

	if (tls->state != TLS_OPEN)
		return -ENOTCONN;
	if (tls->broken)
		return tls->broken;
	send_close_notify(tls);
	tls->shutdown_due = true;
	err = tls_bio_flush(tls);
	update(tls);
	return err == -EAGAIN ? 0 : err;
}

static void op_watch(struct stream *stream, unsigned events)
{
	struct tls_stream *tls = tls_stream_of(stream);

	tls->watched = events;
	if (tls->state == TLS_OPEN)
		update(tls);
}

static unsigned op_ended(const struct stream *stream)
{
	const struct tls_stream *tls = tls_stream_of_const(stream);

	return stream_ended(tls->inner) | (tls->got_close ? LOOP_END : 0);
}

static uint64_t op_unacked_bytes(const struct stream *stream)
{
	const struct tls_stream *tls = tls_stream_of_const(stream);
	size_t pending = tls->state == TLS_WORKING ? 0 : tls_bytes_filled(&tls->pending);

	return stream_unacked_bytes(tls->inner) + pending;
}

static uint64_t op_unsent_bytes(const struct stream *stream)
{
	const struct tls_stream *tls = tls_stream_of_const(stream);
	size_t pending = tls->state == TLS_WORKING ? 0 : tls_bytes_filled(&tls->pending);

	return stream_unsent_bytes(tls->inner) + pending;
}

static void op_addrs(const struct stream *stream, struct sockaddr_storage *local,
		     struct sockaddr_storage *peer)
{
	stream_addrs(tls_stream_of_const(stream)->inner, local, peer);
}

static void op_close(struct stream *stream, bool reset)
{
	struct tls_stream *tls = tls_stream_of(stream);

	if (tls->closed)
		return;
	tls->closed = true;
	loop_task_cancel(tls->worker->loop, &tls->task);
	if (tls->state == TLS_HANDSHAKE || tls->state == TLS_WORKING)
		tls->counters->handshakes_closed++;
	if (tls->state == TLS_OPEN && !reset && !tls->broken) {
		send_close_notify(tls);
		tls_bio_flush(tls);
	}
	stream_close(tls->inner, reset);
}

static void op_free(struct stream *stream)
{
	struct tls_stream *tls = tls_stream_of(stream);

	if (tls->state != TLS_WORKING) {
		tls_state_free(tls);
		return;
	}
	stream_free(tls->inner);
	tls->inner = NULL;
	tls->orphaned = true;
}

static const struct stream_ops tls_stream_ops = {
	.readv = op_readv,
	.writev = op_writev,
	.peek = op_peek,
	.shutdown = op_shutdown,
	.watch = op_watch,
	.ended = op_ended,
	.unacked_bytes = op_unacked_bytes,
	.unsent_bytes = op_unsent_bytes,
	.addrs = op_addrs,
	.close = op_close,
	.free = op_free,
};

/* Making one */

/* Counts messages of TLS itself, such as KeyUpdate, by which a peer could keep us busy. */
static void on_message(int sent, int version, int content_type, const void *message, size_t bytes,
		       SSL *ssl, void *arg)
{
	struct tls_stream *tls = arg;

	if (content_type != SSL3_RT_HANDSHAKE)
		return;
	if (bytes && *(const uint8_t *)message == SSL3_MT_KEY_UPDATE)
		tls->counters->key_updates++;
	if (sent)
		return;
	tls->records_left -= min_u32(tls->records_left, TLS_MESSAGE_RECORDS);
	/* Otherwise OpenSSL would execute all that it has read. */
	if (++tls->messages > TLS_MESSAGES_MAX)
		SSL_set_shutdown(ssl, SSL_get_shutdown(ssl) | SSL_RECEIVED_SHUTDOWN);
}

/* Makes a stream whose handshake is complete ready for records, and reports it. */
static void on_complete(struct tls_stream *tls)
{
	tls->state = TLS_OPEN;
	tls->records_left = TLS_EVENT_RECORDS;
	/* It is empty: the peer could not end a handshake before it had an answer. */
	tls_bytes_fini(&tls->in);
	SSL_set_msg_callback(tls->ssl, on_message);
	SSL_set_msg_callback_arg(tls->ssl, tls);
	tls_state_watch(tls, 0);
	update(tls);
	tls->stream.events->connected(tls->stream.arg, 0);
}

int tls_stream_new(struct tls_worker *worker, struct tls_counters *counters,
		   struct tls_context *context, enum tls_role role, struct stream *inner,
		   const uint8_t *early, size_t early_bytes, struct stream **out)
{
	struct tls_stream *tls = calloc(1, sizeof(*tls));

	if (!tls)
		return -ENOMEM;
	tls->stream.ops = &tls_stream_ops;
	tls->stream.port_retries = inner->port_retries;
	tls->stream.port_shortfall = inner->port_shortfall;
	tls->worker = worker;
	tls->counters = counters;
	tls->context = tls_context_ref(context);
	tls->role = role;
	tls->start_due = role == TLS_ROLE_CLIENT;
	tls->max_records = TLS_KEY_RECORDS;
	tls->on_complete = on_complete;
	tls->ssl = tls_context_ssl(context, role, &tls->peer);
	loop_task_init(&tls->task, run_task, tls);
	if (!tls->ssl || tls_bio_attach(tls) || tls_bytes_add(&tls->in, early, early_bytes)) {
		ERR_clear_error();
		tls_state_free(tls);
		return -ENOMEM;
	}
	tls->inner = inner;
	stream_bind(inner, &inner_events, tls);
	stream_watch(inner, 0);
	loop_defer(worker->loop, &tls->task);
	*out = &tls->stream;
	return 0;
}

const char *tls_stream_error(const struct stream *stream)
{
	const struct tls_stream *tls = tls_stream_of_const(stream);

	return tls->state == TLS_WORKING ? "" : tls->error;
}

bool tls_stream_has_output(const struct stream *stream)
{
	const struct tls_stream *tls = tls_stream_of_const(stream);

	return tls->state == TLS_OPEN && tls_bytes_filled(&tls->pending);
}

const struct tls_peer *tls_stream_peer(const struct stream *stream)
{
	return &tls_stream_of_const(stream)->peer;
}
