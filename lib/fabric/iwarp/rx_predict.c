// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/rx_predict.h"

#include <string.h>

#define DOUBTFUL_MESSAGES 16u /* after a mispredicted message */

void rx_predict_init(struct rx_predict *predict)
{
	memset(predict, 0, sizeof(*predict));
	predict->tagged_long = true;
	predict->holes_allowed = 1;
}

void rx_predict_tagged(struct rx_predict *predict, uint32_t payload_bytes, bool first, bool last)
{
	/* A short last FPDU says nothing about later FPDUs. */
	if (payload_bytes >= RX_DIRECT_BYTES)
		predict->tagged_long = true;
	else if (!last)
		predict->tagged_long = false;
	if (first) {
		predict->gap_bytes = predict->gap_have;
		predict->gap_have = 0;
		predict->message_have = 0;
		if (predict->messages_to_wait)
			predict->messages_to_wait--;
	}
	if (!last || predict->fpdu_payload < payload_bytes)
		predict->fpdu_payload = payload_bytes;
	predict->message_have += payload_bytes;
	if (last && predict->message_have >= RX_BULK_BYTES)
		predict->message_bytes = predict->message_have;
}

void rx_predict_send(struct rx_predict *predict, uint32_t have_bytes, uint32_t payload_bytes,
		     bool last)
{
	if (payload_bytes >= RX_DIRECT_BYTES) {
		/* A peer that sends long FPDUs of a Send does so for every message. */
		predict->tagged_long = true;
		if (have_bytes + payload_bytes >= RX_BULK_BYTES)
			predict->sends_long = true;
	} else if (!last) {
		predict->sends_long = false;
	}
}

void rx_predict_miss(struct rx_predict *predict, bool message)
{
	predict->holes_allowed = 1;
	if (message)
		predict->messages_to_wait = DOUBTFUL_MESSAGES;
}
