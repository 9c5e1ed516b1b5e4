// SPDX-License-Identifier: BSD-3-Clause
/*
 * Clients are reset, all together, and reconnect from the ports that they had, as often as the
 * input demands.
 *
 * Prints "up" when each of them has had a Reply. A line on standard input then resets them: "same"
 * or "reversed" is the order in which they reconnect. At the end of the input they disconnect.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/echo.h"
#include "tests/e2e/rpc_peer.h"

#define CLIENTS_MAX 512
#define FIRST_PORT  20001 /* if the test says nothing else: below what the kernel gives */
#define WAIT_S      30

static struct echo_client clients[CLIENTS_MAX];
static unsigned nclients, first_port = FIRST_PORT;
static struct net net;

static bool all_done(void *arg)
{
	for (unsigned i = 0; i < nclients; i++)
		if (!echo_client_done(&clients[i]))
			return false;
	return true;
}

static void come(const struct ports *ports, unsigned i)
{
	clients[i] = (struct echo_client){
		.xid_base = 0x1000 * (i + 1),
		.args_len = 100,
		.reply_len = 200,
		.calls = 2,
		.window = 1,
		.from_port = (uint16_t)(first_port + i),
	};
	echo_client_start(&net, &clients[i], ports->front);
}

static void come_all(const struct ports *ports, bool reversed)
{
	for (unsigned i = 0; i < nclients; i++)
		come(ports, reversed ? nclients - 1 - i : i);
	if (!net_run_until(&net, all_done, NULL, WAIT_S))
		fail("not every client has its Reply");
	for (unsigned i = 0; i < nclients; i++)
		if (!echo_client_good(&clients[i]))
			fail("client %u of %u lost its connection or got another Reply", i,
			     nclients);
	puts("up");
}

static void go_all(void)
{
	for (unsigned i = 0; i < nclients; i++)
		conn_free(clients[i].conn, true);
}

int scenario_returning(const struct ports *ports, int argc, char **argv)
{
	struct echo_server server = {0};
	char line[32];

	nclients = argc < 1 ? 0 : (unsigned)strtoul(argv[0], NULL, 10);
	if (argc > 1)
		first_port = (unsigned)strtoul(argv[1], NULL, 10);
	if (!nclients || nclients > CLIENTS_MAX)
		fail("returning wants 1 to %d clients", CLIENTS_MAX);
	net_init(&net);
	echo_server_listen(&net, ports->back, &server);
	come_all(ports, false);
	while (fgets(line, sizeof(line), stdin)) {
		go_all();
		come_all(ports, !strcmp(line, "reversed\n"));
	}
	go_all();
	net_free(&net);
	return 0;
}
