/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was probably meant where libconfig found a syntax error: a table of the mistakes that are made, held against
 * the words of the line that it names.
 */
#ifndef DAEMON_CONFIG_CONFIG_HINT_H
#define DAEMON_CONFIG_CONFIG_HINT_H

#include <stddef.h>

#include "daemon/config/config_mistakes.h"

/**
 * config_hint_syntax - the cure of a syntax error
 * @text: the file, ended by a zero byte
 * @line: where the error is
 * @hint: set, to what is said when nothing better is known if it comes to that
 *
 * Returns the line that is to be mended: that one, or one before.
 */
unsigned config_hint_syntax(const char *text, unsigned line, char hint[static CONFIG_HINT_BYTES]);

/**
 * config_hint_twice - which key is set a second time
 * @line: of the second time
 * @hint: set to the key, and where it was set first as far as this file shows it
 */
void config_hint_twice(const char *text, unsigned line, char hint[static CONFIG_HINT_BYTES]);

/** config_hint_quote - line @line of @text, without blanks around it, cut to @size. */
void config_hint_quote(const char *text, unsigned line, char *quote, size_t size);

#endif
