/* SPDX-License-Identifier: BSD-3-Clause */
/* What a Call is known again by: as servers know a retransmission, and as much of it as they look at. */
#ifndef DAEMON_SERVICE_CALL_MARK_H
#define DAEMON_SERVICE_CALL_MARK_H

#include <stdbool.h>
#include <stdint.h>

struct exchange;

#define CALL_MARK_BYTES        256u /* of the message that are looked at */

#define CLIENTS_UNANSWERED_MAX 64u /* marks that a client is known by, of Calls without a Reply … */
#define CLIENTS_ANSWERED_MAX   16u /* … and of those answered last */
#define CLIENTS_MARKS_MAX      (CLIENTS_UNANSWERED_MAX + CLIENTS_ANSWERED_MAX)

struct call_mark {
	uint32_t xid, len_bytes;
	uint32_t crc;  /* of its first CALL_MARK_BYTES */
	bool answered; /* its Reply was passed on, which does not mean that the client has it */
};

/** call_mark_may - whether so much of a Call is here that it has a mark. */
bool call_mark_may(const struct exchange *x);
/** call_mark_of - the mark of a Call, as not answered; call_mark_may() is true. */
struct call_mark call_mark_of(const struct exchange *x);
/** call_mark_equals - whether both are of the same Call, answered or not. */
static inline bool call_mark_equals(const struct call_mark *a, const struct call_mark *b)
{
	return a->xid == b->xid && a->len_bytes == b->len_bytes && a->crc == b->crc;
}

#endif
