/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits the configuration file into tokens, to find and explain mistakes (hint.h). */
#ifndef DAEMON_CONFIG_SYNTAX_TOKENS_H
#define DAEMON_CONFIG_SYNTAX_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#define SYNTAX_MARGIN      3  /* readable tokens before the first; one after the last */
#define SYNTAX_SHOWN_BYTES 60 /* of a token at most */

enum syntax_kind {
	SYNTAX_END,     /* end of the file; also before its first token */
	SYNTAX_WORD,    /* a name, a number, or similar text: 10.0.0.1, 1M */
	SYNTAX_STRING,  /* with its quotes */
	SYNTAX_INCLUDE, /* the quoted name after a valid @include */
	SYNTAX_COMMENT, /* an unclosed comment; others are skipped */
	SYNTAX_PUNCT,   /* any other byte */
};

struct syntax_token {
	enum syntax_kind kind;
	bool closed;      /* a string: has its closing quote */
	const char *text; /* in the file, not zero-terminated */
	size_t len;
	unsigned line;     /* first line */
	unsigned end_line; /* last line; differs for multi-line strings and comments */
	size_t depth_back; /* tokens back to the enclosing bracket; 0: none */
};

/* The tokens of a file, from @first to before @end; the last one is SYNTAX_END. */
struct syntax_tokens {
	struct syntax_token *first, *end;
};

/**
 * syntax_tokens_read - Splits a text into tokens.
 * @text: zero-terminated; outlives the tokens
 *
 * Returns false if memory ran out; then nothing must be freed.
 */
bool syntax_tokens_read(const char *text, struct syntax_tokens *tokens) MUST_CHECK;
/** syntax_tokens_fini - Frees the tokens; accepts a zeroed struct. */
void syntax_tokens_fini(struct syntax_tokens *tokens);
/**
 * syntax_tokens_of_line - Returns the first token that ends in @line or later, or @tokens->end.
 */
const struct syntax_token *syntax_tokens_of_line(const struct syntax_tokens *tokens, unsigned line);

/** syntax_is - Returns whether a token is that sign. */
bool syntax_is(const struct syntax_token *token, char sign);
/** syntax_is_equals - Returns whether a token is "=" or ":", which libconfig treats alike. */
bool syntax_is_equals(const struct syntax_token *token);
/** syntax_is_key - Returns whether a token is a word before "=" or ":". */
bool syntax_is_key(const struct syntax_token *token);
/** syntax_is_first - Returns whether a token is the first of its line. */
bool syntax_is_first(const struct syntax_token *token);
/** syntax_is_number - Returns whether a token is a word of decimal digits only. */
bool syntax_is_number(const struct syntax_token *token);
/** syntax_same_text - Returns whether two tokens have the same text. */
bool syntax_same_text(const struct syntax_token *a, const struct syntax_token *b);
/**
 * syntax_bracket - Returns the bracket that encloses a token, or NULL. For a closing bracket it is
 * its opening one.
 */
const struct syntax_token *syntax_bracket(const struct syntax_token *token);
/** syntax_is_inside - Returns whether the enclosing bracket is one of @brackets. */
bool syntax_is_inside(const struct syntax_token *token, const char *brackets);
/**
 * syntax_shown_bytes - Returns how many bytes of a token to show, for "%.*s": its first line, cut
 * to SYNTAX_SHOWN_BYTES.
 */
int syntax_shown_bytes(const struct syntax_token *token);

#endif
