// SPDX-License-Identifier: BSD-3-Clause
/* Calls from the server to the client, a client's half-close, and messages of every form. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/echo.h"
#include "tests/e2e/rpc_peer.h"

#define WAIT_S 60

static bool client_done(void *arg)
{
	return echo_client_done(arg);
}

static bool client_closed(void *arg)
{
	return ((struct echo_client *)arg)->conn->closed;
}

static bool reverse_answered(void *arg)
{
	struct echo_server *server = arg;

	return server->reverse_answered == server->reverse_sent;
}

/* Every size of Call and Reply, a few in flight. */
static void sizes(struct net *net, uint16_t port)
{
	static const uint32_t bytes[] = {0,    4,    3800, 3996,  4000,   4096,   5000,
					 8092, 8096, 8192, 65536, 262144, 1000000};
	const size_t n = sizeof(bytes) / sizeof(bytes[0]);

	for (size_t i = 0; i < n * n; i++) {
		struct echo_client client = {.xid_base = 0x100,
					     .args_len = bytes[i / n],
					     .reply_len = bytes[i % n],
					     .calls = 5,
					     .window = 3};

		echo_client_start(net, &client, port);
		(void)net_run_until(net, client_done, &client, WAIT_S);
		if (!echo_client_good(&client))
			fail("Calls of %u bytes with Replies of %u: %u of 5 answered",
			     client.args_len, client.reply_len, client.replied);
		conn_free(client.conn, false);
	}
}

/* With each of 200 Calls one comes back, while others are in flight. */
static void reverse(struct net *net, uint16_t port, struct echo_server *server,
		    uint32_t reverse_bytes)
{
	struct echo_client client = {
		.xid_base = 0x100, .args_len = 3000, .reply_len = 9000, .calls = 200, .window = 8};

	server->reverse_bytes = reverse_bytes;
	echo_client_start(net, &client, port);
	(void)net_run_until(net, client_done, &client, WAIT_S);
	if (!echo_client_good(&client))
		fail("with reverse Calls of %u bytes only %u Calls are answered: %s", reverse_bytes,
		     client.replied,
		     client.failed         ? "a bad Reply"
		     : client.conn->closed ? "the connection is closed"
					   : "it takes too long");
	if (!net_run_until(net, reverse_answered, server, WAIT_S))
		fail("%lu of %lu reverse Calls of %u bytes are answered", server->reverse_answered,
		     server->reverse_sent, reverse_bytes);
	server->reverse_bytes = 0;
	conn_free(client.conn, false);
}

/* The client says that it will send no more; its Replies come, then the connection closes. */
static void half_close(struct net *net, uint16_t port)
{
	struct echo_client client = {.xid_base = 0x100,
				     .args_len = 100000,
				     .reply_len = 100000,
				     .calls = 4,
				     .window = 4};

	echo_client_start(net, &client, port);
	conn_shut(client.conn);
	(void)net_run_until(net, client_done, &client, WAIT_S);
	if (client.failed || client.replied != client.calls)
		fail("after a half-close %u of %u Calls are answered", client.replied,
		     client.calls);
	if (!net_run_until(net, client_closed, &client, WAIT_S))
		fail("a half-closed connection stays for ever");
	conn_free(client.conn, false);
}

int scenario_reverse(const struct ports *ports, int argc, char **argv)
{
	struct echo_server server = {0};
	struct net net;

	if (argc < 2)
		fail("usage: reverse passes|fails BYTES...");
	server.reverse_fails = !strcmp(argv[0], "fails");
	net_init(&net);
	echo_server_listen(&net, ports->back, &server);
	for (int i = 1; i < argc; i++)
		reverse(&net, ports->front, &server, (uint32_t)strtoul(argv[i], NULL, 10));
	net_free(&net);
	return 0;
}

int scenario_both_ways(const struct ports *ports, int argc, char **argv)
{
	struct echo_server server = {0};
	struct net net;

	net_init(&net);
	echo_server_listen(&net, ports->back, &server);
	sizes(&net, ports->front);
	printf("every size\n");
	reverse(&net, ports->front, &server, 4);
	reverse(&net, ports->front, &server, 800);
	printf("reverse Calls\n");
	half_close(&net, ports->front);
	printf("half-close\n");
	net_free(&net);
	return 0;
}
