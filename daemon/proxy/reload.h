/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the configuration file again while the daemon runs.
 *
 * What is new is made first, listeners and all, and only when nothing of it has failed takes the place of what there
 * was. A service whose keys are what they were keeps everything: its listener, its connections, what it has learnt.
 * One of which a key has changed is another service from then on, which goes on with the sockets of the old one where
 * it listens at the same address; the old one's connections end between their Calls, and clients come back to the
 * new one.
 */
#ifndef DAEMON_PROXY_RELOAD_H
#define DAEMON_PROXY_RELOAD_H

#include "base/compiler.h"
#include "daemon/proxy/proxy.h"
#include "daemon/proxy/reader.h"

/* What a reload says, each a text of lines. */
enum reload_text {
	RELOAD_ERRORS,   /* why nothing has changed */
	RELOAD_WARNINGS, /* of the file */
	RELOAD_KEPT,     /* names of services … */
	RELOAD_CHANGED,
	RELOAD_ADDED,
	RELOAD_REMOVED,
	RELOAD_HELD, /* keys that only a restart changes, and that the file has otherwise */
	RELOAD_TEXTS,
};

struct reload_report {
	char *texts[RELOAD_TEXTS];
};

/* @rc: 0, or a negative errno: then nothing has changed. @report: what came of it, after an error too; not the callee's. */
typedef void reload_done_fn(void *arg, int rc, const struct reload_report *report);

/** reload_open - reload() can be called from now on; reload_close() is due. Returns 0 or -ENOMEM. */
int reload_open(struct proxy *proxy) MUST_CHECK;
/** reload_close - answer all who wait, for a reload or names to resume with, by -ECANCELED; before the proxy is stopped. Accepts NULL, and a proxy that is not open. */
void reload_close(struct proxy *proxy);
/**
 * reload - have the file of the configuration in force take effect again
 * @done: called with @arg once, now or later, on the main thread; or when the proxy stops
 *
 * The file is read, and the names at which its services listen are looked up, on a thread of their own
 * (daemon/proxy/reader.h); all else is done in one turn of the main loop. It is logged, and the service manager is told.
 */
void reload(struct proxy *proxy, reload_done_fn *done, void *arg);
/**
 * reload_apply - the second half of a reload, after the reading
 * @reading: what came of that; reload_apply() takes the configuration and the names
 * @late_s:  since when a reading is under way that is not waited for any more, for the log
 * @report:  what came of it; to be freed with reload_report_fini()
 *
 * Returns 0 or a negative errno: then nothing has changed.
 */
int reload_apply(struct proxy *proxy, struct reading *reading, unsigned late_s,
		 struct reload_report *report) MUST_CHECK;
/** reload_report_fini - free its texts. */
void reload_report_fini(struct reload_report *report);

#endif
