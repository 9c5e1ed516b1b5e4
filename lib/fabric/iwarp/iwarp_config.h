/* SPDX-License-Identifier: BSD-3-Clause */
/* What the iwarp fabric is told, and what it counts: for all of its files. */
#ifndef FABRIC_IWARP_IWARP_CONFIG_H
#define FABRIC_IWARP_IWARP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/counter.h"

struct iwarp_config {
	bool crc;                  /* ask for CRC32C; it is used if either end asks */
	bool fpdu_64k;             /* FPDUs up to 64 KiB; else as long as a TCP segment */
	uint64_t setup_timeout_us; /* for the TCP connect and the MPA exchange; 0: 10 s */
	unsigned keepalive_s;      /* a peer that said nothing for so long is asked; 0: 30 s */
};

#define IWARP_COUNTERS(X)                                                                          \
	X(connections_opened, "connections whose MPA exchange succeeded")                          \
	X(mpa_rejects_sent, "MPA requests rejected")                                               \
	X(mpa_rejects_received, "MPA replies that rejected us")                                    \
	X(mpa_errors, "MPA start-up frames that broke the protocol")                               \
	X(setup_timeouts, "connections whose set-up took too long")                                \
	X(bytes_sent, "bytes given to TCP")                                                        \
	X(bytes_received, "bytes taken from TCP")                                                  \
	X(payload_bytes_copied, "payload bytes copied from staging to where they belong")          \
	X(fpdus_sent, "FPDUs sent")                                                                \
	X(fpdus_received, "FPDUs received")                                                        \
	X(crc_checked, "FPDUs whose CRC was checked")                                              \
	X(crc_bad, "FPDUs whose CRC was wrong")                                                    \
	X(sends_sent, "Send messages sent, those with Invalidate too")                             \
	X(sends_inv_sent, "Send with Invalidate messages sent")                                    \
	X(sends_received, "Send messages received, those with Invalidate too")                     \
	X(sends_inv_received, "Send with Invalidate messages received")                            \
	X(writes_sent, "RDMA Write messages sent")                                                 \
	X(writes_received, "RDMA Write messages received")                                         \
	X(write_bytes_sent, "bytes sent in RDMA Writes")                                           \
	X(write_bytes_received, "bytes received in RDMA Writes")                                   \
	X(read_requests_sent, "Read Requests sent")                                                \
	X(read_requests_received, "Read Requests received")                                        \
	X(read_responses_sent, "Read Responses sent")                                              \
	X(read_responses_received, "Read Responses received")                                      \
	X(read_responses_late, "Read Responses begun before all of their bytes were there")        \
	X(read_bytes_sent, "bytes sent in Read Responses")                                         \
	X(read_bytes_received, "bytes received in Read Responses")                                 \
	X(read_waits, "Reads that waited for one of the peer's slots")                             \
	X(nudges_sent, "zero-length Writes sent because the first Send got no answer")             \
	X(probes_sent, "zero-length Reads sent to ask whether the peer is there")                  \
	X(terminates_received, "Terminates received")                                              \
	X(terminates_sent, "Terminates sent")                                                      \
	X(term_crc, "Terminates sent: CRC mismatch")                                               \
	X(term_fpdu, "Terminates sent: FPDU too short for its headers")                            \
	X(term_ird, "Terminates sent: insufficient IRD")                                           \
	X(term_ddp_version, "Terminates sent: DDP version")                                        \
	X(term_rdmap_version, "Terminates sent: RDMAP version")                                    \
	X(term_opcode, "Terminates sent: unexpected opcode")                                       \
	X(term_qn, "Terminates sent: invalid QN")                                                  \
	X(term_msn, "Terminates sent: invalid MSN")                                                \
	X(term_mo, "Terminates sent: invalid MO")                                                  \
	X(term_no_buffer, "Terminates sent: no receive or no Read slot")                           \
	X(term_too_long, "Terminates sent: message too long")                                      \
	X(term_stag, "Terminates sent: invalid STag")                                              \
	X(term_bounds, "Terminates sent: base or bounds")                                          \
	X(term_to_wrap, "Terminates sent: TO wrap")                                                \
	X(term_rights, "Terminates sent: access rights")                                           \
	X(term_invalidate, "Terminates sent: STag cannot be invalidated")                          \
	X(term_unspecified, "Terminates sent: other errors")
COUNTER_STRUCT(iwarp_counters, IWARP_COUNTERS);

#endif
