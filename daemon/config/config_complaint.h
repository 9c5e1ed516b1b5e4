/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parsers of single values share: saying what is wrong, and numbers. */
#ifndef DAEMON_CONFIG_CONFIG_COMPLAINT_H
#define DAEMON_CONFIG_CONFIG_COMPLAINT_H

#include "base/compiler.h"

/** config_complaint - what is wrong with a value; the text lasts until the next call in this thread. */
const char *config_complaint(const char *format, ...) PRINTF_LIKE(1, 2);
/** config_decimal - a plain decimal number of at most @max; -1 for anything else. */
long config_decimal(const char *text, long max) MUST_CHECK;

#endif
