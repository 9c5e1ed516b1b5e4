// SPDX-License-Identifier: BSD-3-Clause
/* Tests the creation of a service's legs: the versions that its configuration allows. */
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"
#include "tests/sim/rig.h"

static struct bench *bench;
static struct leg *accepted, *connected;
static unsigned closed;

static void on_event(void *arg)
{
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
}

static void on_closed(void *arg)
{
	closed++;
}

static const struct leg_events events = {.opened = on_event,
					 .requested = on_event,
					 .call_ready = on_event,
					 .closing = on_closing,
					 .closed = on_closed};

static struct leg_config leg_config(void)
{
	return (struct leg_config){
		.loop = bench->loop,
		.pool = bench->pool,
		.holder = &bench->budget.holder,
		.max_message_bytes = RIG_MAX_MSG,
		.stall_timeout_us = 60000000,
		.connect_timeout_us = 1000000,
		.events = &events,
	};
}

static void on_incoming(void *arg, struct fabric_incoming *fabric)
{
	const struct accepted_conn in = {.fd = -1, .fabric = fabric};
	const struct leg_config config = leg_config();

	ck_assert_int_eq(leg_factory_system.accept(&bench->ws.net, &config, &in, &accepted), 0);
}

static void setup(void)
{
	bench = bench_new(NULL);
	bench->config.listen_version = 2;
	bench->config.connect_version = 2;
	bench->config.receive_max_bytes = 98304;
	accepted = connected = NULL;
	closed = 0;
}

static void teardown(void)
{
	bench_end(bench);
}

static const struct rdma_leg_config *made_with(const struct leg *leg)
{
	return container_of(leg->config, const struct rdma_leg_config, leg);
}

/*
 * To where nobody listens but the test: its service takes the connection that its own server's leg
 * makes.
 */
static void join(uint32_t version)
{
	const struct connect_attempt attempt = {
		.server = &bench->service.servers.list[0],
		.addr = bench_addr(1),
		.fabric = bench->ws.net.iwarp,
		.rpcrdma_version = version,
	};
	const struct leg_config config = leg_config();
	struct fabric_listener *listener;

	ck_assert_int_eq(fabric_listen(&sim_fabric_ops, bench->back, bench->loop,
				       (const struct sockaddr *)&attempt.addr, 1, on_incoming, NULL,
				       &listener),
			 0);
	ck_assert_int_eq(leg_factory_system.connect(&bench->ws.net, &config, &attempt, &connected),
			 0);
	bench_run(bench, 10);
	ck_assert_ptr_nonnull(accepted);
	fabric_listener_free(listener);
}

static void part(void)
{
	leg_close(connected, LEG_CLOSE_LOCAL);
	leg_close(accepted, LEG_CLOSE_LOCAL);
	bench_run(bench, 60000);
	ck_assert_uint_eq(closed, 2);
	leg_free(connected);
	leg_free(accepted);
}

START_TEST(a_leg_that_connects_has_the_version_of_its_attempt)
{
	join(1 + (uint32_t)_i);
	ck_assert_uint_eq(made_with(connected)->highest_version, 1 + (unsigned)_i);
	ck_assert_ptr_eq(made_with(connected)->version_cache,
			 &bench->service.servers.list[0].versions);
	part();
}
END_TEST

START_TEST(a_leg_that_was_accepted_has_the_version_that_is_served)
{
	bench->config.listen_version = 1 + (uint32_t)_i;
	join(1);
	ck_assert_uint_eq(made_with(accepted)->highest_version, 1 + (unsigned)_i);
	/* A client is no server to be remembered. */
	ck_assert_ptr_null(made_with(accepted)->version_cache);
	part();
}
END_TEST

START_TEST(both_legs_have_what_is_used_of_version_two)
{
	bench->config.characteristics = _i == 1;
	bench->config.reverse_chunks = _i == 2;
	join(2);
	for (unsigned i = 0; i < 2; i++) {
		const struct rdma_leg_config *config = made_with(i ? accepted : connected);

		ck_assert_uint_eq(config->receive_max_bytes, 98304);
		ck_assert_int_eq(config->characteristics, _i == 1);
		ck_assert_int_eq(config->reverse_chunks, _i == 2);
	}
	part();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("legs");
	TCase *tc = tcase_create("legs");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_leg_that_connects_has_the_version_of_its_attempt, 0, 2);
	tcase_add_loop_test(tc, a_leg_that_was_accepted_has_the_version_that_is_served, 0, 2);
	tcase_add_loop_test(tc, both_legs_have_what_is_used_of_version_two, 0, 3);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
