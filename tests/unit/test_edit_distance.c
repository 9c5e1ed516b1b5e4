// SPDX-License-Identifier: BSD-3-Clause
/* Tests whether a word is similar enough to another to be suggested for it. */
#include <limits.h>

#include "base/compiler.h"
#include "daemon/base/edit_distance.h"
#include "tests/lib/test.h"

#define FORTY "abcdefghijklmnopqrstuvwxyzabcdefghijklmn"

static const struct {
	const char *written, *meant;
	unsigned edits;
} pairs[] = {
	{"status", "status", 0},
	{"sttaus", "status", 2},
	{"connection", "connections", 1},
	{"sotp", "stop", 2},
	{"servcies", "services", 2},
	/* More than half of its letters. */
	{"lgo", "log", UINT_MAX},
	{"", "log", UINT_MAX},
	/* More than a slip of the hand. */
	{"max_cons", "max_connections", UINT_MAX},
	{FORTY, FORTY, 0},
	{FORTY "x", FORTY, UINT_MAX},
	{FORTY, FORTY "x", UINT_MAX},
};

START_TEST(few_edits_are_a_likeness)
{
	ck_assert_uint_eq(edit_distance(pairs[_i].written, pairs[_i].meant), pairs[_i].edits);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("likeness");
	TCase *tc = tcase_create("likeness");

	tcase_add_loop_test(tc, few_edits_are_a_likeness, 0, ARRAY_SIZE(pairs));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
