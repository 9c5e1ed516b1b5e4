// SPDX-License-Identifier: BSD-3-Clause
/*
 * Makes the configuration file's manual page from its source on standard input, while the daemon is built: a line
 * "@key NAME@" begins the paragraph of that key, which the next such line or "@end@" ends, and gets what the table of
 * keys says of it. Fails if the page names a key that is not in the table or was there before, or lacks one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config_keys.h"

#define MAX_KEYS 128u

/* A page that is being filled. */
struct page {
	const struct config_key *now; /* whose paragraph this is; NULL: none */
	const struct config_key *seen[MAX_KEYS];
	size_t nseen;
};

static void print_choices(const char *const *choices)
{
	for (size_t i = 0; choices[i]; i++) {
		if (i)
			fputs(choices[i + 1] ? ", " : " or ", stdout);
		fputs(choices[i], stdout);
	}
}

static void print_range(const struct config_key *key)
{
	printf("%u to %u", key->min, key->max);
	if (key->unit)
		printf(" %s", key->unit);
	if (key->multiple)
		printf(", a multiple of %u", key->multiple);
}

static void print_type(const struct config_key *key)
{
	static const char *const words[] = {
		[CONFIG_KEY_BOOL] = "true or false",
		[CONFIG_KEY_NAME] = "word",
		[CONFIG_KEY_PATH] = "path",
		[CONFIG_KEY_FOLDER] = "path",
		[CONFIG_KEY_ADDRESS] = "address and port",
		[CONFIG_KEY_PREFIXES] = "array of prefixes",
		[CONFIG_KEY_HOSTS] = "array of names",
		[CONFIG_KEY_LISTEN] = "address or array of addresses",
		[CONFIG_KEY_CONNECT] = "address or array of addresses",
		[CONFIG_KEY_MOUNT] = "connect, rpcbind, off or address",
		[CONFIG_KEY_SOURCES] = "array of addresses",
		[CONFIG_KEY_ALLOW] = "array of prefixes",
		[CONFIG_KEY_DEFAULTS] = "group",
		[CONFIG_KEY_SERVICES] = "list",
	};

	if (key->type == CONFIG_KEY_NUMBER)
		print_range(key);
	else if (key->type == CONFIG_KEY_CHOICE)
		print_choices(key->choices);
	else
		fputs(words[key->type], stdout);
}

/* A quote would end the argument of a macro. */
static void print_quoted(const char *text)
{
	for (; *text; text++)
		if (*text == '"')
			fputs("\\(dq", stdout);
		else
			putchar(*text);
}

/* The head of a paragraph: the name, and in brackets what the value may be, and the default. */
static void print_item(const struct config_key *key)
{
	printf(".It Va %s Pq \"", key->name);
	print_type(key);
	if (key->mandatory) {
		fputs("; required", stdout);
	} else if (key->preset) {
		fputs("; default ", stdout);
		print_quoted(key->preset);
	}
	puts("\"");
}

/* The last lines: in which services the key means something, and whether a change takes a restart. */
static void print_end(const struct config_key *key)
{
	const char *scope = config_scope_text(key->scope);

	if (key->scope != CONFIG_SCOPE_ALWAYS)
		printf(".Pp\nOnly %s.\n", scope + strlen("is "));
	if (key->fixed)
		puts(".Pp\nA change of it takes a restart.");
}

static void end(struct page *page)
{
	if (page->now)
		print_end(page->now);
	page->now = NULL;
}

static bool has_seen(const struct page *page, const struct config_key *key)
{
	for (size_t i = 0; i < page->nseen; i++)
		if (page->seen[i] == key)
			return true;
	return false;
}

/* Some names are in both tables: the global one comes first. */
static const struct config_key *next_of(const struct page *page, const char *name)
{
	const struct config_key *key = config_key_find(config_keys, name);

	if (key && !has_seen(page, key))
		return key;
	key = config_key_find(config_service_keys, name);
	return key && !has_seen(page, key) ? key : NULL;
}

static int begin(struct page *page, const char *name)
{
	end(page);
	page->now = next_of(page, name);
	if (!page->now || page->nseen == MAX_KEYS) {
		fprintf(stderr, "the page has a paragraph too many for a key \"%s\"\n", name);
		return -1;
	}
	page->seen[page->nseen++] = page->now;
	print_item(page->now);
	return 0;
}

static int copy_line(struct page *page, char *line)
{
	size_t len = strcspn(line, "\n");
	const char ask[] = "@key ";

	if (!strncmp(line, ask, strlen(ask)) && len > strlen(ask) && line[len - 1] == '@') {
		line[len - 1] = '\0';
		return begin(page, line + strlen(ask));
	}
	if (!strncmp(line, "@end@", len))
		end(page);
	else
		fputs(line, stdout);
	return 0;
}

static int check_all(const struct page *page, const struct config_key *keys)
{
	int rc = 0;

	for (; keys->name; keys++)
		if (!has_seen(page, keys)) {
			fprintf(stderr, "the page has no paragraph for the key \"%s\"\n",
				keys->name);
			rc = -1;
		}
	return rc;
}

int main(void)
{
	struct page page = {0};
	char *line = NULL;
	size_t size = 0;
	int rc = 0;

	while (!rc && getline(&line, &size, stdin) > 0)
		rc = copy_line(&page, line);
	free(line);
	end(&page);
	if (!rc)
		rc = check_all(&page, config_keys) | check_all(&page, config_service_keys);
	if (!rc && !fflush(stdout))
		return 0;
	fputs("gen_conf_man: no manual page was made\n", stderr);
	return 1;
}
