/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCs of all sizes. The seed, the sizes and the XID determine each byte of the Call and the Reply.
 */
#ifndef TESTS_SIM_STORM_RPC_H
#define TESTS_SIM_STORM_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORM_REVERSE_XID 0x80000000u /* in the XIDs of a server's Calls */

/* The inputs from which a seed's messages are made. */
struct storm_traffic {
	uint64_t seed;
	uint32_t reverse_max; /* of data in a reverse Call, and in its Reply */
	bool long_replies;    /* some directories are longer than 1 MiB */
};

struct storm_msg {
	uint8_t *bytes;
	uint32_t len_bytes;
	size_t room_bytes;
};

/** storm_random - Returns the next random number; *@state is any number but 0. */
uint64_t storm_random(uint64_t *state);

/**
 * storm_call - Makes the Call with that XID, as it is sent for the @seq-th time
 *
 * Some are of RPCSEC_GSS, and then @seq is the sequence number. @msg grows as needed; the caller
 * frees it with storm_msg_free().
 */
void storm_call(struct storm_msg *msg, const struct storm_traffic *traffic, uint32_t xid,
		uint32_t seq);
/** storm_reply - Makes the Reply to that Call, in the same way. */
void storm_reply(struct storm_msg *msg, const struct storm_traffic *traffic, uint32_t xid,
		 uint32_t seq);
/**
 * storm_is_failure - Returns whether this is a Reply that says that the Call failed
 *
 * That is SYSTEM_ERR, and for RPCSEC_GSS a denied one; it can also answer a reverse Call that was
 * not Read.
 */
bool storm_is_failure(const struct storm_traffic *traffic, uint32_t xid, const uint8_t *bytes,
		      uint32_t len_bytes);
/** storm_is_gss - Returns whether the Call with that XID is of RPCSEC_GSS. */
bool storm_is_gss(const struct storm_traffic *traffic, uint32_t xid);
/**
 * storm_is_encrypted - Returns whether it is, and its arguments and results are encrypted
 * (RPC_GSS_PRIVACY).
 */
bool storm_is_encrypted(const struct storm_traffic *traffic, uint32_t xid);
/**
 * storm_call_seq, storm_reply_seq - Return the @seq with which a message was made; 0 if it has
 * none.
 */
uint32_t storm_call_seq(const uint8_t *bytes, uint32_t len_bytes);
uint32_t storm_reply_seq(const uint8_t *bytes, uint32_t len_bytes);
/** storm_same - Returns whether these are the bytes of the message. */
bool storm_same(const struct storm_msg *msg, const uint8_t *bytes, uint32_t len_bytes);
/** storm_msg_free - Frees its memory; it is empty then. */
void storm_msg_free(struct storm_msg *msg);

#endif
