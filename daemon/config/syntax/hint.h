/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mistakes in the syntax of the configuration file, and what was probably meant: a table of the mistakes that are made
 * often, held against the tokens of the line that libconfig names, and one of those that libconfig 1.5 takes without a
 * word. It folds a number that does not fit 32 bits to one that does, joins strings that stand side by side, reads a
 * string on over the end of its line, and takes the rest of the file into a comment that nothing ends.
 */
#ifndef DAEMON_CONFIG_SYNTAX_HINT_H
#define DAEMON_CONFIG_SYNTAX_HINT_H

#include "daemon/config/syntax/tokens.h"

#define SYNTAX_HINT_BYTES 300u

/**
 * syntax_unseen - a mistake that libconfig would not see
 * @token: of the file, from the first on; behind one that syntax_is_open() nothing is what it seems
 * @hint:  set to the mistake, if there is one
 *
 * Numbers that end in L are 64 bits wide and are left alone. Returns the line of the mistake, or 0.
 */
unsigned syntax_unseen(const struct syntax_token *token, char hint[static SYNTAX_HINT_BYTES]);
/** syntax_is_open - whether a token is a string that does not end in its line, or a comment that does not end. */
bool syntax_is_open(const struct syntax_token *token);

/**
 * syntax_hint - the cure of a syntax error
 * @line: where libconfig found it
 * @hint: set, to what is said when nothing better is known if it comes to that
 *
 * Returns the line that is to be mended: that one, or one before.
 */
unsigned syntax_hint(const struct syntax_tokens *tokens, unsigned line,
		     char hint[static SYNTAX_HINT_BYTES]);
/**
 * syntax_hint_twice - which key is set a second time
 * @line: of the second time
 * @hint: set to the key, and where it was set first as far as this file shows it
 */
void syntax_hint_twice(const struct syntax_tokens *tokens, unsigned line,
		       char hint[static SYNTAX_HINT_BYTES]);

#endif
