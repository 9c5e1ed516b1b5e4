// SPDX-License-Identifier: BSD-3-Clause
/* What was probably meant where libconfig found an error. */
#include "daemon/config/config_hint.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "daemon/config/config_words.h"

static bool find_mistake(const struct config_words *w, unsigned line, char *hint)
{
	for (size_t i = config_words_of_line(w, line); i < w->count && w->all[i].token.line <= line;
	     i++)
		if (config_mistake_find(w, i, hint))
			return true;
	return false;
}

/*
 * The line, up to @line, in which a string ends where an address was to begin; 0 if there is none. Behind "tcp:" what
 * follows is a comment to libconfig, which so finds its error lines later.
 */
static unsigned line_of_lost_quote(const struct config_words *w, unsigned line, char *hint)
{
	for (size_t i = 0; i < w->count && w->all[i].token.line <= line; i++) {
		const struct config_token *string = config_words_at(w, i, -1);
		const struct config_token *name = config_words_at(w, i, 0);

		if (string->kind != CONFIG_TOKEN_STRING || name->kind != CONFIG_TOKEN_WORD ||
		    strncmp(name->text + name->len, "://", 3) != 0)
			continue;
		snprintf(hint, CONFIG_HINT_BYTES,
			 "is a quote missing? The string %.*s ends before %.*s://",
			 config_token_shown(string), string->text, config_token_shown(name),
			 name->text);
		return name->line;
	}
	return 0;
}

/* The line of the last word before @line; 0 if there is none. */
static unsigned line_before(const struct config_words *w, unsigned line)
{
	size_t i = config_words_of_line(w, line);

	return i ? w->all[i - 1].token.end_line : 0;
}

unsigned config_hint_syntax(const char *text, unsigned line, char hint[static CONFIG_HINT_BYTES])
{
	struct config_words w;
	unsigned before = 0, lost = 0;
	bool found;

	snprintf(hint, CONFIG_HINT_BYTES, "%s",
		 "here or just before: is a comma between services, a quote or a brace missing?");
	found = !config_words_read(text, &w);
	if (!found)
		lost = line_of_lost_quote(&w, line, hint);
	if (lost)
		line = lost;
	found = found || lost || find_mistake(&w, line, hint);
	/* What is missing at the end of a line is noticed at the beginning of the next. */
	if (!found)
		before = line_before(&w, line);
	if (before && find_mistake(&w, before, hint))
		line = before;
	config_words_fini(&w);
	return line;
}

static bool is_key(const struct config_words *w, size_t i)
{
	return config_words_is_kind(w, i, 0, CONFIG_TOKEN_WORD) && config_words_is_equals(w, i, 1);
}

/* Where the key of word @i was set before in its group; CONFIG_WORD_NONE if it was not. */
static size_t set_before(const struct config_words *w, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (w->all[k].around == w->all[i].around && is_key(w, k) &&
		    config_token_same(&w->all[k].token, &w->all[i].token))
			return k;
	return CONFIG_WORD_NONE;
}

void config_hint_twice(const char *text, unsigned line, char hint[static CONFIG_HINT_BYTES])
{
	size_t i, before = CONFIG_WORD_NONE;
	struct config_words w;

	snprintf(hint, CONFIG_HINT_BYTES, "%s",
		 "a key of this line is set already, in this file or in one that is read with it");
	if (!config_words_read(text, &w))
		goto out;
	for (i = config_words_of_line(&w, line); i < w.count && w.all[i].token.line <= line; i++) {
		before = is_key(&w, i) ? set_before(&w, i) : CONFIG_WORD_NONE;
		if (before != CONFIG_WORD_NONE)
			break;
	}
	if (before != CONFIG_WORD_NONE)
		snprintf(hint, CONFIG_HINT_BYTES, "%.*s is set already, in line %u",
			 config_token_shown(&w.all[i].token), w.all[i].token.text,
			 w.all[before].token.line);
out:
	config_words_fini(&w);
}

void config_hint_quote(const char *text, unsigned line, char *quote, size_t size)
{
	size_t len;

	for (; line > 1 && text; line--) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	if (!text)
		text = "";
	text += strspn(text, " \t");
	len = strcspn(text, "\r\n");
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (len >= size)
		len = size - 1;
	for (size_t i = 0; i < len; i++)
		quote[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
	quote[len] = '\0';
}
