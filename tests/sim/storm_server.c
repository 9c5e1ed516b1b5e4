// SPDX-License-Identifier: BSD-3-Clause
/* The server of a storm. */
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "tests/sim/rig.h"
#include "tests/sim/storm.h"

#define EARLY_OF   8u  /* one of so many Calls that come in parts is answered early */
#define CALL_START 44u /* bytes of a Call in which its sequence number is, if it has one */

static unsigned find(const struct storm_asked *list, unsigned count, uint32_t xid)
{
	unsigned i = 0;

	while (i < count && list[i].xid != xid)
		i++;
	return i;
}

/* Executes a Call, unless that was done before: the cache has it. */
static void execute(struct storm *storm, uint32_t xid)
{
	for (unsigned i = 0; i < storm->nclients; i++) {
		const struct storm_client *client = &storm->clients[i];

		if (xid < client->first_xid || xid >= client->next_xid)
			continue;
		if (storm->executed[i][xid - client->first_xid]++)
			storm->counts.executed_before++;
		return;
	}
	RIG_ASSERT(storm_gone_knows(storm, xid));
}

/* The Call is whole: whether it was answered before. */
static bool is_answered(struct storm_session *session, uint32_t xid)
{
	bool early = session->looked_at && session->is_early;

	RIG_ASSERT(!session->looked_at || session->coming_xid == xid);
	session->looked_at = session->is_early = false;
	return early;
}

static void take_call(struct storm_session *session, uint32_t xid, const uint8_t *msg,
		      uint32_t len_bytes)
{
	struct storm *storm = session->storm;
	uint32_t seq = storm_call_seq(msg, len_bytes);

	storm_call(&storm->call, &storm->plan.traffic, xid, seq);
	RIG_ASSERT(storm_same(&storm->call, msg, len_bytes));
	RIG_ASSERT(find(session->held, session->nheld, xid) == session->nheld);
	RIG_ASSERT(session->nheld < ARRAY_SIZE(session->held));
	if (is_answered(session, xid))
		return;
	execute(storm, xid);
	session->held[session->nheld++] = (struct storm_asked){xid, seq};
}

/* A part of a Call: one in EARLY_OF is answered before the rest of it has come. */
static void grown(void *arg, const uint8_t *msg, uint32_t have_bytes, uint32_t len_bytes)
{
	struct storm_session *session = arg;
	struct storm *storm = session->storm;

	uint32_t seq;

	if (have_bytes < CALL_START || be32_get(msg + 4) != 0 || session->looked_at)
		return;
	session->looked_at = true;
	session->coming_xid = be32_get(msg);
	session->is_early = !storm->resting && storm_below(storm, EARLY_OF) == 0;
	if (!session->is_early)
		return;
	storm->counts.early++;
	execute(storm, session->coming_xid);
	seq = storm_call_seq(msg, have_bytes);
	storm_reply(&storm->reply, &storm->plan.traffic, session->coming_xid, seq);
	record_end_send(&session->wire, storm->reply.bytes, storm->reply.len_bytes);
}

static void take_reply(struct storm_session *session, uint32_t xid, const uint8_t *msg,
		       uint32_t len_bytes)
{
	struct storm *storm = session->storm;
	unsigned i = find(session->reverse, session->nreverse, xid);

	RIG_ASSERT(i < session->nreverse);
	storm_reply(&storm->reply, &storm->plan.traffic, xid, session->reverse[i].seq);
	session->reverse[i] = session->reverse[--session->nreverse];
	storm->counts.reverse_answered++;
	if (storm_same(&storm->reply, msg, len_bytes))
		return;
	/* Whoever fails it counts that, and is asked at the end. */
	RIG_ASSERT(storm_is_failure(&storm->plan.traffic, xid, msg, len_bytes));
	storm->counts.reverse_failed++;
}

static void received(void *arg, const uint8_t *msg, uint32_t len_bytes)
{
	RIG_ASSERT(len_bytes >= 8);
	if (be32_get(msg + 4) == 0)
		take_call(arg, be32_get(msg), msg, len_bytes);
	else
		take_reply(arg, be32_get(msg), msg, len_bytes);
}

static const struct record_end_events wire_events = {.received = received, .grown = grown};

void storm_server_accepted(void *arg, struct stream *stream)
{
	struct storm *storm = arg;
	struct storm_session *session = calloc(1, sizeof(*session));

	RIG_ASSERT(session);
	*session = (struct storm_session){
		.storm = storm,
		.wire = {.events = &wire_events, .arg = session},
		.next_reverse = STORM_REVERSE_XID,
	};
	if (storm_below(storm, 4) == 0)
		session->wire.fragment_bytes = 4 + storm_below(storm, 40000);
	TAILQ_INSERT_TAIL(&storm->sessions, session, entry);
	record_end_start(&session->wire, stream);
}

/* In any order. */
static void answer_some(struct storm_session *session)
{
	struct storm *storm = session->storm;

	while (session->nheld && (storm->resting || storm_below(storm, 8))) {
		unsigned i = storm_below(storm, session->nheld);
		struct storm_asked asked = session->held[i];

		session->held[i] = session->held[--session->nheld];
		storm_reply(&storm->reply, &storm->plan.traffic, asked.xid, asked.seq);
		record_end_send(&session->wire, storm->reply.bytes, storm->reply.len_bytes);
	}
}

static void call_some(struct storm_session *session)
{
	struct storm *storm = session->storm;

	while (!storm->resting && session->nreverse < STORM_REVERSE_MAX &&
	       storm_below(storm, 16) == 0) {
		const struct storm_asked asked = {session->next_reverse++, ++storm->seq};

		session->reverse[session->nreverse++] = asked;
		storm_call(&storm->call, &storm->plan.traffic, asked.xid, asked.seq);
		record_end_send(&session->wire, storm->call.bytes, storm->call.len_bytes);
	}
}

void storm_server_turn(struct storm *storm)
{
	struct storm_session *session = TAILQ_FIRST(&storm->sessions);

	while (session) {
		struct storm_session *next = TAILQ_NEXT(session, entry);

		if (session->wire.is_over) {
			TAILQ_REMOVE(&storm->sessions, session, entry);
			record_end_fini(&session->wire);
			free(session);
		} else if (!storm_gone_hangs(storm)) {
			answer_some(session);
			call_some(session);
		}
		session = next;
	}
}

bool storm_server_is_quiet(const struct storm *storm)
{
	const struct storm_session *session;

	TAILQ_FOREACH(session, &storm->sessions, entry)
		if (!session->wire.is_over && (session->nheld || session->nreverse))
			return false;
	return true;
}
