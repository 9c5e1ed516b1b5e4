/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the cryptography of TLS handshakes in the loop itself, so that a test has one thread. */
#ifndef TESTS_LIB_FAKE_RUNNER_H
#define TESTS_LIB_FAKE_RUNNER_H

#include "tls/tls_stream.h"

struct fake_job;

struct fake_runner {
	struct tls_runner runner;
	TAILQ_HEAD(, fake_job) jobs; /* that wait while `hold` is set */
	bool hold;                   /* work waits for fake_runner_release() */
	bool full;                   /* run() returns -EAGAIN */
	bool ends;                   /* only done() is called, as by a runner that ends */
	unsigned ran;
};

/** fake_runner_init - Initializes a runner that runs work in the next iteration of the loop. */
void fake_runner_init(struct fake_runner *runner);
/** fake_runner_release - Ends `hold`: all that waits runs in the next iteration. */
void fake_runner_release(struct fake_runner *runner);

#endif
