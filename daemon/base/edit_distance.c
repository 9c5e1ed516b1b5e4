// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/edit_distance.h"

#include <limits.h>
#include <string.h>

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Levenshtein distance, one row at a time; @b has at most EDIT_DISTANCE_WORD_BYTES. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[EDIT_DISTANCE_WORD_BYTES + 1];
	size_t len = strlen(b);

	for (size_t j = 0; j <= len; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; a[i]; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i + 1;
		for (size_t j = 1; j <= len; j++) {
			unsigned above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[len];
}

unsigned edit_distance(const char *written, const char *meant)
{
	unsigned edits;

	if (strlen(written) > EDIT_DISTANCE_WORD_BYTES || strlen(meant) > EDIT_DISTANCE_WORD_BYTES)
		return UINT_MAX;
	edits = distance(written, meant);
	return edits <= EDIT_DISTANCE_MAX && edits * 2 <= strlen(meant) ? edits : UINT_MAX;
}
