// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests any failure at any moment: no leak, no duplicate or wrong answer, no hang.
 *
 * Each scenario runs repeatedly with the fault one step later, until it completes before the fault.
 * rig_end() then checks that every buffer and every claim was released.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/sim/raw.h"

#define STEPS_MAX 5000u

/* What a scenario consists of; a Call that a leg no longer takes is left out. */
struct scenario {
	const char *name;
	struct sim_faults faults;
	unsigned forward, reverse; /* Calls */
	uint32_t call_bytes, reply_bytes;
	size_t budget_bytes; /* 0: plenty */
	uint32_t segment_bytes;
};

static const struct scenario scenarios[] = {
	{.name = "inline", .forward = 3, .reverse = 3, .call_bytes = 200, .reply_bytes = 300},
	{.name = "chunks", .forward = 3, .reverse = 1, .call_bytes = 9000, .reply_bytes = 9000},
	{.name = "segments",
	 .forward = 2,
	 .call_bytes = 9000,
	 .reply_bytes = 9000,
	 .segment_bytes = 2000},
	{.name = "slow keys",
	 .faults = {.async_unbind = true, .max_delay_us = 2000, .seed = 5},
	 .forward = 4,
	 .reverse = 2,
	 .call_bytes = 9000,
	 .reply_bytes = 9000},
	{.name = "little memory",
	 .faults = {.max_delay_us = 2000, .seed = 6},
	 .forward = 8,
	 .reverse = 2,
	 .call_bytes = 9000,
	 .reply_bytes = 9000,
	 .budget_bytes = 100000},
	{.name = "one read at a time, delays",
	 .faults = {.max_ord = 1, .max_sge = 1, .max_delay_us = 1000, .seed = 8},
	 .forward = 4,
	 .call_bytes = 20000,
	 .reply_bytes = 5000,
	 .segment_bytes = 3000},
};

static void make_calls(struct rig_side *side, unsigned n, const struct scenario *s, bool forward)
{
	for (unsigned i = 0; i < n && side->leg; i++)
		rig_call(side, forward ? s->call_bytes : RIG_CALL_MIN + 40 * i,
			 forward ? s->reply_bytes : 100 + 40 * i, s->reply_bytes);
}

static struct rig *rig_for(const struct scenario *s, const struct sim_faults *faults)
{
	struct rig *rig = rig_new(faults);

	if (s->budget_bytes)
		test_budget_limit(&rig->budget, s->budget_bytes);
	rig->client.config.max_segment_bytes = s->segment_bytes;
	return rig;
}

static void play(struct rig *rig, const struct scenario *s)
{
	rig_connect(rig);
	make_calls(&rig->client, s->forward, s, true);
	rig_run(rig);
	make_calls(&rig->server, s->reverse, s, false);
	make_calls(&rig->client, s->forward, s, true);
	rig_run(rig);
}

/* Either all was answered, or the connection has ended at both ends; then all is freed. */
static void judge(struct rig *rig, const struct scenario *s)
{
	const struct rig_side *sides[] = {&rig->client, &rig->server};

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		ck_assert_msg(!sides[i]->wrong, "%s: a wrong reply", s->name);
		ck_assert_msg(!sides[i]->leg || TAILQ_EMPTY(&sides[i]->waiting),
			      "%s: a Call without an answer on an open leg", s->name);
	}
	ck_assert_msg(!rig->client.leg == !rig->server.leg, "%s: one end open", s->name);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overruns, 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->overlong, 0);
	ck_assert_uint_eq(sim_net_stats(rig->net)->access_errors, 0);
	rig_end(rig);
}

/* Runs a scenario with @set(faults, k) for k = 1, 2 … until @reached says that the fault came too late. */
static void sweep(const struct scenario *s, void (*set)(struct sim_faults *faults, unsigned k),
		  bool (*reached)(const struct sim_stats *stats, unsigned k), unsigned least)
{
	bool more = true;
	unsigned k;

	for (k = 1; more && k < STEPS_MAX; k++) {
		struct sim_faults faults = s->faults;
		struct rig *rig;

		set(&faults, k);
		rig = rig_for(s, &faults);
		play(rig, s);
		more = reached(sim_net_stats(rig->net), k);
		judge(rig, s);
	}
	ck_assert_msg(k > least && k < STEPS_MAX, "%s: %u runs", s->name, k);
}

static bool step_reached(const struct sim_stats *stats, unsigned k)
{
	return stats->steps >= k;
}

static bool wr_reached(const struct sim_stats *stats, unsigned k)
{
	return stats->wrs >= k;
}

static bool bind_reached(const struct sim_stats *stats, unsigned k)
{
	return stats->binds >= k;
}

static void set_cut(struct sim_faults *faults, unsigned k)
{
	faults->cut_at_step = k;
}

static void set_fail_local(struct sim_faults *faults, unsigned k)
{
	faults->fail_wr = k;
	faults->fail_status = FABRIC_ERR_LOCAL;
}

static void set_fail_remote(struct sim_faults *faults, unsigned k)
{
	faults->fail_wr = k;
	faults->fail_status = FABRIC_ERR_REMOTE;
}

static void set_fail_bind(struct sim_faults *faults, unsigned k)
{
	faults->fail_bind = k;
}

START_TEST(a_cut_at_any_step_leaks_nothing)
{
	sweep(&scenarios[_i], set_cut, step_reached, 20);
}
END_TEST

START_TEST(a_local_failure_of_any_operation_leaks_nothing)
{
	sweep(&scenarios[_i], set_fail_local, wr_reached, 8);
}
END_TEST

START_TEST(a_remote_failure_of_any_operation_leaks_nothing)
{
	sweep(&scenarios[_i], set_fail_remote, wr_reached, 8);
}
END_TEST

START_TEST(running_out_of_keys_at_any_call_fails_that_call)
{
	sweep(&scenarios[_i], set_fail_bind, bind_reached, 1);
}
END_TEST

/* Which leg the hook closes. */
static struct rig *hook_rig;
static bool hook_client;

static void close_leg(void *arg)
{
	struct rig_side *side = hook_client ? &hook_rig->client : &hook_rig->server;

	if (side->leg)
		leg_close(side->leg, LEG_CLOSE_PEER);
}

static void close_at_every_step(const struct scenario *s)
{
	bool more = true;
	unsigned k;

	for (k = 1; more && k < STEPS_MAX; k++) {
		struct sim_faults faults = s->faults;

		faults.hook_at_step = k;
		faults.hook = close_leg;
		hook_rig = rig_for(s, &faults);
		play(hook_rig, s);
		more = step_reached(sim_net_stats(hook_rig->net), k);
		judge(hook_rig, s);
	}
	ck_assert_uint_gt(k, 20);
}

START_TEST(a_client_that_closes_at_any_step_leaks_nothing)
{
	hook_client = true;
	close_at_every_step(&scenarios[_i]);
}
END_TEST

START_TEST(a_server_that_closes_at_any_step_leaks_nothing)
{
	hook_client = false;
	close_at_every_step(&scenarios[_i]);
}
END_TEST

/* xorshift, so that a seed is all it takes to have a run again. */
static uint32_t random_state;

static uint32_t roll(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state % below;
}

static void soak(uint32_t seed)
{
	struct sim_faults faults = {.seed = seed};
	struct rig *rig;

	random_state = seed * 2654435761u + 1;
	faults.max_delay_us = roll(2) ? roll(5000) : 0;
	faults.async_unbind = roll(2);
	faults.max_ord = roll(4);
	faults.max_key_bytes = roll(3) ? 0 : 4096 + roll(20000);
	faults.max_sge = roll(FABRIC_MAX_SGE + 1);
	if (roll(3) == 0)
		faults.cut_at_step = 1 + roll(400);
	if (roll(4) == 0) {
		faults.fail_wr = 1 + roll(100);
		faults.fail_status = roll(2) ? FABRIC_ERR_LOCAL : FABRIC_ERR_REMOTE;
	}
	if (roll(4) == 0)
		faults.fail_bind = 1 + roll(50);
	if (!faults.max_key_bytes && roll(3) == 0)
		faults.max_keys = 2 + roll(6);
	rig = rig_new(&faults);
	if (roll(2))
		test_budget_limit(&rig->budget, 200000);
	rig->client.config.inline_threshold_bytes = 1024 << roll(5);
	rig->server.config.inline_threshold_bytes = 1024 << roll(5);
	rig->client.config.credits = 1 + roll(40);
	rig->server.config.credits = 1 + roll(40);
	rig_connect(rig);
	for (int round = 0; round < 20; round++) {
		for (uint32_t n = roll(20); n > 0 && rig->client.leg; n--) {
			uint32_t reply = RIG_REPLY_MIN + roll(roll(2) ? 3000 : 60000);

			rig_call(&rig->client, RIG_CALL_MIN + roll(roll(2) ? 3000 : 60000), reply,
				 reply + roll(1000));
		}
		/* Some of these fit the smallest threshold only just, or not at all. */
		for (uint32_t n = roll(10); n > 0 && rig->server.leg; n--)
			rig_call(&rig->server, RIG_CALL_MIN + roll(1200), RIG_REPLY_MIN + roll(900),
				 1000);
		rig->server.hold = roll(4) == 0;
		rig->client.hold = roll(4) == 0;
		rig_run_for(rig, roll(20000));
		if (!rig->server.hold)
			rig_answer_held(&rig->server);
		if (!rig->client.hold)
			rig_answer_held(&rig->client);
	}
	rig->server.hold = rig->client.hold = false;
	if (rig->server.leg)
		rig_answer_held(&rig->server);
	if (rig->client.leg)
		rig_answer_held(&rig->client);
	rig_run(rig);
	judge(rig, &(struct scenario){.name = "soak"});
}

START_TEST(random_faults_leak_nothing)
{
	for (uint32_t seed = 1; seed <= 150; seed++)
		soak(seed + 1000 * (uint32_t)_i);
}
END_TEST

/* A good message of a client, some of whose bits are turned. */
static void broken_client(uint32_t seed)
{
	struct rig *rig = rig_new(&(struct sim_faults){.seed = seed});
	struct raw *raw =
		raw_open_client(rig, (const uint8_t[]){0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3}, 8);

	random_state = seed * 2654435761u + 1;
	for (uint32_t n = 0; n < 60 && !raw->closed && raw->nrecvs < RAW_MAX_RECVS - 8; n++) {
		struct rpcrdma_header hdr;
		uint8_t bytes[8192];
		size_t len;

		rpcrdma_header_init(&hdr, 100 + n, RPCRDMA_VERSION_ONE, 32,
				    roll(4) ? RPCRDMA_MSG : RPCRDMA_NOMSG);
		for (uint32_t i = roll(3); i > 0 && raw->nkeys < RAW_MAX_KEYS - 8; i--)
			hdr.reads[hdr.nreads++] = (struct rpcrdma_read_segment){
				roll(3) * 44, raw_segment(raw_lend(raw, NULL, 1 + roll(200),
								   FABRIC_REMOTE_READ))};
		if (roll(2) && raw->nkeys < RAW_MAX_KEYS) {
			hdr.has_reply_chunk = true;
			hdr.reply_chunk = (struct rpcrdma_chunk){0, 1, 9000};
			hdr.segments[hdr.nsegments++] =
				raw_segment(raw_lend(raw, NULL, 9000, FABRIC_REMOTE_WRITE));
		}
		len = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
		rig_fill_call(bytes + len, 200, hdr.xid, 24 + roll(9000));
		len += 200;
		for (uint32_t flips = roll(6); flips > 0; flips--)
			bytes[roll(roll(2) ? 64 : (uint32_t)len)] ^= (uint8_t)(1u << roll(8));
		/* A Reply of the stub's is as long as the Call says: keep it within reason. */
		memset(bytes + len - 200 + 40, 0, 2);
		raw_send(raw, bytes, roll(8) ? len : roll((uint32_t)len + 1));
	}
	raw_free(raw);
	rig_end(rig);
}

START_TEST(a_broken_client_affects_no_other)
{
	for (uint32_t seed = 1; seed <= 150; seed++)
		broken_client(seed);
}
END_TEST

/* Takes some of a Reply of 200 bytes out of the Send, to be read; the rest of it stays in @body. */
static uint32_t lend_some(struct raw *raw, struct rpcrdma_header *hdr, uint8_t *body)
{
	uint32_t at = 4 * roll(30), n = 4 * (1 + roll(20)), skew = roll(8) ? 0 : 4 * roll(4);

	hdr->reads[hdr->nreads++] = (struct rpcrdma_read_segment){
		at + skew, raw_segment(raw_lend(raw, body + at, n, FABRIC_REMOTE_READ))};
	memmove(body + at, body + at + n, 200 - at - n);
	return 200 - n;
}

/*
 * A good Reply of a server, with some bits flipped. Returns how many were exposed by read chunk and
 * are done.
 */
static unsigned broken_server(uint32_t seed, enum dialect_id dialect)
{
	struct rig *rig = rig_new(&(struct sim_faults){.seed = seed, .async_unbind = seed % 2});
	unsigned dones;
	struct raw *raw;

	rig->client.config.version_one = dialect;
	raw = raw_open_server(rig, (const uint8_t[]){0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3}, 8);
	random_state = seed * 2654435761u + 1;
	for (uint32_t n = 0; n < 60 && !raw->closed && rig->client.leg; n++) {
		struct rpcrdma_header hdr;
		const struct raw_recv *recv;
		uint8_t bytes[8192], body[200];
		uint32_t rest = sizeof(body);
		size_t len;

		rig_call(&rig->client, RIG_CALL_MIN + roll(6000), 200, 200 + roll(6000));
		rig_run_for(rig, 1000);
		recv = raw_next(raw);
		if (!recv ||
		    rpcrdma_header_decode(recv->data, recv->len_bytes, &hdr) != RPCRDMA_OK ||
		    hdr.proc == RPCRDMA_DONE)
			continue;
		hdr.nreads = 0;
		hdr.proc = hdr.has_reply_chunk && roll(2) ? RPCRDMA_NOMSG : RPCRDMA_MSG;
		if (roll(8) == 0)
			hdr.proc = RPCRDMA_ERROR;
		hdr.error = 1 + roll(3);
		hdr.vers_low = hdr.vers_high = 1;
		if (hdr.proc == RPCRDMA_MSG)
			hdr.has_reply_chunk = false;
		rig_fill_reply(body, sizeof(body), hdr.xid);
		if (dialect == DIALECT_DRAFT03 && hdr.proc == RPCRDMA_MSG && roll(2))
			rest = lend_some(raw, &hdr, body);
		len = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
		if (hdr.proc == RPCRDMA_MSG) {
			memcpy(bytes + len, body, rest);
			len += rest;
		}
		for (uint32_t flips = dialect == DIALECT_DRAFT03 && roll(2) ? 0 : roll(6);
		     flips > 0; flips--)
			bytes[roll((uint32_t)len)] ^= (uint8_t)(1u << roll(8));
		if (roll(6) == 0 && hdr.nsegments)
			raw_send_inv(raw, bytes, len, hdr.segments[0].handle);
		else
			raw_send(raw, bytes, roll(8) ? len : roll((uint32_t)len + 1));
	}
	dones = (unsigned)rig->client.counters.dones_sent;
	raw_free(raw);
	rig_end(rig);
	return dones;
}

START_TEST(a_broken_server_affects_no_other)
{
	unsigned pulled = 0;

	for (uint32_t seed = 1; seed <= 150; seed++) {
		broken_server(seed, DIALECT_RFC8166);
		pulled += broken_server(seed, DIALECT_DRAFT03);
	}
	ck_assert_uint_gt(pulled, 150);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("faults");
	TCase *tc = tcase_create("faults");
	const int n = ARRAY_SIZE(scenarios);

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, a_cut_at_any_step_leaks_nothing, 0, n);
	tcase_add_loop_test(tc, a_local_failure_of_any_operation_leaks_nothing, 0, n);
	tcase_add_loop_test(tc, a_remote_failure_of_any_operation_leaks_nothing, 0, n);
	/* The first one exposes nothing. */
	tcase_add_loop_test(tc, running_out_of_keys_at_any_call_fails_that_call, 1, n);
	tcase_add_loop_test(tc, a_client_that_closes_at_any_step_leaks_nothing, 0, n);
	tcase_add_loop_test(tc, a_server_that_closes_at_any_step_leaks_nothing, 0, n);
	tcase_add_loop_test(tc, random_faults_leak_nothing, 0, 2);
	tcase_add_test(tc, a_broken_client_affects_no_other);
	tcase_add_test(tc, a_broken_server_affects_no_other);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
