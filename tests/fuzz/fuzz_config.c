// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as a configuration file that libconfig refuses: whatever is said of it is found without a mistake of ours. */
#include <string.h>

#include "daemon/config/config_hint.h"
#include "daemon/config/config_scan.h"
#include "tests/fuzz/fuzz.h"

#define MAX_LINES   64u /* that are asked about */
#define QUOTE_BYTES 40u

struct told {
	unsigned lines; /* of the file */
	unsigned last;  /* that something was said of */
};

static void told(void *arg, unsigned line, const char *what)
{
	struct told *t = arg;

	FUZZ_ASSERT(line >= t->last && line <= t->lines);
	FUZZ_ASSERT(what && !strchr(what, '\n'));
	t->last = line;
}

static void included(void *arg, unsigned line, const char *name)
{
	const struct told *t = arg;

	FUZZ_ASSERT(line <= t->lines && name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct config_scan_ops ops = {told, included};
	char hint[CONFIG_HINT_BYTES], quote[QUOTE_BYTES], *text = malloc(size + 1);
	struct told t = {.lines = 1};

	FUZZ_ASSERT(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (const char *at = text; *at; at++)
		t.lines += *at == '\n';
	config_scan(text, &ops, &t);
	for (unsigned line = 1; line <= t.lines + 1 && line <= MAX_LINES; line++) {
		config_hint_syntax(text, line, hint);
		FUZZ_ASSERT(*hint && strlen(hint) < sizeof(hint));
		config_hint_twice(text, line, hint);
		FUZZ_ASSERT(*hint && strlen(hint) < sizeof(hint));
		config_hint_quote(text, line, quote, sizeof(quote));
		FUZZ_ASSERT(strlen(quote) < sizeof(quote) && !strpbrk(quote, "\r\n\t"));
	}
	free(text);
	return 0;
}
