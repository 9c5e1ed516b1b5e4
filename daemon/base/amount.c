// SPDX-License-Identifier: BSD-3-Clause
/* Large numbers as people read them. */
#include "daemon/base/amount.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"

const char *amount_count(uint64_t count, char text[AMOUNT_TEXT_BYTES])
{
	char digits[AMOUNT_TEXT_BYTES];
	size_t left = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
	char *to = text;

	for (const char *from = digits; left; left--) {
		*to++ = *from++;
		if (left > 1 && left % 3 == 1)
			*to++ = ',';
	}
	*to = '\0';
	return text;
}

const char *amount_bytes(uint64_t bytes, char text[AMOUNT_TEXT_BYTES])
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
	double value = (double)bytes;
	size_t unit = 0;

	/* What would be rounded up to 1024 of a unit is 1.0 of the next. */
	for (; unit + 1 < ARRAY_SIZE(units) && value >= (unit ? 1023.5 : 1024); unit++)
		value /= 1024;
	snprintf(text, AMOUNT_TEXT_BYTES, "%.*f %s", unit && value < 9.95 ? 1 : 0, value,
		 units[unit]);
	return text;
}
