// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where OpenSSL gets and puts encrypted bytes.
 *
 * During a handshake: `in` and `pending`, so that no other thread touches the inner stream. Later:
 * the inner stream, and the worker's output, which tls_bio_flush() sends.
 */
#include <openssl/bio.h>
#include <pthread.h>

#include "tls/tls_stream_priv.h"

static BIO_METHOD *method;
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

/* Input */

static int read_kept(struct tls_stream *tls, char *to, size_t bytes)
{
	size_t n = tls->usable < bytes ? tls->usable : bytes;

	memcpy(to, tls->in.at + tls->in.start, n);
	tls_bytes_consume(&tls->in, n);
	tls->usable -= n;
	return (int)n;
}

static int read_inner(struct tls_stream *tls, BIO *bio, char *to, size_t bytes)
{
	struct iovec iov = {to, bytes};
	ssize_t n;

	if (tls->messages > TLS_MESSAGES_MAX)
		return -1;
	if (!tls->reads_left) {
		BIO_set_retry_read(bio);
		return -1;
	}
	n = stream_readv(tls->inner, &iov, 1);
	/* Less than asked: the rest comes with another event. */
	tls->reads_left = n < (ssize_t)bytes ? 0 : tls->reads_left - 1;
	tls->more = n == (ssize_t)bytes;
	if (n == -EAGAIN)
		BIO_set_retry_read(bio);
	else if (n < 0)
		tls->inner_error = (int)n;
	tls->inner_ended = n == 0;
	return n < 0 ? -1 : (int)n;
}

static int op_read(BIO *bio, char *to, int bytes)
{
	struct tls_stream *tls = BIO_get_data(bio);

	BIO_clear_retry_flags(bio);
	if (bytes <= 0)
		return 0;
	if (tls->usable)
		return read_kept(tls, to, (size_t)bytes);
	if (tls->state == TLS_OPEN)
		return read_inner(tls, bio, to, (size_t)bytes);
	BIO_set_retry_read(bio);
	return -1;
}

/* Output */

static int op_write(BIO *bio, const char *from, int bytes)
{
	struct tls_stream *tls = BIO_get_data(bio);

	BIO_clear_retry_flags(bio);
	if (bytes <= 0)
		return 0;
	if (tls->state != TLS_OPEN)
		return tls_bytes_add(&tls->pending, from, (size_t)bytes) ? -1 : bytes;
	/* Only the answers to messages can be so many: stream_writev() waits until all is sent. */
	if ((size_t)bytes > TLS_OUT_BYTES - tls->out_used ||
	    tls_bytes_filled(&tls->pending) > TLS_PENDING_MAX_BYTES) {
		tls->messages = TLS_MESSAGES_MAX + 1;
		return -1;
	}
	memcpy(tls->worker->out + tls->out_used, from, (size_t)bytes);
	tls->out_used += (size_t)bytes;
	return bytes;
}

static long op_ctrl(BIO *bio, int cmd, long num, void *ptr)
{
	const struct tls_stream *tls = BIO_get_data(bio);

	switch (cmd) {
	case BIO_CTRL_FLUSH:
		return 1;
	case BIO_CTRL_EOF:
		return tls->inner_ended;
	default:
		return 0;
	}
}

static void make_method(void)
{
	method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "stream");
	if (!method)
		return;
	BIO_meth_set_read(method, op_read);
	BIO_meth_set_write(method, op_write);
	BIO_meth_set_ctrl(method, op_ctrl);
}

int tls_bio_attach(struct tls_stream *tls)
{
	BIO *bio;

	pthread_once(&method_once, make_method);
	bio = method ? BIO_new(method) : NULL;
	if (!bio)
		return -ENOMEM;
	BIO_set_data(bio, tls);
	BIO_set_init(bio, 1);
	SSL_set_bio(tls->ssl, bio, bio);
	return 0;
}

/* Sending */

static int keep_rest(struct tls_stream *tls, size_t sent)
{
	size_t kept = tls_bytes_filled(&tls->pending), from_kept = sent < kept ? sent : kept;
	size_t rest = tls->out_used - (sent - from_kept);
	int err;

	tls_bytes_consume(&tls->pending, from_kept);
	err = tls_bytes_add(&tls->pending, tls->worker->out + tls->out_used - rest, rest);
	tls->out_used = 0;
	return err;
}

static int send_all(struct tls_stream *tls)
{
	size_t kept = tls_bytes_filled(&tls->pending);
	struct iovec iov[2];
	int niov = 0, err;
	ssize_t n;

	if (kept)
		iov[niov++] = (struct iovec){tls_bytes_first(&tls->pending), kept};
	if (tls->out_used)
		iov[niov++] = (struct iovec){tls->worker->out, tls->out_used};
	if (!niov)
		return 0;
	n = stream_writev(tls->inner, iov, niov);
	if (n < 0 && n != -EAGAIN)
		return (int)n;
	err = keep_rest(tls, n > 0 ? (size_t)n : 0);
	if (err)
		return err;
	return tls_bytes_filled(&tls->pending) ? -EAGAIN : 0;
}

int tls_bio_flush(struct tls_stream *tls)
{
	int err = tls->broken ? tls->broken : send_all(tls);

	if (err && err != -EAGAIN) {
		tls->broken = err;
		tls->out_used = 0;
		tls_bytes_fini(&tls->pending);
	} else if (!err && tls->shutdown_due) {
		tls->shutdown_due = false;
		err = stream_shutdown(tls->inner);
	}
	return err;
}
