/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration and counters of the iwarp fabric. */
#ifndef FABRIC_IWARP_IWARP_CONFIG_H
#define FABRIC_IWARP_IWARP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/counter.h"

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
	bool apart;
	unsigned keepalive_s; /* silence before TCP keepalives are sent; 0: 30 s */
};

#define IWARP_COUNTERS(X)                                                                          \
	X(connections_opened, "connections set up, either way")                                    \
	X(mpa_rejects_sent, "connections that we refused while they were set up")                  \
	X(mpa_rejects_received, "connections that the peer refused while they were set up")        \
	X(mpa_errors, "connections whose set-up (MPA) broke the protocol: no iWARP there?")        \
	X(setup_timeouts, "connections whose set-up took too long")                                \
	X(bytes_sent, "bytes given to TCP, with all headers")                                      \
	X(bytes_received, "bytes taken from TCP, with all headers")                                \
	X(payload_bytes_copied, "bytes of messages that were copied once more within the proxy")   \
	X(fpdus_sent, "frames (FPDUs) sent")                                                       \
	X(fpdus_received, "frames (FPDUs) received")                                               \
	X(crc_checked, "frames whose checksum was checked")                                        \
	X(crc_bad, "frames whose checksum was wrong: data damaged on the way")                     \
	X(sends_sent, "Sends sent, those with Invalidate too")                                     \
	X(sends_inv_sent, "Sends with Invalidate sent")                                            \
	X(sends_received, "Sends received, those with Invalidate too")                             \
	X(sends_inv_received, "Sends with Invalidate received")                                    \
	X(writes_sent, "RDMA Writes sent")                                                         \
	X(writes_received, "RDMA Writes received")                                                 \
	X(write_bytes_sent, "bytes sent in RDMA Writes")                                           \
	X(write_bytes_received, "bytes received in RDMA Writes")                                   \
	X(read_requests_sent, "RDMA Reads that we asked for")                                      \
	X(read_requests_received, "RDMA Reads that the peer asked for")                            \
	X(read_responses_sent, "RDMA Reads that we answered")                                      \
	X(read_responses_received, "RDMA Reads that the peer answered")                            \
	X(read_responses_late,                                                                     \
	  "RDMA Reads whose answer was begun before all of its bytes were here")                   \
	X(read_bytes_sent, "bytes sent in answers to RDMA Reads")                                  \
	X(read_bytes_received, "bytes received in answers to RDMA Reads")                          \
	X(read_waits, "RDMA Reads that waited since the peer allows no more at once")              \
	X(nudges_sent, "empty Writes sent because the first message got no answer")                \
	X(probes_sent, "empty Reads sent to ask a silent peer whether it is there")                \
	X(terminates_received, "connections that the peer ended with an error (Terminate)")        \
	X(terminates_sent,                                                                         \
	  "connections that we ended with an error (Terminate); the next ones say which")          \
	X(term_crc, "of these: wrong checksum")                                                    \
	X(term_fpdu, "of these: frame too short for its headers")                                  \
	X(term_ird, "of these: more RDMA Reads at once than were agreed")                          \
	X(term_ddp_version, "of these: unknown version of DDP")                                    \
	X(term_rdmap_version, "of these: unknown version of RDMAP")                                \
	X(term_opcode, "of these: operation out of place")                                         \
	X(term_qn, "of these: unknown queue")                                                      \
	X(term_msn, "of these: message out of sequence")                                           \
	X(term_mo, "of these: wrong offset in a message")                                          \
	X(term_no_buffer, "of these: more messages than were allowed")                             \
	X(term_too_long, "of these: message too long")                                             \
	X(term_stag, "of these: memory key (STag) that is not valid")                              \
	X(term_bounds, "of these: access outside of the memory that was lent")                     \
	X(term_to_wrap, "of these: address that wraps around")                                     \
	X(term_rights, "of these: access that was not granted")                                    \
	X(term_invalidate, "of these: memory key that may not be taken away")                      \
	X(term_unspecified, "of these: anything else")
COUNTER_STRUCT(iwarp_counters, IWARP_COUNTERS);

#endif
