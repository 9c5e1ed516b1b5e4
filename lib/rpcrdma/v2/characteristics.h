/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport characteristics of a connection of version two: what this end is and has told, what the peer told,
 * and which changes are asked for (draft-dnoveck-nfsv4-rpcrdma-xcharext-00; part B of tests/REQUIREMENTS.md).
 *
 * Pure. What happens is told to it: an operation came, a size is wanted, receives are gone. What is to be done about
 * that is asked of it, one step after the other, until there is none (characteristics_next()): whenever something was
 * told, and whenever what the look shows may have changed. Each step is done before the next is asked for, and all of
 * them before another operation is taken or an RPC planned: so an answer never waits, and what was told and what is
 * posted never differ for longer.
 *
 * Receives here: each one that is posted holds what the peer was told last, or more. A size is raised by posting
 * larger ones as old ones are used up, and told when none is left that is smaller (B3.1-3). It is lowered only where
 * the peer asks for it, when no Call of ours counts on more (B3.1-4, B3.1-7), and told at once. One change is under
 * way at a time, and a REQ of the peer's takes the place of it (B4.2-2).
 */
#ifndef RPCRDMA_V2_CHARACTERISTICS_H
#define RPCRDMA_V2_CHARACTERISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/state.h"
#include "rpcrdma/v2/xchar_codec.h"

/* The longest RESP: behind the 24 bytes of RDMA_OPTIONAL it fits what every peer takes (E2.3-1). */
#define CHARACTERISTICS_RESP_BYTES 4072u
/* Values with a known id in one REQ; of one that has more all values are rejected (B3-2). */
#define CHARACTERISTICS_KNOWN_MAX 16u

/*
 * A REQ of the peer's: what is wanted, and the verdicts for the RESP to it (sections 4.2 and 4.3). Of each id that is known
 * the last value counts (B2.1-5), and there is one verdict for all of them; unknown ids are rejected. Nothing of it points
 * into the message that it came in.
 */
struct characteristics_request {
	uint32_t xid;
	uint32_t count; /* values */
	unsigned known; /* those with a known id, in their order; 0: all are rejected */
	struct {
		uint32_t element, id;
	} elements[CHARACTERISTICS_KNOWN_MAX];
	/* By id. */
	bool wanted[XCHAR_ID_MAX + 1];
	uint32_t value[XCHAR_ID_MAX + 1];
	enum xchar_set verdict[XCHAR_ID_MAX + 1];
};

/* What becomes of the receive size of this end. */
#define CHARACTERISTICS_RECEIVES_STATES(X)                                                         \
	X(RECEIVES_SETTLED, "settled", "another size to be wanted",                                \
	  TO(RECEIVES_RAISING) | TO(RECEIVES_PENDING))                                             \
	X(RECEIVES_RAISING, "raising", "smaller receives to be used up, then an UPD to be sent",   \
	  TO(RECEIVES_SETTLED) | TO(RECEIVES_PENDING))                                             \
	X(RECEIVES_PENDING, "pending",                                                             \
	  "the same, or Calls that count on more to be over, for a REQ",                           \
	  TO(RECEIVES_SETTLED) | TO(RECEIVES_CLEARING))                                            \
	X(RECEIVES_CLEARING, "clearing", "an UPD to be sent, that nothing is pending any more",    \
	  TO(RECEIVES_SETTLED) | TO(RECEIVES_PENDING))
STATE_ENUM(characteristics_receives_state, CHARACTERISTICS_RECEIVES_STATES);
extern const struct state_table characteristics_receives_states;

/* What becomes of the receive size that this end wants of the peer. */
#define CHARACTERISTICS_WISH_STATES(X)                                                             \
	X(WISH_NONE, "none", "a size to be wanted of the peer", TO(WISH_HELD))                     \
	X(WISH_HELD, "held", "leave to ask, and for a lower size Calls that need more to be over", \
	  TO(WISH_NONE) | TO(WISH_OPEN))                                                           \
	X(WISH_OPEN, "open", "the RESP to its REQ", TO(WISH_NONE) | TO(WISH_PENDING))              \
	X(WISH_PENDING, "pending", "the UPD that ends it", TO(WISH_NONE) | TO(WISH_HELD))
STATE_ENUM(characteristics_wish_state, CHARACTERISTICS_WISH_STATES);
extern const struct state_table characteristics_wish_states;

struct characteristics_config {
	bool connector;
	bool enabled;        /* false: the operations are unknown here, and INIT tells nothing */
	uint32_t recv_bytes; /* the receive size to begin with, at least 4096 */
	uint32_t receive_max_bytes; /* what it may be raised to; less than recv_bytes: it is not */
	uint32_t send_max_bytes;    /* longest Send of ours (B3.1-5) */
	bool invalidate;            /* RQREMINV */
	enum xchar_brs reverse;     /* BRS */
};

struct characteristics {
	struct characteristics_config config;

	/* The peer. */
	bool peer_knows;             /* it has sent one of the four operations (B3.1-6) */
	bool told[XCHAR_ID_MAX + 1]; /* by id */
	uint32_t value[XCHAR_ID_MAX + 1];
	bool constant[XCHAR_ID_MAX + 1]; /* it promised that it will not change (B4.1-3) */
	uint32_t peer_first_bytes;       /* the receive size that it told first; 0: none */

	/* The receive size that it is wanted to have. */
	enum characteristics_wish_state wish;
	uint32_t wish_bytes;
	uint32_t wish_xid; /* of the REQ */
	/* No Send is longer while what was asked for is not settled (B3.1-4); 0: nothing was. */
	uint32_t asked_bytes;

	/* The receive size here. */
	enum characteristics_receives_state receives;
	uint32_t told_bytes;   /* what the peer was told last; 0: nothing yet */
	uint32_t posted_bytes; /* of each receive from now on; settled: what is told */
	uint32_t goal_bytes;   /* what they are to have, raising or pending */

	/* A REQ of the peer's that has no RESP yet. */
	bool resp_due;
	bool judges_size; /* it wants a receive size, which is not rejected yet */
	struct characteristics_request request;

	bool greeted;         /* our INIT is on its way */
	bool init_due;        /* the peer's waits for it, */
	uint32_t init_xid;    /* with this XID */
	unsigned given;       /* the message of the last step, an enum xchar_op; 0: none */
	uint32_t given_bytes; /* the size of the last step, to resize to or to be told */
};

/* The longest Reply that has no other way goes as one Send, however large the peer's receives are. */
#define CHARACTERISTICS_REPLY_MAX_BYTES (256u * 1024u)

/* What there is at the moment. */
struct characteristics_look {
	uint32_t smallest_bytes; /* of the receives that are posted */
	/*
	 * The longest Reply inline that a Call of ours in flight counts on, and the longest that a Call of the peer's
	 * needs (B3.1-7), as far as they matter: characteristics_counts_over(), characteristics_needs_over().
	 */
	uint32_t counted_bytes, needed_bytes;
	bool may_ask;  /* a REQ may be sent now */
	bool may_tell; /* an UPD may: it has no answer */
};

/* An RDMA_OPTIONAL to be sent. */
struct characteristics_message {
	enum xchar_op op;
	bool answers; /* INIT of an acceptor, RESP: it has the XID below; else an XID of our own */
	uint32_t xid;
	uint32_t info_bytes;
	uint8_t info[CHARACTERISTICS_RESP_BYTES];
};

enum characteristics_step {
	CHARACTERISTICS_NOTHING, /* there is no more to do now */
	CHARACTERISTICS_SEND,    /* the message */
	CHARACTERISTICS_RESIZE,  /* post receives of that size; characteristics_resized() */
};

/* What came with an operation that was taken, for counters and the log. */
#define CHARACTERISTICS_LOWERED    0x01u /* a lower receive size that nobody asked for (B3.1-8) */
#define CHARACTERISTICS_INCONSTANT 0x02u /* a value that was promised not to change has (B4.1-3) */
#define CHARACTERISTICS_STRAY      0x04u /* a RESP to no REQ of ours, dropped (B4.3-2) */
#define CHARACTERISTICS_CONFUSED   0x08u /* a RESP with an element twice or not at all (B4.3-2) */
#define CHARACTERISTICS_REJECTED   0x10u /* what we asked for is rejected */
#define CHARACTERISTICS_UNASKED    0x20u /* an UPD that ends what was never asked for */
#define CHARACTERISTICS_UNANSWERED 0x40u /* a REQ too long to be rejected; it gets no RESP */

/** characteristics_init - nothing told yet, by either end. */
void characteristics_init(struct characteristics *ch, const struct characteristics_config *config);
/**
 * characteristics_hello - the INIT with which a connector begins: all that it is (X-1, B4.1-1, B4.1-2)
 * @message: to be sent as the first; characteristics_sent() is not due
 */
void characteristics_hello(struct characteristics *ch, struct characteristics_message *message);

/**
 * characteristics_take - an RDMA_OPTIONAL came
 * @what: CHARACTERISTICS_*, set on XCHAR_OK
 *
 * On the other verdicts nothing of it was taken. All steps must have been done that were due before.
 */
enum xchar_verdict characteristics_take(struct characteristics *ch, uint32_t xid, uint32_t opttype,
					const uint8_t *info, size_t len, unsigned *what) MUST_CHECK;
/** characteristics_refused - an RDMA_ERROR has come for @xid. Returns whether that was a REQ of ours, now rejected. */
bool characteristics_refused(struct characteristics *ch, uint32_t xid);
/**
 * characteristics_raise - receives of @bytes are wanted here, for Replies
 *
 * At most of receive_max_bytes. Nothing comes of it if they are that large, while another change is under way, and
 * while the peer has not shown that it would understand. A raise for which there is no memory is over.
 */
void characteristics_raise(struct characteristics *ch, uint32_t bytes);
/**
 * characteristics_ask - the peer is wanted to have receives of @bytes, at least 4096 and at most send_max_bytes
 *
 * Takes the place of a wish that was not sent yet; if the peer has that size, of one there is none. Nothing comes of it
 * while the peer has not ended an older one, and while it has not shown that it would understand. A wish that is
 * rejected is over.
 */
void characteristics_ask(struct characteristics *ch, uint32_t bytes);

/**
 * characteristics_pends_over - returns the lower size that pends at the peer and may be taken back, in bytes
 *
 * A Call of the peer whose Reply needs a longer Send is a reason for that. UINT32_MAX: there is none to take back.
 */
uint32_t characteristics_pends_over(const struct characteristics *ch);
/**
 * characteristics_take_back - ask for the size that the peer has, instead of the lower size that is pending (B4.2-2)
 *
 * A Call that crossed the REQ counts on larger receives: its Reply can go when the second REQ is settled.
 * Only if characteristics_pends_over() says that there is one.
 */
void characteristics_take_back(struct characteristics *ch);

/**
 * characteristics_next - what is to be done now; ask again until it is nothing
 * @message:    what to send, with CHARACTERISTICS_SEND; characteristics_sent() is due
 * @recv_bytes: with CHARACTERISTICS_RESIZE; characteristics_resized() is due
 *
 * Until that was said, the same step is due again.
 */
enum characteristics_step characteristics_next(struct characteristics *ch,
					       const struct characteristics_look *look,
					       struct characteristics_message *message,
					       uint32_t *recv_bytes) MUST_CHECK;
/** characteristics_waits - whether there may be anything to do; else characteristics_next() need not be asked. */
static inline bool characteristics_waits(const struct characteristics *ch)
{
	return ch->init_due || ch->resp_due || ch->receives != RECEIVES_SETTLED ||
	       ch->wish == WISH_HELD;
}
/**
 * characteristics_counts_over, _needs_over - what a look is for: only more than so many bytes makes a difference
 *
 * Of counted_bytes and of needed_bytes; UINT32_MAX: nothing does, and no RPC need be looked at.
 */
uint32_t characteristics_counts_over(const struct characteristics *ch);
uint32_t characteristics_needs_over(const struct characteristics *ch);
/** characteristics_pending - in words what an end has asked for and has not got yet; NULL: nothing. */
const char *characteristics_pending(const struct characteristics *ch);
/** characteristics_sent - the message of the last step is on its way, with @xid. */
void characteristics_sent(struct characteristics *ch, uint32_t xid);
/**
 * characteristics_resized - whether receives of the size of the last step are posted from now on
 *
 * Those that are posted keep theirs, or grow. A size that is lower than the one before is never refused.
 */
void characteristics_resized(struct characteristics *ch, bool done);

/** characteristics_told_size - the receive size here, as far as the peer knows. */
static inline uint32_t characteristics_told_size(const struct characteristics *ch)
{
	return ch->told_bytes ? ch->told_bytes : ch->config.recv_bytes;
}
/** characteristics_peer_size - the one there, as far as we know. */
static inline uint32_t characteristics_peer_size(const struct characteristics *ch)
{
	return xchar_size(ch->value[XCHAR_RBSIZ]);
}
/** characteristics_has_asked - returns true while a REQ of ours is not settled. */
static inline bool characteristics_has_asked(const struct characteristics *ch)
{
	return ch->asked_bytes > 0;
}
/**
 * characteristics_asked_bytes - returns the size that a REQ asked for which is not settled: no Send is longer (B3.1-4)
 *
 * Where a REQ has taken back a lower one, this is still the lower size. UINT32_MAX: nothing is asked for.
 */
static inline uint32_t characteristics_asked_bytes(const struct characteristics *ch)
{
	return characteristics_has_asked(ch) ? ch->asked_bytes : UINT32_MAX;
}

/**
 * characteristics_send_bytes - the longest Send to the peer
 * @told_bytes: what else it told of its receives, private data or the default
 *
 * No longer than a size that was asked for and is not settled (B3.1-4).
 */
uint32_t characteristics_send_bytes(const struct characteristics *ch, uint32_t told_bytes);
/**
 * characteristics_reply_bytes - returns the longest Send that the peer takes, for a Reply without another way (B3.1-7)
 *
 * While a lower size is asked for, no Send is longer than that: such a Reply then has to wait (B3.1-4).
 */
uint32_t characteristics_reply_bytes(const struct characteristics *ch, uint32_t told_bytes);
/**
 * characteristics_recv_bytes - the longest Send that may be counted on to come (B3.1-6)
 * @told_bytes: what else the ends have told of such Sends
 *
 * No longer than a lower size that the peer waits for, so that its wait ends.
 */
uint32_t characteristics_recv_bytes(const struct characteristics *ch, uint32_t told_bytes);
/** characteristics_may_invalidate - whether a Send may take the peer a key away (B3.2-2, X-14). */
bool characteristics_may_invalidate(const struct characteristics *ch);
/** characteristics_peer_reverse - what reverse Calls and Replies it takes. */
enum xchar_brs characteristics_peer_reverse(const struct characteristics *ch);

#endif
