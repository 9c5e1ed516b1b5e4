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
	uint32_t
		sender : 31; /* a sum of who sent it, which is no part of that; 0 if it is answered */
	bool answered : 1; /* its Reply was passed on, which does not mean that the client has it */
};

/** call_mark_may - whether so much of a Call is here that it has a mark. */
bool call_mark_may(const struct exchange *x);
/** call_mark_of - the mark of a Call, as not answered; call_mark_may() is true. */
struct call_mark call_mark_of(const struct exchange *x);
/** call_mark_of_answered - the same as answered. */
struct call_mark call_mark_of_answered(const struct exchange *x);
/** call_mark_equals - whether both are of the same Call, answered or not. */
static inline bool call_mark_equals(const struct call_mark *a, const struct call_mark *b)
{
	return a->xid == b->xid && a->len_bytes == b->len_bytes && a->crc == b->crc;
}
/**
 * call_mark_same_sender - whether, as well, both are of the same user; neither is answered
 *
 * Of AUTH_SYS user and group count, and neither the stamp, the machine nor the other groups, which may differ when a Call is
 * sent again; of RPCSEC_GSS the flavor, since its handle is part of the identity; of any other the whole credential.
 */
static inline bool call_mark_same_sender(const struct call_mark *a, const struct call_mark *b)
{
	return a->sender == b->sender;
}

#endif
