/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the messages that were copied to a tap to a file (daemon/tap/pcapng.h), each connection as
 * one of TCP (daemon/tap/pcap_tcp.h).
 *
 * A connection begins in the file with its first message that was kept. A comment of its first
 * packet describes the connection. Comments of each message say how both legs carried it, and how
 * many messages before it were not kept.
 */
#ifndef DAEMON_TAP_PCAP_CAPTURE_H
#define DAEMON_TAP_PCAP_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "daemon/tap/pcapng.h"
#include "daemon/tap/tap_event.h"
#include "daemon/tap/tap_request.h"

#define PCAP_CAPTURE_CONNECTIONS_MAX 16384u /* messages of further connections are not kept */
#define PCAP_CAPTURE_END_BYTES       1100u  /* upper bound of what pcap_capture_end() writes */

struct pcap_capture;

/**
 * pcap_capture_new - Creates a capture; @epoch_us: when CLOCK_MONOTONIC began, since 1970. Returns
 * NULL without memory.
 */
struct pcap_capture *pcap_capture_new(const struct tap_request *request,
				      uint64_t epoch_us) MUST_CHECK;
/** pcap_capture_free - Frees a capture. Accepts NULL. */
void pcap_capture_free(struct pcap_capture *capture);

/**
 * pcap_capture_max_bytes - Returns the most that pcap_capture_begin() or pcap_capture_message()
 * writes.
 */
size_t pcap_capture_max_bytes(const struct tap_request *request);
/** pcap_capture_begin - Writes the head of the file. */
void pcap_capture_begin(struct pcap_capture *capture, struct pcapng_writer *out);
/**
 * pcap_capture_message - Writes a message, or the end of a connection
 * @data: message->kept_bytes of it
 * @out:  empty
 *
 * Returns false if the file would exceed its size limit: then discard @out, and pcap_capture_end()
 * is due.
 */
bool pcap_capture_message(struct pcap_capture *capture, const struct tap_message *message,
			  const uint8_t *data, struct pcapng_writer *out) MUST_CHECK;
/** pcap_capture_missed - Counts @count messages after the last one that could not be kept. */
void pcap_capture_missed(struct pcap_capture *capture, uint64_t count);
/**
 * pcap_capture_end - Writes the end of the file; @now_us: by CLOCK_MONOTONIC; @why: why it ended, a
 * few words.
 */
void pcap_capture_end(struct pcap_capture *capture, uint64_t now_us, const char *why,
		      struct pcapng_writer *out);

#endif
