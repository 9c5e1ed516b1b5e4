// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/log_format.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CUT_MARK    " [cut]"
#define FIELD_BYTES 300u /* longest value: a server's URI */

static const struct {
	const char *name;
	char priority; /* sd-daemon(3) */
} levels[] = {
	[LOG_LEVEL_ERROR] = {"error", '3'},
	[LOG_LEVEL_WARNING] = {"warning", '4'},
	[LOG_LEVEL_INFO] = {"info", '6'},
	[LOG_LEVEL_DEBUG] = {"debug", '7'},
};

const char *log_level_name(enum log_level level)
{
	return levels[level].name;
}

/* ---- the message, cut if too long ---- */

static void put_raw(struct log_line *line, const char *text, size_t len)
{
	const size_t max = LOG_LINE_BYTES - sizeof(CUT_MARK);

	if (line->cut || len > max - line->len) {
		line->cut = true;
		return;
	}
	memcpy(line->text + line->len, text, len);
	line->len += len;
}

static void put_escaped(struct log_line *line, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		char escape[5];

		if (c == '\\') {
			put_raw(line, "\\\\", 2);
		} else if (c >= 0x20 && c < 0x7f) {
			put_raw(line, text, 1);
		} else {
			snprintf(escape, sizeof(escape), "\\x%02x", c);
			put_raw(line, escape, 4);
		}
	}
}

static void put_head(struct log_line *line, enum log_form form, enum log_level level,
		     uint64_t realtime_us)
{
	time_t sec = (time_t)(realtime_us / 1000000u);
	char head[64] = "MESSAGE=";
	size_t len = strlen(head);
	struct tm tm;

	if (form == LOG_FORM_LEVEL) {
		len = (size_t)snprintf(head, sizeof(head), "<%c>", levels[level].priority);
	} else if (form == LOG_FORM_TIME) {
		gmtime_r(&sec, &tm);
		len = strftime(head, sizeof(head), "%Y-%m-%dT%H:%M:%S", &tm);
		len += (size_t)snprintf(head + len, sizeof(head) - len,
					".%03uZ %s: ", (unsigned)(realtime_us % 1000000u / 1000u),
					levels[level].name);
	}
	put_raw(line, head, len);
}

static void end_message(struct log_line *line)
{
	if (line->cut) {
		memcpy(line->text + line->len, CUT_MARK, strlen(CUT_MARK));
		line->len += strlen(CUT_MARK);
	}
	line->text[line->len++] = '\n';
}

/* ---- the other fields, each complete or omitted ---- */

static void put_field(struct log_line *line, const char *name, const char *value)
{
	size_t space_bytes = sizeof(line->text) - line->len;
	int len;

	if (!value || !value[0] || strlen(value) > FIELD_BYTES)
		return;
	for (const char *c = value; *c; c++)
		if (!isprint((unsigned char)*c))
			return;
	len = snprintf(line->text + line->len, space_bytes, "%s=%s\n", name, value);
	if (len > 0 && (size_t)len < space_bytes)
		line->len += (size_t)len;
}

static void put_reason(struct log_line *line, const char *reason)
{
	char lower[64];
	size_t len = 0;

	for (; reason && reason[len] && len < sizeof(lower) - 1; len++)
		lower[len] = (char)tolower((unsigned char)reason[len]);
	lower[len] = '\0';
	put_field(line, "RPCRDMA_REASON", lower);
}

static void put_fields(struct log_line *line, enum log_level level, const struct log_about *about)
{
	const char priority[] = {levels[level].priority, '\0'};
	char xid[sizeof("0x12345678")];

	put_field(line, "PRIORITY", priority);
	put_field(line, "SYSLOG_IDENTIFIER", "rpcrdma-proxy");
	if (!about)
		return;
	put_field(line, "RPCRDMA_SERVICE", about->service);
	put_field(line, "RPCRDMA_CLIENT", about->client);
	put_field(line, "RPCRDMA_UPSTREAM", about->upstream);
	put_reason(line, about->reason);
	if (about->xid) {
		snprintf(xid, sizeof(xid), "0x%08x", *about->xid);
		put_field(line, "RPCRDMA_XID", xid);
	}
}

static void put_about(struct log_line *line, const struct log_about *about)
{
	if (about->prefix[0]) {
		put_escaped(line, about->prefix);
	} else if (about->service) {
		put_escaped(line, about->service);
		put_escaped(line, ": ");
	}
}

void log_format_line(struct log_line *line, enum log_form form, enum log_level level,
		     const struct log_about *about, const char *text, uint64_t realtime_us)
{
	line->len = 0;
	line->cut = false;
	put_head(line, form, level, realtime_us);
	if (about)
		put_about(line, about);
	put_escaped(line, text);
	end_message(line);
	if (form == LOG_FORM_FIELDS)
		put_fields(line, level, about);
}
