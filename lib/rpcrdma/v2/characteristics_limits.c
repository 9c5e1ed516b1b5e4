// SPDX-License-Identifier: BSD-3-Clause
/* What the characteristics of both ends allow at the moment. */
#include "rpcrdma/v2/characteristics.h"

#include "base/least.h"

uint32_t characteristics_reply_bytes(const struct characteristics *ch, uint32_t told_bytes)
{
	uint32_t bytes = ch->told[XCHAR_RBSIZ] ? ch->value[XCHAR_RBSIZ] : told_bytes;

	return least(xchar_size(bytes), CHARACTERISTICS_REPLY_MAX_BYTES);
}

uint32_t characteristics_send_bytes(const struct characteristics *ch, uint32_t told_bytes)
{
	uint32_t bytes =
		least(characteristics_reply_bytes(ch, told_bytes), ch->config.send_max_bytes);

	return least(bytes, characteristics_asked_bytes(ch));
}

uint32_t characteristics_recv_bytes(const struct characteristics *ch, uint32_t told_bytes)
{
	uint32_t bytes = characteristics_told_size(ch);

	if (!ch->peer_knows || !ch->told_bytes)
		bytes = least(bytes, xchar_size(told_bytes));
	return ch->receives == RECEIVES_PENDING ? least(bytes, ch->goal_bytes) : bytes;
}

bool characteristics_may_invalidate(const struct characteristics *ch)
{
	return ch->value[XCHAR_RQREMINV];
}

enum xchar_brs characteristics_peer_reverse(const struct characteristics *ch)
{
	return (enum xchar_brs)ch->value[XCHAR_BRS];
}

uint32_t characteristics_counts_over(const struct characteristics *ch)
{
	uint32_t bytes = UINT32_MAX;

	if (ch->resp_due && ch->judges_size)
		bytes = ch->request.value[XCHAR_RBSIZ];
	else if (ch->receives == RECEIVES_PENDING)
		bytes = ch->goal_bytes;
	/* No Call counts on more than what was told. */
	return bytes < characteristics_told_size(ch) ? bytes : UINT32_MAX;
}

uint32_t characteristics_needs_over(const struct characteristics *ch)
{
	bool lowers = ch->wish == WISH_HELD && ch->wish_bytes < characteristics_peer_size(ch);

	return lowers ? ch->wish_bytes : UINT32_MAX;
}

const char *characteristics_pending(const struct characteristics *ch)
{
	bool here = ch->receives == RECEIVES_PENDING || ch->receives == RECEIVES_RAISING;

	if (characteristics_has_asked(ch))
		return here ? "sizes of both ends" : "the peer's size";
	return here ? "our size" : NULL;
}
