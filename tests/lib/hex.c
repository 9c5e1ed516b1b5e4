// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/hex.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

size_t hex_bytes(const char *hex, uint8_t *to, size_t room)
{
	size_t len = 0;

	for (;;) {
		hex += strspn(hex, " \t\n");
		if (!*hex)
			return len;
		if (len == room || digit(hex[0]) < 0 || digit(hex[1]) < 0) {
			fprintf(stderr, "bad golden bytes at \"%s\"\n", hex);
			abort();
		}
		to[len++] = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
		hex += 2;
	}
}

uint8_t *exact_copy(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	if (len)
		memcpy(copy, data, len);
	return copy;
}
