// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/syntax/tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define INCLUDE "@include"

struct lexer {
	const char *at;
	unsigned line;
};

static void skip(struct lexer *lexer, const char *end)
{
	for (; lexer->at < end; lexer->at++)
		lexer->line += *lexer->at == '\n';
}

/* Skips blanks and comments, but not an unclosed comment. */
static void skip_blanks(struct lexer *lexer)
{
	const char *at, *end;

	do {
		at = lexer->at;
		end = at + strspn(at, " \t\n\v\f\r");
		if (*end == '#' || !strncmp(end, "//", 2))
			end += strcspn(end, "\n");
		else if (!strncmp(end, "/*", 2) && strstr(end + 2, "*/"))
			end = strstr(end + 2, "*/") + 2;
		skip(lexer, end);
	} while (lexer->at != at);
}

/* Returns the end of the string at @text, after its closing quote if it has one. */
static const char *string_end(const char *text, bool *closed)
{
	const char *at = text + 1;

	while (*at && *at != '"')
		at += *at == '\\' && at[1] ? 2 : 1;
	*closed = *at == '"';
	return at + *closed;
}

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '*';
}

static const char *word_end(const char *text)
{
	while (in_word(*text))
		text++;
	return text;
}

/*
 * Returns the quoted name of an include that libconfig accepts: first in its line, after blanks.
 * NULL: no include.
 */
static const char *included_name(const char *at)
{
	size_t len = strlen(INCLUDE), blanks;

	if (strncmp(at, INCLUDE, len) != 0)
		return NULL;
	blanks = strspn(at + len, " \t");
	return blanks && at[len + blanks] == '"' ? at + len + blanks : NULL;
}

/* Reads the next token into @t; the previous token precedes it in the array. */
static void read_token(struct lexer *lexer, struct syntax_token *t)
{
	const char *name, *end;

	skip_blanks(lexer);
	*t = (struct syntax_token){.text = lexer->at, .line = lexer->line};
	name = syntax_is_first(t) ? included_name(lexer->at) : NULL;
	if (name) {
		t->kind = SYNTAX_INCLUDE;
		t->text = name;
		end = string_end(name, &t->closed);
	} else if (!*t->text) {
		end = t->text;
	} else if (!strncmp(t->text, "/*", 2)) {
		t->kind = SYNTAX_COMMENT;
		end = t->text + strlen(t->text);
	} else if (*t->text == '"') {
		t->kind = SYNTAX_STRING;
		end = string_end(t->text, &t->closed);
	} else if (in_word(*t->text) && *t->text != '-') {
		t->kind = SYNTAX_WORD;
		end = word_end(t->text);
	} else {
		t->kind = SYNTAX_PUNCT;
		end = t->text + 1;
	}
	skip(lexer, end);
	t->len = (size_t)(end - t->text);
	t->end_line = lexer->line;
}

/* Returns the distance from the token after @t back to its enclosing bracket; 0: none. */
static size_t depth_behind(const struct syntax_token *t)
{
	const struct syntax_token *in = syntax_bracket(t);

	if (t->kind == SYNTAX_PUNCT && strchr("([{", *t->text))
		in = t;
	else if (t->kind == SYNTAX_PUNCT && strchr(")]}", *t->text) && in)
		in = syntax_bracket(in);
	return in ? (size_t)(t - in) + 1 : 0;
}

bool syntax_tokens_read(const char *text, struct syntax_tokens *tokens)
{
	static const struct syntax_token none = {.text = ""};
	struct syntax_token *all = NULL, *more;
	struct lexer lexer = {text, 1};
	size_t n = 0, capacity = 0;

	*tokens = (struct syntax_tokens){0};
	do {
		if (n + 1 >= capacity) {
			capacity = capacity ? 2 * capacity : 256;
			more = reallocarray(all, capacity, sizeof(*more));
			if (!more) {
				free(all);
				return false;
			}
			all = more;
		}
		for (; n < SYNTAX_MARGIN; n++)
			all[n] = none;
		read_token(&lexer, &all[n]);
		all[n].depth_back = depth_behind(&all[n - 1]);
	} while (all[n++].kind != SYNTAX_END);
	all[n] = all[n - 1];
	*tokens = (struct syntax_tokens){all + SYNTAX_MARGIN, all + n};
	return true;
}

void syntax_tokens_fini(struct syntax_tokens *tokens)
{
	if (tokens->first)
		free(tokens->first - SYNTAX_MARGIN);
	*tokens = (struct syntax_tokens){0};
}

const struct syntax_token *syntax_tokens_of_line(const struct syntax_tokens *tokens, unsigned line)
{
	const struct syntax_token *t = tokens->first;

	while (t < tokens->end && t->end_line < line)
		t++;
	return t;
}

bool syntax_is(const struct syntax_token *token, char sign)
{
	return token->kind == SYNTAX_PUNCT && *token->text == sign;
}

bool syntax_is_equals(const struct syntax_token *token)
{
	return syntax_is(token, '=') || syntax_is(token, ':');
}

bool syntax_is_key(const struct syntax_token *token)
{
	return token->kind == SYNTAX_WORD && syntax_is_equals(token + 1);
}

bool syntax_is_first(const struct syntax_token *token)
{
	return token[-1].kind == SYNTAX_END || token[-1].end_line < token->line;
}

bool syntax_is_number(const struct syntax_token *token)
{
	return token->kind == SYNTAX_WORD && strspn(token->text, "0123456789") >= token->len;
}

bool syntax_same_text(const struct syntax_token *a, const struct syntax_token *b)
{
	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

const struct syntax_token *syntax_bracket(const struct syntax_token *token)
{
	return token->depth_back ? token - token->depth_back : NULL;
}

bool syntax_is_inside(const struct syntax_token *token, const char *brackets)
{
	return token->depth_back && strchr(brackets, *syntax_bracket(token)->text);
}

int syntax_shown_bytes(const struct syntax_token *token)
{
	int len = 0;

	while (len < SYNTAX_SHOWN_BYTES && (size_t)len < token->len &&
	       (unsigned char)token->text[len] >= ' ')
		len++;
	return len;
}
