/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration file as tokens, for mistakes that libconfig does not see or explains too little (hint.h). What the
 * file means is for libconfig to say.
 */
#ifndef DAEMON_CONFIG_SYNTAX_TOKENS_H
#define DAEMON_CONFIG_SYNTAX_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#define SYNTAX_MARGIN                                                                              \
	3 /* tokens before the first, and one behind the last, that may be looked at */
#define SYNTAX_SHOWN_BYTES 60 /* of a token at most */

enum syntax_kind {
	SYNTAX_END,     /* of the file; also what is before its first token */
	SYNTAX_WORD,    /* a name, a number, or what looks like one: 10.0.0.1, 1M */
	SYNTAX_STRING,  /* with its quotes */
	SYNTAX_INCLUDE, /* the name after an @include that libconfig follows, with its quotes */
	SYNTAX_COMMENT, /* only one that nothing ends: others are skipped */
	SYNTAX_SIGN,    /* any other byte */
};

struct syntax_token {
	enum syntax_kind kind;
	bool closed;      /* a string: its last quote is there */
	const char *text; /* in the file, not ended by a zero byte */
	size_t len;
	unsigned line;     /* where it begins */
	unsigned end_line; /* where it ends: of a string or comment it may be another */
	size_t depth_back; /* tokens back to the bracket that it is in; 0: it is in none */
};

/* Those of a file, from @first to before @end; the last is its end. */
struct syntax_tokens {
	struct syntax_token *first, *end;
};

/**
 * syntax_tokens_read - split a text into tokens
 * @text: ended by a zero byte; outlives them
 *
 * Returns false for want of memory; then there is nothing to free.
 */
bool syntax_tokens_read(const char *text, struct syntax_tokens *tokens) MUST_CHECK;
/** syntax_tokens_fini - free them; nothing to do if all of it is zero. */
void syntax_tokens_fini(struct syntax_tokens *tokens);
/** syntax_tokens_of_line - the first that ends in line @line or behind it; @end if there is none. */
const struct syntax_token *syntax_tokens_of_line(const struct syntax_tokens *tokens, unsigned line);

/** syntax_is - whether a token is that sign. */
bool syntax_is(const struct syntax_token *token, char sign);
/** syntax_is_equals - whether it is "=", or ":", which libconfig takes for the same. */
bool syntax_is_equals(const struct syntax_token *token);
/** syntax_is_key - whether it is a word before such a sign. */
bool syntax_is_key(const struct syntax_token *token);
/** syntax_is_first - whether it is the first of its line. */
bool syntax_is_first(const struct syntax_token *token);
/** syntax_is_number - whether it is a word of nothing but decimal digits. */
bool syntax_is_number(const struct syntax_token *token);
/** syntax_same_text - whether two tokens have the same text. */
bool syntax_same_text(const struct syntax_token *a, const struct syntax_token *b);
/** syntax_bracket - the bracket that a token is in; NULL: none. A closing bracket is in the one that it closes. */
const struct syntax_token *syntax_bracket(const struct syntax_token *token);
/** syntax_in - whether that bracket is one of @brackets. */
bool syntax_in(const struct syntax_token *token, const char *brackets);
/** syntax_shown - how much of a token is shown: up to the end of its first line, and a bound; for "%.*s". */
int syntax_shown(const struct syntax_token *token);

#endif
