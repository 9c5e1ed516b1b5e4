/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP leg's output: a queue of records, sent by one gathering write per iteration of the loop.
 *
 * A message can be queued before it is complete. Its record mark, with the whole length, and the
 * available part are sent; the rest follows as it arrives, and later records wait. Meanwhile no
 * deadline runs here: the leg that receives the message limits its time.
 *
 * Records that are queued between a probe, or its answer, and the end of the TLS handshake are held
 * in a list of their own.
 *
 * A peer that acknowledges nothing for the stall timeout has stalled. Writes alone do not show
 * progress: a socket accepts no data before a third of its buffer is free. So if no write succeeds,
 * record_tx_has_stalled() asks the stream how much was acknowledged, early in the wait and at its
 * end.
 */
#ifndef RPCTCP_RECORD_TX_H
#define RPCTCP_RECORD_TX_H

#include <sys/queue.h>

#include "rpctcp/inflight.h"
#include "rpctcp/tcp_conn.h"

#define TCP_LOCAL_REPLY_BYTES 128u /* memory for a locally generated record, at most */

STAILQ_HEAD(tcp_out_list, tcp_out);

struct record_tx {
	struct tcp_conn *conn;
	struct inflight *flight;
	struct tcp_out_list queue;
	struct tcp_out_list held;  /* must not be sent in clear: they follow the TLS handshake */
	struct tcp_out_list *tail; /* which of the two gets the next record */
	size_t sent_bytes;         /* of the first record */
	size_t unsent_bytes;       /* of all records, including bytes that have not arrived */
	unsigned local_replies;
	bool full;               /* above TCP_UNSENT_MAX_BYTES, and not yet below half of it */
	size_t progress_bytes;   /* written since the wait began */
	uint64_t waits_since_us; /* start of the wait for the peer, if TCP_DUE_OUTPUT is set */
	bool asked;              /* acknowledgements were checked since then … */
	uint64_t acked_bytes;    /* … and how much was acknowledged */
};

/**
 * record_tx_init - Initializes an empty queue. Calls whose Reply was sent are removed from @flight.
 */
void record_tx_init(struct record_tx *tx, struct tcp_conn *conn, struct inflight *flight);
/** record_tx_fini - Drops the queue. */
void record_tx_fini(struct record_tx *tx);

/**
 * record_tx_preface - Queues the configured preface before the first record. Returns 0 or -ENOMEM.
 */
int record_tx_preface(struct record_tx *tx) MUST_CHECK;
/**
 * record_tx_starttls - Queues a record that begins TLS: the probe, or its answer
 * @record: with its mark; valid until it was sent
 *
 * Later records are held until record_tx_secured(). Returns 0 or -ENOMEM.
 */
int record_tx_starttls(struct record_tx *tx, const uint8_t *record, uint32_t len_bytes) MUST_CHECK;
/** record_tx_clear_is_sent - Returns whether everything that precedes the handshake was sent. */
bool record_tx_clear_is_sent(const struct record_tx *tx);
/** record_tx_secured - Queues the held records: the stream is encrypted now. */
void record_tx_secured(struct record_tx *tx);
/** record_tx_call - Queues x->call, with a reference of its own. Returns 0 or -ENOMEM. */
int record_tx_call(struct record_tx *tx, struct exchange *x) MUST_CHECK;
/**
 * record_tx_reply - Queues x->reply; or for a fault rpc_encode_failure() with SYSTEM_ERR
 *
 * The Call stays in flight until the Reply is sent. Returns 0 or -ENOMEM.
 */
int record_tx_reply(struct record_tx *tx, struct exchange *x) MUST_CHECK;
/** record_tx_local_reply - Queues a locally generated Reply. Returns 0 or -ENOMEM. */
int record_tx_local_reply(struct record_tx *tx, const uint8_t *reply,
			  uint32_t len_bytes) MUST_CHECK;

/**
 * record_tx_drop_call - Drops a Call that is no longer needed, if none of it has been sent
 *
 * A partly sent Call is sent to its end. Searches the queue.
 */
void record_tx_drop_call(struct record_tx *tx, const struct exchange *x);

/**
 * record_tx_flush - Sends what is available and fits. Returns 0, or a negative errno if the stream
 * is broken.
 */
int record_tx_flush(struct record_tx *tx) MUST_CHECK;
/**
 * record_tx_has_stalled - At TCP_DUE_OUTPUT: returns whether the peer has stalled. If not, sets the
 * next deadline.
 */
bool record_tx_has_stalled(struct record_tx *tx);
/** record_tx_is_empty - Returns whether everything has been sent; true during a handshake. */
bool record_tx_is_empty(const struct record_tx *tx);
/** record_tx_is_partly_sent - Returns whether the first record is partly sent and incomplete. */
bool record_tx_is_partly_sent(const struct record_tx *tx);
/**
 * record_tx_drop_incomplete - Drops the first incomplete record and all after it
 *
 * For a graceful close. record_tx_is_partly_sent() must be false.
 */
void record_tx_drop_incomplete(struct record_tx *tx);

#endif
