/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first bytes of a TCP leg's peer, kept until a record of it was taken in: of a peer that does not speak RPC they say
 * in the log what it does speak.
 */
#ifndef RPCTCP_RX_SNIFF_H
#define RPCTCP_RX_SNIFF_H

#include "base/first_bytes.h"
#include "rpctcp/tcp_conn.h"

struct rx_sniff {
	uint8_t bytes[FIRST_BYTES_MAX];
	unsigned len_bytes;
	bool is_over; /* a record was taken in: the peer does speak RPC */
};

/**
 * rx_sniff_take - keep @bytes, of which none has been taken in yet: the last of what the peer has sent
 *
 * Does nothing if they do not follow at once on those that are kept.
 */
void rx_sniff_take(struct rx_sniff *sniff, const struct tcp_conn *conn, const uint8_t *bytes,
		   size_t len_bytes);

/**
 * rx_sniff_reason - find why a connection must be closed whose record cannot be received
 * @mark:   of the record
 * @why:    the reason as far as the record tells
 * @detail: the sentence with that; replaced where the bytes tell more
 *
 * Returns @why; or LEG_CLOSE_PROXY_HEADER for a client's PROXY header where a record should begin; or LEG_CLOSE_NOT_RPC if no
 * record was taken in yet and the peer does not look like RPC.
 */
enum leg_close rx_sniff_reason(const struct rx_sniff *sniff, const struct tcp_conn *conn,
			       uint32_t mark, enum leg_close why, char detail[LEG_DETAIL_BYTES]);

#endif
