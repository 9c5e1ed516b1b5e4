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

/**
 * reload - have the file of the configuration in force take effect again
 * @report: what came of it, also on failure; to be freed with reload_report_fini()
 *
 * It is logged, and the service manager is told. Returns 0, or a negative errno: then nothing has changed.
 */
int reload(struct proxy *proxy, struct reload_report *report) MUST_CHECK;
/** reload_report_fini - free its texts. */
void reload_report_fini(struct reload_report *report);

#endif
