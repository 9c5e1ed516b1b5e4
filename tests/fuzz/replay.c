// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs a fuzz target over its committed corpus and reports in TAP. Each file is run whole and
 * truncated at every byte (a long file at its first bytes and some later ones, to save minutes).
 * The program's own name, fuzz_NAME, selects the corpus: $srcdir/tests/fuzz/corpus/NAME.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define MAX_INPUT_BYTES (1u << 20)
#define EVERY_CUT_BYTES 1024u
#define FURTHER_CUTS    64u

static const char *target_name(void)
{
	const char *name = program_invocation_short_name;

	return strncmp(name, "fuzz_", 5) == 0 ? name + 5 : name;
}

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* In memory of exactly the size, so that a sanitizer sees a read past it. */
static void run_prefix(const uint8_t *data, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);

	FUZZ_ASSERT(exact);
	if (size)
		memcpy(exact, data, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

static bool replay(const char *path)
{
	static uint8_t data[MAX_INPUT_BYTES];
	FILE *file = fopen(path, "rb");
	size_t size;
	bool ok;

	if (!file)
		return false;
	size = fread(data, 1, sizeof(data), file);
	ok = !ferror(file) && fgetc(file) == EOF;
	fclose(file);
	if (!ok)
		return false;
	for (size_t cut = 0; cut < size; cut += cut < EVERY_CUT_BYTES ? 1 : size / FURTHER_CUTS + 1)
		run_prefix(data, cut);
	run_prefix(data, size);
	return true;
}

int main(void)
{
	const char *srcdir = getenv("srcdir");
	char dir[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
	struct dirent **entries;
	int count;

	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(dir, sizeof(dir), "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".", target_name());
	count = scandir(dir, &entries, is_input, alphasort);
	if (count <= 0) {
		printf("1..1\nnot ok 1 - %s has no corpus\n", dir);
		return 1;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		printf("%s %d - %s\n", replay(path) ? "ok" : "not ok", i + 1, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return 0;
}
