// SPDX-License-Identifier: BSD-3-Clause
/* What libconfig takes without a word. */
#include "daemon/config/config_scan.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "daemon/config/config_lex.h"

#define MAX_DEPTH  64u   /* of brackets that are looked into */
#define TEXT_BYTES 4096u /* of a complaint, or of a file's name */

struct scan {
	const struct config_scan_ops *ops;
	void *arg;
	unsigned depth;
	char open[MAX_DEPTH]; /* the brackets that are open */
};

static void PRINTF_LIKE(3, 4) wrong(const struct scan *s, unsigned line, const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	s->ops->wrong(s->arg, line, text);
}

static bool is_hex(const struct config_token *token)
{
	const char *digits = "0123456789abcdefABCDEF";

	return token->len > 2 && token->text[0] == '0' && (token->text[1] | 0x20) == 'x' &&
	       strspn(token->text + 2, digits) >= token->len - 2;
}

static void check_number(const struct scan *s, const struct config_token *token)
{
	bool hex = is_hex(token);

	if (!hex && !config_token_digits(token))
		return;
	if (strtoull(token->text, NULL, hex ? 16 : 10) > INT_MAX)
		wrong(s, token->line, "%.*s is too large a number", config_token_shown(token),
		      token->text);
}

static void follow_brackets(struct scan *s, const struct config_token *token)
{
	if (token->kind != CONFIG_TOKEN_SIGN)
		return;
	if (strchr("([{", *token->text)) {
		if (s->depth < MAX_DEPTH)
			s->open[s->depth] = *token->text;
		s->depth++;
	} else if (strchr(")]}", *token->text) && s->depth) {
		s->depth--;
	}
}

/* Strings side by side are one to libconfig; as entries two were meant. */
static void check_neighbours(const struct scan *s, const struct config_token *a,
			     const struct config_token *b)
{
	if (a->kind != CONFIG_TOKEN_STRING || b->kind != CONFIG_TOKEN_STRING)
		return;
	if (s->depth && s->depth <= MAX_DEPTH && s->open[s->depth - 1] != '{')
		wrong(s, a->line, "is a comma missing between %.*s and %.*s?",
		      config_token_shown(a), a->text, config_token_shown(b), b->text);
}

static void include(const struct scan *s, const struct config_token *token)
{
	char name[TEXT_BYTES];

	snprintf(name, sizeof(name), "%.*s", (int)(token->len - 2), token->text + 1);
	s->ops->include(s->arg, token->line, name);
}

/* Whether it ends where it should. */
static bool check_end(const struct scan *s, const struct config_token *token)
{
	if (token->kind == CONFIG_TOKEN_COMMENT)
		wrong(s, token->line, "the comment that begins here is not closed: */ is missing");
	else if ((token->kind == CONFIG_TOKEN_STRING || token->kind == CONFIG_TOKEN_INCLUDE) &&
		 (!token->closed || token->end_line != token->line))
		wrong(s, token->line,
		      "is a quote missing? The string %.*s does not end in its line",
		      config_token_shown(token), token->text);
	else
		return true;
	return false;
}

void config_scan(const char *text, const struct config_scan_ops *ops, void *arg)
{
	struct scan s = {.ops = ops, .arg = arg};
	struct config_token token = {0}, last;
	struct config_lex lex;

	config_lex_init(&lex, text);
	do {
		last = token;
		token = config_lex_next(&lex);
		if (!check_end(&s, &token))
			return;
		follow_brackets(&s, &token);
		check_neighbours(&s, &last, &token);
		if (token.kind == CONFIG_TOKEN_WORD)
			check_number(&s, &token);
		else if (token.kind == CONFIG_TOKEN_INCLUDE)
			include(&s, &token);
	} while (token.kind != CONFIG_TOKEN_END);
}
