/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts the lengths of the next FPDUs from those received so far.
 *
 * The prediction: the FPDUs of a tagged message have equal length, a message is as long as the last
 * one, and the gap between messages is as long as the last gap. The number of payloads predicted
 * per read doubles with each hit, and restarts at one after a miss. After a message went to another
 * place than predicted, no place is predicted for some messages.
 *
 * Pure: it uses lengths only, no memory.
 */
#ifndef FABRIC_IWARP_RX_PREDICT_H
#define FABRIC_IWARP_RX_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/iwarp/rx_scatter.h"

#define RX_BULK_BYTES   (16u * 1024u) /* keys and Reads of this length make long messages likely */
#define RX_DIRECT_BYTES 4096u         /* payload of this length is worth its own iovec entry */

struct rx_predict {
	bool tagged_long; /* the peer's tagged FPDUs are long */
	bool sends_long;  /* the peer sends long Sends, in long FPDUs */

	uint32_t fpdu_payload;  /* payload of the last FPDU that was not the last of its message */
	uint32_t message_have;  /* received of the current message, including the current FPDU */
	uint32_t message_bytes; /* length of the last long message; 0: none yet */
	uint32_t gap_have;      /* bytes received since the last message */
	uint32_t gap_bytes;     /* bytes between the last two messages */

	unsigned holes_allowed;    /* payloads to predict per read */
	unsigned messages_to_wait; /* messages to skip before a place is predicted again */
};

/** rx_predict_init - Initializes the predictor; tagged FPDUs are assumed to be long. */
void rx_predict_init(struct rx_predict *predict);
/** rx_predict_tagged - Records a tagged FPDU; it can be the @first or the @last of its message. */
void rx_predict_tagged(struct rx_predict *predict, uint32_t payload_bytes, bool first, bool last);
/** rx_predict_send - Records an FPDU of a Send, of which @have_bytes came before. */
void rx_predict_send(struct rx_predict *predict, uint32_t have_bytes, uint32_t payload_bytes,
		     bool last);
/** rx_predict_untagged - Records an untagged FPDU, with its length including header and CRC. */
static inline void rx_predict_untagged(struct rx_predict *predict, uint32_t fpdu_bytes)
{
	predict->gap_have += fpdu_bytes;
}

/** rx_predict_hit - Records that a payload came where it was predicted. */
static inline void rx_predict_hit(struct rx_predict *predict)
{
	if (predict->holes_allowed < RX_SCATTER_HOLES)
		predict->holes_allowed *= 2;
}

/** rx_predict_miss - Records a misprediction; @message: it was the first payload of a message. */
void rx_predict_miss(struct rx_predict *predict, bool message);

/** rx_predict_expects_more - Returns true if a long tagged message is predicted to continue. */
static inline bool rx_predict_expects_more(const struct rx_predict *predict)
{
	return predict->tagged_long && predict->fpdu_payload >= RX_DIRECT_BYTES;
}

/** rx_predict_expects_next - Returns true if a message like the last one is predicted next. */
static inline bool rx_predict_expects_next(const struct rx_predict *predict)
{
	return rx_predict_expects_more(predict) && predict->message_bytes &&
	       !predict->messages_to_wait && predict->gap_have >= predict->gap_bytes;
}

/**
 * rx_predict_rest - Returns the predicted rest of the current message after its current FPDU,
 * at most @space_bytes.
 */
static inline uint32_t rx_predict_rest(const struct rx_predict *predict, uint32_t space_bytes)
{
	uint32_t rest = predict->message_bytes - predict->message_have;

	/* A message longer than the last one can have any length. */
	if (predict->message_bytes <= predict->message_have || rest > space_bytes)
		return space_bytes;
	return rest;
}

#endif
