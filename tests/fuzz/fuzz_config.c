// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes configuration files that libconfig rejects: the search for the mistake has no error of its
 * own.
 */
#include <string.h>

#include "daemon/config/syntax/hint.h"
#include "daemon/config/syntax/tokens.h"
#include "tests/fuzz/fuzz.h"

#define MAX_LINES 64u /* that are asked about */

static void check_token(const struct syntax_tokens *tokens, const struct syntax_token *t,
			unsigned nlines)
{
	char hint[SYNTAX_HINT_BYTES] = "";
	unsigned line = syntax_precheck(t, hint);

	FUZZ_ASSERT(line ? line == t->line && *hint && !strchr(hint, '\n') : !*hint);
	FUZZ_ASSERT(t->line >= t[-1].end_line && t->end_line >= t->line && t->end_line <= nlines);
	FUZZ_ASSERT(t->kind != SYNTAX_INCLUDE || t->len >= 1);
	FUZZ_ASSERT(!syntax_bracket(t) || syntax_bracket(t) >= tokens->first);
	FUZZ_ASSERT((t->kind == SYNTAX_END) == (t + 1 == tokens->end));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char hint[SYNTAX_HINT_BYTES], *text = malloc(size + 1);
	struct syntax_tokens tokens;
	unsigned nlines = 1;

	FUZZ_ASSERT(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (const char *at = text; *at; at++)
		nlines += *at == '\n';
	FUZZ_ASSERT(syntax_tokens_read(text, &tokens));
	for (const struct syntax_token *t = tokens.first; t < tokens.end; t++)
		check_token(&tokens, t, nlines);
	for (unsigned line = 1; line <= nlines + 1 && line <= MAX_LINES; line++) {
		FUZZ_ASSERT(syntax_hint(&tokens, line, hint) <= line);
		FUZZ_ASSERT(*hint && strlen(hint) < sizeof(hint));
		syntax_hint_duplicate(&tokens, line, hint);
		FUZZ_ASSERT(*hint && strlen(hint) < sizeof(hint));
	}
	syntax_tokens_fini(&tokens);
	free(text);
	return 0;
}
