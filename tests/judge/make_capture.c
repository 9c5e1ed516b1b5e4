// SPDX-License-Identifier: BSD-3-Clause
/*
 * make_capture FILE [FAULT [STORY]]: writes a small capture for the judge's own test, without
 * errors except for the named fault (see the calls of fault()). Stories: crc, draft03, mixed, one,
 * two, versions.
 */
#include <stdio.h>
#include <string.h>

#include "tests/judge/forge.h"

static void story_mixed(void)
{
	story_two();
	story_one();
	story_draft03();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*tell)(void);
	} stories[] = {
		{"one", story_one}, {"draft03", story_draft03},   {"mixed", story_mixed},
		{"two", story_two}, {"versions", story_versions}, {"crc", story_crc},
	};
	const char *name = argc > 3 ? argv[3] : "one";

	if (argc < 2)
		return 2;
	for (size_t i = 0; i < sizeof(stories) / sizeof(*stories); i++) {
		if (strcmp(stories[i].name, name))
			continue;
		forge_open(argv[1], argc > 2 ? argv[2] : "");
		stories[i].tell();
		return forge_close();
	}
	fprintf(stderr, "no such story: %s\n", name);
	return 2;
}
