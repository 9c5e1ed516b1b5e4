// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/humanize.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/compiler.h"

const char *humanize_count(uint64_t count, char text[HUMANIZE_TEXT_BYTES])
{
	char digits[HUMANIZE_TEXT_BYTES];
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

/* A value that would round up to 1024 of a unit becomes 1.0 of the next. */
const char *humanize_bytes(uint64_t bytes, char text[HUMANIZE_TEXT_BYTES])
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
	double value = (double)bytes;
	size_t unit = 0;

	for (; unit < ARRAY_SIZE(units) - 1 && value >= (unit ? 1023.5 : 1024); unit++)
		value /= 1024;
	snprintf(text, HUMANIZE_TEXT_BYTES, "%.*f %s", unit && value < 9.95 ? 1 : 0, value,
		 units[unit]);
	return text;
}

const char *humanize_time(double seconds, char text[HUMANIZE_TEXT_BYTES])
{
	static const struct {
		double from_s, per_s;
		const char *unit;
	} units[] = {{0.9995, 1, "s"}, {0.9995e-3, 1e3, "ms"}, {0, 1e6, "us"}};
	unsigned i = 0;
	double value;

	if (seconds < 0.5e-6) {
		snprintf(text, HUMANIZE_TEXT_BYTES, "0");
		return text;
	}
	while (seconds < units[i].from_s)
		i++;
	value = seconds * units[i].per_s;
	snprintf(text, HUMANIZE_TEXT_BYTES, "%.*f %s", value < 9.95 && i < 2 ? 1 : 0, value,
		 units[i].unit);
	return text;
}

const char *humanize_age(uint64_t us, char text[HUMANIZE_TEXT_BYTES])
{
	uint64_t s = us / 1000000, min = s / 60, h = min / 60;

	if (us < 9950000)
		snprintf(text, HUMANIZE_TEXT_BYTES, "%.1f s", (double)us / 1e6);
	else if (s < 120)
		snprintf(text, HUMANIZE_TEXT_BYTES, "%" PRIu64 " s", s < 10 ? 10 : s);
	else if (min < 120)
		snprintf(text, HUMANIZE_TEXT_BYTES, "%" PRIu64 " min", min);
	else if (h < 48)
		snprintf(text, HUMANIZE_TEXT_BYTES, "%" PRIu64 " h %" PRIu64 " min", h, min % 60);
	else
		snprintf(text, HUMANIZE_TEXT_BYTES, "%" PRIu64 " d %" PRIu64 " h", h / 24, h % 24);
	return text;
}
