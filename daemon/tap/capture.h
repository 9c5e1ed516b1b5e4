/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the messages that were copied to a tap to a file (daemon/tap/pcapng.h), each connection as one of TCP
 * (daemon/tap/rebuilt_tcp.h).
 *
 * A connection begins in the file with its first message that was kept. The comment of its first packet describes it.
 * The comments of each message say how both legs carried it, and how many messages before it were not kept.
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

#define CAPTURE_CONNECTIONS_MAX 16384u /* messages of further connections are not kept */
#define CAPTURE_END_BYTES       1100u  /* upper bound of what pcap_capture_end() writes */

struct capture;

/** capture_new - Creates a capture; @epoch_us: when CLOCK_MONOTONIC began, since 1970. Returns NULL without memory. */
struct capture *capture_new(const struct tap_request *request, uint64_t epoch_us) MUST_CHECK;
/** capture_free - Frees a capture. Accepts NULL. */
void capture_free(struct capture *capture);

/** capture_most_bytes - Returns the most that pcap_capture_begin() or capture_message() writes. */
size_t capture_most_bytes(const struct tap_request *request);
/** pcap_capture_begin - Writes the head of the file. */
void capture_begin(struct capture *capture, struct pcapng_writer *out);
/**
 * capture_message - Writes a message, or the end of a connection
 * @data: message->kept_bytes of it
 * @out:  empty
 *
 * Returns false if the file would exceed its size limit: then discard @out, and pcap_capture_end() is due.
 */
bool capture_message(struct capture *capture, const struct tap_message *message,
		     const uint8_t *data, struct pcapng_writer *out) MUST_CHECK;
/** capture_missed - Counts @count messages after the last one that could not be kept. */
void capture_missed(struct capture *capture, uint64_t count);
/** pcap_capture_end - Writes the end of the file; @now_us: by CLOCK_MONOTONIC; @why: it ended, a few words. */
void capture_end(struct capture *capture, uint64_t now_us, const char *why,
		 struct pcapng_writer *out);

#endif
