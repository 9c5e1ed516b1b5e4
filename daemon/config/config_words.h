/* SPDX-License-Identifier: BSD-3-Clause */
/* All words of a configuration file with the brackets around them, to look at what stands beside what. */
#ifndef DAEMON_CONFIG_CONFIG_WORDS_H
#define DAEMON_CONFIG_CONFIG_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "daemon/config/config_lex.h"

#define CONFIG_WORD_NONE SIZE_MAX

struct config_word {
	struct config_token token;
	size_t around; /* index of the bracket that it stands in, or CONFIG_WORD_NONE */
};

struct config_words {
	struct config_word *all; /* the last is the end of the file */
	size_t count;
};

/** config_words_read - those of a text, which must outlive them; false for want of memory. */
bool config_words_read(const char *text, struct config_words *words) MUST_CHECK;
/** config_words_fini - free them; accepts what config_words_read() left when it failed. */
void config_words_fini(struct config_words *words);

/** config_words_at - what stands @step words from word @i; the end of a file where there is none. */
const struct config_token *config_words_at(const struct config_words *words, size_t i, int step);
/** config_words_is - whether that is this sign. */
bool config_words_is(const struct config_words *words, size_t i, int step, char sign);
/** config_words_is_kind - whether that is of this kind. */
bool config_words_is_kind(const struct config_words *words, size_t i, int step,
			  enum config_token_kind kind);
/** config_words_is_equals - whether that is "=", or ":", which libconfig takes for the same. */
bool config_words_is_equals(const struct config_words *words, size_t i, int step);
/** config_words_is_first - whether word @i is the first of its line. */
bool config_words_is_first(const struct config_words *words, size_t i);
/** config_words_around - the bracket around word @i: '(', '[' or '{', or 0 for none. */
char config_words_around(const struct config_words *words, size_t i);
/** config_words_of_line - the first word that ends in line @line or behind it. */
size_t config_words_of_line(const struct config_words *words, unsigned line);

#endif
