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
extern struct buf *peer_memory;                        /* what it has lent … */
extern struct fabric_key peer_readable, peer_writable; /* … the first half, the second half */
extern uint8_t peer_out[1u << 20];                     /* what it sent last */
extern size_t peer_out_bytes;
extern uint8_t peer_ulpdu[MPA_MAX_ULPDU_BYTES]; /* the segment that it was sent last */
extern size_t peer_ulpdu_bytes;

/* Fixtures: a responder that is open, the same with CRC, an initiator that is open; memory is lent. */
void peer_setup(void);
void peer_setup_crc(void);
void peer_setup_initiator(void);
void peer_teardown(void);
void peer_responder_start(void);
void peer_initiator_start(void);

/* An engine; it awaits a request; it has its own to send. Nothing else has happened. side_fini() ends it. */
void peer_start(bool crc);
void peer_listening(bool crc);
void peer_connecting(bool crc);

/** peer_output_take - fetch all that the engine sends. */
void peer_output_take(void);
/** peer_frame_give - have it receive a start-up frame. */
void peer_frame_give(const struct mpa_frame *frame);
/** peer_fpdu_give - have it receive the segment as an FPDU. */
void peer_fpdu_give(void);
/** peer_give - have it receive these bytes. */
void peer_give(const char *hex);
/** peer_expect - it must send exactly these bytes. */
void peer_expect(const char *hex);
/** peer_expect_terminate - it must send exactly this Terminate, quoting the segment, and want FIN. */
void peer_expect_terminate(unsigned layer_type, unsigned code, unsigned bits, size_t quoted);
/** peer_expect_closed - it must want the connection dropped, for this reason. */
void peer_expect_closed(enum fabric_close why);
/** peer_expect_depths - what was negotiated. */
void peer_expect_depths(unsigned ird, unsigned ord);

/* Make a segment. */
void peer_tagged(enum rdmap_opcode opcode, bool last, uint32_t stag, uint64_t to, size_t payload);
void peer_untagged(unsigned opcode, bool last, uint32_t qn, uint32_t msn, uint32_t mo,
		   size_t payload);
void peer_read_request(uint32_t msn, uint32_t stag, uint64_t to, uint32_t size);

#endif
