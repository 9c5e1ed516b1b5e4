// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/syntax/hint.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/config/config_keys.h"

#define NAME_BYTES 64u
#define A_SERVICE  "services = ( { name = \"...\"; ... } );"
#define SHOWN(t)   syntax_shown_bytes(t), (t)->text

/* Sets the hint. Returns true. */
static bool PRINTF_LIKE(2, 3) set_hint(char *hint, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(hint, SYNTAX_HINT_BYTES, format, ap);
	va_end(ap);
	return true;
}

static bool is_string(const struct syntax_token *t)
{
	return t->kind == SYNTAX_STRING;
}

static bool is_word(const struct syntax_token *t)
{
	return t->kind == SYNTAX_WORD;
}

static bool is_one_of(const struct syntax_token *t, const char *signs)
{
	return t->kind == SYNTAX_PUNCT && strchr(signs, *t->text);
}

static bool in_list(const struct syntax_token *t)
{
	return syntax_is_inside(t, "([");
}

/* Returns the key of that name, global or of services, or NULL. */
static const struct config_key *key_of(const struct syntax_token *t)
{
	char name[NAME_BYTES];
	const struct config_key *key;

	if (!is_word(t) || t->len >= sizeof(name))
		return NULL;
	memcpy(name, t->text, t->len);
	name[t->len] = '\0';
	key = config_key_find(config_keys, name);
	return key ? key : config_key_find(config_service_keys, name);
}

static bool is_key_of_type(const struct config_key *key, enum config_key_type type)
{
	return key && key->type == type;
}

/* Returns the length of an intended value: up to a blank or a sign that ends it. */
static int value_bytes(const struct syntax_token *t)
{
	size_t len = strcspn(t->text, " \t\r\n;,(){}[]\"");

	return len < SYNTAX_SHOWN_BYTES ? (int)len : SYNTAX_SHOWN_BYTES;
}

/* ---- each function detects one mistake at a token: it sets the hint, or returns false ---- */

static bool bracket_unmatched(const struct syntax_token *t, char *hint)
{
	const struct syntax_token *open = syntax_bracket(t);
	const char *ends = ")]}", *begins = "([{", *end;

	if (t->kind == SYNTAX_END && open)
		return set_hint(hint, "the \"%c\" of line %u is not closed", *open->text,
				open->line);
	end = t->kind == SYNTAX_PUNCT ? strchr(ends, *t->text) : NULL;
	if (!end || (open && *open->text == begins[end - ends]))
		return false;
	if (!open)
		return set_hint(hint, "this \"%c\" has no opening \"%c\"", *end,
				begins[end - ends]);
	return set_hint(hint, "the \"%c\" of line %u is not closed before this \"%c\"", *open->text,
			open->line, *end);
}

/* A service begins within another one. */
static bool service_not_closed(const struct syntax_token *t, char *hint)
{
	const struct syntax_token *open = syntax_bracket(t);
	bool begins = syntax_is(t, '{') || (syntax_is(t, ',') && syntax_is(t + 1, '{'));

	if (!begins || !syntax_is_inside(t, "{") || syntax_is_equals(t - 1))
		return false;
	if (syntax_is_equals(open - 1) && is_key_of_type(key_of(open - 2), CONFIG_KEY_SERVICES))
		return set_hint(hint, "services must be in parentheses: " A_SERVICE);
	return set_hint(hint, "is the \"{\" of line %u closed before this?", open->line);
}

static bool quote_of_another_kind(const struct syntax_token *t, char *hint)
{
	static const char *const quotes[] = {
		"'",           "`", "\xe2\x80\x9c", "\xe2\x80\x9d", "\xe2\x80\x98", "\xe2\x80\x99",
		"\xe2\x80\x9e"};

	if (t->kind != SYNTAX_PUNCT)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(quotes); i++)
		if (!strncmp(t->text, quotes[i], strlen(quotes[i])))
			return set_hint(hint, "write strings in plain double quotes: \"...\"");
	if (!strncmp(t->text, "\xc2\xa0", 2))
		return set_hint(hint, "this is a no-break space: write a plain space");
	if ((unsigned char)*t->text >= 0x80)
		return set_hint(hint, "only ASCII is allowed outside strings and comments");
	return false;
}

static bool looks_like_yaml(const struct syntax_token *t, char *hint)
{
	if (!syntax_is_first(t) || !syntax_is(t, '-') || syntax_is_equals(t + 1))
		return false;
	return set_hint(hint, "this looks like YAML: write " A_SERVICE);
}

static bool looks_like_ini(const struct syntax_token *t, char *hint)
{
	if (!syntax_is_first(t) || !syntax_is(t, '[') || syntax_bracket(t) ||
	    syntax_is_equals(t - 1))
		return false;
	return set_hint(hint,
			"this looks like INI or TOML, but sections do not exist: write " A_SERVICE);
}

static bool looks_like_json(const struct syntax_token *t, char *hint)
{
	if (is_string(t) && syntax_is_equals(t + 1))
		return set_hint(
			hint, "this looks like JSON, but keys have no quotes: write KEY = VALUE;");
	if (syntax_is(t, '{') && t[-1].kind == SYNTAX_END)
		return set_hint(
			hint,
			"this looks like JSON, but the file has no outer braces: write " A_SERVICE);
	return false;
}

static bool equals_twice(const struct syntax_token *t, char *hint)
{
	if (!syntax_is_equals(t - 1) || !is_one_of(t, "=:>"))
		return false;
	return set_hint(hint, "write one \"=\" between a key and its value");
}

/* A value is missing: its end or the next key follows. */
static bool value_missing(const struct syntax_token *t, char *hint)
{
	const struct syntax_token *name = t - 2;
	bool next_key = syntax_is_first(t) && syntax_is_key(t) &&
			!is_key_of_type(key_of(name), CONFIG_KEY_SERVICES);

	if (!syntax_is_equals(t - 1) || !is_word(name) ||
	    !(next_key || t->kind == SYNTAX_END || is_one_of(t, ";,)}]")))
		return false;
	return set_hint(hint, "the value of %.*s is missing", SHOWN(name));
}

/* Explains that numbers have no units, unless the key is not a number. */
static bool hint_no_units(const struct syntax_token *name, char *hint)
{
	const struct config_key *key = key_of(name);

	if (key && key->type != CONFIG_KEY_NUMBER)
		return false;
	return set_hint(hint, "no units: %.*s is a plain number%s%s", SHOWN(name),
			key && key->unit ? ", in " : "", key && key->unit ? key->unit : "");
}

/* 1M, 30s */
static bool number_with_unit(const struct syntax_token *t, char *hint)
{
	size_t digits = strspn(t->text, "0123456789");

	if (!syntax_is_equals(t - 1) || !is_word(t) || !digits || digits >= t->len ||
	    !isalpha((unsigned char)t->text[digits]) || memchr(t->text, '.', t->len))
		return false;
	return hint_no_units(t - 2, hint);
}

/* 1 MiB */
static bool number_before_unit(const struct syntax_token *t, char *hint)
{
	if (!syntax_is_equals(t - 2) || !syntax_is_number(t - 1) || syntax_is_first(t) ||
	    !is_word(t) || !isalpha((unsigned char)*t->text) || syntax_is_equals(t + 1))
		return false;
	return hint_no_units(t - 3, hint);
}

/* 1,000 */
static bool number_with_comma(const struct syntax_token *t, char *hint)
{
	if (!syntax_is_equals(t - 3) || !syntax_is_number(t - 2) || !syntax_is(t - 1, ',') ||
	    !syntax_is_number(t))
		return false;
	return set_hint(hint, "a number has no commas: write %.*s%.*s", SHOWN(t - 2), SHOWN(t));
}

/* 64 * 1024 */
static bool number_calculated(const struct syntax_token *t, char *hint)
{
	if (!syntax_is_equals(t - 2) || !syntax_is_number(t - 1) || !t->len ||
	    !strchr("*/+-<", *t->text))
		return false;
	return set_hint(hint, "calculations are not supported: write the number itself");
}

static bool is_plain_value(const struct syntax_token *t)
{
	char *end;

	if ((t->len == 4 && !strncasecmp(t->text, "true", 4)) ||
	    (t->len == 5 && !strncasecmp(t->text, "false", 5)))
		return true;
	if (!isdigit((unsigned char)*t->text) && *t->text != '.')
		return false;
	strtod(t->text, &end);
	if (*end == 'L')
		end++;
	return end >= t->text + t->len && !strchr(":/.", *end ? *end : ' ');
}

/* An unquoted value that needs quotes or has the wrong type: an address, a name, a path, yes. */
static bool value_unquoted(const struct syntax_token *t, char *hint)
{
	const struct syntax_token *name = t - 2;
	const struct config_key *key = key_of(name);
	int len = value_bytes(t);

	if (!syntax_is_equals(t - 1) || !len || !is_word(name) ||
	    (is_word(t) ? is_plain_value(t) : !syntax_is(t, '/')))
		return false;
	switch (key ? key->type : CONFIG_KEY_NAME) {
	case CONFIG_KEY_SERVICES:
		return set_hint(hint, "write " A_SERVICE);
	case CONFIG_KEY_BOOL:
		return set_hint(hint, "%s must be true or false", key->name);
	case CONFIG_KEY_REGISTER:
		return set_hint(hint, "%s must be true, false or \"mount\"", key->name);
	case CONFIG_KEY_NUMBER:
		return set_hint(hint, "%s must be a whole number", key->name);
	case CONFIG_KEY_ALLOW:
	case CONFIG_KEY_PREFIXES:
	case CONFIG_KEY_HOSTS:
		return set_hint(hint, "write %s = [ \"%.*s\" ];", key->name, len, t->text);
	default:
		return set_hint(hint, "write the value in double quotes: %.*s = \"%.*s\";",
				SHOWN(name), len, t->text);
	}
}

static bool entry_unquoted(const struct syntax_token *t, char *hint)
{
	if (!in_list(t) || !is_word(t) || syntax_is_equals(t + 1) || is_plain_value(t) ||
	    !is_one_of(t - 1, "[(,"))
		return false;
	return set_hint(hint, "write each entry in double quotes: \"%.*s\"", value_bytes(t),
			t->text);
}

/* Returns whether a list can continue or end with this token. */
static bool is_entry_or_end(const struct syntax_token *t)
{
	return is_string(t) || syntax_is(t, '{') ||
	       syntax_is(t, syntax_is_inside(t, "(") ? ')' : ']');
}

static bool services_not_apart(const struct syntax_token *t, char *hint)
{
	const struct syntax_token *open = syntax_bracket(t);

	if (syntax_is(t, '{') && syntax_is(t - 1, '}') && in_list(t))
		return set_hint(hint, "a comma is missing between this service and the one before");
	if (syntax_is(t, ';') && in_list(t) && !is_entry_or_end(t + 1))
		return set_hint(hint, "the \"%c\" of line %u is not closed before this \";\"",
				*open->text, open->line);
	if (syntax_is(t, ';') && in_list(t))
		return set_hint(hint, "separate entries by commas, not by \";\"");
	if (is_one_of(t, ")]") && syntax_is(t - 1, ','))
		return set_hint(hint, "remove the comma after the last entry");
	return false;
}

static bool service_without_braces(const struct syntax_token *t, char *hint)
{
	if (syntax_is(t, '{') && syntax_is_inside(t, "["))
		return set_hint(hint, "services must be in parentheses: " A_SERVICE);
	if (in_list(t) && syntax_is_key(t))
		return set_hint(hint, "a service must be in braces: " A_SERVICE);
	return false;
}

static bool include_misplaced(const struct syntax_token *t, char *hint)
{
	bool followed = t[-1].kind == SYNTAX_INCLUDE && t->kind == SYNTAX_PUNCT;
	bool named = t->len == 7 && !strncmp(t->text, "include", 7) && !syntax_is_equals(t + 1);

	if (!followed && !named && !syntax_is(t, '@'))
		return false;
	return set_hint(hint, "@include \"FILE\" must be alone on its line");
}

/* Returns the key that two words mean together: "max connections". */
static const struct config_key *key_of_two(const struct syntax_token *a,
					   const struct syntax_token *b)
{
	char name[2 * NAME_BYTES];
	struct syntax_token joined = {.kind = SYNTAX_WORD, .text = name};

	if (!is_word(a) || !is_word(b) || a->len >= NAME_BYTES || b->len >= NAME_BYTES)
		return NULL;
	joined.len = (size_t)snprintf(name, sizeof(name), "%.*s_%.*s", (int)a->len, a->text,
				      (int)b->len, b->text);
	return key_of(&joined);
}

/* A word without a value. */
static bool key_alone(const struct syntax_token *t, char *hint)
{
	const struct config_key *meant = key_of_two(t, t + 1);

	if (!is_word(t) || syntax_is_equals(t - 1) || syntax_is_equals(t + 1) || in_list(t))
		return false;
	/* A non-ASCII letter follows: that is the mistake. */
	if ((unsigned char)t->text[t->len] >= 0x80)
		return false;
	if (meant)
		return set_hint(hint, "did you mean %s?", meant->name);
	if (key_of(t))
		return set_hint(hint, "\"=\" is missing after %.*s", SHOWN(t));
	return set_hint(hint, "%.*s has no value: a setting is KEY = VALUE;", value_bytes(t),
			t->text);
}

static bool semicolon_twice(const struct syntax_token *t, char *hint)
{
	if (!is_one_of(t, ";,") || !(is_one_of(t - 1, ";,{") || t[-1].kind == SYNTAX_END))
		return false;
	if (syntax_is(t, ';') && syntax_is_first(t) && !syntax_is_first(t + 1))
		return set_hint(hint, "a comment begins with \"#\"");
	return set_hint(hint, "nothing precedes this \"%c\"", *t->text);
}

/* The first match determines the hint. */
static bool (*const mistakes[])(const struct syntax_token *, char *) = {
	bracket_unmatched, service_not_closed, quote_of_another_kind, looks_like_yaml,
	looks_like_ini,    looks_like_json,    equals_twice,          value_missing,
	number_with_unit,  number_before_unit, number_with_comma,     number_calculated,
	value_unquoted,    entry_unquoted,     services_not_apart,    service_without_braces,
	include_misplaced, key_alone,          semicolon_twice,
};

static bool find_mistake(const struct syntax_tokens *tokens, unsigned line, char *hint)
{
	const struct syntax_token *t = syntax_tokens_of_line(tokens, line);

	for (; t < tokens->end && t->line <= line; t++)
		for (size_t k = 0; k < ARRAY_SIZE(mistakes); k++)
			if (mistakes[k](t, hint))
				return true;
	return false;
}

/*
 * Finds a string that ends where an address should begin, up to @line. Returns its line, or 0.
 * libconfig treats what follows "tcp:" as a comment, so it reports an error in a later line.
 */
static unsigned line_of_lost_quote(const struct syntax_tokens *tokens, unsigned line, char *hint)
{
	const struct syntax_token *t = tokens->first;

	for (; t < tokens->end && t->line <= line; t++) {
		if (!is_string(t - 1) || !is_word(t) || strncmp(t->text + t->len, "://", 3) != 0)
			continue;
		set_hint(hint, "is a quote missing? The string %.*s ends before %.*s://",
			 SHOWN(t - 1), SHOWN(t));
		return t->line;
	}
	return 0;
}

unsigned syntax_hint(const struct syntax_tokens *tokens, unsigned line,
		     char hint[static SYNTAX_HINT_BYTES])
{
	unsigned lost = line_of_lost_quote(tokens, line, hint), before;

	if (lost)
		return lost;
	if (find_mistake(tokens, line, hint))
		return line;
	/* libconfig reports what is missing at the end of a line in the next line. */
	before = syntax_tokens_of_line(tokens, line)[-1].end_line;
	if (before && find_mistake(tokens, before, hint))
		return before;
	set_hint(hint,
		 "here or just before: is a comma between services, a quote or a brace missing?");
	return line;
}

/* Returns where the key @t was set before in its group, or NULL. */
static const struct syntax_token *set_before(const struct syntax_token *first,
					     const struct syntax_token *t)
{
	for (; first < t; first++)
		if (syntax_bracket(first) == syntax_bracket(t) && syntax_is_key(first) &&
		    syntax_same_text(first, t))
			return first;
	return NULL;
}

void syntax_hint_duplicate(const struct syntax_tokens *tokens, unsigned line,
			   char hint[static SYNTAX_HINT_BYTES])
{
	const struct syntax_token *t = syntax_tokens_of_line(tokens, line), *before;

	for (; t < tokens->end && t->line <= line; t++) {
		before = syntax_is_key(t) ? set_before(tokens->first, t) : NULL;
		if (!before)
			continue;
		set_hint(hint, "%.*s is already set in line %u", SHOWN(t), before->line);
		return;
	}
	set_hint(hint, "a key of this line is already set, in this file or in an included one");
}

/* ---- mistakes that libconfig does not report ---- */

bool syntax_is_open(const struct syntax_token *token)
{
	bool is_text = token->kind == SYNTAX_STRING || token->kind == SYNTAX_INCLUDE;

	return token->kind == SYNTAX_COMMENT ||
	       (is_text && (!token->closed || token->end_line != token->line));
}

static bool is_hex(const struct syntax_token *t)
{
	return t->len > 2 && t->text[0] == '0' && (t->text[1] | 0x20) == 'x' &&
	       strspn(t->text + 2, "0123456789abcdefABCDEF") >= t->len - 2;
}

static bool is_too_large(const struct syntax_token *t)
{
	return is_word(t) && (is_hex(t) || syntax_is_number(t)) &&
	       strtoull(t->text, NULL, is_hex(t) ? 16 : 10) > INT_MAX;
}

unsigned syntax_precheck(const struct syntax_token *token, char hint[static SYNTAX_HINT_BYTES])
{
	if (token->kind == SYNTAX_COMMENT)
		set_hint(hint, "the comment that begins here is not closed: */ is missing");
	else if (syntax_is_open(token))
		set_hint(hint, "is a quote missing? The string %.*s does not end in its line",
			 SHOWN(token));
	else if (is_too_large(token))
		set_hint(hint, "%.*s is too large a number", SHOWN(token));
	/* libconfig joins adjacent strings; in a list two entries were intended. */
	else if (is_string(token) && is_string(token + 1) && !syntax_is_open(token + 1) &&
		 in_list(token))
		set_hint(hint, "is a comma missing between %.*s and %.*s?", SHOWN(token),
			 SHOWN(token + 1));
	else
		return 0;
	return token->line;
}
