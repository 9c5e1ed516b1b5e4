// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/address.h"
#include "daemon/base/clock.h"
#include "daemon/base/log_format.h"
#include "daemon/base/log_writer.h"

_Static_assert(LOG_ENTRY_BYTES <= LOG_WRITER_LINE_BYTES, "every line fits into the writer");

static atomic_int level_on = LOG_LEVEL_INFO;
static bool level_demanded; /* set before threads start */

/* Guards the output, every bucket, and the variables below. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct log_output output;
static bool output_set;
static struct log_writer *writer; /* NULL: lines are written directly */
static uint64_t dropped,
	reported; /* lines that no output accepted; lost lines that were reported */

bool log_is_on(enum log_level level)
{
	return (int)level <= atomic_load_explicit(&level_on, memory_order_relaxed);
}

void log_set_level(enum log_level level)
{
	atomic_store(&level_on, (int)level);
}

void log_demand_level(enum log_level level)
{
	level_demanded = true;
	log_set_level(level);
}

void log_configure_level(enum log_level level)
{
	if (!level_demanded)
		log_set_level(level);
}

void log_reconfigure_level(enum log_level level)
{
	if (!level_demanded)
		log_change_level(level, "as the file says");
}

void log_change_level(enum log_level level, const char *why)
{
	enum log_level before = log_level();

	log_set_level(level > before ? level : before);
	log_info(NULL, "log level is now %s (was %s), %s", log_level_name(level),
		 log_level_name(before), why);
	log_set_level(level);
}

enum log_level log_level(void)
{
	return (enum log_level)atomic_load(&level_on);
}

int log_level_parse(const char *name, enum log_level *level)
{
	for (int i = LOG_LEVEL_ERROR; i <= LOG_LEVEL_DEBUG; i++) {
		if (!strcmp(log_level_name((enum log_level)i), name)) {
			*level = (enum log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* ---- output ---- */

static bool write_stderr(void *arg, const char *line, size_t len)
{
	ssize_t n;

	/*
	 * One call per line, since other processes can write to the same file. A failed line is
	 * lost.
	 */
	do
		n = write(STDERR_FILENO, line, len);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len;
}

static bool queue_line(void *arg, const char *line, size_t len)
{
	return log_writer_put(writer, line, len);
}

/* Without the writer's thread, which can wait for the journal's socket. */
static enum log_form stream_form(void)
{
	return log_journal_is_stderr() ? LOG_FORM_LEVEL : LOG_FORM_TIME;
}

static const struct log_output *get_output(void)
{
	if (!output_set) {
		output = (struct log_output){write_stderr, NULL, stream_form(), clock_us};
		output_set = true;
	}
	return &output;
}

void log_set_output(const struct log_output *to)
{
	pthread_mutex_lock(&mutex);
	output_set = to != NULL;
	if (to)
		output = *to;
	pthread_mutex_unlock(&mutex);
}

/* ---- lines, under the mutex ---- */

/* Under the mutex. */
static bool write_line(enum log_level level, const struct log_ctx *ctx, const char *text)
{
	const struct log_output *out = get_output();
	struct log_line line;

	log_format_line(&line, out->form, level, ctx ? &ctx->about : NULL, text,
			out->now_us(CLOCK_REALTIME));
	return out->write(out->arg, line.text, line.len);
}

/* Under the mutex. */
static uint64_t lost_lines(void)
{
	return dropped + (writer ? log_writer_failed(writer) : 0);
}

/* Under the mutex, when lines are accepted again. Returns whether nothing is left to report. */
static bool log_lost(void)
{
	uint64_t lost = lost_lines();
	char text[80];

	if (lost == reported)
		return true;
	snprintf(text, sizeof(text), "%llu log lines dropped: the output did not accept them",
		 (unsigned long long)(lost - reported));
	if (!write_line(LOG_LEVEL_WARNING, NULL, text))
		return false;
	reported = lost;
	return true;
}

/* Under the mutex. */
static void emit(enum log_level level, const struct log_ctx *ctx, const char *text)
{
	/* The writer's lost lines are reported when it can write again. */
	if ((dropped && !log_lost()) || !write_line(level, ctx, text))
		dropped++;
}

/* ---- buckets ---- */

/* Refills the tokens. Returns whether one is available. */
static bool has_token(struct log_tokens *tokens, unsigned burst, uint64_t refill_us,
		      uint64_t now_us)
{
	uint64_t back = (now_us - tokens->refilled_us) / refill_us;

	if (!tokens->spent || back >= tokens->spent) {
		tokens->spent = 0;
		tokens->refilled_us = now_us;
	} else {
		tokens->spent -= (unsigned)back;
		tokens->refilled_us += back * refill_us;
	}
	return tokens->spent < burst;
}

static bool limit_has_token(struct log_limit *limit, uint64_t now_us)
{
	return has_token(&limit->tokens, limit->burst ? limit->burst : LOG_LIMIT_BURST,
			 limit->refill_us ? limit->refill_us : LOG_LIMIT_REFILL_US, now_us);
}

static void suppress(struct log_limit *limit, enum log_level level, uint64_t now_us)
{
	if (!limit->suppressed++) {
		limit->since_us = now_us;
		limit->level = level;
	} else if (level < limit->level) {
		limit->level = level;
	}
}

/*
 * Under the mutex: returns whether a line may pass, within @share unless that is NULL; else counts
 * it as suppressed.
 * @take: whether a line that may pass uses tokens
 */
static bool take_token(struct log_limit *limit, struct log_tokens *share, enum log_level level,
		       bool take)
{
	uint64_t now_us = get_output()->now_us(CLOCK_MONOTONIC);

	if ((share && !has_token(share, LOG_SHARE_BURST, LOG_SHARE_REFILL_US, now_us)) ||
	    !limit_has_token(limit, now_us)) {
		suppress(limit, level, now_us);
		return false;
	}
	limit->tokens.spent += take;
	if (share)
		share->spent += take;
	return true;
}

/* Under the mutex. */
static void report_suppressed(struct log_limit *limit, uint64_t now_us)
{
	uint64_t us = now_us - limit->since_us;
	char text[LOG_PREFIX_BYTES + 320];

	if (!limit->suppressed)
		return;
	snprintf(text, sizeof(text), "%llu more %s in %llu s%s%s",
		 (unsigned long long)limit->suppressed,
		 limit->what ? limit->what : "such lines suppressed",
		 (unsigned long long)(us > 1000000 ? (us + 999999) / 1000000 : 1),
		 limit->why ? ": " : "", limit->why ? limit->why : "");
	limit->suppressed = 0;
	if (log_is_on(limit->level) && !limit->repeats)
		emit(limit->level, LOG_ABOUT(.service = limit->owner, .reason = limit->reason),
		     text);
}

void log_report_suppressed(struct log_limit *limits, size_t n)
{
	uint64_t now_us;

	pthread_mutex_lock(&mutex);
	now_us = get_output()->now_us(CLOCK_MONOTONIC);
	for (size_t i = 0; i < n; i++)
		report_suppressed(&limits[i], now_us);
	pthread_mutex_unlock(&mutex);
}

/* ---- lines ---- */

/* Without a limit every line passes. */
static void PRINTF_LIKE(5, 0)
	write_if_it_may(enum log_level level, struct log_limit *limit, struct log_tokens *share,
			const struct log_ctx *ctx, const char *format, va_list ap)
{
	char text[LOG_LINE_BYTES];

	vsnprintf(text, sizeof(text), format, ap);
	pthread_mutex_lock(&mutex);
	if (!limit || take_token(limit, share, level, true))
		emit(level, ctx, text);
	pthread_mutex_unlock(&mutex);
}

void log_write(enum log_level level, const struct log_ctx *ctx, const char *format, ...)
{
	va_list ap;

	if (!log_is_on(level))
		return;
	va_start(ap, format);
	write_if_it_may(level, NULL, NULL, ctx, format, ap);
	va_end(ap);
}

void log_write_limited(enum log_level level, struct log_limit *limit, const struct log_ctx *ctx,
		       const char *format, ...)
{
	va_list ap;

	if (!log_is_on(level))
		return;
	va_start(ap, format);
	write_if_it_may(level, limit, NULL, ctx, format, ap);
	va_end(ap);
}

void log_write_note(struct log_ctx *ctx, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	write_if_it_may(LOG_LEVEL_INFO, ctx->notes, &ctx->share, ctx, format, ap);
	va_end(ap);
}

bool log_is_suppressed(enum log_level level, struct log_limit *limit)
{
	bool passes;

	if (!log_is_on(level))
		return true;
	pthread_mutex_lock(&mutex);
	passes = take_token(limit, NULL, level, false);
	pthread_mutex_unlock(&mutex);
	return !passes;
}

void log_ctx_init(struct log_ctx *ctx, const char *service, uint64_t id,
		  const struct sockaddr *client, struct log_limit *notes)
{
	char addr[ADDRESS_TEXT_BYTES];

	*ctx = (struct log_ctx){.about.service = service, .notes = notes};
	address_host_text(client, ctx->about.client);
	snprintf(ctx->about.prefix, sizeof(ctx->about.prefix), "[%s#%llu %s] ", service,
		 (unsigned long long)id, address_text(client, addr));
}

struct log_ctx log_ctx_because(const struct log_ctx *ctx, const char *reason)
{
	struct log_ctx same = *ctx;

	same.about.reason = reason;
	return same;
}

/* ---- writer thread ---- */

static void on_drained(bool accepted)
{
	pthread_mutex_lock(&mutex);
	/* Otherwise the report itself would be lost, and reported, and so on. */
	if (accepted && writer)
		(void)log_lost();
	pthread_mutex_unlock(&mutex);
}

int log_start_writer(void)
{
	bool fields = log_journal_is_reached();
	struct log_writer *made = log_writer_new(fields, LOG_QUEUE_BYTES, on_drained);

	if (!made)
		return -ENOMEM;
	pthread_mutex_lock(&mutex);
	writer = made;
	output = (struct log_output){queue_line, NULL, fields ? LOG_FORM_FIELDS : stream_form(),
				     clock_us};
	output_set = true;
	pthread_mutex_unlock(&mutex);
	return 0;
}

void log_stop_writer(unsigned timeout_ms)
{
	if (!writer || !log_writer_free(writer, timeout_ms))
		return;
	pthread_mutex_lock(&mutex);
	writer = NULL;
	output_set = false;
	reported = dropped;
	pthread_mutex_unlock(&mutex);
}

uint64_t log_lines_dropped(void)
{
	uint64_t lost;

	pthread_mutex_lock(&mutex);
	lost = lost_lines();
	pthread_mutex_unlock(&mutex);
	return lost;
}
