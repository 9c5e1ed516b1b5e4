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
#ifndef RPCTCP_OUTPUT_H
#define RPCTCP_OUTPUT_H

#include <sys/queue.h>

#include "rpctcp/conn.h"
#include "rpctcp/flight.h"

#define TCP_UNSENT_MAX_BYTES (8u * 1024u * 1024u)
#define TCP_ANSWER_BYTES     128u /* of memory for one of them, at most */
#define TCP_ANSWERS_MAX      64u  /* answers of our own that are not sent yet */

STAILQ_HEAD(tcp_out_list, tcp_out);

struct tcp_output {
	struct tcp_conn *conn;
	struct tcp_flight *flight;
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

/** tcp_output_init - an empty queue; Calls whose Reply it has sent leave @flight. */
void tcp_output_init(struct tcp_output *output, struct tcp_conn *conn, struct tcp_flight *flight);
/** tcp_output_fini - drop the queue. */
void tcp_output_fini(struct tcp_output *output);

/** tcp_output_preface - queue what the configuration has to go before the first record. Returns 0 or -ENOMEM. */
int tcp_output_preface(struct tcp_output *output) MUST_CHECK;
/** tcp_output_call - queue x->call; takes a reference of its own. Returns 0 or -ENOMEM. */
int tcp_output_call(struct tcp_output *output, struct exchange *x) MUST_CHECK;
/**
 * tcp_output_reply - queue x->reply, or for a fault rpc_encode_failure() with SYSTEM_ERR
 *
 * The Call stays in flight until it is sent. Returns 0 or -ENOMEM.
 */
int tcp_output_reply(struct tcp_output *output, struct exchange *x) MUST_CHECK;
/** tcp_output_answer - queue a Reply of our own. Returns 0 or -ENOMEM. */
int tcp_output_answer(struct tcp_output *output, const uint8_t *reply,
		      uint32_t len_bytes) MUST_CHECK;

/**
 * tcp_output_drop_call - drop a Call that is not needed any more, if nothing of it has been sent
 *
 * Of one that is partly sent the rest is sent. Goes through the queue.
 */
void tcp_output_drop_call(struct tcp_output *output, const struct exchange *x);

/** tcp_output_flush - send what is here and the stream takes. */
void tcp_output_flush(struct tcp_output *output);
/** tcp_output_has_stalled - at TCP_DUE_OUTPUT: whether the peer takes nothing; else there is another deadline. */
bool tcp_output_has_stalled(struct tcp_output *output);
/** tcp_output_is_empty - whether everything has been sent. */
bool tcp_output_is_empty(const struct tcp_output *output);
/** tcp_output_is_torn - whether the first record is partly sent and not all of it is here. */
bool tcp_output_is_torn(const struct tcp_output *output);
/**
 * tcp_output_cut - drop the first record of which not all is here, and those behind it
 *
 * For an end in good order. The queue must not be torn.
 */
void tcp_output_cut(struct tcp_output *output);

#endif
