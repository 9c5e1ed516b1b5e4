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

/* A peer on one TCP connection: what it has received, and what came of it. */
struct mpa {
	struct conn *conn;
	struct buf in;
	bool accepts; /* it was connected to: the other end sends the request frame */
	bool started; /* the other end's start-up frame is in */
	uint8_t reply_flags;
	bool bad_crc;
	struct buf send;                   /* the last Send that came, its headers taken off */
	uint32_t msn;                      /* of the last Send that went out */
	void (*received)(struct mpa *mpa); /* a Send came; may be NULL */
	void *arg;
};

/** mpa_connect - connect and watch; nothing is sent. */
void mpa_connect(struct net *net, struct mpa *mpa, uint16_t port);
/** mpa_start - watch @conn, which the peer owns from here on, and send a request frame. */
void mpa_start(struct mpa *mpa, struct conn *conn);
/** mpa_accept - watch @conn, which the peer owns from here on, and answer its request frame. */
void mpa_accept(struct mpa *mpa, struct conn *conn);
/** mpa_send - send a Send of these bytes, no more than fit one FPDU. */
void mpa_send(struct mpa *mpa, const struct buf *message);
/** mpa_write - send an RDMA Write, in as many FPDUs as it takes. */
void mpa_write(struct mpa *mpa, uint32_t stag, uint64_t to, const uint8_t *data, size_t len);
/** mpa_send_call - send a Call as an RDMA_MSG without chunks. */
void mpa_send_call(struct mpa *mpa, const struct buf *call);
/** mpa_free - close, with a RST if @reset, and release. */
void mpa_free(struct mpa *mpa, bool reset);

/** mpa_request - put an MPA request frame of revision 2: IRD 16, ORD 16, RFC 8797 private data. */
void mpa_request(struct buf *out, uint8_t flags, uint8_t revision);
/** mpa_fpdu - put an FPDU around a ULPDU; @spoil inverts the CRC. */
void mpa_fpdu(struct buf *out, const struct buf *ulpdu, bool spoil);
/** ddp_untagged - begin an untagged ULPDU with the last flag. */
void ddp_untagged(struct buf *ulpdu, uint8_t opcode, uint32_t qn, uint32_t msn, uint32_t mo);

#endif
