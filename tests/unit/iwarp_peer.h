/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: one engine under test, and functions that act as its peer, byte by byte. */
#ifndef TESTS_UNIT_IWARP_PEER_H
#define TESTS_UNIT_IWARP_PEER_H

#include "fabric/iwarp/ddp.h"
#include "fabric/iwarp/mpa.h"
#include "tests/unit/iwarp_side.h"

#define LENT_BYTES 1000u /* of each key */

/* For hex: the keys of start-up frames, and private data of RFC 8797. */
#define REQ     "4d504120494420526571204672616d65"
#define REP     "4d504120494420526570204672616d65"
#define PRIVATE "f6ab0e1801010303"

extern struct iwarp_side peer_side;                    /* the engine under test */
extern bool peer_crc;                                  /* whether CRC is on */
extern struct buf *peer_memory;                        /* its exposed memory … */
extern struct fabric_key peer_readable, peer_writable; /* … the first half, the second half */
extern uint8_t peer_out[1u << 20];                     /* what it sent last */
extern size_t peer_out_bytes;
extern uint8_t peer_ulpdu[MPA_MAX_ULPDU_BYTES]; /* the last segment sent to it */
extern size_t peer_ulpdu_bytes;

/* Fixtures: an open responder, the same with CRC, an open initiator; memory is exposed. */
void peer_setup(void);
void peer_setup_crc(void);
void peer_setup_initiator(void);
void peer_teardown(void);
void peer_responder_start(void);
void peer_initiator_start(void);

/* An engine that awaits a request; an engine that has its own to send. side_fini() ends it. */
void peer_start(bool crc);
void peer_listening(bool crc);
void peer_connecting(bool crc);

/** peer_output_take - Fetches all that the engine sends. */
void peer_output_take(void);
/** peer_frame_give - Passes a start-up frame to it. */
void peer_frame_give(const struct mpa_frame *frame);
/** peer_fpdu_give - Passes the segment to it as an FPDU. */
void peer_fpdu_give(void);
/** peer_give - Passes these bytes to it. */
void peer_give(const char *hex);
/** peer_expect - Checks that it sends exactly these bytes. */
void peer_expect(const char *hex);
/**
 * peer_expect_terminate - Checks that it sends exactly this Terminate, quoting the segment, and
 * requests FIN.
 */
void peer_expect_terminate(unsigned layer_type, unsigned code, unsigned bits, size_t quoted);
/** peer_expect_closed - Checks that it requests to drop the connection, for this reason. */
void peer_expect_closed(enum fabric_close why);
/** peer_expect_depths - Checks the negotiated depths. */
void peer_expect_depths(unsigned ird, unsigned ord);

/* Make a segment. */
void peer_tagged(enum rdmap_opcode opcode, bool last, uint32_t stag, uint64_t to, size_t payload);
void peer_untagged(unsigned opcode, bool last, uint32_t qn, uint32_t msn, uint32_t mo,
		   size_t payload);
void peer_read_request(uint32_t msn, uint32_t stag, uint64_t to, uint32_t size);

#endif
