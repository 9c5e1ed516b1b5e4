// SPDX-License-Identifier: BSD-3-Clause
/* A queue of lines, and the thread that writes them. */
#include "daemon/base/log_writer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/thread.h"

struct log_writer {
	struct log_sink sink;
	pthread_t thread;
	pthread_mutex_t lock;      /* guards all below */
	pthread_cond_t more, done; /* lines or the order to end; the thread's end */
	bool idle, full, ending, ended;
	uint64_t failed;
	size_t first, used, size; /* of the ring */
	char ring[];
};

/* What a line is queued behind. */
typedef uint16_t line_len;
_Static_assert(LOG_WRITER_LINE_BYTES <= UINT16_MAX, "the length of each line can be said");

/* Under the lock, as those that follow. */
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

/* Takes the oldest line out. There is one. */
static size_t take_line(struct log_writer *writer, char line[static LOG_WRITER_LINE_BYTES])
{
	line_len len;

	ring_take(writer, &len, sizeof(len));
	ring_take(writer, line, len);
	if (writer->used == 0)
		writer->first = 0; /* touches no more memory than it must */
	if (writer->used <= writer->size / 2)
		writer->full = false;
	return len;
}

bool log_writer_write(int fd, const char *line, size_t len)
{
	struct pollfd ask = {.fd = fd, .events = POLLOUT};

	/* One call for the line, but for a descriptor that takes a part: others may write to the same file. */
	while (len) {
		ssize_t n = write(fd, line, len);

		if (n > 0) {
			line += n;
			len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			/* Somebody else has made it non-blocking. */
			(void)poll(&ask, 1, -1);
		} else if (n == 0 || errno != EINTR) {
			return false;
		}
	}
	return true;
}

/* Under the lock, which it gives up meanwhile. Returns whether the line was taken. */
static bool write_oldest(struct log_writer *writer)
{
	char line[LOG_WRITER_LINE_BYTES];
	size_t len = take_line(writer, line);
	bool written;

	pthread_mutex_unlock(&writer->lock);
	written = writer->sink.write(writer->sink.arg, line, len);
	pthread_mutex_lock(&writer->lock);
	if (!written)
		writer->failed++;
	return written;
}

static void *run(void *arg)
{
	struct log_writer *writer = arg;
	bool taken = true;

	pthread_mutex_lock(&writer->lock);
	for (;;) {
		while (writer->used)
			taken = write_oldest(writer);
		pthread_mutex_unlock(&writer->lock);
		writer->sink.drained(writer->sink.arg, taken);
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

struct log_writer *log_writer_new(const struct log_sink *sink, size_t queue_bytes)
{
	struct log_writer *writer = malloc(sizeof(*writer) + queue_bytes);

	if (!writer)
		return NULL;
	*writer = (struct log_writer){.sink = *sink, .size = queue_bytes};
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
	bool taken;

	pthread_mutex_lock(&writer->lock);
	if (sizeof(queued_len) + len > writer->size - writer->used)
		writer->full = true;
	taken = !writer->full;
	if (taken) {
		ring_put(writer, &queued_len, sizeof(queued_len));
		ring_put(writer, line, len);
		if (writer->idle)
			pthread_cond_signal(&writer->more);
	}
	pthread_mutex_unlock(&writer->lock);
	return taken;
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
