/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of a TCP leg as they are received: where the bytes of a message go.
 *
 * record_rx_next() takes input until there is something to decide, and returns what. It calls nobody: what a record is,
 * and what memory it may have, is for the caller to say, by record_rx_body(), _gather() or _skip().
 *
 * The input is good only meanwhile: what is taken of it goes into the message that is being received, or aside. A Call gets no
 * memory before all of it is here, or TCP_BULK_BYTES of a longer one: so much of it may be gathered first. In addition to
 * messages that have memory, a connection so holds at most what one read may put into staging and what is
 * gathered: TCP_STAGING_BYTES + TCP_BULK_BYTES.
 */
#ifndef RPCTCP_RECORD_RX_H
#define RPCTCP_RECORD_RX_H

#include "leg/exchange.h"
#include "rpc/record.h"
#include "rpctcp/tcp_conn.h"

#define TCP_RECORD_HEAD_BYTES 8u /* XID and type: what tells what a record is */

/* Where the message bytes of the record go. */
enum record_rx_mode {
	RECORD_RX_HEAD,   /* to `head`: its kind is not known yet, or its memory not granted */
	RECORD_RX_GATHER, /* to `gathered`: likewise */
	RECORD_RX_BODY,   /* to `body` */
	RECORD_RX_SKIP,   /* nowhere */
};

/*
 * What record_rx_next() returns. RX_TYPE, RX_BEGIN and RX_OVERFLOW come again until the caller has changed the mode, or made
 * room by record_rx_grow(). RX_BEGIN may follow on RX_TYPE.
 */
enum rx_event {
	RX_MORE,      /* nothing: the input is used up */
	RX_TYPE,      /* XID and type are at `start`, and not yet what RX_BEGIN wants */
	RX_BEGIN,     /* all of the message is at `start`, or TCP_BULK_BYTES at least */
	RX_OVERFLOW,  /* more than cap_bytes, of a record whose length was not known */
	RX_END,       /* the record is complete, whatever the mode; record_rx_done() is due */
	RX_TOO_BIG,   /* RECORD_TOO_BIG; final */
	RX_TOO_EMPTY, /* RECORD_TOO_EMPTY; final */
};

struct record_rx {
	struct tcp_conn *conn;
	struct record_parser parser;
	const uint8_t *in; /* the input that is not taken yet */
	size_t in_bytes;
	enum record_rx_mode mode;
	bool ended; /* all of the record has come, though it may wait for its memory */
	uint8_t head[TCP_RECORD_HEAD_BYTES];
	unsigned head_bytes;
	uint8_t *gathered; /* GATHER: the start of the message, the head included */
	uint32_t gathered_bytes;
	const uint8_t *start; /* RX_TYPE, RX_BEGIN: the start of the message … */
	uint32_t start_bytes; /* … and how much of it is there */
	struct rpc_msg msg;   /* BODY: its length is known at its end */
	struct rpc_msg *body; /* that, or where record_rx_lend() has put it */
	uint64_t since_us;    /* BODY: when it began */
	uint32_t cap_bytes;   /* BODY: how much of it may be filled */
	uint32_t told_bytes;  /* BODY: how much its owner has been told of */
};

/** record_rx_init - before the first byte. */
void record_rx_init(struct record_rx *rx, struct tcp_conn *conn);
/** record_rx_fini - free what is held for the record; once is enough. */
void record_rx_fini(struct record_rx *rx);
/**
 * record_rx_give - give it input, which record_rx_next() takes; @bytes are good until record_rx_left()
 *
 * There may be none, for a record that was received in place or has been granted its memory.
 */
static inline void record_rx_give(struct record_rx *rx, const uint8_t *bytes, size_t len_bytes)
{
	rx->in = bytes;
	rx->in_bytes = len_bytes;
}
/** record_rx_left - return how much of the input has not been taken. */
static inline size_t record_rx_left(const struct record_rx *rx)
{
	return rx->in_bytes;
}
/** record_rx_next - take input up to the next event. */
enum rx_event record_rx_next(struct record_rx *rx) MUST_CHECK;
/** record_rx_done - after RX_END: be ready for the next record. What is left in `body` is the caller's. */
void record_rx_done(struct record_rx *rx);

/** record_rx_body - at RX_TYPE, RX_BEGIN: receive the message into memory for @cap_bytes. Returns 0 or -ENOMEM. */
int record_rx_body(struct record_rx *rx, uint32_t cap_bytes) MUST_CHECK;
/** record_rx_gather - go on when it is here from end to end, or TCP_BULK_BYTES of it. Returns 0 or -ENOMEM. */
int record_rx_gather(struct record_rx *rx) MUST_CHECK;
/** record_rx_grow - move what has come of the message to memory for @cap_bytes, more than it had. Returns 0 or -ENOMEM. */
int record_rx_grow(struct record_rx *rx, uint32_t cap_bytes) MUST_CHECK;
/** record_rx_skip - discard what has come of the message and what is left of it. */
void record_rx_skip(struct record_rx *rx);
/**
 * record_rx_comes_in_parts - whether the message that comes is long enough to be delivered in parts
 *
 * Its length must have been known when it took its memory: of one that began as a fragment it is not, also when the last
 * fragment has begun.
 */
static inline bool record_rx_comes_in_parts(const struct record_rx *rx)
{
	return rx->mode == RECORD_RX_BODY && rx->parser.last &&
	       rx->cap_bytes == rx->parser.record_bytes && rx->cap_bytes >= 2 * TCP_PART_BYTES;
}
/**
 * record_rx_lend - move the message that comes, record_rx_comes_in_parts(), to @msg, and fill it there
 *
 * @msg stays until RX_END or record_rx_skip(). After the latter it does not grow any more.
 */
void record_rx_lend(struct record_rx *rx, struct rpc_msg *msg);

#endif
