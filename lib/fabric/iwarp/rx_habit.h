/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the peer's long messages have been like, by which the next ones are expected.
 *
 * The FPDUs of a tagged message are as long as each other, messages are as long as the last one, and as much comes
 * between two of them as came between the last two. How many payloads may be expected in one read doubles with each that
 * was there; after one that was not it is one again. When a message has gone elsewhere than was expected, the place of
 * the next is not expected for some messages.
 *
 * Pure: it knows lengths, and no memory.
 */
#ifndef FABRIC_IWARP_RX_HABIT_H
#define FABRIC_IWARP_RX_HABIT_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/iwarp/rx_image.h"

#define RX_BULK_BYTES   (16u * 1024u) /* memory this long makes long messages likely */
#define RX_DIRECT_BYTES 4096u         /* this much payload is worth a piece of its own */

struct rx_habit {
	bool tagged_long; /* the peer's tagged FPDUs are worth a piece each */
	bool sends_long;  /* and those of its Sends, some of which are long */

	uint32_t fpdu_payload;  /* of the last FPDU with another behind it in its message */
	uint32_t message_have;  /* of the message under way, its FPDU under way included */
	uint32_t message_bytes; /* of the last one that was long; 0: there was none */
	uint32_t gap_have;      /* of what has come since the last one */
	uint32_t gap_bytes;     /* that came between the last two */

	unsigned holes_allowed;    /* so many payloads may be expected in one read */
	unsigned messages_to_wait; /* so many begin before the place of one is expected again */
};

/** rx_habit_init - nothing has come yet: tagged FPDUs are taken for long ones. */
void rx_habit_init(struct rx_habit *habit);
/** rx_habit_tagged - a tagged FPDU comes with so much payload, the @first or the @last of its message, or neither. */
void rx_habit_tagged(struct rx_habit *habit, uint32_t payload_bytes, bool first, bool last);
/** rx_habit_send - an FPDU of a Send comes, of which @have_bytes came before. */
void rx_habit_send(struct rx_habit *habit, uint32_t have_bytes, uint32_t payload_bytes, bool last);
/** rx_habit_between - an FPDU that is not tagged comes, so long from its length to its CRC. */
static inline void rx_habit_between(struct rx_habit *habit, uint32_t fpdu_bytes)
{
	habit->gap_have += fpdu_bytes;
}

/** rx_habit_hit - a payload was where it was expected. */
static inline void rx_habit_hit(struct rx_habit *habit)
{
	if (habit->holes_allowed < RX_IMAGE_HOLES)
		habit->holes_allowed *= 2;
}

/** rx_habit_miss - one was not; @message: it was expected to be the first of a message. */
void rx_habit_miss(struct rx_habit *habit, bool message);

/** rx_habit_expects - whether a long tagged message is expected to go on as it began. */
static inline bool rx_habit_expects(const struct rx_habit *habit)
{
	return habit->tagged_long && habit->fpdu_payload >= RX_DIRECT_BYTES;
}

/** rx_habit_expects_next - whether the next that comes is expected to be a message like the last one. */
static inline bool rx_habit_expects_next(const struct rx_habit *habit)
{
	return rx_habit_expects(habit) && habit->message_bytes && !habit->messages_to_wait &&
	       habit->gap_have >= habit->gap_bytes;
}

/** rx_habit_rest - how much is expected of the message under way, behind its FPDU under way, where there is @room_bytes. */
static inline uint32_t rx_habit_rest(const struct rx_habit *habit, uint32_t room_bytes)
{
	uint32_t rest = habit->message_bytes - habit->message_have;

	/* One that is longer than the last may go on to any length. */
	if (habit->message_bytes <= habit->message_have || rest > room_bytes)
		return room_bytes;
	return rest;
}

#endif
