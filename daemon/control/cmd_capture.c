// SPDX-License-Identifier: BSD-3-Clause
/*
 * Implements `capture`: {"schema": 1} on a line, then a capture file in the pcapng format
 * (daemon/tap/pcap_capture.h). The file is complete when the client has ended its sending side, the
 * time is over, or the file has its maximum size.
 */
#include "daemon/control/tap_stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/clock.h"
#include "daemon/tap/pcap_capture.h"
#include "daemon/view/answer.h"

/* Of one capture, in addition to three times the longest message; documented in the manual. */
#define QUEUE_BYTES  (8u << 20)
#define ROOM_BYTES   (1u << 20)
#define CAPTURES_MAX 2u

_Static_assert(ANSWER_SCHEMA == 1, "begin() writes another schema");
_Static_assert(QUEUE_BYTES > 2 * TAP_SNAP_MAX_BYTES,
	       "the queue is too small for the longest message");

struct capturing {
	struct pcap_capture *capture;
	size_t capacity;
	uint8_t block[]; /* the next block to write */
};

static struct pcapng_writer writer_of(struct capturing *capturing)
{
	struct pcapng_writer out;

	pcapng_writer_init(&out, capturing->block, capturing->capacity);
	return out;
}

static void put_blocks(const struct pcapng_writer *writer, struct tap_output *out)
{
	tap_output_put(out, writer->start, pcapng_written_bytes(writer));
}

static void free_capturing(void *state)
{
	struct capturing *capturing = state;

	pcap_capture_free(capturing->capture);
	free(capturing);
}

static void *begin(const struct tap_request *request, struct tap_output *out)
{
	static const char line[] = "{\"schema\":1}\n";
	size_t capacity = pcap_capture_max_bytes(request);
	struct capturing *capturing = calloc(1, sizeof(*capturing) + capacity);
	struct pcapng_writer writer;

	if (!capturing)
		return NULL;
	capturing->capacity = capacity;
	capturing->capture =
		pcap_capture_new(request, clock_us(CLOCK_REALTIME) - clock_us(CLOCK_MONOTONIC));
	if (!capturing->capture) {
		free_capturing(capturing);
		return NULL;
	}
	tap_output_put(out, line, sizeof(line) - 1);
	writer = writer_of(capturing);
	pcap_capture_begin(capturing->capture, &writer);
	put_blocks(&writer, out);
	return capturing;
}

static bool record(void *state, const void *bytes, size_t len, struct tap_output *out)
{
	struct capturing *capturing = state;
	const struct tap_message *message = bytes;
	struct pcapng_writer writer = writer_of(capturing);

	if (!pcap_capture_message(capturing->capture, message, (const uint8_t *)(message + 1),
				  &writer))
		return false;
	put_blocks(&writer, out);
	return true;
}

static void missed(void *state, uint64_t count, struct tap_output *out)
{
	struct capturing *capturing = state;

	pcap_capture_missed(capturing->capture, count);
}

static void tail(void *state, enum tap_stream_end why, struct tap_output *out)
{
	static const char *const words[] = {[TAP_STREAM_FULL] = "ended by --max-bytes",
					    [TAP_STREAM_TIME] = "ended by --seconds",
					    [TAP_STREAM_CLIENT] = "ended when it was interrupted"};
	struct capturing *capturing = state;
	struct pcapng_writer writer = writer_of(capturing);

	pcap_capture_end(capturing->capture, clock_us(CLOCK_MONOTONIC), words[why], &writer);
	put_blocks(&writer, out);
}

const struct tap_format capture_format = {
	.name = "capture",
	.kind = TAP_MESSAGES,
	.max = CAPTURES_MAX,
	.queue_bytes = QUEUE_BYTES,
	.queue_limit_bytes = ROOM_BYTES,
	.most_bytes = pcap_capture_max_bytes,
	.tail_bytes = PCAP_CAPTURE_END_BYTES,
	.begin = begin,
	.record = record,
	.missed = missed,
	.tail = tail,
	.free = free_capturing,
};
