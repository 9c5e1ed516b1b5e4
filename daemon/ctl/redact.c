// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"

#define CUT "[cut]"

struct cutter {
	bool in_value; /* within a cut value that continues on the next line */
	bool in_pem;
	FILE *out;
};

struct span {
	const char *at, *end;
};

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool contains_word(struct span in, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = in.at; (size_t)(in.end - at) >= len; at++)
		if (!strncasecmp(at, word, len))
			return true;
	return false;
}

static bool ends_with(struct span in, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(in.end - in.at) >= len && !strncasecmp(in.end - len, word, len);
}

static bool is_secret(struct span name)
{
	static const char *const words[] = {"password", "passwd",     "passphrase", "secret",
					    "token",    "credential", "key"};

	if (ends_with(name, "_file"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (contains_word(name, words[i]))
			return true;
	return false;
}

/* Returns where the value of a secret begins in a line, or NULL. */
static const char *secret_value(struct span line)
{
	const char *at = line.at, *behind;

	while (at < line.end) {
		struct span name = {.at = at};

		while (at < line.end && is_name(*at))
			at++;
		name.end = at;
		behind = at;
		while (behind < line.end && (*behind == ' ' || *behind == '\t' || *behind == '"'))
			behind++;
		if (name.end > name.at && behind < line.end && strchr("=:", *behind) &&
		    is_secret(name))
			return behind + 1;
		if (at == name.at)
			at++;
	}
	return NULL;
}

/* Returns whether a value that starts before or in @line ends on it. */
static bool ends_value(struct span line)
{
	bool quoted = false;

	for (const char *at = line.at; at < line.end; at++) {
		if (quoted && *at == '\\' && at + 1 < line.end)
			at++;
		else if (*at == '"')
			quoted = !quoted;
		else if (!quoted && (*at == ';' || *at == '}' || *at == '#'))
			return true;
	}
	return false;
}

/* Cuts the text before the '@' of "scheme://user:password@host". */
static void put_uris(struct span line, FILE *out)
{
	const char *at = line.at, *mark;
	size_t len;

	while ((mark = memmem(at, (size_t)(line.end - at), "://", 3))) {
		mark += 3;
		fwrite(at, 1, (size_t)(mark - at), out);
		at = mark;
		for (len = 0; at + len < line.end && !strchr("/\" \t;,", at[len]); len++)
			if (at[len] == '@')
				mark = at + len;
		if (mark > at)
			fputs(CUT, out);
		at = mark;
	}
	fwrite(at, 1, (size_t)(line.end - at), out);
}

static void put_line(struct cutter *cutter, struct span line)
{
	struct span value = {.end = line.end};

	if (cutter->in_pem) {
		cutter->in_pem = !contains_word(line, "-----END ");
		return;
	}
	if (contains_word(line, "-----BEGIN ")) {
		cutter->in_pem = !contains_word(line, "-----END ");
		fputs(CUT "\n", cutter->out);
		return;
	}
	if (cutter->in_value) {
		cutter->in_value = !ends_value(line);
		return;
	}
	value.at = secret_value(line);
	put_uris((struct span){line.at, value.at ? value.at : line.end}, cutter->out);
	if (value.at) {
		fputs(" " CUT, cutter->out);
		/* Only settings with '=' outside comments can continue on the next line. */
		cutter->in_value = memchr(line.at, '=', (size_t)(value.at - line.at)) &&
				   *line.at != '#' && !ends_value(value);
	}
	fputc('\n', cutter->out);
}

void redact_text(const char *text, size_t len, FILE *out)
{
	struct cutter cutter = {.out = out};
	const char *end = text + len, *next;

	for (const char *at = text; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		if (!next)
			next = end;
		put_line(&cutter, (struct span){at, next});
	}
}
