/* SPDX-License-Identifier: BSD-3-Clause */
/* Protocol errors of a peer, and the Terminate layer, type and code sent for each. */
#ifndef FABRIC_IWARP_TERMINATE_CODES_H
#define FABRIC_IWARP_TERMINATE_CODES_H

#include <stddef.h>
#include <stdint.h>

enum terminate_reason {
	REASON_NONE, /* no error */
	REASON_CRC,
	REASON_FPDU,
	REASON_IRD,
	REASON_TAGGED_VERSION,
	REASON_UNTAGGED_VERSION,
	REASON_RDMAP_VERSION,
	REASON_OPCODE,
	REASON_QN,
	REASON_MSN,
	REASON_MO,
	REASON_NO_BUFFER,
	REASON_TOO_LONG,
	REASON_STAG,
	REASON_BOUNDS,
	REASON_TO_WRAP,
	REASON_RIGHTS,
	REASON_READ_STAG,
	REASON_READ_BOUNDS,
	REASON_READ_TO_WRAP,
	REASON_READ_RIGHTS,
	REASON_INVALIDATE,
	REASON_UNSPECIFIED,
};

struct terminate_code_info {
	uint8_t layer, type, code; /* of the Terminate */
	uint8_t bits;              /* TERM_HDR_*: parts of the segment to include */
	size_t counter;            /* offset in struct iwarp_counters */
	const char *text;          /* description for the log */
};

/** terminate_code_info - Returns the table row of @reason, which must not be REASON_NONE. */
const struct terminate_code_info *terminate_code_info(enum terminate_reason reason);

#endif
