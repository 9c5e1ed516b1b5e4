// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the configuration file: the message for each syntax error, and files that cannot be read.
 */
#include <errno.h>
#include <libconfig.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config/config.h"
#include "tests/lib/test.h"
#include "tests/unit/config_fixture.h"

/* libconfig does not free the string at which it finds a syntax error. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libconfig.so\n";
}

static const struct {
	const char *text, *line, *hint, *quote;
} errors[] = {
	/* What the list of services is made of. */
	{"services = (\n{ name = \"a\"; }\n{ name = \"b\"; }\n);", "3",
	 "a comma is missing between this service and the one before", "{ name = \"b\"; }"},
	{"services = (\n{ name = \"a\"; };\n{ name = \"b\"; }\n);", "2",
	 "separate entries by commas, not by \";\"", "{ name = \"a\"; };"},
#if LIBCONFIG_VER_MAJOR == 1 && LIBCONFIG_VER_MINOR < 7 /* libconfig 1.7 accepts that comma */
	{"services = (\n{ name = \"a\"; },\n);", "3", "remove the comma after the last entry",
	 ");"},
#endif
	{"services = (\n{ name = \"a\";\n);", "3",
	 "the \"{\" of line 2 is not closed before this \")\"", ");"},
	{"services = (\n{ name = \"a\";\n{ name = \"b\"; } );", "3",
	 "is the \"{\" of line 2 closed before this?", "{ name = \"b\"; } );"},
	{"services = (\n{ name = \"a\";\n},\n{ name = \"b\";\n, { name = \"c\"; } );", "5",
	 "is the \"{\" of line 4 closed before this?", ", { name = \"c\"; } );"},
	{"services = (\n{ name = \"a\"; }\n", "3", "the \"(\" of line 1 is not closed", ""},
	{"services = ( );\n}\n", "2", "this \"}\" has no opening \"{\"", "}"},
	{"services = (\nname = \"a\";\n);", "2",
	 "a service must be in braces: services = ( { name = \"...\"; ... } );", "name = \"a\";"},
	{"services = [\n{ name = \"a\"; } ];", "2",
	 "services must be in parentheses: services = ( { name = \"...\"; ... } );",
	 "{ name = \"a\"; } ];"},
	{"services = {\n{ name = \"a\"; }\n};", "2",
	 "services must be in parentheses: services = ( { name = \"...\"; ... } );",
	 "{ name = \"a\"; }"},
	{"services = (\n{ name = \"a; listen = \"tcp://:2049\"; }\n);", "2",
	 "is a quote missing? The string \"a; listen = \" ends before tcp://",
	 "{ name = \"a; listen = \"tcp://:2049\"; }"},
	{"services = (\n{ listen = \"tcp://:2049; connect = \"rdma://filer\"; }\n);", "2",
	 "is a quote missing? The string \"tcp://:2049; connect = \" ends before rdma://",
	 "{ listen = \"tcp://:2049; connect = \"rdma://filer\"; }"},
	{"work\xd0\xb5rs = 2;", "1", "only ASCII is allowed outside strings and comments",
	 "work\xd0\xb5rs = 2;"},
	{"services {\nname = \"a\";\n}", "1", "\"=\" is missing after services", "services {"},
	{"services = ( );\ndone", "2", "done has no value: a setting is KEY = VALUE;", "done"},
	{"services = (\n{ name = \"a\"; };\nworkers = 2;", "2",
	 "the \"(\" of line 1 is not closed before this \";\"", "{ name = \"a\"; };"},
	{"services = (\n{ allow = [ \"10.0.0.1\"; } );", "2",
	 "the \"[\" of line 2 is not closed before this \";\"", "{ allow = [ \"10.0.0.1\"; } );"},
	/* Other languages. */
	{"services:\n  - name: a\n", "2",
	 "this looks like YAML: write services = ( { name = \"...\"; ... } );", "- name: a"},
	{"services:\n  name: a\n", "2", "write services = ( { name = \"...\"; ... } );", "name: a"},
	{"[global]\nworkers = 2\n", "1",
	 "this looks like INI or TOML, but sections do not exist: write services = ( { name = \"...\"; ... } );",
	 "[global]"},
	{"{\n\"workers\": 2 }", "1",
	 "this looks like JSON, but the file has no outer braces: write services = ( { name = \"...\"; ... } );",
	 "{"},
	{"\"workers\": 2", "1", "this looks like JSON, but keys have no quotes: write KEY = VALUE;",
	 "\"workers\": 2"},
	/* Values. */
	{"memory_limit_mib = 1M;", "1", "no units: memory_limit_mib is a plain number, in MiB",
	 "memory_limit_mib = 1M;"},
	{"memory_limit_mib = 64 MiB;", "1", "no units: memory_limit_mib is a plain number, in MiB",
	 "memory_limit_mib = 64 MiB;"},
	{"workers = 2x;", "1", "no units: workers is a plain number", "workers = 2x;"},
	{"workers = 1,000;", "1", "a number has no commas: write 1000", "workers = 1,000;"},
	{"workers = 2 * 2;", "1", "calculations are not supported: write the number itself",
	 "workers = 2 * 2;"},
	{"workers = auto;", "1", "workers must be a whole number", "workers = auto;"},
	{"register = yes;", "1", "register must be true, false or \"mount\"", "register = yes;"},
	{"mpa_crc = yes;", "1", "mpa_crc must be true or false", "mpa_crc = yes;"},
	{"listen = tcp://:2049;", "1",
	 "write the value in double quotes: listen = \"tcp://:2049\";", "listen = tcp://:2049;"},
	{"connect = 10.0.0.1:2049;", "1",
	 "write the value in double quotes: connect = \"10.0.0.1:2049\";",
	 "connect = 10.0.0.1:2049;"},
	{"control = /run/x.sock; # here", "1",
	 "write the value in double quotes: control = \"/run/x.sock\";",
	 "control = /run/x.sock; # here"},
	{"name = exports;", "1", "write the value in double quotes: name = \"exports\";",
	 "name = exports;"},
	{"name = 'exports';", "1", "write strings in plain double quotes: \"...\"",
	 "name = 'exports';"},
	{"allow = 10.0.0.0/8;", "1", "write allow = [ \"10.0.0.0/8\" ];", "allow = 10.0.0.0/8;"},
	{"allow = [ 10.0.0.0/8 ];", "1", "write each entry in double quotes: \"10.0.0.0/8\"",
	 "allow = [ 10.0.0.0/8 ];"},
	{"allow = [ \"10.0.0.1\"; \"10.0.0.2\" ];", "1", "separate entries by commas, not by \";\"",
	 "allow = [ \"10.0.0.1\"; \"10.0.0.2\" ];"},
	{"workers = ;", "1", "the value of workers is missing", "workers = ;"},
	{"workers = 2;\nmemory_limit_mib = \n", "3", "the value of memory_limit_mib is missing",
	 ""},
	{"workers == 2;", "1", "write one \"=\" between a key and its value", "workers == 2;"},
	{"workers =\nmemory_limit_mib = 64\n", "2", "the value of workers is missing",
	 "memory_limit_mib = 64"},
	/* In the line before the one that libconfig names. */
	{"workers = 2\nmemory_limit_mib = 64m\n", "2",
	 "no units: memory_limit_mib is a plain number, in MiB", "memory_limit_mib = 64m"},
	{"memory_limit_mib = 64m\n\n# two\nworkers = 2\n", "1",
	 "no units: memory_limit_mib is a plain number, in MiB", "memory_limit_mib = 64m"},
	{"exports\nworkers = 2\n", "1", "exports has no value: a setting is KEY = VALUE;",
	 "exports"},
	/* Keys. */
	{"workers 2;", "1", "\"=\" is missing after workers", "workers 2;"},
	{"max connections = 2;", "1", "did you mean max_connections?", "max connections = 2;"},
	{"set workers = 2;", "1", "set has no value: a setting is KEY = VALUE;",
	 "set workers = 2;"},
	{"workers = 2;;", "1", "nothing precedes this \";\"", "workers = 2;;"},
	{"; two\nworkers = 2;", "1", "a comment begins with \"#\"", "; two"},
	{"include \"other\"", "1", "@include \"FILE\" must be alone on its line",
	 "include \"other\""},
	{"@include other", "1", "@include \"FILE\" must be alone on its line", "@include other"},
	{"workers = 2; @include \"other\"", "1", "@include \"FILE\" must be alone on its line",
	 "workers = 2; @include \"other\""},
	/* None of these. */
	{"\n  \tworkers? = 3; \r\n", "2", "\"=\" is missing after workers", "workers? = 3;"},
	{"workers = -;", "1",
	 "here or just before: is a comma between services, a quote or a brace missing?",
	 "workers = -;"},
	/* What an editor or a web page put in. */
	{"name = \xe2\x80\x9c"
	 "a\xe2\x80\x9d;",
	 "1", "write strings in plain double quotes: \"...\"",
	 "name = \xe2\x80\x9c"
	 "a\xe2\x80\x9d;"},
	{"workers =\xc2\xa0"
	 "2;",
	 "1", "this is a no-break space: write a plain space",
	 "workers =\xc2\xa0"
	 "2;"},
	{"workers = \xc3\xa4;", "1", "only ASCII is allowed outside strings and comments",
	 "workers = \xc3\xa4;"},
};

START_TEST(a_syntax_error_is_reported_with_its_cure)
{
	char expected[1000];
	size_t len = (size_t)snprintf(expected, sizeof(expected), "%s: syntax error: %s\n",
				      errors[_i].line, errors[_i].hint);

	if (*errors[_i].quote)
		snprintf(expected + len, sizeof(expected) - len, "%s:     %s\n", errors[_i].line,
			 errors[_i].quote);
	ck_assert_int_eq(config_fixture_load(errors[_i].text), -EINVAL);
	ck_assert_ptr_null(fixture.config);
	ck_assert_str_eq(fixture.errors, config_fixture_at(expected));
}
END_TEST

static const struct {
	const char *text, *said;
} others[] = {
	{"workers = 2;\nservices = ( );\nworkers = 3;\n",
	 "3: workers is already set in line 1\n3:     workers = 3;"},
	{SERVICE(TO_RDMA "credits = 1;\n\ncredits: 2;"),
	 "4: credits is already set in line 2\n4:     credits: 2; }"},
	{"services = (\n{ name = \"a\"; },\n{ name = \"b\"; name = \"c\"; } );",
	 "3: name is already set in line 3\n3:     { name = \"b\"; name = \"c\"; } );"},
	{SERVICE(TO_RDMA "allow = [ \"10.0.0.1\",\n5 ];"),
	 "3: all entries in [ ] must be strings in quotes\n3:     5 ]; }"},
	{"workers = 2;\n/* workers = 3;\n",
	 "2: the comment that begins here is not closed: */ is missing"},
	{"services = (\n{ name = \"a;\nlisten = \"tcp://127.0.0.1\"; } );",
	 "2: is a quote missing? The string \"a; does not end in its line"},
	{"services = (\n{ name = a\";\nlisten = \"tcp://127.0.0.1\"; } );",
	 "2: is a quote missing? The string \"; does not end in its line"},
	{"control = \"/run/x",
	 "1: is a quote missing? The string \"/run/x does not end in its line"},
	{"control = \"/run/x\\\"",
	 "1: is a quote missing? The string \"/run/x\\\" does not end in its line"},
	{"\xef\xbb\xbfworkers = 2;",
	 "1: the file begins with a byte order mark (BOM): save it as UTF-8 without one"},
};

START_TEST(other_errors_are_not_reported_as_syntax_errors)
{
	ck_assert_int_eq(config_fixture_load(others[_i].text), -EINVAL);
	ck_assert_str_eq(fixture.errors, config_fixture_at(others[_i].said));
}
END_TEST

static const char *const good[] = {
	"workers = 2;\r\nmemory_limit_mib = 64;\r\n",
	"workers: 2\nmemory_limit_mib: 64",
	"workers = 2, memory_limit_mib = 0x40",
	"/* \" ' */ workers = 2; // \"\n# \"\n",
	"",
	"# nothing\n",
};

START_TEST(valid_syntax_is_not_reported)
{
	ck_assert_msg(config_fixture_load(good[_i]) == 0, "%s", fixture.errors);
	ck_assert_str_eq(fixture.errors, "");
}
END_TEST

/* ---- files ---- */

START_TEST(a_file_that_cannot_be_read_says_why)
{
	struct config *config = NULL;
	FILE *out = tmpfile();

	ck_assert_int_eq(config_load(fixture.other, out, &config), -ENOENT);
	ck_assert_int_eq(config_load(fixture.dir, out, &config), -EISDIR);
	ck_assert_int_eq(config_load("/dev/zero", out, &config), -EFBIG);
	ck_assert_ptr_null(config);
	fclose(out);
}
END_TEST

START_TEST(a_zero_byte_is_reported_with_its_line)
{
	struct config *config = NULL;
	char said[200] = "";
	FILE *out = fmemopen(said, sizeof(said), "w");

	config_fixture_write(fixture.path, "workers = 2;\n");
	ck_assert_int_eq(truncate(fixture.path, 14), 0);
	ck_assert_int_eq(config_load(fixture.path, out, &config), -EINVAL);
	fclose(out);
	ck_assert_str_eq(said, config_fixture_at("2: zero byte: is this a text file, saved "
						 "as UTF-8 and not UTF-16?"));
}
END_TEST

/* The text of the other file, and what is said of it. */
static void include_says(const char *text, const char *said)
{
	char expected[400];

	config_fixture_write(fixture.other, text);
	ck_assert_int_eq(config_fixture_load("@include \"other\"\n"), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:%s\n", fixture.other, said);
	ck_assert_str_eq(fixture.errors, expected);
}

START_TEST(mistakes_in_an_included_file_name_that_file)
{
	char expected[400];

	include_says("\nworkers = -1;\n", "2: workers is -1, but must be from 0 to 256");
	include_says("\nworkers = 99999999999;\n", "2: 99999999999 is too large a number");
	include_says("\n\"", "2: is a quote missing? The string \" does not end in its line");
	snprintf(expected, sizeof(expected),
		 "2: syntax error: the value of workers is missing\n%s:2:     workers = ;",
		 fixture.other);
	include_says("\nworkers = ;\n", expected);
	config_fixture_write(fixture.other, "workers = 1;\n");
	ck_assert_int_eq(config_fixture_load("workers = 2;\n@include \"other\"\n"), -EINVAL);
	snprintf(
		expected, sizeof(expected),
		"%s:1: a key of this line is already set, in this file or in an included one\n%s:1:     workers = 1;\n",
		fixture.other, fixture.other);
	ck_assert_str_eq(fixture.errors, expected);
}
END_TEST

#define ITSELF "@include \"conf\"\n"

START_TEST(an_include_of_nothing_names_the_file)
{
	char said[300], text[200];

	ck_assert_int_eq(config_fixture_load("workers = 2;\n@include \"missing\"\n"), -EINVAL);
	snprintf(said, sizeof(said),
		 "2: @include \"missing\": cannot read %s/missing: No such file or directory",
		 fixture.dir);
	ck_assert_str_eq(fixture.errors, config_fixture_at(said));
	/* libconfig would end the process. */
	ck_assert_int_eq(config_fixture_load("@include \".\"\n"), -EINVAL);
	snprintf(said, sizeof(said), "1: @include \".\": cannot read %s/.: not a file",
		 fixture.dir);
	ck_assert_str_eq(fixture.errors, config_fixture_at(said));
	/* More than once, which would make a million million files of it. */
	ck_assert_int_eq(config_fixture_load(ITSELF ITSELF ITSELF ITSELF ITSELF ITSELF ITSELF ITSELF
						     ITSELF ITSELF ITSELF ITSELF ITSELF ITSELF),
			 -EINVAL);
	ck_assert_str_eq(
		fixture.errors,
		config_fixture_at(
			"1: more than 10 nested @include: does a file include itself?\n1:     @include \"conf\""));
	snprintf(text, sizeof(text), "@include \"%s/missing\"\n", fixture.dir);
	ck_assert_int_eq(config_fixture_load(text), -EINVAL);
	ck_assert_ptr_nonnull(strstr(fixture.errors, "missing\": cannot read "));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config_syntax");
	TCase *tc = tcase_create("config_syntax");

	tcase_add_checked_fixture(tc, config_fixture_setup, config_fixture_teardown);
	tcase_add_loop_test(tc, a_syntax_error_is_reported_with_its_cure, 0, ARRAY_SIZE(errors));
	tcase_add_loop_test(tc, other_errors_are_not_reported_as_syntax_errors, 0,
			    ARRAY_SIZE(others));
	tcase_add_loop_test(tc, valid_syntax_is_not_reported, 0, ARRAY_SIZE(good));
	tcase_add_test(tc, a_file_that_cannot_be_read_says_why);
	tcase_add_test(tc, a_zero_byte_is_reported_with_its_line);
	tcase_add_test(tc, mistakes_in_an_included_file_name_that_file);
	tcase_add_test(tc, an_include_of_nothing_names_the_file);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
