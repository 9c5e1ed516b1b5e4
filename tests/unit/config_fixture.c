// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/config_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config/config.h"
#include "tests/lib/test.h"

struct config_fixture fixture;

void config_fixture_setup(void)
{
	strcpy(fixture.dir, "/tmp/test-config-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(fixture.dir));
	snprintf(fixture.path, sizeof(fixture.path), "%s/conf", fixture.dir);
	snprintf(fixture.other, sizeof(fixture.other), "%s/other", fixture.dir);
}

void config_fixture_teardown(void)
{
	config_free(fixture.config);
	free(fixture.errors);
	unlink(fixture.path);
	unlink(fixture.other);
	rmdir(fixture.dir);
	fixture = (struct config_fixture){0};
}

void config_fixture_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

int config_fixture_load(const char *text)
{
	size_t len;
	FILE *out;
	int err;

	free(fixture.errors);
	config_free(fixture.config);
	fixture.config = NULL;
	config_fixture_write(fixture.path, text);
	out = open_memstream(&fixture.errors, &len);
	err = config_load(fixture.path, out, &fixture.config);
	fclose(out);
	return err;
}

const struct service_config *config_fixture_service(const char *text)
{
	int err = config_fixture_load(text);

	ck_assert_msg(err == 0, "%s", fixture.errors);
	ck_assert_uint_eq(fixture.config->nservices, 1);
	return fixture.config->services;
}

const char *config_fixture_at(const char *text)
{
	static char at[4096];
	size_t len = 0;

	at[0] = '\0';
	while (*text) {
		int line = (int)strcspn(text, "\n");

		len += (size_t)snprintf(at + len, sizeof(at) - len, "%s:%.*s\n", fixture.path, line,
					text);
		ck_assert_uint_lt(len, sizeof(at));
		text += line + (text[line] == '\n');
	}
	return at;
}
