// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/ctl_error.h"

#include <stdarg.h>
#include <stdio.h>

int ctl_error(int status, const char *format, ...)
{
	va_list ap;

	fputs(PROGRAM ": ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return status;
}
