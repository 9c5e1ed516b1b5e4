// SPDX-License-Identifier: BSD-3-Clause
/* The clients of a storm. */
#include <stdlib.h>
#include <string.h>

#include "rpc/call_info.h"
#include "rpc/xdr.h"
#include "tests/sim/rig.h"
#include "tests/sim/storm.h"
#include "tests/sim/storm_spoil.h"

#define BACK_US  20000u
#define XID_BITS 24u /* of an XID, next to the client's number */
#define LATE_OF  12u /* one of so many reverse Calls is answered late, or never */

bool storm_may_fail(const struct storm *storm, uint32_t xid, const struct storm_msg *reply)
{
	if (storm->plan.lies)
		return true;
	if (storm_is_encrypted(&storm->plan.traffic, xid) &&
	    reply->len_bytes > REPLY_UNBOUNDED_BYTES)
		return true;
	return storm->plan.lent && reply->len_bytes > STORM_LANDING_BYTES;
}

static unsigned find(const uint32_t *list, unsigned count, uint32_t xid)
{
	unsigned i = 0;

	while (i < count && list[i] != xid)
		i++;
	return i;
}

static void ask(struct storm_client *client, uint32_t xid)
{
	struct storm *storm = client->storm;

	storm_call(&storm->call, &storm->plan.traffic, xid, ++storm->seq);
	record_end_send(client->wire, storm->call.bytes, storm->call.len_bytes);
}

static void answer_now(struct storm_client *client, struct storm_asked asked)
{
	struct storm *storm = client->storm;

	storm_reply(&storm->reply, &storm->plan.traffic, asked.xid, asked.seq);
	record_end_send(client->wire, storm->reply.bytes, storm->reply.len_bytes);
}

/* Whether a reverse Call gets no answer in time. Between two TCP legs there is no time limit. */
static bool is_put_off(struct storm_client *client, struct storm_asked asked)
{
	struct storm *storm = client->storm;
	uint64_t limit_us = storm->plan.reverse_timeout_us;

	if (storm->plan.dialect == STORM_TCP_ONLY || storm_below(storm, LATE_OF))
		return false;
	/* Some just before that, some after it, some never. */
	if (client->nlate < STORM_LATE_MAX && storm_below(storm, 3))
		client->late[client->nlate++] =
			(struct storm_late){asked, loop_now_us(storm->chain->loop) + limit_us / 2 +
							   storm_below(storm, (uint32_t)limit_us)};
	return true;
}

static void answer_late(struct storm_client *client)
{
	uint64_t now_us = loop_now_us(client->storm->chain->loop);

	for (unsigned i = 0; i < client->nlate;) {
		if (now_us < client->late[i].due_us) {
			i++;
			continue;
		}
		answer_now(client, client->late[i].asked);
		client->late[i] = client->late[--client->nlate];
	}
}

/* The server's Call. */
static void answer(struct storm_client *client, const uint8_t *msg, uint32_t len_bytes)
{
	struct storm *storm = client->storm;
	const struct storm_asked asked = {be32_get(msg), storm_call_seq(msg, len_bytes)};

	RIG_ASSERT(asked.xid & STORM_REVERSE_XID);
	if (client->shut)
		return;
	storm_call(&storm->call, &storm->plan.traffic, asked.xid, asked.seq);
	RIG_ASSERT(storm_same(&storm->call, msg, len_bytes));
	if (!is_put_off(client, asked))
		answer_now(client, asked);
}

static void take_reply(struct storm_client *client, uint32_t xid)
{
	unsigned i = find(client->out, client->nout, xid);

	if (i < client->nout) {
		client->out[i] = client->out[--client->nout];
		client->storm->counts.answered++;
		return;
	}
	/* Asked again while the Reply was on its way here. */
	i = find(client->again, client->nagain, xid);
	RIG_ASSERT(i < client->nagain);
	client->again[i] = client->again[--client->nagain];
}

static void check_reply(struct storm *storm, const uint8_t *msg, uint32_t len_bytes)
{
	uint32_t xid = be32_get(msg), seq = storm_reply_seq(msg, len_bytes);

	/* The number of any copy: of the first that came to the server on its connection. */
	RIG_ASSERT(seq <= storm->seq);
	storm_reply(&storm->reply, &storm->plan.traffic, xid, seq);
	if (storm_same(&storm->reply, msg, len_bytes))
		return;
	RIG_ASSERT(storm_is_spoiled(storm, xid) || storm_may_fail(storm, xid, &storm->reply));
	RIG_ASSERT(storm_is_failure(&storm->plan.traffic, xid, msg, len_bytes));
	storm->counts.failed++;
}

static void received(void *arg, const uint8_t *msg, uint32_t len_bytes)
{
	struct storm_client *client = arg;
	struct storm *storm = client->storm;

	RIG_ASSERT(len_bytes >= 8);
	if (be32_get(msg + 4) == 0) {
		answer(client, msg, len_bytes);
		return;
	}
	check_reply(storm, msg, len_bytes);
	take_reply(client, be32_get(msg));
}

static const struct record_end_events wire_events = {.received = received};

void storm_client_init(struct storm_client *client, struct storm *storm, unsigned number,
		       uint32_t rpcs)
{
	uint32_t first = (number << XID_BITS) + 1;

	RIG_ASSERT(rpcs < 1u << XID_BITS);
	*client = (struct storm_client){
		.storm = storm,
		.first_xid = first,
		.next_xid = first,
		.end_xid = first + rpcs,
		.window = 1 + storm_below(storm, STORM_WINDOW_MAX),
	};
}

static void let_go(struct storm_client *client)
{
	record_end_fini(client->wire);
	free(client->wire);
	client->wire = NULL;
	client->shut = false;
	client->nagain = client->nlate = 0;
	client->back_us =
		loop_now_us(client->storm->chain->loop) + storm_below(client->storm, BACK_US);
}

static void retry_connect(struct storm_client *client)
{
	struct storm *storm = client->storm;

	client->wire = calloc(1, sizeof(*client->wire));
	RIG_ASSERT(client->wire);
	client->wire->events = &wire_events;
	client->wire->arg = client;
	/*
	 * A Call whose length nobody knows beforehand is refused where the memory for a long one is
	 * not there.
	 */
	if (storm_below(storm, 4) == 0 && !storm->chain->params.budget_bytes)
		client->wire->fragment_bytes = 4 + storm_below(storm, 40000);
	record_end_start(client->wire, chain_dial(storm->chain));
	storm->counts.connections++;
	storm->counts.asked_again += client->nout;
	for (unsigned i = 0; i < client->nout; i++)
		ask(client, client->out[i]);
}

/* A Call that may be in flight still, as clients do that wait too long. */
static void ask_twice(struct storm_client *client)
{
	uint32_t xid;

	if (!client->nout || client->nagain == STORM_AGAIN_MAX)
		return;
	xid = client->out[storm_below(client->storm, client->nout)];
	client->again[client->nagain++] = xid;
	client->storm->counts.swallowable++;
	client->storm->counts.gss_swallowable += storm_is_gss(&client->storm->plan.traffic, xid);
	ask(client, xid);
}

void storm_client_turn(struct storm_client *client)
{
	struct storm *storm = client->storm;

	if (client->wire && client->wire->is_over)
		let_go(client);
	if (!client->wire && loop_now_us(storm->chain->loop) >= client->back_us)
		retry_connect(client);
	if (!client->wire || client->shut)
		return;
	answer_late(client);
	if (storm->resting)
		return;
	while (client->nout < client->window && client->next_xid < client->end_xid) {
		client->out[client->nout++] = client->next_xid;
		ask(client, client->next_xid++);
	}
	if (storm_below(storm, 64) == 0)
		ask_twice(client);
}

bool storm_client_is_quiet(const struct storm_client *client)
{
	return !client->nout;
}

bool storm_client_is_done(const struct storm_client *client)
{
	return client->next_xid == client->end_xid && !client->nout;
}

void storm_client_shut(struct storm_client *client)
{
	if (!client->wire || client->wire->is_over || client->wire->out_bytes || client->shut)
		return;
	record_end_shutdown(client->wire);
	client->shut = true;
}

void storm_client_close(struct storm_client *client, bool reset)
{
	if (client->wire)
		record_end_close(client->wire, reset);
}

void storm_client_fini(struct storm_client *client)
{
	if (client->wire)
		let_go(client);
}
