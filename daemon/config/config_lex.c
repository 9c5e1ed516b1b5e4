// SPDX-License-Identifier: BSD-3-Clause
/* The configuration file as words, strings and signs. */
#include "daemon/config/config_lex.h"

#include <ctype.h>
#include <string.h>

#define INCLUDE "@include"

void config_lex_init(struct config_lex *lex, const char *text)
{
	*lex = (struct config_lex){text, 1, true};
}

static void step(struct config_lex *lex)
{
	if (*lex->at == '\n') {
		lex->line++;
		lex->line_begins = true;
	}
	lex->at++;
}

static void skip_line(struct config_lex *lex)
{
	while (*lex->at && *lex->at != '\n')
		step(lex);
}

/* From the star of its beginning. Returns whether the comment ends. */
static bool skip_comment(struct config_lex *lex)
{
	step(lex);
	while (*lex->at) {
		bool ends = lex->at[0] == '*' && lex->at[1] == '/';

		step(lex);
		if (ends) {
			step(lex);
			return true;
		}
	}
	return false;
}

/* Returns whether the string is closed. */
static bool skip_string(struct config_lex *lex)
{
	step(lex);
	while (*lex->at && *lex->at != '"') {
		if (*lex->at == '\\' && lex->at[1])
			step(lex);
		step(lex);
	}
	if (!*lex->at)
		return false;
	step(lex);
	return true;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '*';
}

/* What libconfig takes for an include: alone in its line so far, and the name in quotes behind blanks. */
static bool is_include(const struct config_lex *lex)
{
	const char *at = lex->at + strlen(INCLUDE);

	if (!lex->line_begins || strncmp(lex->at, INCLUDE, strlen(INCLUDE)) != 0)
		return false;
	return strspn(at, " \t") > 0 && at[strspn(at, " \t")] == '"';
}

static void skip_blanks(struct config_lex *lex)
{
	while (isspace((unsigned char)*lex->at))
		step(lex);
}

/* Takes one token, or passes over a comment: then its kind is CONFIG_TOKEN_END. */
static enum config_token_kind take(struct config_lex *lex, bool *closed)
{
	char c = *lex->at;

	if (c == '#' || (c == '/' && lex->at[1] == '/')) {
		skip_line(lex);
		return CONFIG_TOKEN_END;
	}
	if (c == '/' && lex->at[1] == '*') {
		step(lex);
		return skip_comment(lex) ? CONFIG_TOKEN_END : CONFIG_TOKEN_COMMENT;
	}
	lex->line_begins = false;
	if (c == '"') {
		*closed = skip_string(lex);
		return CONFIG_TOKEN_STRING;
	}
	if (!in_word(c) || c == '-') {
		step(lex);
		return CONFIG_TOKEN_SIGN;
	}
	while (in_word(*lex->at))
		step(lex);
	return CONFIG_TOKEN_WORD;
}

struct config_token config_lex_next(struct config_lex *lex)
{
	struct config_token token = {0};

	do {
		bool include;

		skip_blanks(lex);
		include = is_include(lex);
		if (include) {
			lex->at += strlen(INCLUDE);
			skip_blanks(lex);
		}
		token.text = lex->at;
		token.line = lex->line;
		if (*lex->at)
			token.kind = take(lex, &token.closed);
		if (include)
			token.kind = CONFIG_TOKEN_INCLUDE;
	} while (token.kind == CONFIG_TOKEN_END && *lex->at);
	token.len = (size_t)(lex->at - token.text);
	token.end_line = lex->line;
	if (token.kind == CONFIG_TOKEN_END) {
		token.text = lex->at;
		token.line = lex->line;
		token.len = 0;
	}
	return token;
}

bool config_token_is(const struct config_token *token, char sign)
{
	return token->kind == CONFIG_TOKEN_SIGN && *token->text == sign;
}

bool config_token_same(const struct config_token *a, const struct config_token *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

bool config_token_digits(const struct config_token *token)
{
	if (token->kind != CONFIG_TOKEN_WORD)
		return false;
	for (size_t i = 0; i < token->len; i++)
		if (!isdigit((unsigned char)token->text[i]))
			return false;
	return true;
}

int config_token_shown(const struct config_token *token)
{
	int len = 0;

	while (len < CONFIG_TOKEN_SHOWN_BYTES && (size_t)len < token->len &&
	       (unsigned char)token->text[len] >= ' ')
		len++;
	return len;
}
