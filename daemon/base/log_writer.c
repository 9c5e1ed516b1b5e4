// SPDX-License-Identifier: BSD-3-Clause
#define SD_JOURNAL_SUPPRESS_LOCATION /* the location in this file is useless */
#include "daemon/base/log_writer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "daemon/base/log_format.h"
#include "daemon/base/thread.h"

/* Blocks. Returns whether the whole line was written. */
static bool write_stderr(const char *line, size_t len)
{
	struct pollfd ask = {.fd = STDERR_FILENO, .events = POLLOUT};

	/*
	 * One call per line unless the descriptor writes only a part, since other processes can
	 * write to the same file.
	 */
	while (len) {
		ssize_t n = write(STDERR_FILENO, line, len);

		if (n > 0) {
			line += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			/* Another process has made it non-blocking. */
			(void)poll(&ask, 1, -1);
		} else if (n == 0 || errno != EINTR) {
			return false;
		}
	}
	return true;
}

/* ---- the journal ---- */

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define MESSAGE        "MESSAGE="
#define PRIORITY       "PRIORITY="
#define FIELDS_MAX     8u

/* JOURNAL_STREAM names the journal's socket; standard error can have been redirected since. */
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

/* Splits an entry into fields without newlines. Returns their number. */
static int split_fields(const char *entry, size_t len, struct iovec fields[static FIELDS_MAX])
{
	const char *end = entry + len, *newline;
	int n = 0;

	for (; n < (int)FIELDS_MAX && (newline = memchr(entry, '\n', (size_t)(end - entry))); n++) {
		fields[n] = (struct iovec){(char *)entry, (size_t)(newline - entry)};
		entry = newline + 1;
	}
	return n;
}

static bool field_has_name(const struct iovec *field, const char *name)
{
	return field->iov_len > strlen(name) && !memcmp(field->iov_base, name, strlen(name));
}

/* Writes a line with its level, which the stream turns into an entry. */
static bool write_message(const struct iovec *fields, int n)
{
	char line[LOG_ENTRY_BYTES], priority = '6';
	const char *text = fields[0].iov_base;
	int len;

	for (int i = 0; i < n; i++)
		if (field_has_name(&fields[i], PRIORITY))
			priority = ((const char *)fields[i].iov_base)[strlen(PRIORITY)];
	len = snprintf(line, sizeof(line), "<%c>%.*s\n", priority,
		       (int)(fields[0].iov_len - strlen(MESSAGE)), text + strlen(MESSAGE));
	return len > 0 && (size_t)len < sizeof(line) && write_stderr(line, (size_t)len);
}

/* The message is the first field. Returns whether the journal or standard error accepted it. */
static bool send_entry(const char *entry, size_t len)
{
	struct iovec fields[FIELDS_MAX];
	int n = split_fields(entry, len, fields);

	if (n == 0 || !field_has_name(&fields[0], MESSAGE))
		return false;
	/* The library reports success if the socket does not exist. */
	if (has_socket() && !sd_journal_sendv(fields, n))
		return true;
	return write_message(fields, n);
}

/* ---- the queue ---- */

struct log_writer {
	bool has_fields;
	void (*drained)(bool accepted);
	pthread_t thread;
	pthread_mutex_t lock;      /* guards all below */
	pthread_cond_t more, done; /* lines to write or the request to end; the thread has ended */
	bool idle, full, ending, ended;
	uint64_t failed;
	size_t first, used, size; /* of the ring */
	char ring[];
};

/* The length before each queued line. */
typedef uint16_t line_len;
_Static_assert(LOG_WRITER_LINE_BYTES <= UINT16_MAX, "the length of each line fits");

/* Under the lock, like the functions that follow. */
static void ring_put(struct log_writer *writer, const void *from, size_t len)
{
	size_t at = (writer->first + writer->used) % writer->size;
	size_t to_end = writer->size - at < len ? writer->size - at : len;

	memcpy(writer->ring + at, from, to_end);
	memcpy(writer->ring, (const char *)from + to_end, len - to_end);
	writer->used += len;
}

static void ring_take(struct log_writer *writer, void *to, size_t len)
{
	size_t to_end = writer->size - writer->first < len ? writer->size - writer->first : len;

	memcpy(to, writer->ring + writer->first, to_end);
	memcpy((char *)to + to_end, writer->ring, len - to_end);
	writer->first = (writer->first + len) % writer->size;
	writer->used -= len;
}

/* Removes the oldest line; the queue must not be empty. */
static size_t take_line(struct log_writer *writer, char line[static LOG_WRITER_LINE_BYTES])
{
	line_len len;

	ring_take(writer, &len, sizeof(len));
	ring_take(writer, line, len);
	if (writer->used == 0)
		writer->first = 0; /* touches as little memory as possible */
	if (writer->used <= writer->size / 2)
		writer->full = false;
	return len;
}

/* Under the lock, which it releases while writing. Returns whether the line was accepted. */
static bool write_oldest(struct log_writer *writer)
{
	char line[LOG_WRITER_LINE_BYTES];
	size_t len = take_line(writer, line);
	bool written;

	pthread_mutex_unlock(&writer->lock);
	written = writer->has_fields ? send_entry(line, len) : write_stderr(line, len);
	pthread_mutex_lock(&writer->lock);
	if (!written)
		writer->failed++;
	return written;
}

static void *run(void *arg)
{
	struct log_writer *writer = arg;
	bool accepted = true;

	pthread_mutex_lock(&writer->lock);
	for (;;) {
		while (writer->used)
			accepted = write_oldest(writer);
		pthread_mutex_unlock(&writer->lock);
		writer->drained(accepted);
		pthread_mutex_lock(&writer->lock);
		if (!writer->used && writer->ending)
			break;
		writer->idle = true;
		while (!writer->used && !writer->ending)
			pthread_cond_wait(&writer->more, &writer->lock);
		writer->idle = false;
	}
	writer->ended = true;
	pthread_cond_signal(&writer->done);
	pthread_mutex_unlock(&writer->lock);
	return NULL;
}

static void writer_init(struct log_writer *writer)
{
	pthread_mutex_init(&writer->lock, NULL);
	pthread_cond_init(&writer->more, NULL);
	thread_cond_init(&writer->done);
}

static void writer_release(struct log_writer *writer)
{
	pthread_mutex_destroy(&writer->lock);
	pthread_cond_destroy(&writer->more);
	pthread_cond_destroy(&writer->done);
	free(writer);
}

struct log_writer *log_writer_new(bool has_fields, size_t queue_bytes,
				  void (*drained)(bool accepted))
{
	struct log_writer *writer = malloc(sizeof(*writer) + queue_bytes);

	if (!writer)
		return NULL;
	*writer = (struct log_writer){
		.has_fields = has_fields, .drained = drained, .size = queue_bytes};
	writer_init(writer);
	if (thread_start("log", run, writer, &writer->thread)) {
		writer_release(writer);
		return NULL;
	}
	return writer;
}

bool log_writer_put(struct log_writer *writer, const char *line, size_t len)
{
	const line_len queued_len = (line_len)len;
	bool accepted;

	pthread_mutex_lock(&writer->lock);
	if (sizeof(queued_len) + len > writer->size - writer->used)
		writer->full = true;
	accepted = !writer->full;
	if (accepted) {
		ring_put(writer, &queued_len, sizeof(queued_len));
		ring_put(writer, line, len);
		if (writer->idle)
			pthread_cond_signal(&writer->more);
	}
	pthread_mutex_unlock(&writer->lock);
	return accepted;
}

uint64_t log_writer_failed(struct log_writer *writer)
{
	uint64_t failed;

	pthread_mutex_lock(&writer->lock);
	failed = writer->failed;
	pthread_mutex_unlock(&writer->lock);
	return failed;
}

bool log_writer_free(struct log_writer *writer, unsigned timeout_ms)
{
	struct timespec until = thread_deadline(timeout_ms);
	bool ended;
	int rc = 0;

	pthread_mutex_lock(&writer->lock);
	writer->ending = true;
	pthread_cond_signal(&writer->more);
	while (!writer->ended && rc == 0)
		rc = pthread_cond_timedwait(&writer->done, &writer->lock, &until);
	ended = writer->ended;
	pthread_mutex_unlock(&writer->lock);
	if (!ended)
		return false;
	pthread_join(writer->thread, NULL);
	writer_release(writer);
	return true;
}
