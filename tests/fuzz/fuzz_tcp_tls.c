// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes what a TCP leg with TLS gets in clear: the Calls of a client where TLS is allowed or
 * required, and the answer of a server to the probe. The first byte chooses, the second one the
 * parts.
 *
 * No input completes a handshake. So where TLS is required no Call passes, and nothing but TLS is
 * sent after a probe.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/be_bytes.h"
#include "rpc/record_mark.h"
#include "rpc/rpc_header.h"
#include "rpctcp/tcp_leg.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/certificate.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/fake_runner.h"
#include "tests/lib/stream_pair.h"
#include "tests/lib/test_budget.h"
#include "tls/tls_stream.h"

enum mode { ALLOWED, REQUIRED, CONNECTS, MODES };

#define SEED_BYTES     2u
#define MAX_MESSAGE    4096u
#define BUDGET_BYTES   (64u * 1024u)
#define PROBE_BYTES    (RECORD_MARK_BYTES + RPC_NULL_CALL_BYTES)
#define ANSWER_BYTES   36u
#define VERIFIER_AT    20u      /* of a record: the length of the verifier */
#define INPUT_END_US   1000000u /* the peer is given time for what it has sent */
#define OUTPUT_MAX     (1u << 20)
#define TLS_FIRST_TYPE 0x14u
#define TLS_LAST_TYPE  0x17u

static struct loop *loop;
static struct fake_runner runner;
static struct tls_context *contexts[2];
static struct buf_pool *pool;
static struct leg *leg;
static struct stream *far_end;
static enum mode mode;
static bool closing, closed;
static uint8_t output[OUTPUT_MAX];
static size_t output_bytes;

static void on_requested(void *arg)
{
	leg_accept(leg);
}

static void on_opened(void *arg)
{
	FUZZ_ASSERT(mode != CONNECTS);
}

static void on_secured(void *arg)
{
	FUZZ_ASSERT(false);
}

static void on_call(void *arg, struct exchange *x)
{
	FUZZ_ASSERT(!closing && mode == ALLOWED);
	FUZZ_ASSERT(x->call_info.hdr.cred_flavor != RPC_AUTH_TLS);
	FUZZ_ASSERT(!rpc_msg_get(pool, 24, &x->reply));
	memset(x->reply.data, 0, 24);
	leg_reply(leg, x);
}

static void on_reply(void *arg, struct exchange *x)
{
	FUZZ_ASSERT(!closing);
	exchange_put(x);
}

static void on_call_ready(void *arg)
{
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	FUZZ_ASSERT(!closing);
	closing = true;
}

static void on_closed(void *arg)
{
	FUZZ_ASSERT(closing && !closed);
	closed = true;
}

static const struct leg_events events = {
	.requested = on_requested,
	.opened = on_opened,
	.secured = on_secured,
	.call = on_call,
	.reply = on_reply,
	.call_ready = on_call_ready,
	.closing = on_closing,
	.closed = on_closed,
};

/* A Call to the peer, with the XID that a Reply can meet. */
static void send_call(uint32_t xid)
{
	static const uint8_t words[40] = {[11] = RPC_VERSION};
	struct exchange *x = exchange_new(NULL);

	FUZZ_ASSERT(!rpc_msg_get(pool, sizeof(words), &x->call));
	memcpy(x->call.data, words, sizeof(words));
	x->call.data[3] = (uint8_t)xid;
	x->call_info.hdr.xid = xid;
	x->reply_max_bytes = 400;
	leg_call(leg, x);
}

/* Certificates are made once. */
static void make_contexts(void)
{
	const struct certificate_spec spec = {.subject = "x", .alt_names = "DNS:a.example"};
	struct certificate *certificate = certificate_new(&spec);
	char path[] = "/tmp/fuzz-tcp-tls-XXXXXX", error[TLS_ERROR_BYTES];
	const struct tls_context_config accepts = {
		.accepts = true, .cert_file = path, .ca_file = path};
	const struct tls_context_config connects = {
		.connects = true, .ca_file = path, .server_name = "a.example"};
	int fd = mkstemp(path);

	FUZZ_ASSERT(fd >= 0);
	close(fd);
	certificate_save(certificate, path, false);
	certificate_save_key(certificate, path, true, NULL);
	FUZZ_ASSERT(!tls_context_new(&accepts, &contexts[TLS_ROLE_SERVER], error));
	FUZZ_ASSERT(!tls_context_new(&connects, &contexts[TLS_ROLE_CLIENT], error));
	unlink(path);
	certificate_free(certificate);
}

static void read_output(void)
{
	struct iovec sink = {output + output_bytes, sizeof(output) - output_bytes};
	ssize_t n = sink.iov_len ? stream_readv(far_end, &sink, 1) : 0;

	if (n > 0)
		output_bytes += (size_t)n;
}

/* In parts of the input's own choice. */
static void feed(const uint8_t *data, size_t size, uint8_t seed)
{
	for (unsigned stalls = 0; size > 0 && !closed && stalls < 3;) {
		size_t n = 1 + (seed = seed * 5 + 1) % 61;
		struct iovec part = {(void *)data, n < size ? n : size};
		ssize_t sent = stream_writev(far_end, &part, 1);

		stalls = sent > 0 ? 0 : stalls + 1;
		if (sent > 0) {
			data += sent;
			size -= (size_t)sent;
		}
		if (seed % 16 == 3)
			send_call(seed / 16);
		fake_loop_run(loop);
		read_output();
		if (seed % 64 == 5)
			leg_drain(leg);
	}
	fake_loop_run(loop);
	read_output();
}

/* Returns how much of the output precedes TLS: up to the answer of a probe; all without one. */
static size_t count_clear_bytes(void)
{
	size_t at = 0;

	if (mode == CONNECTS)
		return PROBE_BYTES;
	while (at + RECORD_MARK_BYTES <= output_bytes) {
		size_t len = be32_get(output + at) & RECORD_MAX_FRAGMENT_BYTES;
		bool answers = len == ANSWER_BYTES - RECORD_MARK_BYTES &&
			       be32_get(output + at + VERIFIER_AT) == 8;

		at += RECORD_MARK_BYTES + len;
		if (answers)
			return at;
	}
	return output_bytes;
}

static void check_output(void)
{
	for (size_t at = count_clear_bytes(); at + 5 <= output_bytes;) {
		FUZZ_ASSERT(output[at] >= TLS_FIRST_TYPE && output[at] <= TLS_LAST_TYPE);
		at += 5 + ((size_t)output[at + 3] << 8 | output[at + 4]);
	}
}

static enum pair_answer on_asked(void *arg, const struct stream_target *target)
{
	return PAIR_ACCEPT;
}

static void on_accepted(void *arg, struct stream *stream)
{
	far_end = stream;
}

static void make_leg(struct pair_net *net, const struct tcp_leg_config *config)
{
	const struct stream_target target = {.addr.ss_family = AF_INET};
	const struct pair_server answers = {.asked = on_asked, .accepted = on_accepted};
	struct stream *ends[2];

	pair_net_serve(net, &answers);
	if (mode == CONNECTS) {
		FUZZ_ASSERT(!tcp_leg_connect(config, &target, &leg));
	} else {
		FUZZ_ASSERT(!pair_new(net, ends));
		FUZZ_ASSERT(!tcp_leg_accept(config, ends[0], NULL, &leg));
		far_end = ends[1];
	}
	fake_loop_run(loop);
}

/* The probe's XID is random: an answer of the corpus gets it. */
static void answer_probe(uint8_t *data, size_t size)
{
	read_output();
	FUZZ_ASSERT(output_bytes == PROBE_BYTES);
	if (size >= RECORD_MARK_BYTES + sizeof(uint32_t))
		memcpy(data + RECORD_MARK_BYTES, output + RECORD_MARK_BYTES, sizeof(uint32_t));
}

static void run(struct pair_net *net, const struct tcp_leg_config *config, const uint8_t *data,
		size_t size)
{
	uint8_t *input = malloc(size);

	memcpy(input, data, size);
	make_leg(net, config);
	if (mode == CONNECTS)
		answer_probe(input + SEED_BYTES, size - SEED_BYTES);
	feed(input + SEED_BYTES, size - SEED_BYTES, data[1]);
	free(input);
	check_output();
	stream_close(far_end, data[1] % 2);
	stream_free(far_end);
	while (!closed)
		fake_loop_advance(loop, INPUT_END_US);
	leg_free(leg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tls_counters counters = {0};
	struct tcp_worker worker;
	struct tls_worker tls_worker;
	struct test_budget budget;
	struct tcp_leg_config config = {.worker = &worker};
	struct buf_pool_stats stats;
	struct pair_net *net;

	if (size < SEED_BYTES)
		return 0;
	if (!contexts[TLS_ROLE_SERVER])
		make_contexts();
	mode = data[0] % MODES;
	closing = closed = false;
	output_bytes = 0;
	loop = fake_loop_new();
	net = pair_net_new(loop, NULL);
	pool = buf_pool_new(2 * MAX_MESSAGE, 8u << 20);
	test_budget_init(&budget, loop, BUDGET_BYTES);
	fake_runner_init(&runner);
	FUZZ_ASSERT(!tcp_worker_init(&worker, pair_net_streams(net)));
	FUZZ_ASSERT(!tls_worker_init(&tls_worker, loop, &runner.runner));
	config.leg = (struct leg_config){.loop = loop,
					 .pool = pool,
					 .holder = &budget.holder,
					 .max_message_bytes = MAX_MESSAGE,
					 .stall_timeout_us = 1000000000,
					 .connect_timeout_us = 1000000000,
					 .events = &events};
	config.tls = (struct tcp_tls_config){
		.policy = mode == ALLOWED ? TCP_TLS_ALLOWED : TCP_TLS_REQUIRED,
		.context = contexts[mode == CONNECTS ? TLS_ROLE_CLIENT : TLS_ROLE_SERVER],
		.worker = &tls_worker,
		.counters = &counters,
		.probe_program = 100003,
		.probe_version = 4,
	};
	run(net, &config, data, size);
	buf_pool_stats_get(pool, &stats);
	FUZZ_ASSERT(stats.in_use_bytes == 0 && budget.account.used_bytes == 0);
	FUZZ_ASSERT(!counters.handshakes_ok && !tls_worker.running);
	test_budget_fini(&budget);
	tcp_worker_fini(&worker);
	tls_worker_fini(&tls_worker);
	buf_pool_free(pool);
	fake_loop_run(loop);
	pair_net_free(net);
	fake_loop_free(loop);
	return 0;
}
