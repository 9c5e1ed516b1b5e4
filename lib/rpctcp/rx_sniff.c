// SPDX-License-Identifier: BSD-3-Clause
/* The first bytes of a TCP leg's peer, and what they say of one that does not speak RPC. */
#include "rpctcp/rx_sniff.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What either version of the PROXY header has in the place of a mark. */
#define MARK_PROXY_V1 0x50524f58u /* "PROX" */
#define MARK_PROXY_V2 0x0d0a0d0au

void rx_sniff_take(struct rx_sniff *greeting, const struct tcp_conn *conn, const uint8_t *bytes,
		   size_t len_bytes)
{
	size_t room = FIRST_BYTES_MAX - greeting->len_bytes;

	/* What was received in place is not among them. */
	if (greeting->is_over || conn->bytes_received - len_bytes != greeting->len_bytes)
		return;
	if (len_bytes > room)
		len_bytes = room;
	memcpy(greeting->bytes + greeting->len_bytes, bytes, len_bytes);
	greeting->len_bytes += (unsigned)len_bytes;
}

/* A mark alone may be that of a record which is too long. */
static bool is_stranger(const struct rx_sniff *greeting, enum leg_close why)
{
	switch (first_bytes_look(greeting->bytes, greeting->len_bytes)) {
	case FIRST_BYTES_RPC:
		return false;
	case FIRST_BYTES_UNKNOWN:
		return why == LEG_CLOSE_NOT_RPC || greeting->len_bytes == FIRST_BYTES_MAX;
	default:
		return true;
	}
}

static void fail_stranger(const struct rx_sniff *greeting, struct tcp_conn *conn)
{
	char shown[FIRST_BYTES_TEXT_BYTES];

	if (!conn->connector &&
	    first_bytes_look(greeting->bytes, greeting->len_bytes) == FIRST_BYTES_IWARP)
		tcp_conn_fail(conn, LEG_CLOSE_NOT_RPC,
			      "looks like iWARP, not RPC over TCP: this service listens for TCP "
			      "(mount with proto=tcp, or add an rdma:// service)");
	else
		tcp_conn_fail(conn, LEG_CLOSE_NOT_RPC,
			      "does not look like RPC: the first bytes are %s%s",
			      first_bytes_text(greeting->bytes, greeting->len_bytes, shown),
			      conn->connector ? ": is that its RPC port?" : "");
}

static void fail_proxy_header(const struct rx_sniff *greeting, struct tcp_conn *conn)
{
	tcp_conn_fail(conn, LEG_CLOSE_PROXY_HEADER, "%s",
		      greeting->is_over ? "in the middle of the stream"
					: "from who is not in accept_proxy_from, or a second one");
}

void rx_sniff_fail(const struct rx_sniff *greeting, struct tcp_conn *conn, uint32_t mark,
		   enum leg_close why, const char *fmt, ...)
{
	char detail[LEG_DETAIL_BYTES];
	va_list args;

	if (!conn->connector && (mark == MARK_PROXY_V1 || mark == MARK_PROXY_V2)) {
		fail_proxy_header(greeting, conn);
		return;
	}
	if (!greeting->is_over && is_stranger(greeting, why)) {
		fail_stranger(greeting, conn);
		return;
	}
	va_start(args, fmt);
	vsnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);
	tcp_conn_fail(conn, why, "%s", detail);
}
