// SPDX-License-Identifier: BSD-3-Clause
/* What befalls devices and listeners, told in words. */
#include "fabric/verbs/notice.h"

#include <stdarg.h>
#include <stdio.h>

void verbs_notice(const struct verbs_config *config, const char *fmt, ...)
{
	char text[256];
	va_list args;

	if (!config->notice)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	config->notice(text);
}
