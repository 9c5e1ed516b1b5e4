// SPDX-License-Identifier: BSD-3-Clause
/* Tests which secrets are removed from a text for others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "daemon/ctl/redact.h"
#include "tests/lib/test.h"

static const struct {
	const char *text, *shown;
} rows[] = {
	{"", ""},
	{"workers = 2;\n", "workers = 2;\n"},
	{"no end", "no end\n"},
	{"keepalive_s = 30; # seconds\n", "keepalive_s = 30; # seconds\n"},
	{"tls_key_file = \"/etc/key.pem\";\n", "tls_key_file = \"/etc/key.pem\";\n"},
	{"password = \"x\";\n", "password = [cut]\n"},
	{"Tls_PassPhrase=\"x\"; workers = 2;\n", "Tls_PassPhrase= [cut]\n"},
	{"  { name = \"a\"; api_token : \"x\"; }\n", "  { name = \"a\"; api_token : [cut]\n"},
	{"# secret = \"x\"\nworkers = 2;\n", "# secret = [cut]\nworkers = 2;\n"},
	/* Strings that follow each other are one. */
	{"secret =\n  \"x\"\n  \"y;\"\n  \"z\";\nworkers = 2;\n", "secret = [cut]\nworkers = 2;\n"},
	{"secret = \"x\\\";\"\n \"y\";\nworkers = 2;\n", "secret = [cut]\nworkers = 2;\n"},
	{"  \"password\": \"x\",\n  \"workers\": 2\n", "  \"password\": [cut]\n  \"workers\": 2\n"},
	{"a = \"http://me:word@host/x\", \"tcp://host:1\";\n",
	 "a = \"http://[cut]@host/x\", \"tcp://host:1\";\n"},
	{"a\n-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\nb\n", "a\n[cut]\nb\n"},
	{"-----BEGIN PRIVATE KEY-----\nx\n", "[cut]\n"},
};

START_TEST(secrets_are_cut)
{
	char *shown = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&shown, &bytes);

	/* Of its own length, so that a read beyond it is seen. */
	size_t len = strlen(rows[_i].text);
	char *text = malloc(len ? len : 1);

	memcpy(text, rows[_i].text, len);
	redact_text(text, len, out);
	fclose(out);
	ck_assert_str_eq(shown, rows[_i].shown);
	free(shown);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("secrets");
	TCase *tc = tcase_create("secrets");

	tcase_add_loop_test(tc, secrets_are_cut, 0, ARRAY_SIZE(rows));
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
