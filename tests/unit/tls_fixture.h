/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends of a TLS connection over a pair of streams, and the certificates of both. */
#ifndef TESTS_UNIT_TLS_FIXTURE_H
#define TESTS_UNIT_TLS_FIXTURE_H

#include "tests/lib/certificate.h"
#include "tests/lib/fake_runner.h"
#include "tests/lib/stream_pair.h"

#define TLS_PATH_BYTES 256u

/* OpenSSL's clock is this much ahead: for it, tls_fixture.c has a time() of its own. */
extern int64_t tls_clock_ahead_s;

/* A directory with files of certificates. */
struct tls_dir {
	char dir[TLS_PATH_BYTES];
	char ca[TLS_PATH_BYTES], foreign_ca[TLS_PATH_BYTES];
	struct certificate *authority, *foreign;
};

/** tls_dir_init - Makes a directory and two authorities, whose certificates are in it. */
void tls_dir_init(struct tls_dir *dir);
/** tls_dir_fini - Removes it. */
void tls_dir_fini(struct tls_dir *dir);
/**
 * tls_dir_make - Makes a certificate signed by dir->authority, unless the spec has an issuer
 * @path: receives the name of a file with certificate and key
 */
void tls_dir_make(struct tls_dir *dir, const char *name, struct certificate_spec spec,
		  char path[TLS_PATH_BYTES]);
/** tls_dir_path - Gets the path of @name in the directory. */
void tls_dir_path(const struct tls_dir *dir, const char *name, char path[TLS_PATH_BYTES]);

struct tls_end {
	struct stream *stream;
	struct tls_context *context;
	struct tls_counters counters;
	bool connected;  /* was called */
	int error;       /* with this */
	unsigned events; /* of the last ready() */
	unsigned seen;   /* of all ready() */
	unsigned nready;
	bool drains;       /* ready() reads … */
	size_t read_bytes; /* … up to so much; 0: 5000 */
	uint8_t *input;
	size_t input_bytes, input_size;
	ssize_t last_read; /* what readv() returned last */
	struct tls_rig *rig;
};

struct tls_rig {
	struct tls_dir dir;
	struct loop *loop;
	struct pair_net *net;
	struct fake_runner runner;
	struct tls_worker worker;
	struct tls_end client, server;
	struct stream *raw; /* the peer of a stream that tls_rig_alone() has made */
	bool stop_writing;  /* ready() for LOOP_WRITE requests no more of it */
	/* for tls_rig_alone(): what was read from the inner stream before */
	const uint8_t *early;
	size_t early_bytes;
};

/** tls_rig_init - Makes a rig, the contexts of both roles among it; tls_rig_connect() comes next. */
void tls_rig_init(struct tls_rig *rig);
/** tls_rig_fini - Frees all. */
void tls_rig_fini(struct tls_rig *rig);
/** tls_rig_faults - Makes a new net with these faults. */
void tls_rig_faults(struct tls_rig *rig, const struct pair_faults *faults);
/** tls_rig_context - Replaces the context of one end. */
void tls_rig_context(struct tls_end *end, const struct tls_context_config *config);
/** tls_rig_reset - Closes and frees all streams. Others can be made then. */
void tls_rig_reset(struct tls_rig *rig);
/** tls_rig_connect - Makes both streams. */
void tls_rig_connect(struct tls_rig *rig);
/** tls_rig_try - Makes the stream of one end over @inner. Returns what tls_stream_new() returns. */
int tls_rig_try(struct tls_end *end, enum tls_role role, struct stream *inner);
/** tls_rig_open - Makes both streams, and runs until the handshake is complete. */
void tls_rig_open(struct tls_rig *rig);
/** tls_rig_alone - Makes one stream. rig->raw is its peer, without TLS. */
void tls_rig_alone(struct tls_rig *rig, struct tls_end *end, enum tls_role role);
/** tls_rig_run - Runs the loop until nothing is left to do, within a second of its time. */
void tls_rig_run(struct tls_rig *rig);
/** tls_end_close - Closes and frees the stream of an end, if it has one. */
void tls_end_close(struct tls_end *end, bool reset);
/** tls_end_write - Writes all bytes, and runs the loop meanwhile. Returns 0 or a negative errno. */
int tls_end_write(struct tls_end *end, const void *bytes, size_t length);

#endif
