/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fingerprint of a Call, to recognize a reconnected client: its XID, its length, and a checksum of
 * the rest of its identity (rpc/call_identity.h).
 */
#ifndef DAEMON_SERVICE_CALL_FINGERPRINT_H
#define DAEMON_SERVICE_CALL_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

struct exchange;

/* Fingerprints kept for each client: of Calls without a Reply … */
#define CALL_FINGERPRINTS_UNANSWERED_MAX 64u
#define CALL_FINGERPRINTS_ANSWERED_MAX   16u /* … and of the Calls answered last */
/* Of both kinds together. */
#define CALL_FINGERPRINTS_MAX (CALL_FINGERPRINTS_UNANSWERED_MAX + CALL_FINGERPRINTS_ANSWERED_MAX)

struct call_fingerprint {
	uint32_t xid;
	uint32_t len_bytes; /* of the arguments */
	uint32_t crc;       /* of the rest of the identity */
	/* checksum of the sender, which is not part of the identity; 0 if answered */
	uint32_t sender : 31;
	bool answered : 1; /* its Reply was forwarded; the client may not have received it */
};

/** call_fingerprint_possible - Returns whether enough of a Call has arrived for a fingerprint. */
bool call_fingerprint_possible(const struct exchange *x);
/**
 * call_fingerprint_of - Returns the fingerprint of a Call, as unanswered;
 * call_fingerprint_possible() must be true.
 */
struct call_fingerprint call_fingerprint_of(const struct exchange *x);
/** call_fingerprint_of_answered - Returns the fingerprint of a Call, as answered. */
struct call_fingerprint call_fingerprint_of_answered(const struct exchange *x);
/** call_fingerprint_equals - Returns whether both are of the same Call, answered or not. */
static inline bool call_fingerprint_equals(const struct call_fingerprint *a,
					   const struct call_fingerprint *b)
{
	return a->xid == b->xid && a->len_bytes == b->len_bytes && a->crc == b->crc;
}
/**
 * call_fingerprint_same_sender - Returns whether both Calls, unanswered, are also from the same
 * user
 *
 * With AUTH_SYS the user and group count; the stamp, the machine and the other groups can differ in
 * a retransmission. With RPCSEC_GSS the flavor counts, since the handle is part of the identity.
 * With other flavors the whole credential counts.
 */
static inline bool call_fingerprint_same_sender(const struct call_fingerprint *a,
						const struct call_fingerprint *b)
{
	return a->sender == b->sender;
}

#endif
