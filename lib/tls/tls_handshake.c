// SPDX-License-Identifier: BSD-3-Clause
/*
 * The handshake of a TLS stream.
 *
 * The loop's thread reads one record, gives it with the SSL object to the runner, and continues in
 * work_done(): it sends the output, and reads the next record. It never reads past the last record of
 * the handshake, so all later records are still in the socket when the keys are known.
 */
#include <errno.h>
#include <openssl/err.h>
#include <stdarg.h>
#include <stdio.h>

#include "tls/tls_context_priv.h"
#include "tls/tls_stream_priv.h"

/* The end */

static void count_failure(struct tls_stream *tls)
{
	struct tls_counters *counters = tls->counters;
	uint64_t *const counter[] = {
		[TLS_FAILURE_CERTIFICATE] = &counters->handshakes_certificate,
		[TLS_FAILURE_REJECTED] = &counters->handshakes_rejected,
		[TLS_FAILURE_PROTOCOL] = &counters->handshakes_protocol,
		[TLS_FAILURE_CLOSED] = &counters->handshakes_closed,
		[TLS_FAILURE_RESOURCES] = &counters->handshakes_resources,
		[TLS_FAILURE_LIMITED] = &counters->handshakes_limited,
	};

	(*counter[tls->failure])++;
}

/* Reports the failure that `failure` and `error` describe. */
static void report_failure(struct tls_stream *tls, int err)
{
	tls->state = TLS_FAILED;
	tls->broken = err;
	tls_state_watch(tls, 0);
	count_failure(tls);
	tls->stream.events->connected(tls->stream.arg, err);
}

static void PRINTF_LIKE(4, 5)
	fail(struct tls_stream *tls, enum tls_failure failure, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(tls->error, sizeof(tls->error), fmt, args);
	va_end(args);
	tls->failure = failure;
	report_failure(tls, err);
}

static void fail_closed(struct tls_stream *tls, int err)
{
	if (err)
		fail(tls, TLS_FAILURE_CLOSED, err, "the connection broke during the handshake");
	else
		fail(tls, TLS_FAILURE_CLOSED, -ECONNRESET,
		     "the %s closed the connection during the handshake",
		     tls_error_peer(tls->role));
}

/* The work */

/* Another thread: one step of the handshake, with one record of input. */
static void work(void *arg)
{
	struct tls_stream *tls = arg;
	int ret;

	tls->error[0] = '\0';
	ERR_clear_error();
	ret = SSL_do_handshake(tls->ssl);
	if (ret == 1) {
		tls->outcome = TLS_DONE;
		tls->peer.verified = SSL_get0_peer_certificate(tls->ssl) != NULL;
		tls->peer.cipher = SSL_get_cipher_name(tls->ssl);
	} else if (SSL_get_error(tls->ssl, ret) == SSL_ERROR_WANT_READ) {
		tls->outcome = TLS_CONTINUE;
	} else {
		tls->outcome = TLS_FAIL;
		tls->failure = tls_error_describe(tls->ssl, tls->role, &tls->peer, tls->error);
	}
}

static void work_done(void *arg)
{
	struct tls_stream *tls = arg;

	tls->worker->running--;
	tls->state = TLS_HANDSHAKE;
	if (tls->orphaned)
		tls_state_free(tls);
	else if (!tls->closed)
		tls_handshake_advance(tls);
}

static void start_work(struct tls_stream *tls)
{
	struct tls_runner *runner = tls->worker->runner;

	/* Unless work() says otherwise. */
	snprintf(tls->error, sizeof(tls->error), "the handshake was not computed");
	tls->failure = TLS_FAILURE_LIMITED;
	tls->outcome = TLS_FAIL;
	tls->start_due = false;
	tls->state = TLS_WORKING;
	tls->worker->running++;
	tls_state_watch(tls, 0);
	if (!runner->run(runner, tls->worker->loop, work, work_done, tls))
		return;
	tls->worker->running--;
	fail(tls, TLS_FAILURE_LIMITED, -EAGAIN, "too many TLS handshakes wait");
}

/* Input */

static size_t record_bytes(const struct tls_bytes *in)
{
	const uint8_t *header = tls_bytes_first(in);

	if (tls_bytes_filled(in) < TLS_HEADER_BYTES)
		return 0;
	return TLS_HEADER_BYTES + ((size_t)header[3] << 8 | header[4]);
}

/* Whether the next bytes can begin a record: its type, and the major version. */
static bool is_tls(const struct tls_bytes *in)
{
	const uint8_t *header = tls_bytes_first(in);
	size_t filled = tls_bytes_filled(in);

	return (filled < 1 || (header[0] >= SSL3_RT_CHANGE_CIPHER_SPEC &&
			       header[0] <= SSL3_RT_APPLICATION_DATA)) &&
	       (filled < 2 || header[1] == SSL3_VERSION_MAJOR);
}

/*
 * Reads until `in` begins with a whole record. Returns 0, -EAGAIN if it does not, -ENODATA at the
 * peer's end of stream, -EBADMSG for what is not TLS, or another negative errno.
 */
static int read_record(struct tls_stream *tls)
{
	struct tls_bytes *in = &tls->in;
	struct iovec iov;
	ssize_t n;
	size_t total;

	while (is_tls(in)) {
		total = record_bytes(in);
		if (total && tls_bytes_filled(in) >= total) {
			tls->usable = total;
			return 0;
		}
		iov.iov_len = (total ? total : TLS_HEADER_BYTES) - tls_bytes_filled(in);
		if (tls_bytes_reserve(in, iov.iov_len))
			return -ENOMEM;
		iov.iov_base = in->at + in->end;
		n = stream_readv(tls->inner, &iov, 1);
		if (n <= 0)
			return n ? (int)n : -ENODATA;
		in->end += (size_t)n;
	}
	return -EBADMSG;
}

/* A record is in `in`. */
static void on_record(struct tls_stream *tls)
{
	tls->in_total += tls->usable;
	tls->in_records++;
	if (tls->in_total > TLS_HANDSHAKE_BYTES || tls->in_records > TLS_HANDSHAKE_RECORDS)
		fail(tls, TLS_FAILURE_PROTOCOL, -EPROTO, "the %s sent too much for a handshake",
		     tls_error_peer(tls->role));
	else
		start_work(tls);
}

static void read_on(struct tls_stream *tls)
{
	int err = read_record(tls);

	switch (err) {
	case 0:
		on_record(tls);
		break;
	case -EAGAIN:
		tls_state_watch(tls, LOOP_READ);
		break;
	case -EBADMSG:
		fail(tls, TLS_FAILURE_PROTOCOL, -EPROTO, "the %s does not speak TLS",
		     tls_error_peer(tls->role));
		break;
	case -ENOMEM:
		fail(tls, TLS_FAILURE_RESOURCES, err, "no memory for TLS");
		break;
	default:
		fail_closed(tls, err == -ENODATA ? 0 : err);
	}
}

void tls_handshake_blind(struct tls_stream *tls)
{
	fail(tls, TLS_FAILURE_RESOURCES, -ENOMEM, "the connection cannot be watched");
}

static void complete(struct tls_stream *tls)
{
	tls->counters->handshakes_ok++;
	tls->on_complete(tls);
}

void tls_handshake_advance(struct tls_stream *tls)
{
	int err = tls_bio_flush(tls);

	/* Its alert is sent if that can be done at once. */
	if (tls->outcome == TLS_FAIL)
		report_failure(tls, tls_error_errno(tls->failure));
	else if (err == -EAGAIN)
		tls_state_watch(tls, LOOP_WRITE);
	else if (err)
		fail_closed(tls, err);
	else if (tls->outcome == TLS_DONE)
		complete(tls);
	else if (tls->start_due)
		start_work(tls);
	else
		read_on(tls);
}
