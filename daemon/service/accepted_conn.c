// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/accepted_conn.h"

#include <netinet/in.h>
#include <unistd.h>

#include "base/sockaddr.h"
#include "daemon/config/config.h"
#include "fabric/iwarp/iwarp.h"
#include "rpcrdma/reject_reason.h"

static bool is_on_device(const struct accepted_conn *in)
{
	return in->fabric && in->fabric->ops != &iwarp_fabric_ops;
}

bool accepted_conn_is_privileged(const struct accepted_conn *in)
{
	return is_on_device(in) ||
	       sockaddr_port((const struct sockaddr *)&in->peer) < IPPORT_RESERVED;
}

bool accepted_conn_is_trusted(const struct accepted_conn *in, const struct service_config *service)
{
	const struct sockaddr_storage *peer =
		in->proxy.ss_family == AF_UNSPEC ? &in->peer : &in->proxy;

	return config_cidrs_contain(&service->trusted_proxies, (const struct sockaddr *)peer);
}

void accepted_conn_drop(const struct accepted_conn *in)
{
	if (in->fabric)
		fabric_incoming_drop(in->fabric);
	else
		close(in->fd);
}

void accepted_conn_reject(const struct accepted_conn *in, enum leg_close why)
{
	uint8_t reason[REJECT_REASON_BYTES];
	struct fabric_incoming *fabric = in->fabric;

	if (in->protocol_unknown)
		fabric = iwarp_incoming_new(in->fd, NULL, &in->local, &in->peer);
	if (fabric)
		fabric_incoming_reject(fabric, reason, reject_reason_encode(why, reason));
	else if (!in->protocol_unknown)
		close(in->fd);
}

void accepted_conn_apply_header(struct accepted_conn *in, const struct proxy_header *header)
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
