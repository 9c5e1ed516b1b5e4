// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/tls_files.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "tests/lib/test.h"

#define COMMAND_BYTES 1024
#define NEW_KEY       "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

static void PRINTF_LIKE(1, 2) run(const char *format, ...)
{
	char command[COMMAND_BYTES];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	ck_assert_int_lt(len, COMMAND_BYTES);
	ck_assert_msg(!system(command), "%s", command);
}

void tls_files_authority(const char *dir, const char *name)
{
	run("openssl req -x509 " NEW_KEY " -subj /CN=%s -days 3650 -keyout %s/%s.key "
	    "-out %s/%s.pem 2>%s/openssl.log",
	    name, dir, name, dir, name, dir);
}

void tls_files_sign(const char *dir, const char *authority, const char *name, const char *names,
		    int days)
{
	run("cd %s && openssl req " NEW_KEY " -subj /CN=%s -addext subjectAltName=%s "
	    "-keyout %s.key -out %s.csr 2>openssl.log && "
	    "openssl x509 -req -in %s.csr -copy_extensions copyall -CA %s.pem -CAkey %s.key "
	    "-days %d -out %s.pem 2>openssl.log && rm %s.csr",
	    dir, name, names, name, name, name, authority, authority, days, name, name);
}

void tls_files_remove(const char *dir)
{
	run("rm -rf %s", dir);
}
