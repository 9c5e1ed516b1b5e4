// SPDX-License-Identifier: BSD-3-Clause
/* The mistakes in the syntax of the configuration file that are made often. */
#include "daemon/config/config_mistakes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/compiler.h"
#include "daemon/config/config_keys.h"

#define NAME_BYTES 64u
#define A_SERVICE  "services = ( { name = \"...\"; ... } );"

static bool in_list(const struct config_words *w, size_t i)
{
	return config_words_around(w, i) == '(' || config_words_around(w, i) == '[';
}

/* The key of that name, wherever it belongs, or NULL. */
static const struct config_key *key_of(const struct config_token *token)
{
	char name[NAME_BYTES];
	const struct config_key *key;

	if (token->kind != CONFIG_TOKEN_WORD || token->len >= sizeof(name))
		return NULL;
	memcpy(name, token->text, token->len);
	name[token->len] = '\0';
	key = config_key_find(config_keys, name);
	return key ? key : config_key_find(config_service_keys, name);
}

/* What was meant as one value: up to a blank or a sign that ends it. */
static int value_bytes(const struct config_token *token)
{
	size_t len = strcspn(token->text, " \t\r\n;,(){}[]\"");

	return len < CONFIG_TOKEN_SHOWN_BYTES ? (int)len : CONFIG_TOKEN_SHOWN_BYTES;
}

/* ---- each looks at word @i, and says what is wrong there, or returns false ---- */

#define SAY(...) (snprintf(hint, CONFIG_HINT_BYTES, __VA_ARGS__), true)

static bool bracket_unmatched(const struct config_words *w, size_t i, char *hint)
{
	const struct config_token *token = config_words_at(w, i, 0);
	size_t open = w->all[i].around;
	const char *ends = ")]}", *begins = "([{", *end;

	if (token->kind == CONFIG_TOKEN_END && open != CONFIG_WORD_NONE)
		return SAY("the \"%c\" of line %u is not closed", *w->all[open].token.text,
			   w->all[open].token.line);
	end = token->kind == CONFIG_TOKEN_SIGN ? strchr(ends, *token->text) : NULL;
	if (!end || (open != CONFIG_WORD_NONE && *w->all[open].token.text == begins[end - ends]))
		return false;
	if (open == CONFIG_WORD_NONE)
		return SAY("there is no \"%c\" for this \"%c\"", begins[end - ends], *end);
	return SAY("the \"%c\" of line %u is not closed before this \"%c\"",
		   *w->all[open].token.text, w->all[open].token.line, *end);
}

/* A service begins inside of another. */
static bool service_not_closed(const struct config_words *w, size_t i, char *hint)
{
	size_t open = w->all[i].around;
	const struct config_key *key;
	bool begins = config_words_is(w, i, 0, '{') ||
		      (config_words_is(w, i, 0, ',') && config_words_is(w, i, 1, '{'));

	if (!begins || config_words_around(w, i) != '{' || config_words_is_equals(w, i, -1))
		return false;
	key = config_words_is_equals(w, open, -1) ? key_of(config_words_at(w, open, -2)) : NULL;
	if (key && key->type == CONFIG_KEY_SERVICES)
		return SAY("services stand in round brackets; write " A_SERVICE);
	return SAY("is the \"{\" of line %u closed before this?", w->all[open].token.line);
}

static bool quote_of_another_kind(const struct config_words *w, size_t i, char *hint)
{
	const struct config_token *token = config_words_at(w, i, 0);
	const char *at = token->text;

	if (token->kind != CONFIG_TOKEN_SIGN)
		return false;
	if (*at == '\'' || *at == '`' || !strncmp(at, "\xe2\x80\x9c", 3) ||
	    !strncmp(at, "\xe2\x80\x9d", 3) || !strncmp(at, "\xe2\x80\x98", 3) ||
	    !strncmp(at, "\xe2\x80\x99", 3) || !strncmp(at, "\xe2\x80\x9e", 3))
		return SAY("a string stands in plain double quotes: \"...\"");
	if (!strncmp(at, "\xc2\xa0", 2))
		return SAY("a no-break space stands here: write a plain one");
	if ((unsigned char)*at >= 0x80)
		return SAY("only ASCII may stand outside of strings and comments");
	return false;
}

static bool looks_like_yaml(const struct config_words *w, size_t i, char *hint)
{
	if (!config_words_is_first(w, i) || !config_words_is(w, i, 0, '-') ||
	    config_words_is_equals(w, i, 1))
		return false;
	return SAY("this looks like YAML; write " A_SERVICE);
}

static bool looks_like_ini(const struct config_words *w, size_t i, char *hint)
{
	if (!config_words_is_first(w, i) || !config_words_is(w, i, 0, '[') ||
	    config_words_around(w, i) || config_words_is_equals(w, i, -1))
		return false;
	return SAY("this looks like INI or TOML: there are no sections; write " A_SERVICE);
}

static bool looks_like_json(const struct config_words *w, size_t i, char *hint)
{
	if (config_words_is_kind(w, i, 0, CONFIG_TOKEN_STRING) && config_words_is_equals(w, i, 1))
		return SAY("this looks like JSON: keys stand without quotes; write KEY = VALUE;");
	if (config_words_is(w, i, 0, '{') && config_words_is_kind(w, i, -1, CONFIG_TOKEN_END))
		return SAY(
			"this looks like JSON: no braces stand around the file; write " A_SERVICE);
	return false;
}

static bool equals_twice(const struct config_words *w, size_t i, char *hint)
{
	if (!config_words_is_equals(w, i, -1) ||
	    !(config_words_is_equals(w, i, 0) || config_words_is(w, i, 0, '>')))
		return false;
	return SAY("one \"=\" stands between a key and its value");
}

/* What ends a value, or the next key, stands in its place. */
static bool value_missing(const struct config_words *w, size_t i, char *hint)
{
	const struct config_token *name = config_words_at(w, i, -2),
				  *token = config_words_at(w, i, 0);
	const struct config_key *key = key_of(name);
	bool next_key = config_words_is_first(w, i) && token->kind == CONFIG_TOKEN_WORD &&
			config_words_is_equals(w, i, 1) &&
			(!key || key->type != CONFIG_KEY_SERVICES);
	bool ends = token->kind == CONFIG_TOKEN_END ||
		    (token->kind == CONFIG_TOKEN_SIGN && strchr(";,)}]", *token->text));

	if (!config_words_is_equals(w, i, -1) || name->kind != CONFIG_TOKEN_WORD ||
	    !(next_key || ends))
		return false;
	return SAY("the value of %.*s is missing", config_token_shown(name), name->text);
}

/* Unless the key of that name has no number. */
static bool say_no_units(const struct config_token *name, char *hint)
{
	const struct config_key *key = key_of(name);

	if (key && key->type != CONFIG_KEY_NUMBER)
		return false;
	return SAY("no units: %.*s is a plain number%s%s", config_token_shown(name), name->text,
		   key && key->unit ? ", in " : "", key && key->unit ? key->unit : "");
}

/* 1M, 30s */
static bool number_with_unit(const struct config_words *w, size_t i, char *hint)
{
	const struct config_token *token = config_words_at(w, i, 0);
	size_t digits = strspn(token->text, "0123456789");

	if (!config_words_is_equals(w, i, -1) || token->kind != CONFIG_TOKEN_WORD || !digits ||
	    digits >= token->len || !isalpha((unsigned char)token->text[digits]) ||
	    memchr(token->text, '.', token->len))
		return false;
	return say_no_units(config_words_at(w, i, -2), hint);
}

/* 1 MiB */
static bool number_before_unit(const struct config_words *w, size_t i, char *hint)
{
	const struct config_token *token = config_words_at(w, i, 0);

	if (!config_words_is_equals(w, i, -2) || !config_token_digits(config_words_at(w, i, -1)) ||
	    config_words_is_first(w, i) || token->kind != CONFIG_TOKEN_WORD ||
	    !isalpha((unsigned char)*token->text) || config_words_is_equals(w, i, 1))
		return false;
	return say_no_units(config_words_at(w, i, -3), hint);
}

/* 1,000 */
static bool number_with_comma(const struct config_words *w, size_t i, char *hint)
{
	if (!config_words_is_equals(w, i, -3) || !config_token_digits(config_words_at(w, i, -2)) ||
	    !config_words_is(w, i, -1, ',') || !config_token_digits(config_words_at(w, i, 0)))
		return false;
	return SAY("a number has no commas: write %.*s%.*s",
		   config_token_shown(config_words_at(w, i, -2)), config_words_at(w, i, -2)->text,
		   config_token_shown(config_words_at(w, i, 0)), config_words_at(w, i, 0)->text);
}

/* 64 * 1024 */
static bool number_calculated(const struct config_words *w, size_t i, char *hint)
{
	const struct config_token *token = config_words_at(w, i, 0);

	if (!config_words_is_equals(w, i, -2) || !config_token_digits(config_words_at(w, i, -1)) ||
	    !token->len || !strchr("*/+-<", *token->text))
		return false;
	return SAY("nothing is calculated here: write the number itself");
}

static bool is_plain_value(const struct config_token *token)
{
	static const char *const truths[] = {"true", "false"};
	char *end;

	for (size_t i = 0; i < 2; i++)
		if (token->len == strlen(truths[i]) &&
		    !strncasecmp(token->text, truths[i], token->len))
			return true;
	if (!isdigit((unsigned char)*token->text) && *token->text != '.')
		return false;
	strtod(token->text, &end);
	if (*end == 'L')
		end++;
	return end >= token->text + token->len && !strchr(":/.", *end ? *end : ' ');
}

/* What stands as a value, and is none: an address, a name, a path, yes. */
static bool value_unquoted(const struct config_words *w, size_t i, char *hint)
{
	const struct config_token *token = config_words_at(w, i, 0),
				  *name = config_words_at(w, i, -2);
	const struct config_key *key = key_of(name);
	int len = value_bytes(token);

	if (!config_words_is_equals(w, i, -1) || !len || name->kind != CONFIG_TOKEN_WORD)
		return false;
	if (token->kind == CONFIG_TOKEN_WORD ? is_plain_value(token)
					     : !config_words_is(w, i, 0, '/'))
		return false;
	if (key && key->type == CONFIG_KEY_SERVICES)
		return SAY("write " A_SERVICE);
	if (key && key->type == CONFIG_KEY_BOOL)
		return SAY("%s must be true or false", key->name);
	if (key && key->type == CONFIG_KEY_NUMBER)
		return SAY("%s must be a whole number", key->name);
	if (key && (key->type == CONFIG_KEY_ALLOW || key->type == CONFIG_KEY_PREFIXES ||
		    key->type == CONFIG_KEY_HOSTS))
		return SAY("write %s = [ \"%.*s\" ];", key->name, len, token->text);
	return SAY("the value stands in double quotes: %.*s = \"%.*s\";", config_token_shown(name),
		   name->text, len, token->text);
}

static bool entry_unquoted(const struct config_words *w, size_t i, char *hint)
{
	const struct config_token *token = config_words_at(w, i, 0);

	if (!in_list(w, i) || token->kind != CONFIG_TOKEN_WORD || config_words_is_equals(w, i, 1) ||
	    is_plain_value(token) ||
	    !(config_words_is(w, i, -1, '[') || config_words_is(w, i, -1, '(') ||
	      config_words_is(w, i, -1, ',')))
		return false;
	return SAY("each entry stands in double quotes: \"%.*s\"", value_bytes(token), token->text);
}

/* Whether a list may go on with this word, or end with it. */
static bool is_entry_or_end(const struct config_words *w, size_t i)
{
	return config_words_is_kind(w, i, 0, CONFIG_TOKEN_STRING) ||
	       config_words_is(w, i, 0, '{') ||
	       config_words_is(w, i, 0, config_words_around(w, i) == '(' ? ')' : ']');
}

static bool services_not_apart(const struct config_words *w, size_t i, char *hint)
{
	if (config_words_is(w, i, 0, '{') && config_words_is(w, i, -1, '}') && in_list(w, i))
		return SAY("a comma is missing between this service and the one before");
	if (config_words_is(w, i, 0, ';') && in_list(w, i)) {
		size_t open = w->all[i].around;

		if (!is_entry_or_end(w, i + 1))
			return SAY("the \"%c\" of line %u is not closed before this \";\"",
				   *w->all[open].token.text, w->all[open].token.line);
		return SAY("entries are parted by commas, not by \";\"");
	}
	if ((config_words_is(w, i, 0, ')') || config_words_is(w, i, 0, ']')) &&
	    config_words_is(w, i, -1, ','))
		return SAY("no comma may stand behind the last entry");
	return false;
}

static bool service_without_braces(const struct config_words *w, size_t i, char *hint)
{
	if (config_words_is(w, i, 0, '{') && config_words_around(w, i) == '[')
		return SAY("services stand in round brackets; write " A_SERVICE);
	if (in_list(w, i) && config_words_is_kind(w, i, 0, CONFIG_TOKEN_WORD) &&
	    config_words_is_equals(w, i, 1))
		return SAY("a service stands in braces; write " A_SERVICE);
	return false;
}

static bool include_misplaced(const struct config_words *w, size_t i, char *hint)
{
	const struct config_token *token = config_words_at(w, i, 0);

	bool followed = config_words_is_kind(w, i, -1, CONFIG_TOKEN_INCLUDE) &&
			token->kind == CONFIG_TOKEN_SIGN;

	if (!followed && !config_words_is(w, i, 0, '@') &&
	    !(token->len == 7 && !strncmp(token->text, "include", 7) &&
	      !config_words_is_equals(w, i, 1)))
		return false;
	return SAY("@include \"FILE\" begins a line of its own, and has nothing behind it");
}

/* Two words where one name was meant: "max connections". */
static const struct config_key *key_of_two(const struct config_token *a,
					   const struct config_token *b)
{
	char name[2 * NAME_BYTES];
	struct config_token joined = {.kind = CONFIG_TOKEN_WORD, .text = name};

	if (a->kind != CONFIG_TOKEN_WORD || b->kind != CONFIG_TOKEN_WORD || a->len >= NAME_BYTES ||
	    b->len >= NAME_BYTES)
		return NULL;
	joined.len = (size_t)snprintf(name, sizeof(name), "%.*s_%.*s", (int)a->len, a->text,
				      (int)b->len, b->text);
	return key_of(&joined);
}

/* A word in the place of a key. */
static bool key_alone(const struct config_words *w, size_t i, char *hint)
{
	const struct config_token *token = config_words_at(w, i, 0);
	const struct config_key *meant = key_of_two(token, config_words_at(w, i, 1));

	if (token->kind != CONFIG_TOKEN_WORD || config_words_is_equals(w, i, -1) ||
	    config_words_is_equals(w, i, 1) || in_list(w, i))
		return false;
	/* A letter that is none of ASCII goes on with it: that is what is wrong. */
	if ((unsigned char)token->text[token->len] >= 0x80)
		return false;
	if (meant)
		return SAY("is %s meant?", meant->name);
	if (key_of(token))
		return SAY("\"=\" is missing behind %.*s", config_token_shown(token), token->text);
	return SAY("%.*s has no value: a setting is KEY = VALUE;", value_bytes(token), token->text);
}

static bool semicolon_twice(const struct config_words *w, size_t i, char *hint)
{
	if (!config_words_is(w, i, 0, ';') && !config_words_is(w, i, 0, ','))
		return false;
	if (!config_words_is(w, i, -1, ';') && !config_words_is(w, i, -1, ',') &&
	    !config_words_is(w, i, -1, '{') && !config_words_is_kind(w, i, -1, CONFIG_TOKEN_END))
		return false;
	if (config_words_is(w, i, 0, ';') && config_words_is_first(w, i) &&
	    !config_words_is_first(w, i + 1))
		return SAY("a comment begins with \"#\"");
	return SAY("nothing stands before this \"%c\"", *config_words_at(w, i, 0)->text);
}

static bool (*const mistakes[])(const struct config_words *, size_t, char *) = {
	bracket_unmatched, service_not_closed, quote_of_another_kind, looks_like_yaml,
	looks_like_ini,    looks_like_json,    equals_twice,          value_missing,
	number_with_unit,  number_before_unit, number_with_comma,     number_calculated,
	value_unquoted,    entry_unquoted,     services_not_apart,    service_without_braces,
	include_misplaced, key_alone,          semicolon_twice,
};

bool config_mistake_find(const struct config_words *w, size_t i,
			 char hint[static CONFIG_HINT_BYTES])
{
	for (size_t k = 0; k < ARRAY_SIZE(mistakes); k++)
		if (mistakes[k](w, i, hint))
			return true;
	return false;
}
