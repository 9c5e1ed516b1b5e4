// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes what follows a probe: the bytes of a client that begins TLS, or of a server, or after a
 * handshake of two ends of ours. The first byte of the input chooses, the second one the parts.
 *
 * A handshake ends once, with a reason if it fails, and leaves no work behind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/lib/certificate.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/fake_runner.h"
#include "tests/lib/stream_pair.h"
#include "tls/tls_stream.h"

enum mode { TO_SERVER, TO_CLIENT, AFTER_HANDSHAKE, MODES };

#define SEED_BYTES 2u
#define STEP_US    1000u

struct end {
	struct stream *stream;
	struct tls_counters counters;
	bool connected, over;
	int error;
};

static struct loop *loop;
static struct fake_runner runner;
static struct tls_worker worker;
static struct tls_context *contexts[2];

static void on_ready(void *arg, unsigned events)
{
	static uint8_t bytes[3000];
	struct iovec iov = {bytes, sizeof(bytes)};
	struct end *end = arg;
	ssize_t n = stream_readv(end->stream, &iov, 1);

	FUZZ_ASSERT(end->connected && !end->over);
	end->over = n == 0 || (n < 0 && n != -EAGAIN);
	if (end->over)
		stream_watch(end->stream, 0);
}

static void on_connected(void *arg, int error)
{
	struct end *end = arg;

	FUZZ_ASSERT(!end->connected);
	end->connected = true;
	end->error = error;
	FUZZ_ASSERT((*tls_stream_error(end->stream) != '\0') == (error != 0));
	if (!error)
		stream_watch(end->stream, LOOP_READ);
}

static const struct stream_events events = {.ready = on_ready, .connected = on_connected};

/* Certificates are made once; nothing else stays from one input to the next. */
static void make_contexts(void)
{
	const struct certificate_spec spec = {.subject = "x", .alt_names = "DNS:a.example"};
	struct certificate *certificate = certificate_new(&spec);
	char path[] = "/tmp/fuzz-tls-XXXXXX", error[TLS_ERROR_BYTES];
	const struct tls_context_config server = {.accepts = true,
						  .cert_file = path,
						  .ca_file = path,
						  .verify_client = TLS_VERIFY_OPTIONAL};
	const struct tls_context_config client = {
		.connects = true, .ca_file = path, .server_name = "a.example"};
	int fd = mkstemp(path);

	FUZZ_ASSERT(fd >= 0);
	close(fd);
	certificate_save(certificate, path, false);
	certificate_save_key(certificate, path, true, NULL);
	FUZZ_ASSERT(!tls_context_new(&server, &contexts[TLS_ROLE_SERVER], error));
	FUZZ_ASSERT(!tls_context_new(&client, &contexts[TLS_ROLE_CLIENT], error));
	unlink(path);
	certificate_free(certificate);
}

static void begin(struct end *end, enum tls_role role, struct stream *inner, const uint8_t *early,
		  size_t early_bytes)
{
	FUZZ_ASSERT(!tls_stream_new(&worker, &end->counters, contexts[role], role, inner, early,
				    early_bytes, &end->stream));
	stream_bind(end->stream, &events, end);
}

static void raw_ready(void *arg, unsigned what)
{
}

static const struct stream_events raw_events = {.ready = raw_ready};

/* In parts of the input's own choice, while what comes back is thrown away. */
static void feed(struct stream *raw, const uint8_t *data, size_t size, uint8_t seed)
{
	static uint8_t waste[65536];
	struct iovec sink = {waste, sizeof(waste)};

	for (unsigned stalls = 0; size > 0 && stalls < 3;) {
		size_t n = 1 + (seed = seed * 5 + 1) % 251;
		struct iovec part = {(void *)data, n < size ? n : size};
		ssize_t sent = stream_writev(raw, &part, 1);

		stalls = sent > 0 ? 0 : stalls + 1;
		if (sent > 0) {
			data += sent;
			size -= (size_t)sent;
		}
		fake_loop_advance(loop, STEP_US);
		(void)!stream_readv(raw, &sink, 1);
	}
	(void)!stream_shutdown(raw);
	fake_loop_advance(loop, STEP_US);
}

static void finish(struct stream *stream, uint8_t seed)
{
	stream_close(stream, seed % 2);
	stream_free(stream);
}

/* One end is ours; a part of the input was read before it began. */
static void run_alone(struct pair_net *net, enum tls_role role, const uint8_t *data, size_t size,
		      uint8_t seed)
{
	size_t early = role == TLS_ROLE_SERVER && seed < 64 && seed < size ? seed : 0;
	struct stream *ends[2];
	struct end end = {.stream = NULL};

	FUZZ_ASSERT(!pair_new(net, ends));
	begin(&end, role, ends[0], data, early);
	stream_bind(ends[1], &raw_events, NULL);
	feed(ends[1], data + early, size - early, seed);
	/* No input is a whole handshake, so the end of stream ends it at the latest. */
	FUZZ_ASSERT(end.connected && end.error);
	finish(end.stream, seed);
	finish(ends[1], 1);
	FUZZ_ASSERT(!end.counters.handshakes_ok);
}

/* Where the bytes go that come between two ends of ours. */
static void run_open(struct pair_net *net, const uint8_t *data, size_t size, uint8_t seed)
{
	struct stream *ends[2];
	struct end client = {.stream = NULL}, server = {.stream = NULL};

	FUZZ_ASSERT(!pair_new(net, ends));
	begin(&client, TLS_ROLE_CLIENT, ends[0], NULL, 0);
	begin(&server, TLS_ROLE_SERVER, ends[1], NULL, 0);
	fake_loop_advance(loop, STEP_US);
	FUZZ_ASSERT(client.connected && !client.error && server.connected && !server.error);
	/* The inner stream of the client, behind its back. */
	stream_watch(client.stream, 0);
	feed(ends[0], data, size, seed);
	FUZZ_ASSERT(server.over);
	finish(client.stream, 1);
	finish(server.stream, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pair_net *net;

	if (size < SEED_BYTES)
		return 0;
	if (!contexts[TLS_ROLE_SERVER])
		make_contexts();
	loop = fake_loop_new();
	net = pair_net_new(loop, NULL);
	fake_runner_init(&runner);
	FUZZ_ASSERT(loop && net && !tls_worker_init(&worker, loop, &runner.runner));
	if (data[0] % MODES == AFTER_HANDSHAKE)
		run_open(net, data + SEED_BYTES, size - SEED_BYTES, data[1]);
	else
		run_alone(net, data[0] % MODES == TO_CLIENT ? TLS_ROLE_CLIENT : TLS_ROLE_SERVER,
			  data + SEED_BYTES, size - SEED_BYTES, data[1]);
	fake_loop_advance(loop, STEP_US);
	FUZZ_ASSERT(!worker.running);
	tls_worker_fini(&worker);
	pair_net_free(net);
	fake_loop_free(loop);
	return 0;
}
