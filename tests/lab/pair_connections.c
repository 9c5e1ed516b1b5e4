// SPDX-License-Identifier: BSD-3-Clause
/* Cases of fabric_pair: set-up and end of connections. */
#include "tests/lab/pair.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static void case_connect(void)
{
	struct fabric_ep_info info;
	bool up = connect_pair();

	result(up, "connects");
	if (!up)
		return;
	result(server.private_data_bytes >= 4 && !memcmp(server.private_data, "ping", 4) &&
		       client.private_data_bytes >= 4 && !memcmp(client.private_data, "pong", 4),
	       "passes private data both ways");
	fabric_ep_info(client.ep, &info);
	printf("# client ird %u ord %u, keys per RPC %d, invalidates %d, gather %u\n", info.ird,
	       info.ord, info.per_rpc_keys, info.sends_invalidate, info.max_sge);
	windows = info.per_rpc_keys;
	result(!info.deferred_reads || strcmp(fabric_name, "verbs"),
	       "does not say that a device answers Reads late");
	result(info.ord <= DEPTH && info.ord > 0, "agrees on read depths");
	close_pair();
	result(client.closed && client.why == FABRIC_CLOSE_LOCAL && server.closed &&
		       server.why == FABRIC_CLOSE_PEER,
	       "closes in good order");
}

static void case_reject(void)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	server.refuse = true;
	if (fabric_connect(fabric, (struct sockaddr *)&listen_addr, &params_base, &events, &client,
			   &client.ep))
		return;
	result(wait_until(both_closed) && client.why == FABRIC_CLOSE_REFUSED && !client.established,
	       "tells a rejected connection");
	close_pair();
}

static void case_refused(void)
{
	struct sockaddr_storage addr = listen_addr;
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;
	int err;

	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	in->sin_port = htons(9); /* nobody listens; the port stands at the same place for IPv6 */
	err = fabric_connect(fabric, (struct sockaddr *)&addr, &params_base, &events, &client,
			     &client.ep);
	result(err || (wait_until(both_closed) && !client.established),
	       "tells a port where nobody listens");
	if (!err)
		close_pair();
}

static in_port_t port_of(const struct sockaddr_storage *addr)
{
	/* It stands at the same place for IPv6. */
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

static void case_source(void)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&params_base.source;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&params_base.source;
	struct fabric_ep_info ours, theirs;

	params_base.source = listen_addr;
	in->sin_port = htons(31789);
	if (connect_pair()) {
		fabric_ep_info(client.ep, &ours);
		fabric_ep_info(server.ep, &theirs);
		result(port_of(&ours.local) == 31789 && port_of(&theirs.peer) == 31789,
		       "comes from the address and port that it is told to");
		close_pair();
	} else {
		result(false, "connects from a given address");
		close_pair();
	}
	/* 192.0.2.1 and 2001:db8::1: of nobody. */
	in->sin_port = 0;
	if (listen_addr.ss_family == AF_INET)
		in->sin_addr.s_addr = htonl(0xc0000201);
	else
		in6->sin6_addr = (struct in6_addr){{{0x20, 0x01, 0x0d, 0xb8, [15] = 1}}};
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	result(fabric_connect(fabric, (struct sockaddr *)&listen_addr, &params_base, &events,
			      &client, &client.ep) ||
		       (wait_until(both_closed) && !client.established),
	       "does not come from an address that is not this host's");
	close_pair();
	memset(&params_base.source, 0, sizeof(params_base.source));
}

void pair_connections(void)
{
	case_connect();
	case_reject();
	case_refused();
	case_source();
}
