/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP leg's input: where the bytes of a record go.
 *
 * Input is taken until it is used up or the connection is blocked, or has had its part of the turn. It is good only
 * meanwhile: what is taken of it goes into the message that is being received, or is set aside.
 *
 * What a record is, and what memory it may have, is for the user to say (struct record_rx_events). A Call
 * takes none before all of it is here, or TCP_BULK_BYTES of a longer one: so much of it may be gathered first.
 * Beside what has memory of its own, a connection so holds at most what one read may put into staging and what
 * is gathered: TCP_STAGING_BYTES + TCP_BULK_BYTES.
 */
#ifndef RPCTCP_RECORD_RX_H
#define RPCTCP_RECORD_RX_H

#include "leg/exchange.h"
#include "rpc/msg.h"
#include "rpc/record.h"
#include "rpctcp/rx_sniff.h"
#include "rpctcp/tcp_conn.h"

#define TCP_BULK_BYTES (16u * 1024u) /* records beyond it are received in place */
/* A record that is too long is read to its end, and nothing kept, if it is no longer than that many times the limit. */
#define TCP_DRAIN_FACTOR    4u
#define TCP_DRAIN_MIN_BYTES (128u * 1024u * 1024u) /* … or than this */
/* A Call longer than most must come within the stall timeout and a second for each so many bytes. */
#define TCP_RECORD_FLOOR_BYTES (64u * 1024u)
#define TCP_TURN_RECORDS       256u /* of one connection that are dealt with in a turn, at most */
#define TCP_COPIES_MAX         3u   /* of a Call, if it is older than the stall timeout */
/* Read at once when records are long: a mark, and as much of the message as is wanted before it takes memory. */
#define TCP_WINDOW_MIN_BYTES  (RECORD_MARK_BYTES + TCP_BULK_BYTES)
#define TCP_RECORD_HEAD_BYTES 8u /* XID and type: what tells what a record is */
/* How much of a message that still comes is worth being passed on: each part costs who sends it a system call. */
#define TCP_PART_BYTES (128u * 1024u)

enum record_rx_mode {
	RECORD_RX_HEAD,   /* what the record is is not known yet, or its memory not granted */
	RECORD_RX_GATHER, /* likewise, what has come being set aside */
	RECORD_RX_BODY,   /* received into body */
	RECORD_RX_SKIP,   /* counted and discarded */
};

/*
 * Each of the first three puts the input into another mode by record_rx_body(), _gather(), _skip() or _compare(), or
 * blocks or fails the connection. A block makes it come again.
 */
struct record_rx_events {
	/* A record of which `head` is known, and perhaps its length. */
	void (*head)(void *arg);
	/* A record that is here from end to end, or its first TCP_BULK_BYTES at least; head() may have come before. */
	void (*begin)(void *arg, const uint8_t *msg, uint32_t have_bytes);
	/* A record of unknown length has filled cap_bytes and goes on: record_rx_grow() serves too. */
	void (*overflow)(void *arg);
	/* What is here of a message, not all of it, is TCP_PART_BYTES more than when that was last said. Once a turn. */
	void (*grown)(void *arg);
	/* The message is complete in `body`. */
	void (*end)(void *arg);
	/* The rest of the record will never come: record_rx_skip() is due. */
	void (*cut)(void *arg);
};

struct record_rx {
	struct tcp_conn *conn;
	const struct record_rx_events *events;
	void *arg;
	struct record_parser parser;
	enum record_rx_mode mode;
	bool ended; /* all of the record has come, though it may wait for its memory */
	uint8_t head[TCP_RECORD_HEAD_BYTES];
	unsigned head_bytes;
	uint8_t *gathered; /* GATHER: the start of the message, the head included */
	uint32_t gathered_bytes;
	struct rpc_msg msg;            /* BODY: its length is known at its end */
	struct rpc_msg *body;          /* that, or where record_rx_lend() has put it */
	uint64_t since_us;             /* BODY: when it began */
	uint32_t told_bytes;           /* of the body, by grown() */
	uint32_t cap_bytes;            /* how much of msg may be filled */
	struct exchange *repeated;     /* SKIP: a reference to the Call that it repeats … */
	uint32_t repeated_args_offset; /* … and where its own arguments begin */
	uint32_t turn_left_bytes;      /* that this turn may still read, */
	unsigned turn_records;         /* and how many records it has had */
	size_t window_bytes;           /* how much staging a read may fill; adapts to the traffic */
	uint8_t *stash;                /* read, but not taken yet */
	size_t stash_bytes, stash_at;
	struct rx_sniff greeting;
	size_t progress_bytes; /* since the deadline was set */
	uint64_t end_due_us;   /* when a long Call must be complete; 0: no such time */
};

/** record_rx_init - before the first byte. */
void record_rx_init(struct record_rx *in, struct tcp_conn *conn,
		    const struct record_rx_events *events, void *arg);
/** record_rx_fini - let go of everything that input holds; once is enough. */
void record_rx_fini(struct record_rx *in);
/** record_rx_drop_stash - forget what is in the stash. */
void record_rx_drop_stash(struct record_rx *in);
/**
 * record_rx_take - take input until it is used up, the leg is blocked or closed, or its turn over
 *
 * Returns how much. Also called with none: for a record that was received in place, and for one whose memory has
 * been granted.
 */
size_t record_rx_take(struct record_rx *in, const uint8_t *bytes, size_t len_bytes);

/** record_rx_body - receive this record into memory for @cap_bytes. Returns 0 or -ENOMEM. */
int record_rx_body(struct record_rx *in, uint32_t cap_bytes) MUST_CHECK;
/** record_rx_gather - go on when it is here from end to end, or TCP_BULK_BYTES of it. Returns 0 or -ENOMEM. */
int record_rx_gather(struct record_rx *in) MUST_CHECK;
/** record_rx_grow - move what has come of the message to memory for @cap_bytes, more than it had. 0 or -ENOMEM. */
int record_rx_grow(struct record_rx *in, uint32_t cap_bytes) MUST_CHECK;
/**
 * record_rx_comes_in_parts - whether the message that comes is long enough to be passed on in parts
 *
 * Its length must have been known when it took its memory: of one that began as a fragment it is not, also when the last
 * fragment has begun.
 */
static inline bool record_rx_comes_in_parts(const struct record_rx *in)
{
	return in->mode == RECORD_RX_BODY && in->parser.last &&
	       in->cap_bytes == in->parser.record_bytes && in->cap_bytes >= 2 * TCP_PART_BYTES;
}

/**
 * record_rx_lend - move the message that comes, record_rx_comes_in_parts(), to @msg, and fill it there
 *
 * @msg stays until end() or record_rx_skip(). After the latter it does not grow any more.
 */
void record_rx_lend(struct record_rx *in, struct rpc_msg *msg);
/** record_rx_skip - throw away what is left of this record, and what has come of it. */
void record_rx_skip(struct record_rx *in);
/**
 * record_rx_compare - skip a record that has the XID of a Call in flight
 * @x:                that Call
 * @msg, @have_bytes: the record, or TCP_BULK_BYTES of it at least; not used later
 *
 * If the record is the same Call (rpc/call_identity.h), it is counted and discarded; else the connection fails with
 * LEG_CLOSE_XID_REUSED.
 */
void record_rx_compare(struct record_rx *in, struct exchange *x, const uint8_t *msg,
		       uint32_t have_bytes);

#endif
