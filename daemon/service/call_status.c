// SPDX-License-Identifier: BSD-3-Clause
/* By what name the answer to a Call is counted. */
#include <stdio.h>

#include "daemon/service/call_stats.h"
#include "nfs/status.h"

#define CLASS_MASK 0xff000000u

static const char *const accepted[] = {
	[RPC_PROG_UNAVAIL] = "PROG_UNAVAIL", [RPC_PROG_MISMATCH] = "PROG_MISMATCH",
	[RPC_PROC_UNAVAIL] = "PROC_UNAVAIL", [RPC_GARBAGE_ARGS] = "GARBAGE_ARGS",
	[RPC_SYSTEM_ERR] = "SYSTEM_ERR",
};

/* What the proxy found, and answered itself for. */
static const char *const faults[] = {
	[EXCHANGE_FAULT_ERR_CHUNK] = "ERR_CHUNK",   [EXCHANGE_FAULT_ERR_VERS] = "ERR_VERS",
	[EXCHANGE_FAULT_BAD_REPLY] = "BAD_REPLY",   [EXCHANGE_FAULT_TOO_BIG] = "REPLY_TOO_BIG",
	[EXCHANGE_FAULT_CANT_SEND] = "CANNOT_SEND", [EXCHANGE_FAULT_LATE] = "NO_ANSWER",
};

static const char *named(const char *const *names, size_t count, uint32_t i)
{
	return i < count ? names[i] : NULL;
}

const char *call_status_name(uint32_t status, char text[CALL_STATUS_TEXT_BYTES])
{
	const char *name = nfs_status_name(status);

	switch (status & CLASS_MASK) {
	case CALL_STATUS_ACCEPTED:
		name = named(accepted, ARRAY_SIZE(accepted), status & ~CLASS_MASK);
		break;
	case CALL_STATUS_DENIED:
		name = "RPC_DENIED";
		break;
	case CALL_STATUS_FAULT:
		name = named(faults, ARRAY_SIZE(faults), status & ~CLASS_MASK);
		break;
	case CALL_STATUS_MANY:
		name = "OTHERS";
		break;
	case CALL_STATUS_STRANGE:
		name = "STRANGE";
		break;
	}
	if (name)
		return name;
	snprintf(text, CALL_STATUS_TEXT_BYTES, "%u", status);
	return text;
}
