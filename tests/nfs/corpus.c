// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nfs/corpus.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"

static int is_real(const struct dirent *entry)
{
	return strncmp(entry->d_name, "real_", 5) == 0;
}

/* A file is the length of the Call in four bytes, the Call, and the Reply. */
static bool read_pair(const char *path, const char *name,
		      void (*fn)(const struct corpus_pair *pair, void *arg), void *arg)
{
	static uint8_t data[1 << 16];
	struct corpus_pair pair = {.name = name, .call = data + 4};
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file)
		return false;
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	if (size < 4 || size == sizeof(data))
		return false;
	pair.call_bytes = be32_get(data);
	if (pair.call_bytes > size - 4)
		return false;
	pair.reply = pair.call + pair.call_bytes;
	pair.reply_bytes = (uint32_t)size - 4 - pair.call_bytes;
	fn(&pair, arg);
	return true;
}

int corpus_each(void (*fn)(const struct corpus_pair *pair, void *arg), void *arg)
{
	const char *srcdir = getenv("srcdir");
	char dir[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
	struct dirent **entries;
	int count, done = 0;

	snprintf(dir, sizeof(dir), "%s/tests/fuzz/corpus/nfs_reply", srcdir ? srcdir : ".");
	count = scandir(dir, &entries, is_real, alphasort);
	if (count < 0)
		return -1;
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		done += read_pair(path, entries[i]->d_name, fn, arg);
		free(entries[i]);
	}
	free(entries);
	return done == count ? done : -1;
}
