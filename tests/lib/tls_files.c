// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/tls_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib/certificate.h"
#include "tests/lib/test.h"

#define TEMPLATE   "/tmp/test-tls-XXXXXX"
#define PATH_BYTES 128
#define TEXT_BYTES 4096

char tls_files_dir[sizeof(TEMPLATE)];
static struct certificate *authority;

static void save(const struct certificate *certificate, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s.pem", tls_files_dir, name);
	certificate_save(certificate, path, false);
	snprintf(path, sizeof(path), "%s/%s.key", tls_files_dir, name);
	certificate_save_key(certificate, path, false, NULL);
	chmod(path, 0600);
}

void tls_files_setup(void)
{
	strcpy(tls_files_dir, TEMPLATE);
	ck_assert_ptr_nonnull(mkdtemp(tls_files_dir));
	authority = certificate_new(
		&(struct certificate_spec){.subject = "authority", .authority = true});
	save(authority, "ca");
}

void tls_files_sign(const char *name, const char *names, int days)
{
	struct certificate *certificate = certificate_new(&(struct certificate_spec){
		.issuer = authority,
		.subject = name,
		.alt_names = names,
		.starts_s = -2 * CERTIFICATE_DAY_S,
		.ends_s = (int64_t)days * CERTIFICATE_DAY_S,
	});

	save(certificate, name);
	certificate_free(certificate);
}

const char *tls_files_text(const char *text)
{
	static char all[TEXT_BYTES];
	size_t len = 0;

	all[0] = '\0';
	for (; *text; text++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, *text == '@' ? "%s" : "%.1s",
					*text == '@' ? tls_files_dir : text);
	ck_assert_uint_lt(len, sizeof(all));
	return all;
}

void tls_files_run(const char *command)
{
	char text[TEXT_BYTES];

	snprintf(text, sizeof(text), "cd %s && %s", tls_files_dir, command);
	ck_assert_msg(!system(text), "%s", text);
}

void tls_files_teardown(void)
{
	tls_files_run("rm -rf \"$PWD\"");
	certificate_free(authority);
	authority = NULL;
}
