/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture: the messages that were copied to a tap, as a file (daemon/tap/pcapng.h) in which each connection is one of TCP
 * (daemon/tap/rebuilt_tcp.h).
 *
 * A connection begins in the file with the first of its messages that is kept. Its first packet says which it is, the
 * first of each message how that was carried on both legs, and how many messages before it were not kept.
 */
#ifndef DAEMON_TAP_CAPTURE_H
#define DAEMON_TAP_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "daemon/tap/pcapng.h"
#include "daemon/tap/tap_record.h"
#include "daemon/tap/tap_request.h"

#define CAPTURE_CONNECTIONS_MAX 16384u /* messages of further ones are not kept */
#define CAPTURE_END_BYTES       1100u  /* more than capture_end() writes */

struct capture;

/** capture_new - a capture of what @request asks for; @epoch_us: where CLOCK_MONOTONIC began, since 1970. NULL without memory. */
struct capture *capture_new(const struct tap_request *request, uint64_t epoch_us) MUST_CHECK;
/** capture_free - accepts NULL. */
void capture_free(struct capture *capture);

/** capture_most_bytes - what capture_begin() or capture_message() writes at most. */
size_t capture_most_bytes(const struct tap_request *request);
/** capture_begin - write what stands at the head of the file. */
void capture_begin(struct capture *capture, struct pcapng_writer *out);
/**
 * capture_message - write a message, or the end of a connection
 * @data: message->kept_bytes of it
 *
 * @out is to be empty. Returns false if the file would be longer with it than is wanted: then nothing of @out counts, and
 * the end is due.
 */
bool capture_message(struct capture *capture, const struct tap_message *message,
		     const uint8_t *data, struct pcapng_writer *out) MUST_CHECK;
/** capture_missed - @count messages could not be kept, behind the last one. */
void capture_missed(struct capture *capture, uint64_t count);
/** capture_end - write what stands at its end; @now_us: by CLOCK_MONOTONIC, @why: it ended, a few words. */
void capture_end(struct capture *capture, uint64_t now_us, const char *why,
		 struct pcapng_writer *out);

#endif
