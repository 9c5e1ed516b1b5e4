/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Excuses FPDUs with a wrong CRC that siw of Linux has caused, not the judged program: what must
 * follow such an FPDU, and what can then be left open.
 *
 * siw of Linux 6.1 and 6.12 computes a CRC over pages of a file, and reads them again when it sends
 * them (siw_qp_tx.c:siw_tx_hdt). A write to the file in between makes the CRC wrong. So only
 * messages with a payload are excused: RDMA Writes, Read Responses and Sends. The other end must
 * answer with a Terminate that reports the CRC error, and send nothing after it; the connection
 * must end. The same Calls can then stay open on one more connection, from which they came or to
 * which they were forwarded.
 */
#ifndef TESTS_JUDGE_EXCUSE_H
#define TESTS_JUDGE_EXCUSE_H

#include <stdbool.h>
#include <stdint.h>

struct book;
struct hearing;
struct judge;

/* Addresses of ends that are siw, or zero. */
struct excuse_peer {
	uint32_t initiator; /* siw connects from this address */
	uint32_t acceptor;  /* siw accepts connections at this address */
};

/* The state of one connection. */
struct excuse {
	bool given;      /* siw has sent a wrong CRC */
	unsigned side;   /* siw's, if so */
	bool terminated; /* the other end has answered with a Terminate */
};

/* The Calls that such connections have left open. */
struct excuse_calls {
	uint32_t *xids;
	unsigned count, room;
	unsigned conns; /* how many of the other legs can still end with some of them open */
};

/**
 * excuse_fault - Handles an FPDU of @op from @side with a wrong CRC. Returns true, with a remark,
 * if siw is at fault; else false.
 */
bool excuse_fault(struct hearing *hearing, unsigned side, uint8_t op);
/**
 * excuse_terminate - Handles a Terminate of @side with that first word. Returns true if it is the
 * required answer to a wrong CRC.
 */
bool excuse_terminate(struct hearing *hearing, unsigned side, uint32_t word);
/**
 * excuse_end - Judges how an excused connection ended; another leg can then have its open Calls
 * open too.
 */
void excuse_end(struct hearing *hearing, const struct book *book, bool ended);
/**
 * excuse_leg - Returns whether a connection can have ended with those Calls open; @partial_xid is
 * that of a partly sent Call, or NULL
 *
 * Each excused connection excuses one other. Call excuse_end() for all connections first.
 */
bool excuse_leg(struct judge *judge, const struct book *book, const uint32_t *partial_xid);
void excuse_calls_fini(struct excuse_calls *calls);

#endif
