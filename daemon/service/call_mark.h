/* SPDX-License-Identifier: BSD-3-Clause */
/* What a Call is recognized by when its client comes back: its identity (rpc/call_identity.h), in a few bytes. */
#ifndef DAEMON_SERVICE_CALL_MARK_H
#define DAEMON_SERVICE_CALL_MARK_H

#include <stdbool.h>
#include <stdint.h>

struct exchange;

#define CLIENTS_UNANSWERED_MAX 64u /* marks that a client is known by, of Calls without a Reply … */
#define CLIENTS_ANSWERED_MAX   16u /* … and of those answered last */
#define CLIENTS_MARKS_MAX      (CLIENTS_UNANSWERED_MAX + CLIENTS_ANSWERED_MAX)

struct call_mark {
	uint32_t xid;
	uint32_t len_bytes; /* of its arguments */
	uint32_t crc;       /* of what else its identity has */
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
