/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the configuration file and resolves the listen names of its services on a separate thread.
 * A file on a dead NFS mount, a pipe or a silent name server blocks only that thread, never the
 * main one.
 *
 * Only one reading runs at a time. After its time limit the caller gets -ETIMEDOUT, but the thread
 * continues, and no reading can start until it ends.
 */
#ifndef DAEMON_PROXY_READER_H
#define DAEMON_PROXY_READER_H

#include <stdbool.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/config/config.h"
#include "daemon/service/listen_names.h"

#define READER_LIMIT_S 20u /* for reader_new(); longer than LISTEN_NAMES_MS */

struct reader;

/*
 * The result. done() can take an object by setting its pointer to NULL; the reader frees the
 * others.
 */
struct reading {
	int rc;                     /* 0, or a negative errno; -ECANCELED: reader_cancel() */
	bool is_late;               /* the time limit expired: rc is -ETIMEDOUT */
	struct config *config;      /* NULL: no file was read, or it has errors */
	char *errors, *warnings;    /* lines of text; NULL without memory */
	struct listen_names *names; /* resolved; NULL after an error */
};

typedef void reader_done_fn(void *arg, struct reading *reading);

/**
 * reader_new - Creates a reader for the thread of @loop. @limit_us: per reading. Returns NULL
 * without memory.
 */
struct reader *reader_new(struct loop *loop, uint64_t limit_us) MUST_CHECK;
/**
 * reader_start - Starts a reading.
 * @file:  path of the file; copied. NULL: only resolve @names
 * @names: names to resolve without @file; the reader owns them, even after an error
 * @old:   the previous set of names, or NULL; the reader takes a reference
 * @done:  called with @arg, once, in a later iteration of the loop
 *
 * Returns 0, -EBUSY while a reading runs, or another negative errno; after an error done() is not
 * called.
 */
int reader_start(struct reader *reader, const char *file, struct listen_names *names,
		 struct listen_names *old, reader_done_fn *done, void *arg) MUST_CHECK;
/**
 * reader_late_s - Returns the age in seconds of a reading that runs after its time limit; 0 without
 * one.
 */
unsigned reader_late_s(const struct reader *reader);
/**
 * reader_cancel - Cancels the reading: calls done() with -ECANCELED now, unless it has been called.
 */
void reader_cancel(struct reader *reader);
/** reader_free - Frees the reader without calling done(). Accepts NULL. */
void reader_free(struct reader *reader);

#endif
