// SPDX-License-Identifier: BSD-3-Clause
/* Tests the limits of this host, and those of cgroups in a directory of the test. */
#include "daemon/base/host_limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib/test.h"

static char dir[32], self[64];

static void setup(void)
{
	strcpy(dir, "/tmp/test-limits-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(self, sizeof(self), "%s/self", dir);
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", dir, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void cgroup(const char *name, const char *max)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", dir, name);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/memory.max", name);
	put(path, max);
}

static const struct {
	const char *self, *root, *slice, *unit; /* the file, and the limits of three cgroups */
	uint64_t bytes;
} rows[] = {
	{"0::/a.slice/b.service\n", "", "max\n", "1048576\n", 1048576},
	{"0::/a.slice/b.service\n", "", "524288\n", "1048576\n", 524288},
	{"0::/a.slice/b.service\n", "4096\n", "524288\n", "max\n", 4096},
	{"0::/a.slice/b.service\n", "", "max\n", "max\n", 0},
	/* Of version one, and of both. */
	{"3:memory:/a.slice/b.service\n", "4096\n", "4096\n", "4096\n", 0},
	{"3:memory:/x\n0::/a.slice\n", "max\n", "8192\n", "4096\n", 8192},
	/* In a container: its own is the root, or is not seen. */
	{"0::/\n", "8192\n", "4096\n", "4096\n", 8192},
	{"0::/../a.slice\n", "8192\n", "4096\n", "4096\n", 8192},
	{"0::/gone\n", "8192\n", "4096\n", "4096\n", 8192},
	{"", "8192\n", "4096\n", "4096\n", 0},
};

START_TEST(the_least_limit_of_a_cgroup_and_its_parents_counts)
{
	put("/self", rows[_i].self);
	put("/memory.max", rows[_i].root);
	cgroup("/a.slice", rows[_i].slice);
	cgroup("/a.slice/b.service", rows[_i].unit);
	ck_assert_uint_eq(host_cgroup_memory_bytes(self, dir), rows[_i].bytes);
}
END_TEST

START_TEST(without_cgroups_there_is_no_limit)
{
	ck_assert_uint_eq(host_cgroup_memory_bytes(self, dir), 0);
	put("/self", "0::/a.slice\n");
	ck_assert_uint_eq(host_cgroup_memory_bytes(self, dir), 0);
}
END_TEST

START_TEST(this_host_has_limits)
{
	struct host_limits limits;

	host_limits_get(&limits);
	ck_assert_uint_gt(limits.memory_bytes, 64 * 1024 * 1024);
	ck_assert_uint_gt(limits.descriptors, 16);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("host_limits");
	TCase *tc = tcase_create("host_limits");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, the_least_limit_of_a_cgroup_and_its_parents_counts, 0,
			    (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(tc, without_cgroups_there_is_no_limit);
	tcase_add_test(tc, this_host_has_limits);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
