// SPDX-License-Identifier: BSD-3-Clause
/* The manual page of the configuration file is made of its source and the table of keys. */
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config_manual.h"
#include "tests/lib/test.h"

static char *page, *wrong;
static size_t page_size, wrong_size;

static int fill(const char *text)
{
	FILE *in = fmemopen((char *)text, strlen(text), "r");
	FILE *out = open_memstream(&page, &page_size);
	FILE *told = open_memstream(&wrong, &wrong_size);
	int rc = config_manual_fill(in, out, told);

	fclose(in);
	fclose(out);
	fclose(told);
	return rc;
}

static void teardown(void)
{
	free(page);
	free(wrong);
}

/* Every key but those of @without, in the order of the tables. */
static char *all_keys(const char *without)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (const struct config_key *key = config_keys; key->name; key++)
		if (strcmp(key->name, without))
			fprintf(out, "@key %s@\nText.\n", key->name);
	for (const struct config_key *key = config_service_keys; key->name; key++)
		if (strcmp(key->name, without))
			fprintf(out, "@key %s@\nText.\n", key->name);
	fputs("@end@\n.El\n", out);
	fclose(out);
	return text;
}

static void ck_assert_says(const char *said, const char *what)
{
	ck_assert_msg(strstr(said, what) != NULL, "\"%s\" has no \"%s\"", said, what);
}

START_TEST(a_paragraph_says_what_the_table_does)
{
	char *text = all_keys("");

	ck_assert_int_eq(fill(text), 0);
	free(text);
	ck_assert_says(page, ".It Va workers Pq \"0 to 256; default 0\"\nText.\n"
			     ".Pp\nA change of it takes a restart.\n.It Va ");
	ck_assert_says(page, ".It Va credits Pq \"1 to 1024; default 64\"\nText.\n"
			     ".Pp\nOnly for services with an RDMA side.\n.It Va ");
	ck_assert_says(page, ".It Va name Pq \"word; required\"\nText.\n.It Va ");
	ck_assert_says(page, "a multiple of 1024; default 8192\"\n");
	ck_assert_says(page, "none or nfs; default none\"\n");
	ck_assert_ptr_null(strchr(page, '@'));
	ck_assert_str_eq(page + strlen(page) - strlen("\n.El\n"), "\n.El\n");
	ck_assert_str_eq(wrong, "");
}
END_TEST

START_TEST(no_key_is_forgotten)
{
	char *text = all_keys("credits");

	ck_assert_int_eq(fill(text), -1);
	free(text);
	ck_assert_str_eq(wrong, "the page has no paragraph for the key \"credits\"\n");
}
END_TEST

static const char *const too_many[] = {"credit", "credits"};

START_TEST(no_other_key_is_there_and_none_twice)
{
	char *text = all_keys(""), *more;
	char expected[80];

	ck_assert_int_gt(asprintf(&more, "%s@key %s@\n", text, too_many[_i]), 0);
	ck_assert_int_eq(fill(more), -1);
	free(more);
	free(text);
	snprintf(expected, sizeof(expected), "the page has a paragraph too many for a key \"%s\"\n",
		 too_many[_i]);
	ck_assert_str_eq(wrong, expected);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_manual");
	TCase *tc = tcase_create("config_manual");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, a_paragraph_says_what_the_table_does);
	tcase_add_test(tc, no_key_is_forgotten);
	tcase_add_loop_test(tc, no_other_key_is_there_and_none_twice, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
