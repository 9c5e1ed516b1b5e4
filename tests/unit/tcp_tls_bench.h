/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bench of TCP legs (tcp_bench.h) with TLS: contexts with certificates made at run time, a
 * runner that computes when the test says so, and the bytes on the wire.
 */
#ifndef TESTS_UNIT_TCP_TLS_BENCH_H
#define TESTS_UNIT_TCP_TLS_BENCH_H

#include "tests/unit/tcp_bench.h"
#include "tls/tls_stream.h"

/* The bytes of one direction, as they pass `raw` under its TLS. */
struct wire {
	uint8_t bytes[1u << 20];
	size_t len_bytes;
};

/* A Call, and a Reply, without their marks. */
#define TLS_PROBE_BYTES  40u
#define TLS_ANSWER_BYTES 32u

extern struct wire from_leg, to_leg;
/* Of the contexts: what accepts, what wants a certificate; what connects, with one and without. */
extern struct tls_context *tls_server, *tls_server_verifies, *tls_client, *tls_client_named;
/* A client that expects another name of the server. */
extern struct tls_context *tls_client_misled;
extern struct tls_counters tls_bench_counters; /* of both legs */
extern bool tls_bench_hold;                    /* the runner keeps its work, … */
extern bool tls_bench_full;                    /* or accepts none, … */
extern unsigned tls_bench_passes;              /* … except so much that comes first */
/* What the handshake of `raw` came to: once done, 0 or a negative errno. */
extern bool raw_secured;
extern int raw_error;

/** tls_bench_begin, tls_bench_end - Make and remove the certificates: an unchecked fixture. */
void tls_bench_begin(void);
void tls_bench_end(void);
/** tls_bench_setup, tls_bench_teardown - For each test, instead of bench_setup(). */
void tls_bench_setup(void);
void tls_bench_teardown(void);
/** tls_bench_renew - As bench_renew(). */
void tls_bench_renew(const struct pair_faults *faults);
/** tls_bench_accept - Makes `server` of an accepted connection, without any Call yet. */
void tls_bench_accept(enum tcp_tls_policy policy);
/** tls_bench_connect - Connects `client`, by TLS; not yet up before bench_run(). */
void tls_bench_connect(void);
/** tls_bench_release - Lets the runner do the work that it holds, and holds no more. */
void tls_bench_release(void);

/** raw_probe - Writes a well-formed probe. */
void raw_probe(uint32_t xid);
/** raw_expect_answer - Checks that the next record accepts the probe @xid. */
void raw_expect_answer(uint32_t xid);
/** raw_watch - Records the bytes of `raw` from now on, of the stream under its TLS. */
void raw_watch(void);
/**
 * raw_secure - Makes `raw` a TLS stream of that role, whose wire is watched
 * @clear: written before its first bytes, in the same call; NULL: nothing
 */
void raw_secure(enum tls_role role, struct tls_context *context, const uint8_t *clear,
		size_t clear_bytes);
/** raw_skip - Drops so much more of what `raw` reads in clear, before TLS. */
void raw_skip(size_t len_bytes);
/** raw_cut - Closes the stream under the TLS of `raw`, without close_notify. */
void raw_cut(bool reset);
/** raw_inject - Writes bytes to the stream under the TLS of `raw`. */
void raw_inject(const uint8_t *bytes, size_t len_bytes);
/**
 * raw_secured_by_client - Sends a probe, and does the handshake with `server`, which is opened by
 * it.
 */
void raw_secured_by_client(enum tcp_tls_policy policy);

/** wire_is_tls - Returns whether the bytes from @from on are records of TLS, the last one whole. */
bool wire_is_tls(const struct wire *wire, size_t from);

#endif
