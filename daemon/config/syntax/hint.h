/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explains syntax errors of the configuration file: matches a table of common mistakes against the
 * tokens of the line that libconfig names.
 *
 * It also finds mistakes that libconfig 1.5 silently misreads: a number that does not fit 32 bits,
 * two adjacent strings, a string that does not end in its line, and a comment that is not closed.
 */
#ifndef DAEMON_CONFIG_SYNTAX_HINT_H
#define DAEMON_CONFIG_SYNTAX_HINT_H

#include "daemon/config/syntax/tokens.h"

#define SYNTAX_HINT_BYTES 300u

/**
 * syntax_precheck - Finds a mistake that libconfig would miss.
 * @token: of the file, from the first on; tokens after one that syntax_is_open() are unreliable
 * @hint:  set to the mistake, if any
 *
 * Ignores numbers that end in L: they have 64 bits. Returns the line of the mistake, or 0.
 */
unsigned syntax_precheck(const struct syntax_token *token, char hint[static SYNTAX_HINT_BYTES]);
/**
 * syntax_is_open - Returns whether a token is a string that does not end in its line, or an
 * unclosed comment.
 */
bool syntax_is_open(const struct syntax_token *token);

/**
 * syntax_hint - Explains a syntax error.
 * @line: where libconfig found it
 * @hint: set to the explanation, or to a general one if no mistake matches
 *
 * Returns the line to fix: @line or an earlier one.
 */
unsigned syntax_hint(const struct syntax_tokens *tokens, unsigned line,
		     char hint[static SYNTAX_HINT_BYTES]);
/**
 * syntax_hint_duplicate - Explains that a key is set twice.
 * @line: of the second time
 * @hint: set to the key and, if this file shows it, the line of the first time
 */
void syntax_hint_duplicate(const struct syntax_tokens *tokens, unsigned line,
			   char hint[static SYNTAX_HINT_BYTES]);

#endif
