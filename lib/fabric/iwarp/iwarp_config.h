/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration and counters of the iwarp fabric. */
#ifndef FABRIC_IWARP_IWARP_CONFIG_H
#define FABRIC_IWARP_IWARP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/counters.h"

/* Length of sent FPDUs. */
enum iwarp_fpdu {
	IWARP_FPDU_AUTO, /* 64 KiB if the MSS shows that no Ethernet is on the path, else the MSS */
	IWARP_FPDU_MSS,  /* the MSS of TCP */
	IWARP_FPDU_64K,  /* up to 64 KiB */
};

struct iwarp_config {
	bool crc; /* request CRC32C; used if either end requests it */
	enum iwarp_fpdu fpdu;
	uint64_t setup_timeout_us; /* limit of the TCP connect and the MPA exchange; 0: 10 s */
	bool has_socket;           /* listeners: use a socket that already listens, … */
	int socket;                /* … this one; consumed, also on failure */
	/* Outgoing connections have their own counters: fabric->connected_counters. */
	bool separate_connected;
	unsigned keepalive_s; /* silence before TCP keepalives are sent; 0: 30 s */
};

#define IWARP_COUNTERS(X)                                                                          \
	X(connections_opened, "connections opened, by either side")                                \
	X(mpa_rejects_sent, "connections that the proxy rejected during set-up")                   \
	X(mpa_rejects_received, "connections that the peer rejected during set-up")                \
	X(mpa_errors, "connections whose set-up (MPA) broke the protocol: is the peer iWARP?")     \
	X(setup_timeouts, "connections whose set-up timed out")                                    \
	X(bytes_sent, "bytes sent over TCP, including headers")                                    \
	X(bytes_received, "bytes received over TCP, including headers")                            \
	X(payload_bytes_copied, "bytes of messages that the proxy copied once more")               \
	X(fpdus_sent, "frames (FPDUs) sent")                                                       \
	X(fpdus_received, "frames (FPDUs) received")                                               \
	X(crc_checked, "frames whose checksum was checked")                                        \
	X(crc_bad, "frames whose checksum was wrong: data damaged on the path")                    \
	X(sends_sent, "Sends sent, including Sends with Invalidate")                               \
	X(sends_inv_sent, "Sends with Invalidate sent")                                            \
	X(sends_received, "Sends received, including Sends with Invalidate")                       \
	X(sends_inv_received, "Sends with Invalidate received")                                    \
	X(writes_sent, "RDMA Writes sent")                                                         \
	X(writes_received, "RDMA Writes received")                                                 \
	X(write_bytes_sent, "bytes sent in RDMA Writes")                                           \
	X(write_bytes_received, "bytes received in RDMA Writes")                                   \
	X(read_requests_sent, "RDMA Reads that the proxy requested")                               \
	X(read_requests_received, "RDMA Reads that the peer requested")                            \
	X(read_responses_sent, "RDMA Reads that the proxy answered")                               \
	X(read_responses_received, "RDMA Reads that the peer answered")                            \
	X(read_responses_late, "RDMA Reads whose answer began before all of its data had arrived") \
	X(read_bytes_sent, "bytes sent in answers to RDMA Reads")                                  \
	X(read_bytes_received, "bytes received in answers to RDMA Reads")                          \
	X(read_waits, "RDMA Reads that waited because the peer allows no more at a time")          \
	X(nudges_sent, "empty Writes sent because the first message got no answer")                \
	X(probes_sent, "keepalives (empty Reads) sent to a silent peer")                           \
	X(terminates_received, "connections that the peer ended with an error (Terminate)")        \
	X(terminates_sent,                                                                         \
	  "connections that the proxy ended with an error (Terminate), by error below")            \
	X(term_crc, "of these: wrong checksum")                                                    \
	X(term_fpdu, "of these: frame too short for its headers")                                  \
	X(term_ird, "of these: more RDMA Reads at a time than negotiated")                         \
	X(term_ddp_version, "of these: unknown version of DDP")                                    \
	X(term_rdmap_version, "of these: unknown version of RDMAP")                                \
	X(term_opcode, "of these: unexpected operation")                                           \
	X(term_qn, "of these: unknown queue")                                                      \
	X(term_msn, "of these: message out of sequence")                                           \
	X(term_mo, "of these: wrong offset in a message")                                          \
	X(term_no_buffer, "of these: more messages than posted receives")                          \
	X(term_too_long, "of these: message too long")                                             \
	X(term_stag, "of these: memory key (STag) that is not valid")                              \
	X(term_bounds, "of these: access outside of the exposed memory")                           \
	X(term_to_wrap, "of these: address that wraps around")                                     \
	X(term_rights, "of these: access without permission")                                      \
	X(term_invalidate, "of these: memory key that cannot be invalidated")                      \
	X(term_unspecified, "of these: anything else")
COUNTER_STRUCT(iwarp_counters, IWARP_COUNTERS);

#endif
