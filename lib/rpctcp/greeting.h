/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first bytes of a TCP leg's peer, kept until a record of it was taken in: of one that does not speak RPC they say
 * in the log what it does speak.
 */
#ifndef RPCTCP_GREETING_H
#define RPCTCP_GREETING_H

#include "base/first_bytes.h"
#include "rpctcp/conn.h"

struct tcp_greeting {
	uint8_t bytes[FIRST_BYTES_MAX];
	unsigned len_bytes;
	bool is_over; /* a record was taken in: the peer does speak RPC */
};

/**
 * tcp_greeting_take - @bytes, of which none has been taken in yet, are the last of what the peer has sent
 *
 * Nothing, if they do not follow at once on those that are kept.
 */
void tcp_greeting_take(struct tcp_greeting *greeting, const struct tcp_conn *conn,
		       const uint8_t *bytes, size_t len_bytes);

/**
 * tcp_greeting_fail - what came cannot be gone on with: as tcp_conn_fail()
 * @mark: of the record
 *
 * But a client's PROXY header where a record should begin is a reason of its own; and if the greeting is not over, and
 * does not look like RPC, that is the reason.
 */
void tcp_greeting_fail(const struct tcp_greeting *greeting, struct tcp_conn *conn, uint32_t mark,
		       enum leg_close why, const char *fmt, ...) PRINTF_LIKE(5, 6);

#endif
