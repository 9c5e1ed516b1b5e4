// SPDX-License-Identifier: BSD-3-Clause
/* What the parsers of single values share: saying what is wrong, and numbers. */
#include "daemon/config/config_complaint.h"

#include <ctype.h>
#include <stdlib.h>

const char *config_complaint(const char *format, ...)
{
	static _Thread_local char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return text;
}

void config_complaint_put(FILE *out, const char *format, va_list ap)
{
	char *text;

	if (vasprintf(&text, format, ap) >= 0) {
		for (char *c = text; *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				*c = '?';
		fputs(text, out);
		free(text);
	}
	fputc('\n', out);
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
