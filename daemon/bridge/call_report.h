/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told of an RPC to those who look at single ones. */
#ifndef DAEMON_BRIDGE_CALL_REPORT_H
#define DAEMON_BRIDGE_CALL_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "leg/exchange.h"

/* What is told of an RPC that is over but for its client's stage. */
struct call_report {
	bool wanted; /* else nothing else here is good */
	bool callback, sent, answered;
	uint8_t call_forms[2], reply_forms[2];
	uint32_t xid, status; /* of call_status_of() */
	uint32_t request_bytes, reply_bytes;
	uint32_t took_us[CALL_STAGE_COUNT]; /* the client's stage is not over */
};

#endif
