/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the first bytes of a TCP leg's peer until a record was received. If the peer does not speak
 * RPC, they name its protocol in the log.
 */
#ifndef RPCTCP_RX_SNIFF_H
#define RPCTCP_RX_SNIFF_H

#include "base/proto_sniff.h"
#include "rpctcp/tcp_conn.h"

struct rx_sniff {
	uint8_t bytes[PROTO_SNIFF_BYTES];
	unsigned len_bytes;
	bool is_over; /* a record was received: the peer speaks RPC */
};

/**
 * rx_sniff_add - Keeps @bytes, the last that the peer has sent, before they are consumed
 *
 * Does nothing if they do not directly follow the kept ones.
 */
void rx_sniff_add(struct rx_sniff *sniff, const struct tcp_conn *conn, const uint8_t *bytes,
		  size_t len_bytes);

/** rx_sniff_is_iwarp - Returns whether a client speaks iWARP instead of RPC over TCP. */
bool rx_sniff_is_iwarp(const struct rx_sniff *sniff, const struct tcp_conn *conn);

/**
 * rx_sniff_reason - Returns the close reason for a connection with an invalid record
 * @mark:   of the record
 * @why:    the reason according to the record
 * @detail: the sentence for the log; replaced if the bytes show more
 *
 * Returns LEG_CLOSE_PROXY_HEADER for a client's PROXY header instead of a record; LEG_CLOSE_NOT_RPC
 * if no record was received yet and the peer does not look like RPC; else @why.
 */
enum leg_close rx_sniff_reason(const struct rx_sniff *sniff, const struct tcp_conn *conn,
			       uint32_t mark, enum leg_close why, char detail[LEG_DETAIL_BYTES]);

#endif
