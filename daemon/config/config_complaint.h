/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parsers of single values share: saying what is wrong, and numbers. */
#ifndef DAEMON_CONFIG_CONFIG_COMPLAINT_H
#define DAEMON_CONFIG_CONFIG_COMPLAINT_H

#include <stdarg.h>
#include <stdio.h>

#include "base/compiler.h"

/** config_complaint - what is wrong with a value; the text lasts until the next call in this thread. */
const char *config_complaint(const char *format, ...) PRINTF_LIKE(1, 2);
/**
 * config_complaint_put - a line about a file, from where "FILE:LINE: " was written to @out
 *
 * It may quote the file: what a terminal would obey, or would make two lines of it, stands as '?'.
 */
void config_complaint_put(FILE *out, const char *format, va_list ap) PRINTF_LIKE(2, 0);
/** config_decimal - a plain decimal number of at most @max; -1 for anything else. */
long config_decimal(const char *text, long max) MUST_CHECK;

#endif
