/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the configuration file and looks up the names at which its services listen, on a thread of its own: a file on a
 * file system whose server is gone, a pipe and silent name servers block that thread, and never the main one.
 *
 * It does one reading at a time. One that takes longer than its limit is not waited for; its thread goes on, and until
 * that is over there is no other reading.
 */
#ifndef DAEMON_PROXY_READER_H
#define DAEMON_PROXY_READER_H

#include <stdbool.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/config/config.h"
#include "daemon/service/listen_names.h"

#define READER_LIMIT_S 20u /* for reader_new(): more than names take, LISTEN_NAMES_MS */

struct reader;

/* What came of it. What done() does not take, by setting it to NULL, the reader frees. */
struct reading {
	int rc;                     /* 0, or a negative errno; -ECANCELED: reader_cancel() */
	bool is_late;               /* it took too long: rc is -ETIMEDOUT */
	struct config *config;      /* NULL: there was no file to read, or it has errors */
	char *errors, *warnings;    /* lines about the file; NULL without memory */
	struct listen_names *names; /* resolved; NULL after an error */
};

typedef void reader_done_fn(void *arg, struct reading *reading);

/** reader_new - a reader on the thread of @loop; @limit_us: how long a reading may take. Returns NULL without memory. */
struct reader *reader_new(struct loop *loop, uint64_t limit_us) MUST_CHECK;
/**
 * reader_start - read
 * @file:  copied; NULL: none
 * @names: without @file: those to look up; the reader's from now on, even after an error
 * @old:   the set of names before, or NULL; counted once more
 * @done:  called with @arg, once, in a later turn
 *
 * Returns 0, -EBUSY while a reading is under way, or another negative errno; then done() is not called.
 */
int reader_start(struct reader *reader, const char *file, struct listen_names *names,
		 struct listen_names *old, reader_done_fn *done, void *arg) MUST_CHECK;
/** reader_late_s - since how many seconds a reading is under way that is not waited for any more; 0: none is. */
unsigned reader_late_s(const struct reader *reader);
/** reader_cancel - end what is under way: its done() is called with -ECANCELED now, if somebody waits for it. */
void reader_cancel(struct reader *reader);
/** reader_free - done() of what is under way is not called any more. Accepts NULL. */
void reader_free(struct reader *reader);

#endif
