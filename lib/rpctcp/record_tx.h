/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP leg's output: a queue of records, sent gathered once a turn.
 *
 * A message may be queued before all of it is here. Its record mark, which has the whole length, and what
 * there is of it leave; the rest follows as it comes, and the records behind it wait. Until then nobody
 * waits for the peer, so that no deadline runs here: it is for those who feed the message to end it.
 *
 * Whoever takes nothing for the stall timeout has stalled. What a stream accepts tells little of that: a socket
 * takes no more before a third of its buffer is free. So when no progress is seen in that way, the stream is asked
 * what has been acknowledged: a while after the wait began, and when it should end.
 */
#ifndef RPCTCP_RECORD_TX_H
#define RPCTCP_RECORD_TX_H

#include <sys/queue.h>

#include "rpctcp/inflight.h"
#include "rpctcp/tcp_conn.h"

#define TCP_ANSWER_BYTES 128u /* of memory for a record of our own, at most */

STAILQ_HEAD(tcp_out_list, tcp_out);

struct record_tx {
	struct tcp_conn *conn;
	struct inflight *flight;
	struct tcp_out_list queue;
	size_t sent_bytes;   /* of the first */
	size_t unsent_bytes; /* of all, whether it is here or not */
	unsigned answers;
	bool full;               /* past TCP_UNSENT_MAX_BYTES and not yet below half of it */
	size_t progress_bytes;   /* that the stream has accepted since the wait began */
	uint64_t waits_since_us; /* for the peer to take more; good while TCP_DUE_OUTPUT is set */
	bool asked;              /* since then … */
	uint64_t taken_bytes;    /* … and what it had taken by then */
};

/** record_tx_init - an empty queue; Calls whose Reply it has sent leave @flight. */
void record_tx_init(struct record_tx *tx, struct tcp_conn *conn, struct inflight *flight);
/** record_tx_fini - drop the queue. */
void record_tx_fini(struct record_tx *tx);

/** record_tx_preface - queue what the configuration has to go before the first record. Returns 0 or -ENOMEM. */
int record_tx_preface(struct record_tx *tx) MUST_CHECK;
/** record_tx_call - queue x->call; takes a reference of its own. Returns 0 or -ENOMEM. */
int record_tx_call(struct record_tx *tx, struct exchange *x) MUST_CHECK;
/**
 * record_tx_reply - queue x->reply, or for a fault rpc_encode_failure() with SYSTEM_ERR
 *
 * The Call stays in flight until it is sent. Returns 0 or -ENOMEM.
 */
int record_tx_reply(struct record_tx *tx, struct exchange *x) MUST_CHECK;
/** record_tx_answer - queue a Reply of our own. Returns 0 or -ENOMEM. */
int record_tx_answer(struct record_tx *tx, const uint8_t *reply, uint32_t len_bytes) MUST_CHECK;

/**
 * record_tx_drop_call - drop a Call that is not needed any more, if nothing of it has been sent
 *
 * Of one that is partly sent the rest is sent. Goes through the queue.
 */
void record_tx_drop_call(struct record_tx *tx, const struct exchange *x);

/** record_tx_flush - send what is here and the stream takes. Returns 0, or a negative errno of a stream that broke. */
int record_tx_flush(struct record_tx *tx) MUST_CHECK;
/** record_tx_has_stalled - at TCP_DUE_OUTPUT: whether the peer takes nothing; else there is another deadline. */
bool record_tx_has_stalled(struct record_tx *tx);
/** record_tx_is_empty - whether everything has been sent. */
bool record_tx_is_empty(const struct record_tx *tx);
/** record_tx_is_torn - whether the first record is partly sent and not all of it is here. */
bool record_tx_is_torn(const struct record_tx *tx);
/**
 * record_tx_cut - drop the first record of which not all is here, and those behind it
 *
 * For an end in good order. The queue must not be torn.
 */
void record_tx_cut(struct record_tx *tx);

#endif
