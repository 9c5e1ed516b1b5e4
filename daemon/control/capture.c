// SPDX-License-Identifier: BSD-3-Clause
/*
 * Implements `capture`: {"schema": 1} on a line, then a capture file in the pcapng format (daemon/tap/capture.h). The
 * file is complete when the client has ended its sending side, the time is over, or the file has its maximum size.
 */
#include "daemon/control/watching.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/clock.h"
#include "daemon/tap/capture.h"
#include "daemon/view/answer.h"

/* Of one capture, in addition to three times the longest message; documented in the manual. */
#define QUEUE_BYTES  (8u << 20)
#define ROOM_BYTES   (1u << 20)
#define CAPTURES_MAX 2u

_Static_assert(ANSWER_SCHEMA == 1, "begin() writes another schema");
_Static_assert(QUEUE_BYTES > 2 * TAP_SNAP_MAX_BYTES,
	       "the queue is too small for the longest message");

struct capturing {
	struct capture *capture;
	size_t room;
	uint8_t block[]; /* the next block to write */
};

static struct pcapng_writer writer_of(struct capturing *capturing)
{
	struct pcapng_writer out;

	pcapng_writer_init(&out, capturing->block, capturing->room);
	return out;
}

static void put(const struct pcapng_writer *writer, struct watch_output *out)
{
	watch_put(out, writer->start, pcapng_written_bytes(writer));
}

static void free_capturing(void *state)
{
	struct capturing *capturing = state;

	capture_free(capturing->capture);
	free(capturing);
}

static void *begin(const struct tap_request *request, struct watch_output *out)
{
	static const char line[] = "{\"schema\":1}\n";
	size_t room = capture_most_bytes(request);
	struct capturing *capturing = calloc(1, sizeof(*capturing) + room);
	struct pcapng_writer writer;

	if (!capturing)
		return NULL;
	capturing->room = room;
	capturing->capture =
		capture_new(request, clock_us(CLOCK_REALTIME) - clock_us(CLOCK_MONOTONIC));
	if (!capturing->capture) {
		free_capturing(capturing);
		return NULL;
	}
	watch_put(out, line, sizeof(line) - 1);
	writer = writer_of(capturing);
	capture_begin(capturing->capture, &writer);
	put(&writer, out);
	return capturing;
}

static bool record(void *state, const void *bytes, size_t len, struct watch_output *out)
{
	struct capturing *capturing = state;
	const struct tap_message *message = bytes;
	struct pcapng_writer writer = writer_of(capturing);

	if (!capture_message(capturing->capture, message, (const uint8_t *)(message + 1), &writer))
		return false;
	put(&writer, out);
	return true;
}

static void missed(void *state, uint64_t count, struct watch_output *out)
{
	struct capturing *capturing = state;

	capture_missed(capturing->capture, count);
}

static void tail(void *state, enum watch_end why, struct watch_output *out)
{
	static const char *const words[] = {[WATCH_FULL] = "ended by --max-bytes",
					    [WATCH_TIME] = "ended by --seconds",
					    [WATCH_ASKED] = "ended when it was interrupted"};
	struct capturing *capturing = state;
	struct pcapng_writer writer = writer_of(capturing);

	capture_end(capturing->capture, clock_us(CLOCK_MONOTONIC), words[why], &writer);
	put(&writer, out);
}

const struct watch_form capture_form = {
	.name = "capture",
	.kind = TAP_MESSAGES,
	.max = CAPTURES_MAX,
	.queue_bytes = QUEUE_BYTES,
	.room_bytes = ROOM_BYTES,
	.most_bytes = capture_most_bytes,
	.tail_bytes = CAPTURE_END_BYTES,
	.begin = begin,
	.record = record,
	.missed = missed,
	.tail = tail,
	.free = free_capturing,
};
