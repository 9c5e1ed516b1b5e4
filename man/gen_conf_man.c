// SPDX-License-Identifier: BSD-3-Clause
/*
 * Generates rpcrdma-proxy.conf(5) at build time: copies the source of the page from standard input to standard output, and
 * adds the type, limits, default and scope of each key from the tables in daemon/config/config_keys.c.
 *
 * A line "@key NAME@" begins the paragraph of a key. The next such line, or "@end@", ends it. The program fails if the
 * page names an unknown key, names a key twice, or lacks one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config_keys.h"

#define MAX_KEYS 128u

struct man_page {
	const struct config_key *current; /* key of the open paragraph; NULL: none */
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
		[CONFIG_KEY_FILE] = "path",
		[CONFIG_KEY_ADDRESS] = "address and port",
		[CONFIG_KEY_PREFIXES] = "array of prefixes",
		[CONFIG_KEY_HOSTS] = "array of names",
		[CONFIG_KEY_PEERS] = "array of names",
		[CONFIG_KEY_PEER] = "name or IP address",
		[CONFIG_KEY_LISTEN] = "address or array of addresses",
		[CONFIG_KEY_CONNECT] = "address or array of addresses",
		[CONFIG_KEY_MOUNT] = "connect, rpcbind, off or address",
		[CONFIG_KEY_REGISTER] = "true, false or mount",
		[CONFIG_KEY_SOURCES] = "array of addresses",
		[CONFIG_KEY_ALLOW] = "array of prefixes",
		[CONFIG_KEY_DEFAULTS] = "group",
		[CONFIG_KEY_SERVICES] = "list",
	};

	if (key->type == CONFIG_KEY_AUTO)
		fputs("auto, or ", stdout);
	if (key->type == CONFIG_KEY_NUMBER || key->type == CONFIG_KEY_AUTO)
		print_range(key);
	else if (key->type == CONFIG_KEY_CHOICE)
		print_choices(key->choices);
	else
		fputs(words[key->type], stdout);
}

/* Escapes quotes, which would end the argument of a macro. */
static void print_quoted(const char *text)
{
	for (; *text; text++)
		if (*text == '"')
			fputs("\\(dq", stdout);
		else
			putchar(*text);
}

/* Prints the head of a paragraph: name, type or range, and default. */
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

/* Prints the last lines: the services that the key applies to, and whether a change needs a restart. */
static void print_scope(const struct config_key *key)
{
	const char *scope = config_scope_text(key->scope);

	if (key->scope != CONFIG_SCOPE_ALWAYS)
		printf(".Pp\nOnly %s.\n", scope + strlen("is "));
	if (key->fixed)
		puts(".Pp\nA change takes effect only after a restart.");
}

static void page_end_key(struct man_page *page)
{
	if (page->current)
		print_scope(page->current);
	page->current = NULL;
}

static bool page_has_key(const struct man_page *page, const struct config_key *key)
{
	for (size_t i = 0; i < page->nseen; i++)
		if (page->seen[i] == key)
			return true;
	return false;
}

/*
 * Returns the next key of that name, or NULL. If both tables have the name, the page describes the global key first.
 */
static const struct config_key *page_next_key(const struct man_page *page, const char *name)
{
	const struct config_key *key = config_key_find(config_keys, name);

	if (key && !page_has_key(page, key))
		return key;
	key = config_key_find(config_service_keys, name);
	return key && !page_has_key(page, key) ? key : NULL;
}

static int page_begin_key(struct man_page *page, const char *name)
{
	page_end_key(page);
	page->current = page_next_key(page, name);
	if (!page->current || page->nseen == MAX_KEYS) {
		fprintf(stderr, "the page has an unknown or repeated key \"%s\"\n", name);
		return -1;
	}
	page->seen[page->nseen++] = page->current;
	print_item(page->current);
	return 0;
}

static int page_copy_line(struct man_page *page, char *line)
{
	size_t len = strcspn(line, "\n");
	const char mark[] = "@key ";

	if (!strncmp(line, mark, strlen(mark)) && len > strlen(mark) && line[len - 1] == '@') {
		line[len - 1] = '\0';
		return page_begin_key(page, line + strlen(mark));
	}
	if (!strncmp(line, "@end@", len))
		page_end_key(page);
	else
		fputs(line, stdout);
	return 0;
}

static int page_check_keys(const struct man_page *page, const struct config_key *keys)
{
	int rc = 0;

	for (; keys->name; keys++)
		if (!page_has_key(page, keys)) {
			fprintf(stderr, "the page lacks the key \"%s\"\n", keys->name);
			rc = -1;
		}
	return rc;
}

int main(void)
{
	struct man_page page = {0};
	char *line = NULL;
	size_t size = 0;
	int rc = 0;

	while (!rc && getline(&line, &size, stdin) > 0)
		rc = page_copy_line(&page, line);
	free(line);
	page_end_key(&page);
	if (!rc)
		rc = page_check_keys(&page, config_keys) |
		     page_check_keys(&page, config_service_keys);
	if (!rc && !fflush(stdout))
		return 0;
	fputs("gen_conf_man: failed\n", stderr);
	return 1;
}
