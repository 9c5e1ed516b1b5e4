/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes why a connection closed, and which side caused it. */
#ifndef DAEMON_SERVICE_CLOSE_REASON_TEXT_H
#define DAEMON_SERVICE_CLOSE_REASON_TEXT_H

#include "leg/leg.h"

/* The side that caused a connection to close. */
enum close_by { CLOSE_BY_CLIENT, CLOSE_BY_SERVER, CLOSE_BY_PROXY, CLOSE_BY_COUNT };

#define CLOSE_REASON_TEXT_BYTES 256u

/**
 * close_reason_text - Writes "closed by the client", "closed by the client (reset)", "closed: the
 * server does not answer: …"
 * @err:    the leg's close_errno, or 0
 * @detail: more about the reason, or ""
 *
 * Returns @text.
 */
const char *close_reason_text(enum leg_close why, enum close_by by, int err, const char *detail,
			      char text[CLOSE_REASON_TEXT_BYTES]);
/**
 * close_reason_summary - Returns a text without the reason, for a report on many connections:
 * "closed by the client", "closed because of the client".
 */
const char *close_reason_summary(enum leg_close why, enum close_by by);

#endif
