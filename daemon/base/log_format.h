/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats log lines: for a file or a terminal, with a level for the journal's stream, or as a
 * journal entry with fields.
 *
 * Control characters and bytes beyond ASCII are escaped in all of them, so a value never contains a
 * newline.
 */
#ifndef DAEMON_BASE_LOG_FORMAT_H
#define DAEMON_BASE_LOG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/address.h"

#define LOG_LINE_BYTES   2048u                    /* longest line; the rest is cut off and marked */
#define LOG_ENTRY_BYTES  (LOG_LINE_BYTES + 1024u) /* of an entry with its fields */
#define LOG_PREFIX_BYTES 160u

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* The format of a line. */
enum log_form {
	LOG_FORM_TIME,   /* "2025-11-21T10:00:27.123Z info: up" */
	LOG_FORM_LEVEL,  /* "<6>up", for the journal's stream */
	LOG_FORM_FIELDS, /* "MESSAGE=up", "PRIORITY=6", … each with a newline, for log_writer.h */
};

/*
 * What a line is about. The line begins with the connection's prefix, or else with the service,
 * "to-filer: "; the rest goes into the fields of a journal entry. The strings are borrowed until
 * the logging call returns.
 */
struct log_about {
	char prefix[LOG_PREFIX_BYTES];   /* "[to-filer#17 10.0.0.3:712] "; empty: no connection */
	char client[ADDRESS_HOST_BYTES]; /* empty: unknown; NULL in the others means the same */
	const char *service, *upstream;  /* names from the configuration */
	const char *reason; /* a name of LEG_CLOSE_REASONS; in lower case in an entry */
	const uint32_t *xid;
};

struct log_line {
	char text[LOG_ENTRY_BYTES];
	size_t len;
	bool cut;
};

/**
 * log_format_line - Formats a line or entry
 * @about:       can be NULL
 * @realtime_us: the time; used by LOG_FORM_TIME only
 *
 * A message longer than LOG_LINE_BYTES is cut off and marked; a field that is empty or does not fit
 * is omitted. The result ends with a newline.
 */
void log_format_line(struct log_line *line, enum log_form form, enum log_level level,
		     const struct log_about *about, const char *text, uint64_t realtime_us);

/** log_level_name - Returns "error", "warning", "info" or "debug". */
const char *log_level_name(enum log_level level);

#endif
