// SPDX-License-Identifier: BSD-3-Clause
/*
 * Hostile connections that open and close, many of them concurrently. Each acts at random, by the
 * seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/e2e/hostile.h"
#include "tests/e2e/message.h"
#include "tests/e2e/rpc_peer.h"

#define AT_ONCE_MAX 400
#define TARGETS_MAX 16
#define KINDS_MAX   64
#define STAY_MS     1000 /* most stay less than this */
#define LINGER_MS   6000 /* those whose harm takes time, less than this */
#define DRIP_MS     1000
#define FIRST_ADDR  0x7f020001u /* connections come from 250 addresses */
#define ADDRS       250

struct campaign {
	struct net net, at_servers; /* in turns, each with a limit of connections */
	uint64_t seed;
	struct hostile_target targets[TARGETS_MAX];
	unsigned ntargets, at_once, left;
	struct hostile hostiles[AT_ONCE_MAX];
	unsigned long came[KINDS_MAX],
		ended[KINDS_MAX]; /* by kind: all, and those that the proxy ended */
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void ignore(struct conn *conn, const uint8_t *data, size_t len)
{
	(void)conn;
	(void)data;
	(void)len;
}

static void come(struct campaign *campaign, struct hostile *h)
{
	struct dice *dice = &h->dice;
	const struct hostile_target *target;
	struct conn *conn;

	*dice = (struct dice){campaign->seed + campaign->left};
	target = &campaign->targets[dice_throw(dice, campaign->ntargets)];
	h->target = target;
	h->kind = hostile_kind_of(dice, target->rdma);
	h->leaves_ms = now_ms() + dice_throw(dice, h->kind->lingers ? LINGER_MS : STAY_MS);
	conn = net_connect(&campaign->net, target->port, FIRST_ADDR + dice_throw(dice, ADDRS), 0);
	if (h->kind->set_up) {
		mpa_start(&h->mpa, conn);
	} else {
		h->mpa.conn = conn;
		conn->raw = true;
		conn->received = ignore;
		conn->paused = h->kind->deaf;
	}
	campaign->came[hostile_kind_number(h->kind)]++;
	campaign->left--;
}

static void leave(struct campaign *campaign, struct hostile *h)
{
	bool reset = h->kind->vanishes || dice_throw(&h->dice, 2);

	if (h->mpa.conn->closed)
		campaign->ended[hostile_kind_number(h->kind)]++;
	if (h->mpa.bad_crc)
		fail("%s: an FPDU with a bad CRC came back", h->kind->name);
	mpa_free(&h->mpa, reset);
	buf_free(&h->drip);
	memset(h, 0, sizeof(*h));
}

static bool is_set_up(const struct hostile *h)
{
	return !h->kind->set_up || (h->mpa.started && !(h->mpa.reply_flags & MPA_REJECT));
}

/* What is due on a connection; false if it is over. */
static bool go_on(struct hostile *h, uint64_t now)
{
	struct conn *conn = h->mpa.conn;

	if (conn->closed || now >= h->leaves_ms)
		return false;
	if (!h->begun && is_set_up(h)) {
		h->begun = true;
		if (h->kind->begin)
			h->kind->begin(h);
		conn->paused = h->kind->deaf;
	}
	if (h->dripped < h->drip.len && now >= h->drips_ms) {
		conn_send(conn, h->drip.data + h->dripped++, 1);
		h->drips_ms = now + DRIP_MS;
	}
	return true;
}

static void free_ended(struct net *net)
{
	struct conn *conn = TAILQ_FIRST(&net->conns), *next;

	for (; conn; conn = next) {
		next = TAILQ_NEXT(conn, entry);
		if (conn->closed)
			conn_free(conn, false);
	}
}

/* Returns whether a connection is left, or still to come. */
static bool campaign_turn(struct campaign *campaign)
{
	uint64_t now = now_ms();
	bool busy = false;

	for (unsigned i = 0; i < campaign->at_once; i++) {
		struct hostile *h = &campaign->hostiles[i];

		if (!h->kind && campaign->left)
			come(campaign, h);
		else if (h->kind && !go_on(h, now))
			leave(campaign, h);
		busy |= h->kind != NULL;
	}
	net_turn(&campaign->at_servers, 0);
	free_ended(&campaign->at_servers);
	net_turn(&campaign->net, 5);
	return busy || campaign->left;
}

/* tcp:PORT:PROGRAM or rdma:PORT:PROGRAM; the test's own program if that is 0. */
static struct hostile_target target_of(const char *text)
{
	struct hostile_target target = {.rdma = !strncmp(text, "rdma:", 5)};
	const char *port = strchr(text, ':'), *program = port ? strchr(port + 1, ':') : NULL;

	if (!program)
		fail("%s is not KIND:PORT:PROGRAM", text);
	target.port = (uint16_t)strtoul(port + 1, NULL, 10);
	target.program = (uint32_t)strtoul(program + 1, NULL, 10);
	if (!target.program)
		target.program = TEST_PROGRAM;
	return target;
}

static void print_kinds(const struct campaign *campaign)
{
	const struct hostile_kind *kind;

	for (unsigned i = 0; (kind = hostile_kind_at(i)); i++)
		printf("%5lu %s: %s, %lu of them ended by the proxy\n", campaign->came[i],
		       kind->rdma ? "rdma" : "tcp", kind->name, campaign->ended[i]);
}

int scenario_hostile(const struct ports *ports, int argc, char **argv)
{
	static struct campaign campaign;

	if (argc < 4 || argc - 3 > TARGETS_MAX)
		fail("hostile wants SEED CONNECTIONS AT_ONCE TARGET...");
	campaign.seed = strtoull(argv[0], NULL, 10);
	campaign.left = (unsigned)atoi(argv[1]);
	campaign.at_once = (unsigned)atoi(argv[2]);
	if (!campaign.at_once || campaign.at_once > AT_ONCE_MAX)
		fail("%u connections at once", campaign.at_once);
	for (int i = 3; i < argc; i++)
		campaign.targets[campaign.ntargets++] = target_of(argv[i]);
	net_init(&campaign.net);
	net_init(&campaign.at_servers);
	hostile_serve_echo(&campaign.at_servers, ports->back);
	hostile_serve_silence(&campaign.at_servers, ports->upstream);
	while (campaign_turn(&campaign))
		;
	print_kinds(&campaign);
	net_free(&campaign.net);
	net_free(&campaign.at_servers);
	return 0;
}
