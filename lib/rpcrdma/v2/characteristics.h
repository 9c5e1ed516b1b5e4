/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport characteristics of a version two connection: what each end has advertised, and
 * which changes are requested (draft-dnoveck-nfsv4-rpcrdma-xcharext-00; part B of
 * tests/REQUIREMENTS.md).
 *
 * Pure. The owner reports events: an operation arrived, a size is wanted, Receives were used up.
 * After each event, and whenever the snapshot can have changed, the owner calls
 * characteristics_next() and does each step until none is left. It finishes all steps before it
 * handles another operation or plans an RPC. So no answer is delayed, and the advertised size and
 * the posted Receives differ only briefly.
 *
 * Every posted Receive holds at least the size last advertised to the peer. To raise the size,
 * larger Receives are posted as old ones are used up, and the size is advertised when no smaller
 * one is left (B3.1-3). The size is lowered only if the peer requests it and no Call in flight from
 * this end relies on a larger one (B3.1-4, B3.1-7); it is then advertised immediately. Only one
 * change is in progress at a time; a REQ of the peer replaces it (B4.2-2).
 */
#ifndef RPCRDMA_V2_CHARACTERISTICS_H
#define RPCRDMA_V2_CHARACTERISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/state_machine.h"
#include "rpcrdma/v2/xchar_codec.h"

/*
 * The longest RESP: with the 24 bytes of RDMA_OPTIONAL it fits into the smallest Receive (E2.3-1).
 */
#define CHARACTERISTICS_RESP_BYTES 4072u
/* Most values with a known id in one REQ; if a REQ has more, all are rejected (B3-2). */
#define CHARACTERISTICS_KNOWN_MAX 16u

/*
 * A REQ of the peer: the wanted values, and the verdicts for its RESP (sections 4.2 and 4.3). For
 * each known id the last value counts (B2.1-5), and all its values get one verdict; unknown ids are
 * rejected. The struct does not point into the received message.
 */
struct characteristics_request {
	uint32_t xid;
	uint32_t count; /* number of values */
	unsigned known; /* values with a known id, in order; 0: all are rejected */
	struct {
		uint32_t element, id;
	} elements[CHARACTERISTICS_KNOWN_MAX];
	/* Indexed by id. */
	bool wanted[XCHAR_ID_MAX + 1];
	uint32_t value[XCHAR_ID_MAX + 1];
	enum xchar_set verdict[XCHAR_ID_MAX + 1];
};

/* The receive size of this end. */
#define CHARACTERISTICS_RECEIVES_STATES(X)                                                         \
	X(RECEIVES_SETTLED, "settled", "a request for another size",                               \
	  TO(RECEIVES_RAISING) | TO(RECEIVES_PENDING))                                             \
	X(RECEIVES_RAISING, "raising", "smaller Receives to be used up, then an UPD to be sent",   \
	  TO(RECEIVES_SETTLED) | TO(RECEIVES_PENDING))                                             \
	X(RECEIVES_PENDING, "pending",                                                             \
	  "smaller Receives to be used up, or the end of Calls that rely on a larger size",        \
	  TO(RECEIVES_SETTLED) | TO(RECEIVES_CLEARING))                                            \
	X(RECEIVES_CLEARING, "clearing", "an UPD to be sent, which ends the pending request",      \
	  TO(RECEIVES_SETTLED) | TO(RECEIVES_PENDING))
STATE_ENUM(characteristics_receives_state, CHARACTERISTICS_RECEIVES_STATES);
extern const struct state_table characteristics_receives_states;

/* The receive size that this end requests of the peer. */
#define CHARACTERISTICS_SIZE_REQUEST_STATES(X)                                                     \
	X(SIZE_REQUEST_NONE, "none", "a reason to request another size of the peer",               \
	  TO(SIZE_REQUEST_QUEUED))                                                                 \
	X(SIZE_REQUEST_QUEUED, "queued",                                                           \
	  "permission to send; for a lower size also the end of Calls that need more",             \
	  TO(SIZE_REQUEST_NONE) | TO(SIZE_REQUEST_OPEN))                                           \
	X(SIZE_REQUEST_OPEN, "open", "the RESP to its REQ",                                        \
	  TO(SIZE_REQUEST_NONE) | TO(SIZE_REQUEST_PENDING))                                        \
	X(SIZE_REQUEST_PENDING, "pending", "the UPD that ends the request",                        \
	  TO(SIZE_REQUEST_NONE) | TO(SIZE_REQUEST_QUEUED))
STATE_ENUM(characteristics_size_request_state, CHARACTERISTICS_SIZE_REQUEST_STATES);
extern const struct state_table characteristics_size_request_states;

struct characteristics_config {
	bool connector;
	bool enabled;        /* false: operations are unknown here, and INIT advertises nothing */
	uint32_t recv_bytes; /* initial receive size, at least 4096 */
	uint32_t receive_max_bytes; /* largest size after raises; less than recv_bytes: no raises */
	uint32_t send_max_bytes;    /* longest Send of this end (B3.1-5) */
	bool invalidate;            /* RQREMINV */
	enum xchar_brs reverse;     /* BRS */
};

struct characteristics {
	struct characteristics_config config;

	/* The peer. */
	bool peer_understands;             /* it has sent one of the four operations (B3.1-6) */
	bool advertised[XCHAR_ID_MAX + 1]; /* indexed by id */
	uint32_t value[XCHAR_ID_MAX + 1];
	bool constant[XCHAR_ID_MAX + 1]; /* promised not to change (B4.1-3) */
	uint32_t peer_first_bytes;       /* the receive size that it advertised first; 0: none */

	/* The receive size that this end requests of the peer. */
	enum characteristics_size_request_state size_request;
	uint32_t size_request_bytes;
	uint32_t size_request_xid; /* of the REQ */
	/*
	 * While a REQ of this end is not settled, no Send is longer than this (B3.1-4); 0: no REQ
	 * is pending.
	 */
	uint32_t pending_req_bytes;

	/* The receive size of this end. */
	enum characteristics_receives_state receives;
	uint32_t advertised_bytes; /* last advertised; 0: nothing yet */
	uint32_t posted_bytes;     /* size of new Receives; when settled, the advertised size */
	uint32_t goal_bytes;       /* target size, when raising or pending */

	/* An unanswered REQ of the peer. */
	bool resp_due;
	bool size_undecided; /* it wants a receive size that is not rejected yet */
	struct characteristics_request request;

	bool own_init_sent;  /* our INIT has been sent */
	bool init_due;       /* our INIT must be sent in answer to the peer's, */
	uint32_t init_xid;   /* with this XID */
	unsigned step_op;    /* message of the last step, an enum xchar_op; 0: none */
	uint32_t step_bytes; /* size of the last step, to resize to or to advertise */
};

/* Longest Send with a Reply that has no chunk, however large the peer's Receives are. */
#define CHARACTERISTICS_REPLY_MAX_BYTES (256u * 1024u)

/* What the owner observes at the moment of characteristics_next(). */
struct characteristics_snapshot {
	uint32_t smallest_bytes; /* smallest posted Receive */
	/*
	 * Longest inline Reply that a Call of this end relies on, and longest Send that the Reply
	 * to a Call of the peer needs (B3.1-7). Only values above characteristics_counted_limit()
	 * and characteristics_needed_limit() matter.
	 */
	uint32_t counted_bytes, needed_bytes;
	bool is_allowed; /* a REQ can be sent now */
	bool may_update; /* an UPD, which has no answer, can be sent now */
};

/* An RDMA_OPTIONAL to be sent. */
struct characteristics_message {
	enum xchar_op op;
	/* INIT of an acceptor, or RESP: with the XID below */
	bool answers;
	uint32_t xid;
	uint32_t info_bytes;
	uint8_t info[CHARACTERISTICS_RESP_BYTES];
};

enum characteristics_step {
	CHARACTERISTICS_NOTHING, /* nothing to do now */
	CHARACTERISTICS_SEND,    /* send the message */
	/* post Receives of that size; then call characteristics_resized() */
	CHARACTERISTICS_RESIZE,
};

/* Events in a received operation, for counters and the log. */
#define CHARACTERISTICS_LOWERED    0x01u /* unrequested lower receive size (B3.1-8) */
#define CHARACTERISTICS_INCONSTANT 0x02u /* a constant value has changed (B4.1-3) */
#define CHARACTERISTICS_STRAY      0x04u /* a RESP to no REQ of this end, discarded (B4.3-2) */
#define CHARACTERISTICS_CONFUSED   0x08u /* a RESP with an element repeated or missing (B4.3-2) */
#define CHARACTERISTICS_REJECTED   0x10u /* our request is rejected */
#define CHARACTERISTICS_UNASKED    0x20u /* an UPD that ends a request never made */
#define CHARACTERISTICS_UNANSWERED 0x40u /* a REQ too long to be answered; it gets no RESP */

/** characteristics_init - Initializes the object; neither end has advertised anything. */
void characteristics_init(struct characteristics *ch, const struct characteristics_config *config);
/**
 * characteristics_first_init - Makes the INIT with which a connector begins, with all its
 * characteristics (X-1, B4.1-1, B4.1-2).
 * @message: to be sent first; do not call characteristics_sent() for it
 */
void characteristics_first_init(struct characteristics *ch,
				struct characteristics_message *message);

/**
 * characteristics_receive - Handles a received RDMA_OPTIONAL.
 * @what: CHARACTERISTICS_*, set on XCHAR_OK
 *
 * On other verdicts the operation had no effect. The caller must have done all steps that are due.
 */
enum xchar_verdict characteristics_receive(struct characteristics *ch, uint32_t xid,
					   uint32_t opttype, const uint8_t *info, size_t len,
					   unsigned *what) MUST_CHECK;
/** characteristics_rejected - Handles an RDMA_ERROR for @xid. Returns true if it rejects our REQ. */
bool characteristics_rejected(struct characteristics *ch, uint32_t xid);
/**
 * characteristics_raise - Requests Receives of @bytes at this end, for Replies; at most
 * receive_max_bytes. Does nothing if they are that large already, while another change is in
 * progress, or before the peer has shown that it understands characteristics. If memory for larger
 * Receives is not available, the request is dropped.
 */
void characteristics_raise(struct characteristics *ch, uint32_t bytes);
/**
 * characteristics_request_size - Requests Receives of @bytes at the peer, at least 4096 and at most
 * send_max_bytes.
 *
 * Replaces a request that was not sent yet; cancels it if the peer has that size. Does nothing
 * while the peer has not settled an older request, or before it has shown that it understands
 * characteristics. A rejected request is dropped.
 */
void characteristics_request_size(struct characteristics *ch, uint32_t bytes);

/**
 * characteristics_revertible_bytes - Returns the lower size pending at the peer that can be
 * reverted, in bytes; UINT32_MAX: none. A Call of the peer whose Reply needs a longer Send is a
 * reason to revert the request.
 */
uint32_t characteristics_revertible_bytes(const struct characteristics *ch);
/**
 * characteristics_revert_request - Requests the size that the peer has now, to revert a pending lower
 * size (B4.2-2). A Call that crossed the first REQ relies on larger Receives: its Reply can be sent
 * when the second REQ is settled. Call this only if characteristics_revertible_bytes() returned a
 * size.
 */
void characteristics_revert_request(struct characteristics *ch);

/**
 * characteristics_next - Returns the next step; call it until it returns CHARACTERISTICS_NOTHING.
 * @message:    the message, for CHARACTERISTICS_SEND; then call characteristics_sent()
 * @recv_bytes: the size, for CHARACTERISTICS_RESIZE; then call characteristics_resized()
 *
 * Returns the same step again until the matching function is called.
 */
enum characteristics_step characteristics_next(struct characteristics *ch,
					       const struct characteristics_snapshot *snapshot,
					       struct characteristics_message *message,
					       uint32_t *recv_bytes) MUST_CHECK;
/** characteristics_has_work - Returns true if characteristics_next() can have a step to do. */
static inline bool characteristics_has_work(const struct characteristics *ch)
{
	return ch->init_due || ch->resp_due || ch->receives != RECEIVES_SETTLED ||
	       ch->size_request == SIZE_REQUEST_QUEUED;
}
/**
 * characteristics_counted_limit, characteristics_needed_limit - Return the value that counted_bytes
 * or needed_bytes must exceed to matter. UINT32_MAX: no value matters, and no RPC must be examined.
 */
uint32_t characteristics_counted_limit(const struct characteristics *ch);
uint32_t characteristics_needed_limit(const struct characteristics *ch);
/**
 * characteristics_pending - Returns a text for the sizes requested and not received yet; NULL:
 * none.
 */
const char *characteristics_pending(const struct characteristics *ch);
/** characteristics_sent - Reports that the message of the last step has been sent, with @xid. */
void characteristics_sent(struct characteristics *ch, uint32_t xid);
/**
 * characteristics_resized - Reports whether new Receives have the size of the last step. Posted
 * Receives keep their size, or grow. A lower size than before is never refused.
 */
void characteristics_resized(struct characteristics *ch, bool done);

/** characteristics_advertised_size - Returns the receive size of this end, as known to the peer. */
static inline uint32_t characteristics_advertised_size(const struct characteristics *ch)
{
	return ch->advertised_bytes ? ch->advertised_bytes : ch->config.recv_bytes;
}
/** characteristics_peer_size - Returns the receive size of the peer, as known here. */
static inline uint32_t characteristics_peer_size(const struct characteristics *ch)
{
	return xchar_size(ch->value[XCHAR_RBSIZ]);
}
/** characteristics_has_pending_req - Returns true while a REQ of this end is not settled. */
static inline bool characteristics_has_pending_req(const struct characteristics *ch)
{
	return ch->pending_req_bytes > 0;
}
/**
 * characteristics_pending_req_bytes - Returns the size in an unsettled REQ: no Send is longer (B3.1-4).
 * If a second REQ has reverted a lower size, this is still the lower size. UINT32_MAX: no REQ is
 * pending.
 */
static inline uint32_t characteristics_pending_req_bytes(const struct characteristics *ch)
{
	return characteristics_has_pending_req(ch) ? ch->pending_req_bytes : UINT32_MAX;
}

/**
 * characteristics_send_bytes - Returns the longest Send to the peer.
 * @advertised_bytes: size that it advertised otherwise: private data or the default
 *
 * At most the size in an unsettled REQ (B3.1-4).
 */
uint32_t characteristics_send_bytes(const struct characteristics *ch, uint32_t advertised_bytes);
/**
 * characteristics_reply_bytes - Returns the longest Send that the peer accepts, for a Reply without
 * a chunk (B3.1-7). While a lower size is requested no Send is longer than that size, so such a
 * Reply has to wait (B3.1-4).
 */
uint32_t characteristics_reply_bytes(const struct characteristics *ch, uint32_t advertised_bytes);
/**
 * characteristics_recv_bytes - Returns the longest Send that can be relied on to arrive (B3.1-6).
 * @advertised_bytes: size that the ends advertised otherwise
 *
 * While the peer waits for a lower size, this is at most that size: otherwise new Calls would rely
 * on a larger one, and the wait would not end.
 */
uint32_t characteristics_recv_bytes(const struct characteristics *ch, uint32_t advertised_bytes);
/**
 * characteristics_may_invalidate - Returns true if a Send can invalidate keys of the peer (B3.2-2,
 *
 */
bool characteristics_may_invalidate(const struct characteristics *ch);
/** characteristics_peer_reverse - Returns which reverse Calls and Replies the peer accepts. */
enum xchar_brs characteristics_peer_reverse(const struct characteristics *ch);

#endif
