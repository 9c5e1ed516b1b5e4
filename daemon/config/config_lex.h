/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration file as words, strings and signs, for those who look at what was written where libconfig's own
 * account of it says too little: config_scan.h, config_hint.h and config_mistakes.h. What the file means is libconfig's to say.
 */
#ifndef DAEMON_CONFIG_CONFIG_LEX_H
#define DAEMON_CONFIG_CONFIG_LEX_H

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_TOKEN_SHOWN_BYTES 60 /* of a token at most */

enum config_token_kind {
	CONFIG_TOKEN_END,    /* of the file */
	CONFIG_TOKEN_WORD,   /* a name, a number, or what looks like one: 10.0.0.1, 1M */
	CONFIG_TOKEN_STRING, /* with its quotes */
	CONFIG_TOKEN_INCLUDE, /* the name after an @include that libconfig follows, with its quotes */
	CONFIG_TOKEN_COMMENT, /* only one that nothing ends: others are passed over */
	CONFIG_TOKEN_SIGN,    /* any other byte */
};

struct config_token {
	enum config_token_kind kind;
	const char *text; /* in the file, not ended */
	size_t len;
	unsigned line;     /* that it begins in */
	unsigned end_line; /* that it ends in: of a string or comment it may be another */
	bool closed;       /* a string: its last quote is there */
};

struct config_lex {
	const char *at;
	unsigned line;
	bool line_begins; /* nothing but blanks in this line before @at */
};

/** config_lex_init - before the first token of a file. */
void config_lex_init(struct config_lex *lex, const char *text);
/** config_lex_next - the next token; of kind CONFIG_TOKEN_END again and again at the end. */
struct config_token config_lex_next(struct config_lex *lex);

/** config_token_is - whether it is that sign. */
bool config_token_is(const struct config_token *token, char sign);
/** config_token_same - whether both are the same text. */
bool config_token_same(const struct config_token *a, const struct config_token *b);
/** config_token_digits - whether it is a word of nothing but decimal digits. */
bool config_token_digits(const struct config_token *token);
/** config_token_shown - how much of its text is shown: up to the end of its first line, and a bound; for "%.*s". */
int config_token_shown(const struct config_token *token);

#endif
