// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/tcp_tls_bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/record_mark.h"
#include "rpc/starttls.h"
#include "tests/lib/tls_files.h"

#define PATH_BYTES 64u

struct wire from_leg, to_leg;
struct tls_context *tls_server, *tls_server_verifies, *tls_client, *tls_client_named;
struct tls_context *tls_client_misled;
struct tls_counters tls_bench_counters;
bool tls_bench_hold, tls_bench_full, raw_secured;
unsigned tls_bench_passes;
int raw_error;

static struct tls_worker tls_worker;

/* The runner: what the test does not hold is done in the next iteration. */

struct job {
	TAILQ_ENTRY(job) entry;
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static TAILQ_HEAD(, job) held = TAILQ_HEAD_INITIALIZER(held);

static void run_job(void *arg)
{
	struct job *job = arg;

	job->work(job->arg);
	job->done(job->arg);
	free(job);
}

static int run(struct tls_runner *runner, struct loop *loop, void (*work)(void *arg),
	       void (*done)(void *arg), void *arg)
{
	bool passes = tls_bench_passes || !(tls_bench_hold || tls_bench_full);
	struct job *job;

	if (!passes && tls_bench_full)
		return -EAGAIN;
	job = malloc(sizeof(*job));
	*job = (struct job){.work = work, .done = done, .arg = arg};
	if (passes) {
		tls_bench_passes -= tls_bench_passes > 0;
		return fake_loop_post(loop, run_job, job);
	}
	TAILQ_INSERT_TAIL(&held, job, entry);
	return 0;
}

static struct tls_runner runner = {.run = run};

void tls_bench_release(void)
{
	struct job *job;

	tls_bench_hold = false;
	while ((job = TAILQ_FIRST(&held))) {
		TAILQ_REMOVE(&held, job, entry);
		run_job(job);
	}
	bench_run();
}

/* Contexts */

static void make_path(char to[PATH_BYTES], const char *name, const char *ending)
{
	snprintf(to, PATH_BYTES, "%.40s/%s.%s", tls_files_dir, name, ending);
}

static struct tls_context *context_new(struct tls_context_config config, const char *name)
{
	char cert[PATH_BYTES], key[PATH_BYTES], ca[PATH_BYTES], error[TLS_ERROR_BYTES] = "";
	struct tls_context *context = NULL;

	if (name) {
		make_path(cert, name, "pem");
		make_path(key, name, "key");
		config.cert_file = cert;
		config.key_file = key;
	}
	make_path(ca, "ca", "pem");
	config.ca_file = ca;
	ck_assert_msg(!tls_context_new(&config, &context, error), "%s", error);
	return context;
}

void tls_bench_begin(void)
{
	tls_files_setup();
	tls_files_sign("server", "DNS:server.example", 100);
	tls_files_sign("client", "DNS:client.example", 100);
	tls_server = context_new((struct tls_context_config){.accepts = true}, "server");
	tls_server_verifies = context_new(
		(struct tls_context_config){.accepts = true, .verify_client = TLS_VERIFY_REQUIRED},
		"server");
	tls_client = context_new(
		(struct tls_context_config){.connects = true, .server_name = "server.example"},
		NULL);
	tls_client_named = context_new(
		(struct tls_context_config){.connects = true, .server_name = "server.example"},
		"client");
	tls_client_misled = context_new(
		(struct tls_context_config){.connects = true, .server_name = "other.example"},
		NULL);
}

void tls_bench_end(void)
{
	struct tls_context *all[] = {tls_server, tls_server_verifies, tls_client, tls_client_named,
				     tls_client_misled};

	for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
		tls_context_put(all[i]);
	tls_files_teardown();
}

static void configure(struct bench_side *side, enum tcp_tls_policy policy,
		      struct tls_context *context)
{
	side->config.tls = (struct tcp_tls_config){
		.policy = policy,
		.context = context,
		.worker = &tls_worker,
		.counters = &tls_bench_counters,
		.probe_program = 100003,
		.probe_version = 4,
	};
}

static void begin(void)
{
	tls_bench_hold = tls_bench_full = raw_secured = false;
	tls_bench_passes = 0;
	raw_error = 0;
	from_leg.len_bytes = to_leg.len_bytes = 0;
	tls_bench_counters = (struct tls_counters){0};
	ck_assert_int_eq(tls_worker_init(&tls_worker, bench_loop, &runner), 0);
	configure(&server, TCP_TLS_REQUIRED, tls_server);
	configure(&client, TCP_TLS_REQUIRED, tls_client);
}

void tls_bench_setup(void)
{
	bench_setup();
	begin();
}

void tls_bench_teardown(void)
{
	tls_bench_release();
	bench_teardown();
	tls_worker_fini(&tls_worker);
}

void tls_bench_renew(const struct pair_faults *faults)
{
	tls_bench_release();
	bench_renew(faults);
	tls_worker_fini(&tls_worker);
	begin();
}

void tls_bench_accept(enum tcp_tls_policy policy)
{
	struct stream *ends[2];

	server.config.tls.policy = policy;
	ck_assert_int_eq(pair_new(bench_net, ends), 0);
	raw = ends[1];
	ck_assert_int_eq(tcp_leg_accept(&server.config, ends[0], NULL, &server.leg), 0);
}

void tls_bench_connect(void)
{
	bench_connect();
}

/* The wire */

struct tap {
	struct stream stream;
	struct stream *inner;
	const uint8_t *clear;
	size_t clear_bytes, skip_bytes; /* to be written first; to be dropped of what is read */
};

static struct tap *tap;

static void wire_add(struct wire *wire, const struct iovec *iov, int niov, ssize_t n)
{
	for (; n > 0 && niov > 0; iov++, niov--) {
		size_t here = (size_t)n < iov->iov_len ? (size_t)n : iov->iov_len;

		ck_assert_uint_le(wire->len_bytes + here, sizeof(wire->bytes));
		memcpy(wire->bytes + wire->len_bytes, iov->iov_base, here);
		wire->len_bytes += here;
		n -= (ssize_t)here;
	}
}

static ssize_t tap_readv(struct stream *stream, const struct iovec *iov, int niov)
{
	uint8_t waste[64];
	struct iovec skip = {waste, tap->skip_bytes};
	ssize_t n;

	while (tap->skip_bytes) {
		skip.iov_len = tap->skip_bytes < sizeof(waste) ? tap->skip_bytes : sizeof(waste);
		n = stream_readv(tap->inner, &skip, 1);
		wire_add(&from_leg, &skip, 1, n);
		if (n <= 0)
			return n;
		tap->skip_bytes -= (size_t)n;
	}
	n = stream_readv(tap->inner, iov, niov);
	wire_add(&from_leg, iov, niov, n);
	return n;
}

static ssize_t tap_writev(struct stream *stream, const struct iovec *iov, int niov)
{
	struct iovec first[2] = {{(void *)tap->clear, tap->clear_bytes}, iov[0]};
	ssize_t n = stream_writev(tap->inner, tap->clear ? first : iov, tap->clear ? 2 : niov);

	wire_add(&to_leg, tap->clear ? first : iov, tap->clear ? 2 : niov, n);
	if (tap->clear) {
		ck_assert_int_gt(n, (ssize_t)tap->clear_bytes);
		n -= (ssize_t)tap->clear_bytes;
		tap->clear = NULL;
	}
	return n;
}

static int tap_peek(struct stream *stream)
{
	return stream_peek(tap->inner);
}

static int tap_shutdown(struct stream *stream)
{
	return stream_shutdown(tap->inner);
}

static void tap_watch(struct stream *stream, unsigned events)
{
	stream_watch(tap->inner, events);
}

static unsigned tap_ended(const struct stream *stream)
{
	return stream_ended(tap->inner);
}

static uint64_t tap_unacked_bytes(const struct stream *stream)
{
	return stream_unacked_bytes(tap->inner);
}

static uint64_t tap_unsent_bytes(const struct stream *stream)
{
	return stream_unsent_bytes(tap->inner);
}

static void tap_addrs(const struct stream *stream, struct sockaddr_storage *local,
		      struct sockaddr_storage *peer)
{
	stream_addrs(tap->inner, local, peer);
}

static void tap_close(struct stream *stream, bool reset)
{
	if (tap->inner)
		stream_close(tap->inner, reset);
}

static void tap_free(struct stream *stream)
{
	stream_free(tap->inner);
	free(tap);
	tap = NULL;
}

static const struct stream_ops tap_ops = {
	.readv = tap_readv,
	.writev = tap_writev,
	.peek = tap_peek,
	.shutdown = tap_shutdown,
	.watch = tap_watch,
	.ended = tap_ended,
	.unacked_bytes = tap_unacked_bytes,
	.unsent_bytes = tap_unsent_bytes,
	.addrs = tap_addrs,
	.close = tap_close,
	.free = tap_free,
};

static void on_ready(void *arg, unsigned events)
{
	tap->stream.events->ready(tap->stream.arg, events);
}

static const struct stream_events tap_events = {.ready = on_ready};

void raw_watch(void)
{
	tap = calloc(1, sizeof(*tap));
	tap->stream.ops = &tap_ops;
	tap->inner = raw;
	stream_bind(raw, &tap_events, NULL);
	raw = &tap->stream;
}

void raw_skip(size_t len_bytes)
{
	tap->skip_bytes += len_bytes;
}

void raw_cut(bool reset)
{
	stream_close(tap->inner, reset);
	bench_run();
}

void raw_inject(const uint8_t *bytes, size_t len_bytes)
{
	struct stream *tls = raw;

	raw = tap->inner;
	raw_write(bytes, len_bytes);
	raw = tls;
}

/* The far end */

static void raw_ready(void *arg, unsigned events)
{
}

static void raw_connected(void *arg, int error)
{
	raw_secured = !error;
	raw_error = error;
}

static const struct stream_events raw_events = {.ready = raw_ready, .connected = raw_connected};

void raw_secure(enum tls_role role, struct tls_context *context, const uint8_t *clear,
		size_t clear_bytes)
{
	static struct tls_counters counters;
	struct stream *stream;

	raw_watch();
	tap->clear = clear;
	tap->clear_bytes = clear_bytes;
	tap->skip_bytes = clear ? RECORD_MARK_BYTES + TLS_ANSWER_BYTES : 0;
	ck_assert_int_eq(
		tls_stream_new(&tls_worker, &counters, context, role, raw, NULL, 0, &stream), 0);
	raw = stream;
	stream_bind(raw, &raw_events, NULL);
}

static size_t make_probe(uint8_t record[RECORD_MARK_BYTES + RPC_NULL_CALL_BYTES], uint32_t xid)
{
	size_t len = starttls_encode_probe(record + RECORD_MARK_BYTES, xid, 100003, 4);

	record_mark_encode(record, (uint32_t)len);
	return RECORD_MARK_BYTES + len;
}

void raw_probe(uint32_t xid)
{
	uint8_t record[RECORD_MARK_BYTES + RPC_NULL_CALL_BYTES];
	size_t len = make_probe(record, xid);

	raw_write(record, len);
}

void raw_expect_answer(uint32_t xid)
{
	uint8_t want[RECORD_MARK_BYTES + RPC_ERROR_REPLY_BYTES], got[sizeof(want)];

	record_mark_encode(want, TLS_ANSWER_BYTES);
	ck_assert_uint_eq(starttls_encode_answer(want + RECORD_MARK_BYTES, xid), TLS_ANSWER_BYTES);
	ck_assert_uint_eq(raw_read(got, sizeof(got)), sizeof(want));
	ck_assert_mem_eq(got, want, sizeof(want));
}

void raw_secured_by_client(enum tcp_tls_policy policy)
{
	tls_bench_accept(policy);
	raw_probe(1);
	raw_expect_answer(1);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	bench_run();
	ck_assert(raw_secured);
	ck_assert_uint_eq(server.secured, 1);
}

bool wire_is_tls(const struct wire *wire, size_t from)
{
	size_t at = from;

	while (at + 5 <= wire->len_bytes) {
		const uint8_t *header = wire->bytes + at;

		if (header[0] < 0x14 || header[0] > 0x17 || header[1] != 3)
			return false;
		at += 5 + ((size_t)header[3] << 8 | header[4]);
	}
	return from < wire->len_bytes && at == wire->len_bytes;
}
