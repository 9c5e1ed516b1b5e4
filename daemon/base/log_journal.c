// SPDX-License-Identifier: BSD-3-Clause
#define SD_JOURNAL_SUPPRESS_LOCATION /* where in this file they were sent from tells nobody anything */
#include "daemon/base/log_journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "daemon/base/log_line.h"
#include "daemon/base/log_writer.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define MESSAGE        "MESSAGE="
#define PRIORITY       "PRIORITY="
#define FIELDS_MAX     8u

/* JOURNAL_STREAM names the journal's socket; standard error may have been sent elsewhere since. */
bool log_journal_is_stderr(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == dev && st.st_ino == ino;
}

static bool has_socket(void)
{
	return !access(JOURNAL_SOCKET, W_OK);
}

bool log_journal_is_reached(void)
{
	return log_journal_is_stderr() && has_socket();
}

/* Without their newlines. Returns how many there are. */
static int part_fields(const char *entry, size_t len, struct iovec fields[static FIELDS_MAX])
{
	const char *end = entry + len, *newline;
	int n = 0;

	for (; n < (int)FIELDS_MAX && (newline = memchr(entry, '\n', (size_t)(end - entry))); n++) {
		fields[n] = (struct iovec){(char *)entry, (size_t)(newline - entry)};
		entry = newline + 1;
	}
	return n;
}

static bool begins(const struct iovec *field, const char *name)
{
	return field->iov_len > strlen(name) && !memcmp(field->iov_base, name, strlen(name));
}

/* As a line with its level, of which the stream makes an entry. */
static bool write_message(const struct iovec *fields, int n)
{
	char line[LOG_ENTRY_BYTES], priority = '6';
	const char *text = fields[0].iov_base;
	int len;

	for (int i = 0; i < n; i++)
		if (begins(&fields[i], PRIORITY))
			priority = ((const char *)fields[i].iov_base)[strlen(PRIORITY)];
	len = snprintf(line, sizeof(line), "<%c>%.*s\n", priority,
		       (int)(fields[0].iov_len - strlen(MESSAGE)), text + strlen(MESSAGE));
	return len > 0 && (size_t)len < sizeof(line) &&
	       log_writer_write(STDERR_FILENO, line, (size_t)len);
}

bool log_journal_send(const char *entry, size_t len)
{
	struct iovec fields[FIELDS_MAX];
	int n = part_fields(entry, len, fields);

	if (n == 0 || !begins(&fields[0], MESSAGE))
		return false;
	/* The library takes a socket that is not there for one that took the entry. */
	if (has_socket() && !sd_journal_sendv(fields, n))
		return true;
	return write_message(fields, n);
}
