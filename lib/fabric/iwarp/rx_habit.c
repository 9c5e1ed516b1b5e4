// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/rx_habit.h"

#include <string.h>

#define DOUBTFUL_MESSAGES 16u /* after a mispredicted message */

void rx_habit_init(struct rx_habit *habit)
{
	memset(habit, 0, sizeof(*habit));
	habit->tagged_long = true;
	habit->holes_allowed = 1;
}

void rx_habit_tagged(struct rx_habit *habit, uint32_t payload_bytes, bool first, bool last)
{
	/* A short last FPDU says nothing about later FPDUs. */
	if (payload_bytes >= RX_DIRECT_BYTES)
		habit->tagged_long = true;
	else if (!last)
		habit->tagged_long = false;
	if (first) {
		habit->gap_bytes = habit->gap_have;
		habit->gap_have = 0;
		habit->message_have = 0;
		if (habit->messages_to_wait)
			habit->messages_to_wait--;
	}
	if (!last || habit->fpdu_payload < payload_bytes)
		habit->fpdu_payload = payload_bytes;
	habit->message_have += payload_bytes;
	if (last && habit->message_have >= RX_BULK_BYTES)
		habit->message_bytes = habit->message_have;
}

void rx_habit_send(struct rx_habit *habit, uint32_t have_bytes, uint32_t payload_bytes, bool last)
{
	if (payload_bytes >= RX_DIRECT_BYTES) {
		/* A peer that sends long FPDUs of a Send does so for every message. */
		habit->tagged_long = true;
		if (have_bytes + payload_bytes >= RX_BULK_BYTES)
			habit->sends_long = true;
	} else if (!last) {
		habit->sends_long = false;
	}
}

void rx_habit_miss(struct rx_habit *habit, bool message)
{
	habit->holes_allowed = 1;
	if (message)
		habit->messages_to_wait = DOUBTFUL_MESSAGES;
}
