/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a connection closed, in words: on whose account, and as a fault only where there was one. */
#ifndef DAEMON_SERVICE_CLOSE_TEXT_H
#define DAEMON_SERVICE_CLOSE_TEXT_H

#include "leg/leg.h"

/* On whose account a connection closes. */
enum close_by { CLOSE_BY_CLIENT, CLOSE_BY_SERVER, CLOSE_BY_PROXY, CLOSE_BY_COUNT };

#define CLOSE_TEXT_BYTES 256u

/**
 * close_text - "closed by the client", "closed by the client (reset)", "closed: the server does not answer: …"
 * @err:    the leg's close_errno, or 0
 * @detail: what is known beyond the reason, or ""
 *
 * Returns @text.
 */
const char *close_text(enum leg_close why, enum close_by by, int err, const char *detail,
		       char text[CLOSE_TEXT_BYTES]);
/** close_summary - of many that closed so: "closed by the client", or "closed on account of the client". */
const char *close_summary(enum leg_close why, enum close_by by);

#endif
