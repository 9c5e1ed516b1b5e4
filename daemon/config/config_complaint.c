// SPDX-License-Identifier: BSD-3-Clause
/* What the parsers of single values share: saying what is wrong, and numbers. */
#include "daemon/config/config_complaint.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

const char *config_complaint(const char *format, ...)
{
	static _Thread_local char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return text;
}

long config_decimal(const char *text, long max)
{
	long value = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return -1;
		value = value * 10 + (*text - '0');
		if (value > max)
			return -1;
	}
	return value;
}
