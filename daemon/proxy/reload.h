/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reloads the configuration file while the daemon runs.
 *
 * A reload first creates all new services with their listeners. If any of this fails, nothing
 * changes. An unchanged service keeps its listener, connections and caches; its new connections use
 * the TLS files as they are now. A changed service is replaced by a new one, which inherits the
 * listening sockets of unchanged addresses. The old service drains, and its clients reconnect to the
 * new one.
 */
#ifndef DAEMON_PROXY_RELOAD_H
#define DAEMON_PROXY_RELOAD_H

#include "base/compiler.h"
#include "daemon/proxy/proxy.h"
#include "daemon/proxy/reader.h"

/* The texts of a reload report; each consists of lines. */
enum reload_text {
	RELOAD_ERRORS,    /* why the reload failed */
	RELOAD_WARNINGS,  /* about the file */
	RELOAD_UNCHANGED, /* names of unchanged services; the next three: of others */
	RELOAD_CHANGED,
	RELOAD_ADDED,
	RELOAD_REMOVED,
	RELOAD_NEEDS_RESTART, /* changed keys that only a restart applies */
	RELOAD_TLS,           /* names of unchanged services whose TLS files have changed */
	RELOAD_TEXTS,
};

struct reload_report {
	char *texts[RELOAD_TEXTS];
};

/*
 * @rc: 0, or a negative errno if nothing has changed. @report: valid during the call, also after an
 * error
 */
typedef void reload_done_fn(void *arg, int rc, const struct reload_report *report);

/** reload_open - Prepares for reload(), until reload_close(). Returns 0 or -ENOMEM. */
int reload_open(struct proxy *proxy) MUST_CHECK;
/**
 * reload_close - Answers all pending requests, for a reload or a resume, with -ECANCELED.
 *
 * To be called before proxy_stop(). Accepts NULL, and a proxy without reload_open().
 */
void reload_close(struct proxy *proxy);
/**
 * reload - Reloads the file of the current configuration.
 * @done: called with @arg once, now or later, on the main thread; also when the proxy stops
 *
 * A separate thread reads the file and resolves the listen names (daemon/proxy/reader.h). The rest
 * happens in one iteration of the main loop. The function logs the result and notifies systemd.
 */
void reload(struct proxy *proxy, reload_done_fn *done, void *arg);
/**
 * reload_apply - Applies a finished reading.
 * @reading: its result; reload_apply() owns the configuration and the names
 * @late_s:  reader_late_s(), for the log
 * @report:  filled, also after an error; to be freed with reload_report_fini()
 *
 * Returns 0, or a negative errno; after an error nothing has changed.
 */
int reload_apply(struct proxy *proxy, struct reading *reading, unsigned late_s,
		 struct reload_report *report) MUST_CHECK;
/** reload_report_fini - Frees the texts. */
void reload_report_fini(struct reload_report *report);

#endif
