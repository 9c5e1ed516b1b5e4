// SPDX-License-Identifier: BSD-3-Clause
#include "rpctcp/rx_sniff.h"

#include <stdio.h>
#include <string.h>

/* The bytes of a PROXY header, of either version, at the place of a record mark. */
#define MARK_PROXY_V1 0x50524f58u /* "PROX" */
#define MARK_PROXY_V2 0x0d0a0d0au

void rx_sniff_add(struct rx_sniff *sniff, const struct tcp_conn *conn, const uint8_t *bytes,
		  size_t len_bytes)
{
	size_t space_bytes = PROTO_SNIFF_BYTES - sniff->len_bytes;

	/* Bytes that were received in place are not among them. */
	if (sniff->is_over || conn->bytes_received - len_bytes != sniff->len_bytes)
		return;
	if (len_bytes > space_bytes)
		len_bytes = space_bytes;
	memcpy(sniff->bytes + sniff->len_bytes, bytes, len_bytes);
	sniff->len_bytes += (unsigned)len_bytes;
}

bool rx_sniff_is_iwarp(const struct rx_sniff *sniff, const struct tcp_conn *conn)
{
	return !sniff->is_over && !conn->connector &&
	       proto_sniff_detect(sniff->bytes, sniff->len_bytes) == PROTO_SNIFF_IWARP;
}

/* A mark alone can belong to a record that is too long. */
static bool is_non_rpc(const struct rx_sniff *sniff, enum leg_close why)
{
	switch (proto_sniff_detect(sniff->bytes, sniff->len_bytes)) {
	case PROTO_SNIFF_RPC:
		return false;
	case PROTO_SNIFF_UNKNOWN:
		return why == LEG_CLOSE_NOT_RPC || sniff->len_bytes == PROTO_SNIFF_BYTES;
	default:
		return true;
	}
}

static void describe_non_rpc(const struct rx_sniff *sniff, const struct tcp_conn *conn,
			     char detail[LEG_DETAIL_BYTES])
{
	enum proto_sniff what = proto_sniff_detect(sniff->bytes, sniff->len_bytes);
	const char *advice = "";
	char shown[PROTO_SNIFF_TEXT_BYTES];

	if (conn->connector)
		advice = ": is that its RPC port?";
	else if (what == PROTO_SNIFF_TLS)
		advice = ": RPC-with-TLS begins with a probe (AUTH_TLS)";
	if (rx_sniff_is_iwarp(sniff, conn))
		snprintf(detail, LEG_DETAIL_BYTES,
			 "looks like iWARP, not RPC over TCP: this service listens for TCP "
			 "(mount with proto=tcp, or add an rdma:// service)");
	else
		snprintf(detail, LEG_DETAIL_BYTES,
			 "does not look like RPC: the first bytes are %s%s",
			 proto_sniff_text(sniff->bytes, sniff->len_bytes, shown), advice);
}

enum leg_close rx_sniff_reason(const struct rx_sniff *sniff, const struct tcp_conn *conn,
			       uint32_t mark, enum leg_close why, char detail[LEG_DETAIL_BYTES])
{
	if (!conn->connector && (mark == MARK_PROXY_V1 || mark == MARK_PROXY_V2)) {
		snprintf(detail, LEG_DETAIL_BYTES, "%s",
			 sniff->is_over ? "in the middle of the stream"
					: "peer not in accept_proxy_from, or a second header");
		return LEG_CLOSE_PROXY_HEADER;
	}
	if (!sniff->is_over && is_non_rpc(sniff, why)) {
		describe_non_rpc(sniff, conn, detail);
		return LEG_CLOSE_NOT_RPC;
	}
	return why;
}
