// SPDX-License-Identifier: BSD-3-Clause
/* sd_notify(3) in the daemon's words. */
#include "daemon/base/sd.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/sd_send.h"

#define STATUS_BYTES  256u
#define MESSAGE_BYTES 512u

/* Each says the same: systemd reads nothing. */
static struct log_limit lost = {.repeats = true};

static void PRINTF_LIKE(1, 2) tell(const char *format, ...)
{
	char text[MESSAGE_BYTES];
	va_list ap;
	int rc;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	rc = sd_send(text, NULL, 0, true);
	if (rc)
		log_limited(LOG_LEVEL_WARNING, &lost, NULL,
			    "the service manager is not told %.*s: %s", (int)strcspn(text, "\n"),
			    text, strerror(-rc));
}

void sd_ready(void)
{
	tell("READY=1");
}

void sd_reloading(void)
{
	tell("RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\nSTATUS=Reading the file again",
	     clock_us(CLOCK_MONOTONIC));
}

void sd_extend_timeout(uint64_t us)
{
	tell("EXTEND_TIMEOUT_USEC=%" PRIu64, us);
}

void sd_stopping(void)
{
	tell("STOPPING=1\nSTATUS=Closing connections");
}

uint64_t sd_watchdog_us(void)
{
	uint64_t us = 0;

	return sd_watchdog_enabled(0, &us) > 0 ? us : 0;
}

void sd_feed_watchdog(void)
{
	/* The next one follows soon. */
	(void)sd_send("WATCHDOG=1", NULL, 0, false);
}

void sd_status(const char *format, ...)
{
	char text[STATUS_BYTES];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	text[strcspn(text, "\n")] = '\0';
	tell("STATUS=%s", text);
}
