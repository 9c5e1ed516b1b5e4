// SPDX-License-Identifier: BSD-3-Clause
/* A connection on its way from a listener to a worker. */
#include "daemon/service/incoming.h"

#include <unistd.h>

#include "fabric/iwarp/iwarp.h"
#include "rpcrdma/reject_reason.h"

void incoming_drop(const struct incoming *in)
{
	if (in->fabric)
		fabric_incoming_drop(in->fabric);
	else
		close(in->fd);
}

void incoming_reject(const struct incoming *in, enum leg_close why)
{
	uint8_t reason[REJECT_REASON_BYTES];
	struct fabric_incoming *fabric = in->fabric;

	if (in->either)
		fabric = iwarp_incoming_new(in->fd, NULL, &in->local, &in->peer);
	if (fabric)
		fabric_incoming_reject(fabric, reason, reject_reason_encode(why, reason));
	else if (!in->either)
		close(in->fd);
}

void incoming_rename(struct incoming *in, const struct proxy_header *header)
{
	if (!header->named)
		return;
	in->proxy = in->peer;
	in->peer = header->source;
	in->local = header->destination;
	if (in->fabric) {
		in->fabric->peer = header->source;
		in->fabric->local = header->destination;
	}
}
