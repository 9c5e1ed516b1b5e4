// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/host_limits.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define UNIFIED "0::" /* begins the line of version 2 */

/* Reads the path of the cgroup into @path. Returns false if there is none. */
static bool read_cgroup(const char *self, char path[static PATH_MAX])
{
	FILE *file = fopen(self, "re");
	bool found = false;

	if (!file)
		return false;
	while (!found && fgets(path, PATH_MAX, file))
		found = !strncmp(path, UNIFIED "/", strlen(UNIFIED "/"));
	fclose(file);
	if (!found)
		return false;
	path[strcspn(path, "\n")] = '\0';
	memmove(path, path + strlen(UNIFIED), strlen(path + strlen(UNIFIED)) + 1);
	/* The cgroup is outside of this cgroup namespace: only the root can be read. */
	if (strstr(path, "/.."))
		path[1] = '\0';
	return true;
}

/* Returns the limit of one cgroup; 0: none. */
static uint64_t read_max(const char *root, const char *cgroup)
{
	char path[2 * PATH_MAX], text[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s%s/memory.max", root, cgroup);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strtoull(text, NULL, 10); /* 0 for "max" */
}

uint64_t host_cgroup_memory_bytes(const char *self, const char *root)
{
	char path[PATH_MAX];
	uint64_t least = 0;

	if (!read_cgroup(self, path))
		return 0;
	for (;;) {
		uint64_t bytes = read_max(root, path);
		char *last = strrchr(path, '/');

		if (bytes && (!least || bytes < least))
			least = bytes;
		if (!last)
			return least;
		*last = '\0';
	}
}

void host_limits_get(struct host_limits *limits)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	uint64_t cgroup_bytes = host_cgroup_memory_bytes("/proc/self/cgroup", "/sys/fs/cgroup");
	struct rlimit limit;

	limits->connections = 0;
	limits->descriptors = getrlimit(RLIMIT_NOFILE, &limit) ? 0 : limit.rlim_max;
	limits->memory_bytes =
		pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
	if (cgroup_bytes && (!limits->memory_bytes || cgroup_bytes < limits->memory_bytes))
		limits->memory_bytes = cgroup_bytes;
}
