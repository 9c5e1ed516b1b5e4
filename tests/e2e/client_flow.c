// SPDX-License-Identifier: BSD-3-Clause
/* Many clients share little memory, in both directions; some stop reading. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/e2e/echo.h"
#include "tests/e2e/rpc_peer.h"
#include "tests/lib/time_limit.h"

#define CLIENTS_MAX 200
#define WAIT_S      120
#define PAUSE_S     2 /* for which some read nothing, unless others have had Replies */

struct crowd {
	struct echo_client clients[CLIENTS_MAX];
	unsigned count, stalled; /* the first @stalled ones stop reading */
};

static bool readers_done(void *arg)
{
	struct crowd *crowd = arg;

	for (unsigned i = crowd->stalled; i < crowd->count; i++)
		if (!echo_client_done(&crowd->clients[i]))
			return false;
	return true;
}

static bool all_done(void *arg)
{
	struct crowd *crowd = arg;

	for (unsigned i = 0; i < crowd->count; i++)
		if (!echo_client_done(&crowd->clients[i]))
			return false;
	return true;
}

/* If one of them is lost, the wait ends too. */
static bool some_replies(const struct crowd *crowd)
{
	for (unsigned i = crowd->stalled; i < crowd->count; i++)
		if (crowd->clients[i].replied || echo_client_done(&crowd->clients[i]))
			return true;
	return false;
}

/* Those that stopped reading have lost their connections, which reading would tell, too. */
static bool stalled_lost(void *arg)
{
	struct crowd *crowd = arg;

	for (unsigned i = 0; i < crowd->stalled; i++) {
		struct pollfd fd = {.fd = crowd->clients[i].conn->fd, .events = POLLRDHUP};

		if (poll(&fd, 1, 0) <= 0)
			return false;
	}
	return true;
}

/* No limit, but a part of what they do: it takes as long on any machine. */
static void pause_some(struct net *net, const struct crowd *crowd)
{
	struct time_limit pause;

	time_limit_begin(&pause, PAUSE_S);
	while (!some_replies(crowd) && time_limit_left_ms(&pause) > 0)
		net_turn(net, 50);
}

static void must_be_good(const struct crowd *crowd, unsigned from)
{
	for (unsigned i = from; i < crowd->count; i++) {
		const struct echo_client *client = &crowd->clients[i];

		if (!echo_client_good(client))
			fail("client %u: %u of %u Calls answered, %s", i, client->replied,
			     client->calls,
			     client->failed         ? "a bad Reply"
			     : client->conn->closed ? "dropped"
						    : "stuck");
	}
}

static void crowd_start(struct net *net, struct crowd *crowd, uint16_t port, uint32_t bytes,
			unsigned calls)
{
	int small = 65536;

	for (unsigned i = 0; i < crowd->count; i++) {
		struct echo_client *client = &crowd->clients[i];

		client->xid_base = i << 16;
		client->calls = calls;
		client->window = 2;
		client->args_len = bytes;
		client->reply_len = bytes;
		echo_client_start(net, client, port);
		if (i < crowd->stalled) {
			setsockopt(client->conn->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
			client->conn->paused = true;
		}
	}
}

/*
 * flow CLIENTS CALLS BYTES STALLED resume: those that stopped reading go on once some others had
 * Replies or a while has passed; everybody is served in the end. flow CLIENTS CALLS BYTES STALLED
 * never: they never go on, and everybody else is served all the same. flow ... dropped: and they
 * lose their connections.
 */
static bool all_ended(void *arg)
{
	const struct echo_server *server = arg;

	return server->ended >= server->accepted;
}

/* The clients first: whoever looks at the proxies is to see that it was they who left. */
static void leave(struct net *net, struct crowd *crowd, struct echo_server *server)
{
	for (unsigned i = 0; i < crowd->count; i++)
		conn_free(crowd->clients[i].conn, false);
	if (!net_run_until(net, all_ended, server, WAIT_S))
		fail("%lu of %lu connections to the server have ended", server->ended,
		     server->accepted);
}

int scenario_flow(const struct ports *ports, int argc, char **argv)
{
	struct echo_server server = {.reverse_bytes = 400};
	static struct crowd crowd;
	struct net net;
	bool resume;

	if (argc < 5)
		fail("flow wants CLIENTS CALLS BYTES STALLED resume|never|dropped");
	crowd.count = (unsigned)atoi(argv[0]);
	crowd.stalled = (unsigned)atoi(argv[3]);
	resume = !strcmp(argv[4], "resume");
	if (crowd.count > CLIENTS_MAX || crowd.stalled >= crowd.count)
		fail("%u clients of which %u stall", crowd.count, crowd.stalled);
	net_init(&net);
	echo_server_listen(&net, ports->back, &server);
	crowd_start(&net, &crowd, ports->front, (uint32_t)atoi(argv[2]), (unsigned)atoi(argv[1]));
	if (resume) {
		pause_some(&net, &crowd);
		for (unsigned i = 0; i < crowd.stalled; i++)
			crowd.clients[i].conn->paused = false;
		(void)net_run_until(&net, all_done, &crowd, WAIT_S);
		must_be_good(&crowd, 0);
		leave(&net, &crowd, &server);
	} else {
		(void)net_run_until(&net, readers_done, &crowd, WAIT_S);
		must_be_good(&crowd, crowd.stalled);
		if (!strcmp(argv[4], "dropped") &&
		    !net_run_until(&net, stalled_lost, &crowd, WAIT_S))
			fail("who stopped reading keeps the connection");
	}
	printf("%lu Calls, %lu reverse Calls, %lu of them answered\n", server.calls,
	       server.reverse_sent, server.reverse_answered);
	net_free(&net);
	return 0;
}
