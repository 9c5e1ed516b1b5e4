// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/ctl/ctl_error.h"

#include <stdarg.h>
#include <stdio.h>

static char last[CTL_ERROR_BYTES];

int ctl_error(int status, const char *format, ...)
{
	va_list ap, again;

	fputs(PROGRAM ": ", stderr);
	va_start(ap, format);
	va_copy(again, ap);
	vfprintf(stderr, format, ap);
	vsnprintf(last, sizeof(last), format, again);
	va_end(again);
	va_end(ap);
	fputc('\n', stderr);
	return status;
}

const char *ctl_error_last(void)
{
	return last;
}
