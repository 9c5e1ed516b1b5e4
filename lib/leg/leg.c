// SPDX-License-Identifier: BSD-3-Clause
/* What all legs share: the names of the reasons for which they close. */
#include "leg/leg.h"

const char *leg_close_text(enum leg_close why)
{
	static const char *const texts[] = {
#define TEXT(name, text) [LEG_CLOSE_##name] = text,
		LEG_CLOSE_REASONS(TEXT)
#undef TEXT
	};
	return texts[why];
}

const char *leg_close_name(enum leg_close why)
{
	static const char *const names[] = {
#define NAME(name, text) [LEG_CLOSE_##name] = #name,
		LEG_CLOSE_REASONS(NAME)
#undef NAME
	};
	return names[why];
}
