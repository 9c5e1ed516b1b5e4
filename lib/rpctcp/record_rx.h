/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives the records of a TCP leg, and decides where the bytes of a message go.
 *
 * record_rx_next() consumes input up to the next event. It calls no other module: the caller
 * decides where the message goes, by record_rx_body(), record_rx_prebuffer() or record_rx_skip().
 *
 * The input is valid only until record_rx_input_bytes(). Consumed bytes go into the message that is
 * being received, or into a buffer. A Call gets no memory before it is complete, or TCP_BULK_BYTES
 * of a longer one have arrived; until then it is prebuffered. So a connection holds at most
 * TCP_STAGING_BYTES (one read) and TCP_BULK_BYTES (a prebuffer) without a claim.
 */
#ifndef RPCTCP_RECORD_RX_H
#define RPCTCP_RECORD_RX_H

#include "leg/exchange.h"
#include "rpc/record_mark.h"
#include "rpctcp/tcp_conn.h"

#define TCP_RECORD_HEAD_BYTES 8u /* XID and type */

/* Where the bytes of the message go. */
enum record_rx_mode {
	RECORD_RX_HEAD,      /* to `head`: the type is not known, or no memory is granted */
	RECORD_RX_PREBUFFER, /* to `prebuffered`, for the same reasons */
	RECORD_RX_BODY,      /* to `body` */
	RECORD_RX_SKIP,      /* discarded */
};

/*
 * Result of record_rx_next(). It repeats RX_TYPE, RX_BEGIN and RX_OVERFLOW until the caller has
 * changed the mode or called record_rx_grow(). RX_BEGIN can follow RX_TYPE.
 */
enum rx_event {
	RX_MORE,      /* the input is used up */
	RX_TYPE,      /* XID and type are at `start`, but not enough for RX_BEGIN */
	RX_BEGIN,     /* the whole message is at `start`, or at least TCP_BULK_BYTES */
	RX_OVERFLOW,  /* a record of unknown length exceeds cap_bytes */
	RX_END,       /* the record is complete, in any mode; call record_rx_done() */
	RX_TOO_BIG,   /* RECORD_TOO_BIG; final */
	RX_TOO_EMPTY, /* RECORD_TOO_EMPTY; final */
};

struct record_rx {
	struct tcp_conn *conn;
	struct record_parser parser;
	const uint8_t *in; /* unconsumed input */
	size_t in_bytes;
	enum record_rx_mode mode;
	bool ended; /* the whole record has arrived, but may wait for its memory */
	uint8_t head[TCP_RECORD_HEAD_BYTES];
	unsigned head_bytes;
	uint8_t *prebuffered; /* PREBUFFER: the start of the message, including the head */
	uint32_t prebuffered_bytes;
	const uint8_t *start;    /* RX_TYPE, RX_BEGIN: the start of the message … */
	uint32_t start_bytes;    /* … and how much of it is there */
	struct rpc_msg msg;      /* BODY: its length is known at its end */
	struct rpc_msg *body;    /* &msg, or the target of record_rx_redirect() */
	uint64_t since_us;       /* BODY: start time */
	uint32_t cap_bytes;      /* BODY: its capacity */
	uint32_t reported_bytes; /* BODY: how much was reported to the owner */
};

/** record_rx_init - Initializes before the first byte. */
void record_rx_init(struct record_rx *rx, struct tcp_conn *conn);
/** record_rx_fini - Frees the record's memory; can be called repeatedly. */
void record_rx_fini(struct record_rx *rx);
/**
 * record_rx_set_input - Sets the input of record_rx_next(); @bytes must be valid until
 * record_rx_input_bytes()
 *
 * It can be empty, for a record that was received in place or has got its memory.
 */
static inline void record_rx_set_input(struct record_rx *rx, const uint8_t *bytes, size_t len_bytes)
{
	rx->in = bytes;
	rx->in_bytes = len_bytes;
}
/** record_rx_input_bytes - Returns how much of the input is unconsumed. */
static inline size_t record_rx_input_bytes(const struct record_rx *rx)
{
	return rx->in_bytes;
}
/** record_rx_next - Consumes input up to the next event. */
enum rx_event record_rx_next(struct record_rx *rx) MUST_CHECK;
/**
 * record_rx_done - Prepares for the next record after RX_END. The message left in `body` belongs to
 * the caller.
 */
void record_rx_done(struct record_rx *rx);

/**
 * record_rx_body - At RX_TYPE or RX_BEGIN: receives the message into memory of @cap_bytes. Returns
 * 0 or -ENOMEM.
 */
int record_rx_body(struct record_rx *rx, uint32_t cap_bytes) MUST_CHECK;
/**
 * record_rx_prebuffer - Prebuffers until the message is complete or has TCP_BULK_BYTES. Returns 0
 * or -ENOMEM.
 */
int record_rx_prebuffer(struct record_rx *rx) MUST_CHECK;
/**
 * record_rx_grow - Moves the message to memory of @cap_bytes, more than before. Returns 0 or
 * -ENOMEM.
 */
int record_rx_grow(struct record_rx *rx, uint32_t cap_bytes) MUST_CHECK;
/** record_rx_skip - Discards the received part of the message, and the rest when it arrives. */
void record_rx_skip(struct record_rx *rx);
/**
 * record_rx_may_be_partial - Returns whether the message is long enough to be delivered in parts
 *
 * Its length must have been known when it got its memory. That excludes records that began with a
 * fragment, even after the last fragment has begun.
 */
static inline bool record_rx_may_be_partial(const struct record_rx *rx)
{
	return rx->mode == RECORD_RX_BODY && rx->parser.last &&
	       rx->cap_bytes == rx->parser.record_bytes &&
	       rx->cap_bytes >= 2 * TCP_PARTIAL_MIN_BYTES;
}
/**
 * record_rx_redirect - Moves an incomplete message, for which record_rx_may_be_partial() is true,
 * to @msg, and continues there
 *
 * @msg must exist until RX_END or record_rx_skip(). After the latter it no longer grows.
 */
void record_rx_redirect(struct record_rx *rx, struct rpc_msg *msg);

#endif
