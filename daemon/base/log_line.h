/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the log writes, as bytes: a line for a file or a terminal, one with its level for a stream of the journal, or an
 * entry of the journal with its fields.
 *
 * Control characters and bytes beyond ASCII are escaped in all of them, so that a value never ends before its newline.
 */
#ifndef DAEMON_BASE_LOG_LINE_H
#define DAEMON_BASE_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/address.h"

#define LOG_LINE_BYTES   2048u                    /* longest line; more is cut off and marked */
#define LOG_ENTRY_BYTES  (LOG_LINE_BYTES + 1024u) /* with its fields */
#define LOG_PREFIX_BYTES 160u

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* What a line looks like. */
enum log_form {
	LOG_FORM_TIME,  /* "2025-11-21T10:00:27.123Z info: up" */
	LOG_FORM_LEVEL, /* "<6>up", for the journal's stream */
	LOG_FORM_FIELDS, /* "MESSAGE=up", "PRIORITY=6", … each with a newline, for log_journal_send() */
};

/*
 * Whom a line is about: it begins with a connection's prefix, or else with the service, "to-filer: "; and what is known
 * becomes fields of the journal's entry. The strings are borrowed, until the call that logs returns.
 */
struct log_about {
	char prefix[LOG_PREFIX_BYTES]; /* "[to-filer#17 10.0.0.3:712] "; empty: of no connection */
	char client[ADDRESS_HOST_BYTES]; /* empty: not known, as those that are NULL */
	const char *service, *upstream;  /* by their names in the configuration */
	const char *reason; /* a name of LEG_CLOSE_REASONS; an entry has it in lower case */
	const uint32_t *xid;
};

struct log_line {
	char text[LOG_ENTRY_BYTES];
	size_t len;
	bool cut;
};

/**
 * log_line_make - the line or entry for @text
 * @about:       may be NULL
 * @realtime_us: what time it is; used by LOG_FORM_TIME alone
 *
 * What would make the message longer than LOG_LINE_BYTES is cut off and marked; a field for which there is no room, or
 * whose value is empty, is left out. It ends in a newline.
 */
void log_line_make(struct log_line *line, enum log_form form, enum log_level level,
		   const struct log_about *about, const char *text, uint64_t realtime_us);

/** log_level_name - "error", "warning", "info", "debug". */
const char *log_level_name(enum log_level level);

#endif
