// SPDX-License-Identifier: BSD-3-Clause
/* Finds numbers too large for libconfig. */
#include "daemon/config/config_scan.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define DIGITS_SHOWN 32u

struct scan {
	const char *at;
	unsigned line;
	int c; /* the character that is looked at, or EOF */
};

static void next(struct scan *s)
{
	if (s->c == '\n')
		s->line++;
	s->c = *s->at ? (unsigned char)*s->at++ : EOF;
}

static void skip_line(struct scan *s)
{
	while (s->c != '\n' && s->c != EOF)
		next(s);
}

static void skip_string(struct scan *s)
{
	next(s);
	while (s->c != '"' && s->c != EOF) {
		if (s->c == '\\')
			next(s);
		next(s);
	}
	next(s);
}

/* After a slash: a comment of either kind, or nothing. */
static void skip_slash(struct scan *s)
{
	int last = 0;

	next(s);
	if (s->c == '/') {
		skip_line(s);
	} else if (s->c == '*') {
		next(s);
		for (; s->c != EOF && !(last == '*' && s->c == '/'); next(s))
			last = s->c;
		next(s);
	}
}

/* A word: a number, or a name with digits in it. Returns whether it is a number that does not fit. */
static bool read_word(struct scan *s, char digits[DIGITS_SHOWN + 1])
{
	size_t len = 0;
	bool decimal = true;

	for (; isalnum(s->c) || s->c == '_' || s->c == '.'; next(s)) {
		decimal = decimal && isdigit(s->c);
		if (len < DIGITS_SHOWN)
			digits[len++] = (char)s->c;
	}
	digits[len] = '\0';
	if (!decimal)
		return false;
	return strtoull(digits, NULL, 10) > INT_MAX;
}

void config_scan_numbers(const char *text,
			 void (*too_large)(void *arg, unsigned line, const char *digits), void *arg)
{
	struct scan s = {.at = text, .line = 1, .c = 0};
	char digits[DIGITS_SHOWN + 1];

	next(&s);
	while (s.c != EOF) {
		if (s.c == '#')
			skip_line(&s);
		else if (s.c == '/')
			skip_slash(&s);
		else if (s.c == '"')
			skip_string(&s);
		else if (!isalnum(s.c) && s.c != '_')
			next(&s);
		else if (read_word(&s, digits))
			too_large(arg, s.line, digits);
	}
}
