// SPDX-License-Identifier: BSD-3-Clause
/* All words of a configuration file with the brackets around them. */
#include "daemon/config/config_words.h"

#include <stdlib.h>
#include <string.h>

const struct config_token *config_words_at(const struct config_words *w, size_t i, int step)
{
	static const struct config_token none = {.kind = CONFIG_TOKEN_END, .text = ""};

	if (step < 0 && i < (size_t)-step)
		return &none;
	i += (size_t)step;
	return i < w->count ? &w->all[i].token : &none;
}

bool config_words_is(const struct config_words *w, size_t i, int step, char sign)
{
	return config_token_is(config_words_at(w, i, step), sign);
}

bool config_words_is_kind(const struct config_words *w, size_t i, int step,
			  enum config_token_kind kind)
{
	return config_words_at(w, i, step)->kind == kind;
}

bool config_words_is_equals(const struct config_words *w, size_t i, int step)
{
	return config_words_is(w, i, step, '=') || config_words_is(w, i, step, ':');
}

bool config_words_is_first(const struct config_words *w, size_t i)
{
	return config_words_at(w, i, -1)->kind == CONFIG_TOKEN_END ||
	       config_words_at(w, i, -1)->end_line < config_words_at(w, i, 0)->line;
}

char config_words_around(const struct config_words *w, size_t i)
{
	return w->all[i].around == CONFIG_WORD_NONE ? 0 : *w->all[w->all[i].around].token.text;
}

/* Returns the brackets around what follows word @i. */
static size_t bracket_after(const struct config_words *w, size_t i)
{
	const struct config_word *word = &w->all[i];

	if (word->token.kind != CONFIG_TOKEN_SIGN)
		return word->around;
	if (strchr("([{", *word->token.text))
		return i;
	if (strchr(")]}", *word->token.text) && word->around != CONFIG_WORD_NONE)
		return w->all[word->around].around;
	return word->around;
}

bool config_words_read(const char *text, struct config_words *w)
{
	size_t room = 0, bracket = CONFIG_WORD_NONE;
	struct config_lex lex;

	*w = (struct config_words){0};
	config_lex_init(&lex, text);
	for (;;) {
		struct config_word *more = w->all;

		if (w->count == room) {
			room = room ? 2 * room : 256;
			more = reallocarray(w->all, room, sizeof(*more));
		}
		if (!more)
			return false;
		w->all = more;
		more[w->count] = (struct config_word){config_lex_next(&lex), bracket};
		bracket = bracket_after(w, w->count);
		if (more[w->count++].token.kind == CONFIG_TOKEN_END)
			return true;
	}
}

size_t config_words_of_line(const struct config_words *w, unsigned line)
{
	size_t i = 0;

	while (i < w->count && w->all[i].token.end_line < line)
		i++;
	return i;
}

void config_words_fini(struct config_words *words)
{
	free(words->all);
	*words = (struct config_words){0};
}
