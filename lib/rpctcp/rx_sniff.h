/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first bytes of a TCP leg's peer, kept until a record of it was taken in: of one that does not speak RPC they say
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
 * rx_sniff_take - @bytes, of which none has been taken in yet, are the last of what the peer has sent
 *
 * Nothing, if they do not follow at once on those that are kept.
 */
void rx_sniff_take(struct rx_sniff *greeting, const struct tcp_conn *conn, const uint8_t *bytes,
		   size_t len_bytes);

/**
 * rx_sniff_fail - what came cannot be gone on with: as tcp_conn_fail()
 * @mark: of the record
 *
 * But a client's PROXY header where a record should begin is a reason of its own; and if the greeting is not over, and
 * does not look like RPC, that is the reason.
 */
void rx_sniff_fail(const struct rx_sniff *greeting, struct tcp_conn *conn, uint32_t mark,
		   enum leg_close why, const char *fmt, ...) PRINTF_LIKE(5, 6);

#endif
