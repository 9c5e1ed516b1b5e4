// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests any failure at any moment of a version-two connection: no leak, no duplicate or wrong
 * answer, no hang. The sizes of both ends change meanwhile.
 */
#include <string.h>

#include "tests/lib/test.h"
#include "tests/sim/v2_peer.h"

#define STEPS_MAX 5000u

static const struct sim_faults worlds[] = {
	{.fixed_recvs = false},
	{.fixed_recvs = true},
	{.fixed_recvs = true, .max_delay_us = 2000, .seed = 5, .async_unbind = true},
};

static void call_both_ways(void)
{
	for (unsigned i = 0; i < 3 && rig->client.leg; i++)
		rig_call(&rig->client, 200 + 6000 * i, 14000 - 6000 * i, 15000);
	if (rig->server.leg && rig->server.opened && rig->server.calls)
		rig_call(&rig->server, 100, 100, 1000);
}

static void want(struct rig_side *side, uint32_t bytes)
{
	struct optional_msgs *options = side->leg ? rdma_leg_of(side->leg)->options : NULL;

	if (!options || !side->opened || side->closing)
		return;
	characteristics_raise(&options->ch, bytes);
	characteristics_request_size(&options->ch, bytes);
	optional_msgs_run(options);
}

/* Up, down, and up again. */
static void play(void)
{
	static const uint32_t sizes[] = {16384, 4096, 32768};

	rig_connect(rig);
	call_both_ways();
	v2_run(1200);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		want(&rig->client, sizes[i]);
		want(&rig->server, sizes[i]);
		call_both_ways();
		rig_run_for(rig, 300);
		call_both_ways();
		v2_run(100);
	}
	rig_run(rig);
}

/* Either all was answered, or the connection has ended at both ends. */
static void judge(void)
{
	const struct rig_side *sides[] = {&rig->client, &rig->server};

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		ck_assert_uint_eq(sides[i]->wrong, 0);
		ck_assert(!sides[i]->leg || TAILQ_EMPTY(&sides[i]->waiting));
	}
	ck_assert_int_eq(!rig->client.leg, !rig->server.leg);
	v2_no_sim_error();
	v2_end();
}

/* With the fault one step later each time, until it comes too late; then without it. */
static void sweep(unsigned world, void (*set)(struct sim_faults *faults, unsigned k),
		  unsigned (*count)(const struct sim_stats *stats), unsigned least)
{
	bool more = true;
	unsigned k;

	for (k = 1; more && k < STEPS_MAX; k++) {
		struct sim_faults faults = worlds[world];

		set(&faults, k);
		v2_begin(&faults);
		play();
		more = count(sim_net_stats(rig->net)) >= k;
		judge();
	}
	ck_assert_uint_gt(k, least);
	ck_assert_uint_lt(k, STEPS_MAX);
	v2_begin(&worlds[world]);
	play();
	ck_assert_uint_gt(rig->client.counters.recv_raises, 0);
	ck_assert_uint_gt(rig->server.counters.recv_raises, 0);
	ck_assert_uint_eq(rig->client.closed + rig->server.closed, 0);
	judge();
}

static unsigned count_steps(const struct sim_stats *stats)
{
	return stats->steps;
}

static unsigned count_wrs(const struct sim_stats *stats)
{
	return stats->wrs;
}

static unsigned count_binds(const struct sim_stats *stats)
{
	return stats->binds;
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

static bool hook_client;

static void close_leg(void *arg)
{
	struct rig_side *side = hook_client ? &rig->client : &rig->server;

	if (side->leg)
		leg_close(side->leg, LEG_CLOSE_PEER);
}

static void drain_leg(void *arg)
{
	struct rig_side *side = hook_client ? &rig->client : &rig->server;

	if (side->leg)
		leg_drain(side->leg);
}

static void set_close(struct sim_faults *faults, unsigned k)
{
	faults->hook_at_step = k;
	faults->hook = close_leg;
}

static void set_drain(struct sim_faults *faults, unsigned k)
{
	faults->hook_at_step = k;
	faults->hook = drain_leg;
}

START_TEST(a_cut_at_any_step_leaks_nothing)
{
	sweep((unsigned)_i, set_cut, count_steps, 50);
}
END_TEST

START_TEST(a_failure_of_any_operation_leaks_nothing)
{
	sweep((unsigned)_i, set_fail_local, count_wrs, 20);
	sweep((unsigned)_i, set_fail_remote, count_wrs, 20);
}
END_TEST

START_TEST(running_out_of_keys_at_any_call_fails_that_call)
{
	sweep((unsigned)_i, set_fail_bind, count_binds, 5);
}
END_TEST

START_TEST(a_leg_that_closes_at_any_step_leaks_nothing)
{
	for (unsigned end = 0; end < 2; end++) {
		hook_client = end;
		sweep((unsigned)_i, set_close, count_steps, 50);
	}
}
END_TEST

START_TEST(a_leg_that_drains_at_any_step_leaks_nothing)
{
	for (unsigned end = 0; end < 2; end++) {
		hook_client = end;
		sweep((unsigned)_i, set_drain, count_steps, 50);
	}
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

/* Some bits of a good operation turned, or its end cut off. */
static void send_broken(uint32_t n)
{
	const struct xchar_value values[] = {{XCHAR_RBSIZ, true, 1024u << roll(8)},
					     {XCHAR_RQREMINV, true, roll(2)},
					     {XCHAR_BRS, true, roll(4)}};
	struct rpcrdma_header hdr;
	uint8_t info[128] = {0}, bytes[256];
	size_t len = 12 + 4 * roll(4);

	switch (roll(4)) {
	case 0:
		len = xchar_encode_init(info, sizeof(info), values, roll(4), 0);
		break;
	case 1:
		len = xchar_encode_req(info, sizeof(info), values, roll(4));
		break;
	case 2:
		len = xchar_encode_upd(info, sizeof(info), &values[roll(3)], roll(2));
		break;
	}
	rpcrdma_header_init(&hdr, 0x2000 + roll(4) * n, 2, roll(40), RPCRDMA_OPTIONAL);
	hdr.opttype = 1 + roll(4);
	hdr.optinfo = info;
	hdr.optinfo_bytes = (uint32_t)len;
	len = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
	for (uint32_t flips = roll(4); flips > 0; flips--)
		bytes[roll((uint32_t)len)] ^= (uint8_t)(1u << roll(8));
	raw_send(raw, bytes, roll(8) ? len : roll((uint32_t)len + 1));
}

static void broken_peer(uint32_t seed, bool is_server)
{
	v2_begin(&(struct sim_faults){.seed = seed, .fixed_recvs = seed % 2});
	random_state = seed * 2654435761u + 1;
	if (is_server)
		v2_open_client();
	else
		v2_open_server();
	for (uint32_t n = 0; n < 60 && !raw->closed && raw->nrecvs < RAW_MAX_RECVS - 16; n++) {
		struct rig_side *side = is_server ? &rig->client : &rig->server;

		if (roll(4) == 0)
			want(side, 1024u << roll(8));
		if (roll(4) == 0 && is_server && side->leg && !side->closing)
			rig_call(side, RIG_CALL_MIN + roll(6000), 200, 200 + roll(6000));
		else if (roll(4) == 0 && !is_server)
			v2_send_call(2, 0x7000 + n, RIG_CALL_MIN, 200);
		send_broken(n);
	}
	v2_end();
}

START_TEST(a_broken_peer_affects_no_other)
{
	for (uint32_t seed = 1; seed <= 300; seed++)
		broken_peer(seed, _i);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_faults");
	TCase *tc = tcase_create("v2_faults");
	const int n = ARRAY_SIZE(worlds);

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, a_cut_at_any_step_leaks_nothing, 0, n);
	tcase_add_loop_test(tc, a_failure_of_any_operation_leaks_nothing, 0, n);
	tcase_add_loop_test(tc, running_out_of_keys_at_any_call_fails_that_call, 0, n);
	tcase_add_loop_test(tc, a_leg_that_closes_at_any_step_leaks_nothing, 0, n);
	tcase_add_loop_test(tc, a_leg_that_drains_at_any_step_leaks_nothing, 0, n);
	tcase_add_loop_test(tc, a_broken_peer_affects_no_other, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
