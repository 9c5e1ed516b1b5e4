/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds and parses MPA, DDP and RDMAP for the tests' peers, without code of the proxy. */
#ifndef TESTS_E2E_MPA_H
#define TESTS_E2E_MPA_H

#include "tests/e2e/net.h"

#define MPA_CRC      0x40
#define MPA_REJECT   0x20
#define MPA_ENHANCED 0x10

/* RDMAP opcodes, and the queue of Sends. */
#define OP_WRITE    0
#define OP_SEND     3
#define OP_SEND_INV 4
#define QN_SEND     0

/* A peer on one TCP connection, and what it has received. */
struct mpa {
	struct conn *conn;
	struct buf in;
	bool accepts; /* it accepted the connection: the other end sends the request frame */
	bool started; /* the other end's start-up frame has arrived */
	uint8_t reply_flags;
	bool bad_crc;
	struct buf send;                   /* the last received Send, without its headers */
	uint32_t msn;                      /* of the last sent Send */
	void (*received)(struct mpa *mpa); /* called when a Send arrives; can be NULL */
	void *arg;
};

/** mpa_connect - Connects and watches; sends nothing. */
void mpa_connect(struct net *net, struct mpa *mpa, uint16_t port);
/** mpa_start - Watches @conn, which the peer owns from here on, and sends a request frame. */
void mpa_start(struct mpa *mpa, struct conn *conn);
/** mpa_accept - Watches @conn, which the peer owns from here on, and answers its request frame. */
void mpa_accept(struct mpa *mpa, struct conn *conn);
/** mpa_send - Sends a Send of these bytes, which must fit one FPDU. */
void mpa_send(struct mpa *mpa, const struct buf *message);
/** mpa_write - Sends an RDMA Write, in as many FPDUs as necessary. */
void mpa_write(struct mpa *mpa, uint32_t stag, uint64_t to, const uint8_t *data, size_t len);
/** mpa_send_call - Sends a Call as an RDMA_MSG without chunks. */
void mpa_send_call(struct mpa *mpa, const struct buf *call);
/** mpa_free - Closes, with a RST if @reset, and frees. */
void mpa_free(struct mpa *mpa, bool reset);

/**
 * mpa_request - Appends an MPA request frame of revision 2: IRD 16, ORD 16, RFC 8797 private data.
 */
void mpa_request(struct buf *out, uint8_t flags, uint8_t revision);
/** mpa_fpdu - Appends an FPDU with a ULPDU; @spoil inverts the CRC. */
void mpa_fpdu(struct buf *out, const struct buf *ulpdu, bool spoil);
/** ddp_untagged - Begins an untagged ULPDU with the last flag. */
void ddp_untagged(struct buf *ulpdu, uint8_t opcode, uint32_t qn, uint32_t msn, uint32_t mo);

#endif
