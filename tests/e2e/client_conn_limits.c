// SPDX-License-Identifier: BSD-3-Clause
/*
 * Clients that take a connection slot and send little, or reconnect all the time; and one that must
 * be served meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/e2e/echo.h"
#include "tests/e2e/mpa.h"
#include "tests/e2e/rpc_peer.h"
#include "tests/lib/time_limit.h"

#define WAIT_S    20
#define MANY      1000
#define ROUNDS    4
#define FASTEST_S 0.45 /* that a client which is turned away comes back; it is held for 0.5 s */

static struct net net;
static struct echo_server server;
static struct echo_client good = {.xid_base = 0x100, .args_len = 6000, .reply_len = 6000};
static struct conn *conns[MANY];
static struct mpa mpas[MANY];

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void ignore(struct conn *conn, const uint8_t *data, size_t len)
{
}

static struct conn *say_nothing(uint16_t port, uint32_t from)
{
	struct conn *conn = net_connect(&net, port, from, 0);

	conn->raw = true;
	conn->received = ignore;
	return conn;
}

static void serve_the_good_one(const struct ports *ports, const char *when)
{
	echo_client_start(&net, &good, ports->front);
	echo_client_ask(&net, &good, when);
}

static unsigned count_closed(unsigned count)
{
	unsigned closed = 0;

	for (unsigned i = 0; i < count; i++)
		closed += conns[i]->closed;
	return closed;
}

static void try_silent(const struct ports *ports, uint16_t port, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		conns[i] = say_nothing(port, 0);
	serve_the_good_one(ports, "beside silent sockets");
	if (count_closed(count))
		fail("%u of %u silent sockets were closed", count_closed(count), count);
}

static bool all_started(void *arg)
{
	const unsigned *count = arg;

	for (unsigned i = 0; i < *count; i++)
		if (!mpas[i].started && !mpas[i].conn->closed)
			return false;
	return true;
}

static unsigned count_set_ups_closed(unsigned count)
{
	unsigned closed = 0;

	for (unsigned i = 0; i < count; i++)
		closed += mpas[i].conn->closed;
	return closed;
}

static bool one_set_up_closed(void *arg)
{
	return count_set_ups_closed(*(const unsigned *)arg) > 0;
}

static void set_up(const struct ports *ports, uint16_t port, unsigned count)
{
	struct buf request = {0};

	mpa_request(&request, MPA_CRC | MPA_ENHANCED, 2);
	for (unsigned i = 0; i < count; i++) {
		mpa_connect(&net, &mpas[i], port);
		conn_send(mpas[i].conn, request.data, request.len);
	}
	buf_free(&request);
	if (!net_run_until(&net, all_started, &count, WAIT_S))
		fail("a set-up is not finished");
	serve_the_good_one(ports, "beside finished set-ups");
}

/* Of an address that is new to the service: their servers are reached before they are accepted. */
static void try_finished(const struct ports *ports, uint16_t port, unsigned count)
{
	set_up(ports, port, count);
	if (!net_run_until(&net, one_set_up_closed, &count, WAIT_S))
		fail("no set-up without a Call has made room");
	if (count_set_ups_closed(count) != 1)
		fail("%u set-ups made room for one client", count_set_ups_closed(count));
}

/*
 * Of one that had connections: their first Calls are to tell which, so they have no servers and
 * take no place.
 */
static void try_unknown(const struct ports *ports, uint16_t port, unsigned count)
{
	set_up(ports, port, count);
	if (count_set_ups_closed(count))
		fail("%u set-ups were closed", count_set_ups_closed(count));
}

/* Each comes back as soon as it is closed. Returns how often one was closed. */
static unsigned come_back(uint16_t port, unsigned count)
{
	unsigned ends = 0;

	for (unsigned i = 0; i < count; i++) {
		if (!conns[i]->closed)
			continue;
		ends++;
		conn_free(conns[i], false);
		conns[i] = say_nothing(port, 0);
	}
	return ends;
}

static void try_refused(const struct ports *ports, uint16_t port, unsigned count)
{
	unsigned ends = 0, more;
	double start_s = now_s(), took_s;
	struct time_limit limit;

	for (unsigned i = 0; i < count; i++)
		conns[i] = say_nothing(port, 0);
	serve_the_good_one(ports, "beside clients that are turned away");
	time_limit_begin(&limit, WAIT_S);
	while (ends < ROUNDS * count) {
		net_turn(&net, 100);
		more = come_back(port, count);
		ends += more;
		if (more)
			time_limit_begin(&limit, WAIT_S);
		else if (time_limit_passed(&limit))
			fail("clients that are turned away are not closed");
	}
	took_s = now_s() - start_s;
	printf("%u clients were turned away %u times in %.2f s: %.2f times a second each\n", count,
	       ends, took_s, ends / took_s / count);
	if (took_s < ROUNDS * FASTEST_S)
		fail("they came back too fast");
}

static bool one_closed(void *arg)
{
	const unsigned *count = arg;

	return count_closed(*count) > 0;
}

/* One more than an address may have. */
static void try_share(const struct ports *ports, uint16_t port, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		conns[i] = say_nothing(port, NET_LOOPBACK2);
	if (!net_run_until(&net, one_closed, &count, WAIT_S))
		fail("an address has more connections than its share");
	if (count_closed(count) != 1 || !conns[count - 1]->closed)
		fail("not the last one was turned away");
	serve_the_good_one(ports, "from another address");
}

static const struct kind {
	const char *name;
	void (*run)(const struct ports *ports, uint16_t port, unsigned count);
} kinds[] = {
	{"silent", try_silent},   {"finished", try_finished}, {"unknown", try_unknown},
	{"refused", try_refused}, {"share", try_share},
};

int scenario_doors(const struct ports *ports, int argc, char **argv)
{
	unsigned count;

	if (argc != 3)
		fail("doors: KIND PORT COUNT");
	count = (unsigned)atoi(argv[2]);
	if (!count || count > MANY)
		fail("doors: from 1 to %d clients", MANY);
	net_init(&net);
	echo_server_listen(&net, ports->back, &server);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[0]))
			continue;
		kinds[i].run(ports, (uint16_t)atoi(argv[1]), count);
		net_free(&net);
		return 0;
	}
	fail("doors: no kind %s", argv[0]);
}
