// SPDX-License-Identifier: BSD-3-Clause
/* What befalls devices and listeners, told in words. */
#include "fabric/verbs/notice.h"

#include <stdarg.h>
#include <stdio.h>

static void PRINTF_LIKE(2, 0) tell(void (*who)(const char *text), const char *fmt, va_list args)
{
	char text[256];

	if (!who)
		return;
	vsnprintf(text, sizeof(text), fmt, args);
	who(text);
}

void verbs_notice(const struct verbs_config *config, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tell(config->notice, fmt, args);
	va_end(args);
}

void verbs_tell_found(const struct verbs_config *config, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tell(config->found, fmt, args);
	va_end(args);
}
