// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/iwarp/terminate_codes.h"

#include "fabric/iwarp/iwarp_config.h"
#include "fabric/iwarp/proto.h"

#define NO_HEADER     0u
#define DDP_HEADER    (TERM_HDR_SEGMENT | TERM_HDR_DDP)
#define ALL_HEADER    (TERM_HDR_SEGMENT | TERM_HDR_DDP | TERM_HDR_RDMAP)

#define COUNTER(name) offsetof(struct iwarp_counters, name)

/*
 * Codes of RFC 5040 section 4.8, RFC 5041 section 7.2, RFC 5044 section 8 and RFC 6581. A comment
 * on a row says where Linux siw sends another code. The layout of a segment of an unknown version
 * is unknown, so no part of it is returned.
 */
static const struct terminate_code_info infos[] = {
	[REASON_CRC] = {TERM_LLP, TERM_LLP_MPA, 0x02, NO_HEADER, COUNTER(term_crc),
			"an FPDU with a wrong CRC"},
	/* An FPDU that ends inside its own headers: its start or its length is wrong. */
	[REASON_FPDU] = {TERM_LLP, TERM_LLP_MPA, 0x03, NO_HEADER, COUNTER(term_fpdu),
			 "an FPDU too short for its headers"},
	/* RFC 6581: the reply requests more outstanding Reads than our request offered. */
	[REASON_IRD] = {TERM_LLP, TERM_LLP_MPA, 0x06, NO_HEADER, COUNTER(term_ird),
			"an ORD above our IRD in the MPA reply"},
	[REASON_TAGGED_VERSION] = {TERM_DDP, TERM_DDP_TAGGED, 0x04, NO_HEADER,
				   COUNTER(term_ddp_version), "an unknown DDP version"},
	[REASON_UNTAGGED_VERSION] = {TERM_DDP, TERM_DDP_UNTAGGED, 0x06, NO_HEADER,
				     COUNTER(term_ddp_version), "an unknown DDP version"},
	[REASON_RDMAP_VERSION] = {TERM_RDMAP, TERM_RDMAP_OPERATION, 0x05, NO_HEADER,
				  COUNTER(term_rdmap_version), "an unknown RDMAP version"},
	/*
	 * A reserved opcode, a tagged opcode in an untagged segment or vice versa, or a segment of
	 * another tagged message inside one (siw: no Terminate).
	 */
	[REASON_OPCODE] = {TERM_RDMAP, TERM_RDMAP_OPERATION, 0x06, DDP_HEADER, COUNTER(term_opcode),
			   "an unexpected opcode"},
	[REASON_QN] = {TERM_DDP, TERM_DDP_UNTAGGED, 0x01, DDP_HEADER, COUNTER(term_qn),
		       "a queue number that does not match the opcode"},
	[REASON_MSN] = {TERM_DDP, TERM_DDP_UNTAGGED, 0x03, DDP_HEADER, COUNTER(term_msn),
			"a message sequence number out of order"},
	[REASON_MO] = {TERM_DDP, TERM_DDP_UNTAGGED, 0x04, DDP_HEADER, COUNTER(term_mo),
		       "a message offset out of order"},
	/*
	 * The buffers of queue 0 are the posted receives. Those of queue 1 are the slots for Reads,
	 * so a Read Request beyond the IRD finds no buffer (siw: RDMAP, operation, 0x07).
	 */
	[REASON_NO_BUFFER] = {TERM_DDP, TERM_DDP_UNTAGGED, 0x02, DDP_HEADER,
			      COUNTER(term_no_buffer), "a message without a posted receive"},
	/* siw: 0x02. */
	[REASON_TOO_LONG] = {TERM_DDP, TERM_DDP_UNTAGGED, 0x05, DDP_HEADER, COUNTER(term_too_long),
			     "a message longer than its receive"},
	/*
	 * Also a Read Response without a Read: its sink STag is invalid (siw: DDP, catastrophic).
	 */
	[REASON_STAG] = {TERM_DDP, TERM_DDP_TAGGED, 0x00, DDP_HEADER, COUNTER(term_stag),
			 "an invalid STag"},
	[REASON_BOUNDS] = {TERM_DDP, TERM_DDP_TAGGED, 0x01, DDP_HEADER, COUNTER(term_bounds),
			   "a segment outside the bounds of its STag"},
	[REASON_TO_WRAP] = {TERM_DDP, TERM_DDP_TAGGED, 0x03, DDP_HEADER, COUNTER(term_to_wrap),
			    "a tagged offset that wraps"},
	/* DDP has no access rights, RDMAP has (siw: DDP, tagged, 0x00). */
	[REASON_RIGHTS] = {TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x02, DDP_HEADER,
			   COUNTER(term_rights), "an RDMA Write without the access right"},
	[REASON_READ_STAG] = {TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x00, ALL_HEADER,
			      COUNTER(term_stag), "a Read Request with an invalid STag"},
	[REASON_READ_BOUNDS] = {TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x01, ALL_HEADER,
				COUNTER(term_bounds), "a Read Request out of bounds"},
	[REASON_READ_TO_WRAP] = {TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x04, ALL_HEADER,
				 COUNTER(term_to_wrap), "a Read Request whose offset wraps"},
	[REASON_READ_RIGHTS] = {TERM_RDMAP, TERM_RDMAP_PROTECTION, 0x02, ALL_HEADER,
				COUNTER(term_rights), "a Read Request without the access right"},
	/* As in siw; RFC 5040 lists the code under protection errors too. */
	[REASON_INVALIDATE] = {TERM_RDMAP, TERM_RDMAP_OPERATION, 0x09, DDP_HEADER,
			       COUNTER(term_invalidate), "an invalid STag to invalidate"},
	/* A Read Request in several segments, an invalid Terminate. */
	[REASON_UNSPECIFIED] = {TERM_RDMAP, TERM_RDMAP_OPERATION, 0xff, DDP_HEADER,
				COUNTER(term_unspecified), "a malformed message"},
};

const struct terminate_code_info *terminate_code_info(enum terminate_reason reason)
{
	return &infos[reason];
}
