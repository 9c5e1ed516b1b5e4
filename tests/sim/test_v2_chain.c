// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests protocol versions through two gates: a TCP client is not affected, and each Call is
 * executed once.
 */
#include "tests/lib/test.h"
#include "tests/sim/chain.h"

#define STEPS_MAX 1000u

static struct chain *chain;

static void setup(void)
{
	chain = NULL;
}

static void teardown(void)
{
	if (chain)
		chain_end(chain);
	chain = NULL;
}

/* The server has one connection: an older one goes with the gate's bridge that it was for. */
static void on_accepted(void *arg, struct stream *stream)
{
	if (chain->server.wire.stream) {
		record_end_close(&chain->server.wire, false);
		record_end_fini(&chain->server.wire);
		chain_end_init(&chain->server, &chain->book, CHAIN_SERVER);
	}
	record_end_start(&chain->server.wire, stream);
}

static void make_chain(const struct sim_faults *faults, uint32_t connect, uint32_t listen)
{
	struct chain_params params = {.accepted = on_accepted};

	if (faults)
		params.fabric = *faults;
	chain = chain_new(&params);
	for (unsigned i = 0; i < 2; i++) {
		struct service_config *config = &chain->gates[i].config;

		config->connect_version = connect;
		config->listen_version = listen;
		config->characteristics = true;
		config->receive_max_bytes = 65536;
	}
	chain_connect(chain);
}

static void call_all(void)
{
	static const uint32_t sizes[] = {1000, 3000, 9000, 30000, 100000};

	chain_end_call(&chain->client, chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1"));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		chain_end_call(&chain->client,
			       chain_book_add_sized(&chain->book, CHAIN_CLIENT, sizes[i], 0));
		chain_end_call(&chain->client,
			       chain_book_add_sized(&chain->book, CHAIN_CLIENT, 0, sizes[i]));
	}
}

static void expect_all_answered(void)
{
	for (unsigned i = 0; i < chain->book.count; i++) {
		ck_assert_msg(chain->book.list[i].arrived == 1, "Call %u came %u times", i,
			      chain->book.list[i].arrived);
		ck_assert_msg(chain->book.list[i].answered == 1, "Reply %u has not come", i);
	}
	ck_assert(!chain->client.wire.is_over);
	ck_assert_uint_eq(chain->gates[0].bridges, 1);
}

static bool one_only(void)
{
	struct service *service = &chain->gates[0].service;

	return service->servers.list[0].versions.count &&
	       version_cache_is_one_only(
		       &service->servers.list[0].versions,
		       (const struct sockaddr *)&service->servers.list[0].versions.known[0].addr,
		       loop_now_us(chain->loop));
}

static uint32_t version(const struct chain_tap *tap)
{
	struct leg_info info;

	ck_assert_ptr_nonnull(tap->leg);
	leg_info(tap->leg, &info);
	return info.rpcrdma_version;
}

START_TEST(both_versions_pass_the_same_messages)
{
	uint32_t connect = 1 + (uint32_t)_i % 2, listen = 1 + (uint32_t)_i / 2;
	uint32_t spoken = connect == 2 && listen == 2 ? 2 : 1;

	make_chain(NULL, connect, listen);
	call_all();
	chain_run(chain, 3000);
	expect_all_answered();
	ck_assert_uint_eq(version(chain->gates[0].server), spoken);
	ck_assert_uint_eq(version(chain->gates[1].client), spoken);
	ck_assert_int_eq(one_only(), connect == 2 && listen == 1);
	ck_assert_uint_eq(gate_rdma(&chain->gates[0]).options_sent > 0, connect == 2);
}
END_TEST

/* Traffic that goes by chunk raises the sizes of both gates, and then needs none. */
START_TEST(traffic_between_gates_raises_their_sizes)
{
	make_chain(NULL, 2, 2);
	for (unsigned n = 0; n < 100; n++) {
		chain_end_call(&chain->client,
			       chain_book_add_sized(&chain->book, CHAIN_CLIENT, 8192, 0));
		chain_end_call(&chain->client,
			       chain_book_add_sized(&chain->book, CHAIN_CLIENT, 0, 8192));
		chain_run(chain, 10);
	}
	expect_all_answered();
	ck_assert_uint_eq(gate_rdma(&chain->gates[0]).recv_raises, 1);
	ck_assert_uint_eq(gate_rdma(&chain->gates[1]).recv_raises, 1);
	ck_assert_uint_lt(gate_rdma(&chain->gates[1]).reply_chunk_bytes_pushed, 40 * 8192);
	ck_assert_uint_lt(gate_rdma(&chain->gates[1]).read_chunk_bytes_pulled, 40 * 8192);
}
END_TEST

/* Unless the client has seen an end: then none of its Calls arrived twice either. */
static bool judge(void)
{
	bool in_vain = one_only();

	for (unsigned i = 0; i < chain->book.count; i++)
		ck_assert_uint_le(chain->book.list[i].arrived, 1);
	if (in_vain)
		expect_all_answered();
	return in_vain;
}

START_TEST(a_connection_that_is_cut_while_it_probes_is_made_once_more)
{
	unsigned steps = 1, again = 0;

	for (unsigned k = 1; k <= steps && k < STEPS_MAX; k++) {
		const struct sim_faults faults = {
			.cut_at_step = k, .max_delay_us = _i ? 300 : 0, .seed = k};

		make_chain(&faults, 2, 2);
		call_all();
		chain_run(chain, 8000);
		again += judge();
		steps = sim_net_stats(chain->fabric_net)->steps;
		teardown();
	}
	ck_assert_uint_gt(again, 1);
	ck_assert_uint_gt(steps, 20);
}
END_TEST

/* The server of the first attempt closes, whatever it has said. */
static void close_first(void *arg)
{
	struct chain_tap *tap = chain->gates[1].client;

	if (tap && tap->leg && !tap->closing && chain->gates[1].bridges == 1)
		leg_close(tap->leg, LEG_CLOSE_PEER);
}

START_TEST(a_server_that_closes_while_it_is_probed_is_asked_in_version_one)
{
	unsigned steps = 1, again = 0;

	for (unsigned k = 1; k <= steps && k < STEPS_MAX; k++) {
		const struct sim_faults faults = {.hook_at_step = k, .hook = close_first};

		make_chain(&faults, 2, 1 + (uint32_t)_i);
		call_all();
		chain_run(chain, 8000);
		if (chain->gates[1].bridges > 1)
			again += judge();
		steps = sim_net_stats(chain->fabric_net)->steps;
		teardown();
	}
	ck_assert_uint_gt(again, 0);
	ck_assert_uint_gt(steps, 20);
}
END_TEST

/* ---- what is remembered ---- */

static void come_again(void)
{
	record_end_close(&chain->client.wire, false);
	chain_run(chain, 1000);
	record_end_close(&chain->server.wire, false);
	chain_run(chain, 1000);
	record_end_fini(&chain->client.wire);
	record_end_fini(&chain->server.wire);
	chain_end_init(&chain->client, &chain->book, CHAIN_CLIENT);
	chain_end_init(&chain->server, &chain->book, CHAIN_SERVER);
	chain_connect(chain);
	chain_end_call(&chain->client, chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1"));
	chain_run(chain, 10);
	ck_assert_uint_eq(chain->client.replies, 1);
}

START_TEST(for_ten_minutes_a_server_of_version_one_is_asked_in_it_at_once)
{
	const struct rdma_leg_counters *counters;

	make_chain(NULL, 2, 1);
	call_all();
	chain_run(chain, 1000);
	expect_all_answered();
	counters = &chain->gates[0].ws.net.rdma_upstream;
	ck_assert_uint_eq(counters->options_sent, 1);
	come_again();
	ck_assert_uint_eq(counters->options_sent, 1);
	chain->gates[1].config.listen_version = 2;
	chain_run(chain, 590000);
	come_again();
	ck_assert_uint_eq(counters->options_sent, 1);
	chain_run(chain, 10000);
	come_again();
	ck_assert_uint_eq(counters->options_sent, 2);
	ck_assert_uint_eq(version(chain->gates[0].server), 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("v2_chain");
	TCase *tc = tcase_create("v2_chain");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, both_versions_pass_the_same_messages, 0, 4);
	tcase_add_test(tc, traffic_between_gates_raises_their_sizes);
	tcase_add_loop_test(tc, a_connection_that_is_cut_while_it_probes_is_made_once_more, 0, 2);
	tcase_add_loop_test(tc, a_server_that_closes_while_it_is_probed_is_asked_in_version_one, 0,
			    2);
	tcase_add_test(tc, for_ten_minutes_a_server_of_version_one_is_asked_in_it_at_once);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
