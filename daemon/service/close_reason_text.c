// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/close_reason_text.h"

#include <errno.h>
#include <stdio.h>

static const char *const sides[] = {
	[CLOSE_BY_CLIENT] = "client",
	[CLOSE_BY_SERVER] = "server",
	[CLOSE_BY_PROXY] = "",
};

/*
 * Texts around the side, where the reason's own text says "peer" or names no side. Others: the
 * side, then that text.
 */
static const struct {
	const char *before, *behind;
} phrases[LEG_CLOSE_COUNT] = {
	[LEG_CLOSE_PEER] = {"closed by the ", ""},
	[LEG_CLOSE_LOST] = {"closed: the connection to the ", " was lost"},
	[LEG_CLOSE_SILENT] = {"closed: the ", " does not answer"},
	[LEG_CLOSE_REFUSED] = {"closed: refused by the ", ""},
	[LEG_CLOSE_UNREACHABLE] = {"closed: the ", " cannot be reached"},
	[LEG_CLOSE_NO_SERVER] = {"closed: no ", " takes new connections"},
	[LEG_CLOSE_NO_SOURCE_ADDRESS] = {"closed: no source address towards the ", ""},
	[LEG_CLOSE_PROXY_HEADER] = {"closed: the ", " sent a PROXY header that is not accepted"},
	[LEG_CLOSE_TLS] = {"closed: TLS with the ", " failed"},
	[LEG_CLOSE_NO_CALL] = {"closed: the ", " sent no Call in time"},
	[LEG_CLOSE_PROTOCOL] = {"closed: the ", " broke the RDMA protocol"},
	[LEG_CLOSE_TERMINATED] = {"closed: the ", " ended the RDMA connection with an error"},
};

const char *close_reason_summary(enum leg_close why, enum close_by by)
{
	static const char *const by_side[] = {
		[CLOSE_BY_CLIENT] = "closed by the client",
		[CLOSE_BY_SERVER] = "closed by the server",
	};
	static const char *const for_side[] = {
		[CLOSE_BY_CLIENT] = "closed because of the client",
		[CLOSE_BY_SERVER] = "closed because of the server",
		[CLOSE_BY_PROXY] = "closed",
	};

	return why == LEG_CLOSE_PEER && by != CLOSE_BY_PROXY ? by_side[by] : for_side[by];
}

const char *close_reason_text(enum leg_close why, enum close_by by, int err, const char *detail,
			      char text[CLOSE_REASON_TEXT_BYTES])
{
	const char *colon = detail[0] ? ": " : "";

	if (by == CLOSE_BY_PROXY)
		snprintf(text, CLOSE_REASON_TEXT_BYTES, "closed: %s%s%s", leg_close_text(why),
			 colon, detail);
	else if (why == LEG_CLOSE_LOST && (err == ECONNRESET || err == EPIPE))
		snprintf(text, CLOSE_REASON_TEXT_BYTES, "closed by the %s (reset)", sides[by]);
	else if (phrases[why].before)
		snprintf(text, CLOSE_REASON_TEXT_BYTES, "%s%s%s%s%s", phrases[why].before,
			 sides[by], phrases[why].behind, colon, detail);
	else
		snprintf(text, CLOSE_REASON_TEXT_BYTES, "closed: %s: %s%s%s", sides[by],
			 leg_close_text(why), colon, detail);
	return text;
}
