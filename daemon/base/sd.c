// SPDX-License-Identifier: BSD-3-Clause
/* sd_notify(3) in the daemon's words. */
#include "daemon/base/sd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#define STATUS_BYTES 256u

void sd_ready(void)
{
	sd_notify(0, "READY=1");
}

void sd_stopping(void)
{
	sd_notify(0, "STOPPING=1\nSTATUS=Closing connections");
}

void sd_status(const char *format, ...)
{
	char text[STATUS_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	text[strcspn(text, "\n")] = '\0';
	sd_notifyf(0, "STATUS=%s", text);
}
