// SPDX-License-Identifier: BSD-3-Clause
/* Cases of fabric_pair: keepalive probes. */
#include "tests/lab/pair.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric/verbs/verbs.h"

static uint64_t wait_till_us;

static bool it_is_time(void)
{
	return loop_now_us(loop) >= wait_till_us;
}

static void wait_a_while(uint64_t us)
{
	wait_till_us = loop_now_us(loop) + us;
	wait_until(it_is_time);
}

static uint64_t probes(void)
{
	return ((const struct verbs_counters *)fabric->counters)->probes;
}

static struct side *prober;
static uint64_t probes_wanted;

/* One that was not answered stands in the way of the next. */
static bool next_probe_goes(void)
{
	return prober->closed || fabric_ep_keepalive(prober->ep) || probes() == probes_wanted;
}

static bool answers_probes(struct side *side)
{
	prober = side;
	probes_wanted = probes();
	for (unsigned i = 0; i < 5; i++) {
		probes_wanted++;
		if (!wait_until(next_probe_goes) || fabric_ep_keepalive(side->ep) ||
		    probes() != probes_wanted)
			return false;
	}
	wait_a_while(300000);
	return !side->closed;
}

static void case_probe(void)
{
	const uint32_t part = BULK_BYTES / 32;
	struct fabric_key key;
	struct buf *from = pattern_buf(BULK_BYTES, 13), *to = buf_get(pool, BULK_BYTES);
	int err;

	if (!connect_pair() || !client_speaks())
		return result(false, "connects");
	err = fabric_ep_keepalive(client.ep);
	wait_a_while(300000);
	if (err)
		result(err == -EOPNOTSUPP, "says that a connector's probe would not tell");
	else
		result(answers_probes(&client), "answers a connector's probes");
	result(answers_probes(&server), "answers an acceptor's probes");
	if (lend_from(&client, &key, from, 0, BULK_BYTES, FABRIC_REMOTE_READ))
		return result(false, "binds a key");
	/* The key goes along with a Send, so that it is good. */
	if (!client_speaks())
		result(false, "sends the key");
	wait_a_while(300000);
	jobs_begin();
	if (fabric_ep_keepalive(server.ep))
		printf("# no probe\n");
	for (unsigned i = 0; i < 32; i++)
		if (job_post(&server, FABRIC_READ, to, i * part, part, key.rkey,
			     key.addr + i * part) ||
		    fabric_ep_keepalive(server.ep))
			printf("# post failed\n");
	result(wait_until(all_done) && done_ok == 32 && !done_disorder &&
		       !memcmp(to->mem, from->mem, BULK_BYTES),
	       "probes before and among Reads, more than the peer's depth");
	result(take_back(&key) && client_speaks() && !client.closed && !server.closed,
	       "goes on after its probes");
	close_pair();
	/* One that is under way when the connection ends. */
	if (!connect_pair() || !client_speaks())
		return result(false, "connects");
	err = fabric_ep_keepalive(server.ep);
	close_pair();
	result(!err && client.closed && server.closed, "ends a connection that is being probed");
	buf_put(from);
	buf_put(to);
}

void pair_probes(void)
{
	case_probe();
}
