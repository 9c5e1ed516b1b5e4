/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP's segment size: it grows with the peer's window, and follows the path. It is asked for before something is
 * sent, ever more seldom as it stays.
 */
#ifndef FABRIC_IWARP_SEGMENT_H
#define FABRIC_IWARP_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>

struct iwarp_segment {
	int mss_bytes;                  /* when it was last asked for; 0: it was never known */
	size_t sent_bytes, every_bytes; /* since then; when to ask again */
};

/** iwarp_segment_init - it is to be asked for as soon as there is a connection. */
void iwarp_segment_init(struct iwarp_segment *segment);
/** iwarp_segment_sent - the socket has taken @len_bytes. */
void iwarp_segment_sent(struct iwarp_segment *segment, size_t len_bytes);
/** iwarp_segment_changed - ask @fd, if it is time to; returns whether mss_bytes has another value now. */
bool iwarp_segment_changed(struct iwarp_segment *segment, int fd);

#endif
