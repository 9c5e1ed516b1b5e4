// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the source port of an RDMA leg, and that its connection closes so that the next one can
 * reuse the port.
 */
#include <netinet/in.h>

#include "tests/lib/test.h"
#include "tests/sim/rig.h"

#define PORT 700u

static struct rig *rig;

static uint16_t port_of(const struct sockaddr_storage *addr)
{
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

static uint16_t own_port(void)
{
	struct leg_info info;

	leg_info(rig->client.leg, &info);
	return port_of(&info.local);
}

static uint16_t port_seen(void)
{
	struct leg_info info;

	leg_info(rig->server.leg, &info);
	return port_of(&info.peer);
}

/* ---- somebody else, who has the port: a connection that nobody answers ---- */

static struct fabric_listener *deaf;
static struct fabric_incoming *unanswered;
static struct fabric_ep *taker;

static void on_unanswered(void *arg, struct fabric_incoming *in)
{
	unanswered = in;
}

static void on_taker_closed(void *arg, enum fabric_close why, const char *detail)
{
}

static const struct fabric_ep_events taker_events = {.closed = on_taker_closed};

static void take_port(void)
{
	const struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = 1};
	struct fabric_ep_params params = {.source = {.ss_family = AF_INET}};

	((struct sockaddr_in *)&params.source)->sin_port = htons(PORT);
	ck_assert_int_eq(fabric_listen(&sim_fabric_ops, rig->net, rig->loop,
				       (const struct sockaddr *)&addr, 1, on_unanswered, NULL,
				       &deaf),
			 0);
	ck_assert_int_eq(fabric_connect(rig->fabric, (const struct sockaddr *)&addr, &params,
					&taker_events, NULL, &taker),
			 0);
	rig_run_for(rig, 10000);
	ck_assert_ptr_nonnull(unanswered);
}

static void leave_port(void)
{
	fabric_incoming_drop(unanswered);
	rig_run(rig);
	fabric_ep_free(taker);
	fabric_listener_free(deaf);
}

/* ---- the tests ---- */

START_TEST(a_leg_comes_from_its_port)
{
	rig = rig_new(NULL);
	rig->client.config.source_port = PORT;
	rig_connect(rig);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.opened, 1);
	ck_assert_uint_eq(own_port(), PORT);
	ck_assert_uint_eq(port_seen(), PORT);
	ck_assert_uint_eq(rig->client.counters.source_port_retries, 0);
	rig_end(rig);
}
END_TEST

/* Known at once, or late, as over iWARP devices. */
START_TEST(a_port_that_is_taken_does_not_keep_a_leg_from_connecting)
{
	rig = rig_new(&(struct sim_faults){.late_ports = _i, .seed = 7, .max_delay_us = 1000});
	take_port();
	rig->client.config.source_port = PORT;
	rig_connect(rig);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.opened, 1);
	ck_assert_uint_ne(own_port(), PORT);
	ck_assert_uint_eq(own_port(), port_seen());
	ck_assert_uint_eq(rig->client.counters.source_port_retries, 1);
	rig_call(&rig->client, 1000, 1000, 1000);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.answered, 1);
	leave_port();
	rig_end(rig);
}
END_TEST

START_TEST(a_leg_that_needs_its_port_has_it_or_none)
{
	rig = rig_new(&(struct sim_faults){.late_ports = true, .seed = 7, .max_delay_us = 1000});
	take_port();
	rig->client.config.source_port = PORT;
	rig->client.config.source_port_only = true;
	rig_connect(rig);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.opened, 0);
	ck_assert_uint_eq(rig->client.closed, 1);
	ck_assert_int_eq(rig->client.why, LEG_CLOSE_NO_SOURCE_PORT);
	ck_assert_uint_eq(rig->client.counters.source_port_retries, 0);
	leave_port();
	rig_end(rig);
}
END_TEST

START_TEST(a_leg_comes_from_its_address)
{
	struct sockaddr_in *source;
	struct leg_info info;

	rig = rig_new(NULL);
	source = (struct sockaddr_in *)&rig->client.config.source;
	*source = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x0a090001)};
	rig->client.config.source_port = _i ? PORT : 0;
	rig_connect(rig);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.opened, 1);
	leg_info(rig->server.leg, &info);
	ck_assert_uint_eq(((struct sockaddr_in *)&info.peer)->sin_addr.s_addr,
			  source->sin_addr.s_addr);
	if (_i)
		ck_assert_uint_eq(port_seen(), PORT);
	rig_end(rig);
}
END_TEST

static void close_client(void *arg)
{
	if (rig->client.leg)
		leg_close(rig->client.leg, arg ? LEG_CLOSE_LOCAL : LEG_CLOSE_PEER);
}

/* Before, between and after the two connects. */
START_TEST(a_leg_that_looks_for_a_port_can_be_closed)
{
	static const char order[] = "in order";

	rig = rig_new(&(struct sim_faults){.late_ports = true,
					   .hook_at_step = 2 + (unsigned)_i / 2,
					   .hook = close_client,
					   .hook_arg = _i % 2 ? (void *)order : NULL});
	take_port();
	rig->client.config.source_port = PORT;
	rig_connect(rig);
	if (_i >= 12)
		close_client(_i % 2 ? (void *)order : NULL);
	rig_run(rig);
	ck_assert_uint_eq(rig->client.closed, 1);
	leave_port();
	rig_end(rig);
}
END_TEST

/* Its client is gone, and may be back before the next turn. */
START_TEST(the_port_is_free_at_closing_whichever_end_closed)
{
	static const enum leg_close whys[] = {LEG_CLOSE_PEER, LEG_CLOSE_LOST,
					      LEG_CLOSE_REPLY_STALLED};

	rig = rig_open(NULL);
	rig->client.config.source_port = own_port();
	for (unsigned i = 0; i < 3; i++) {
		rig->server.hold = true;
		rig_call(&rig->client, 1000, 1000, 1000);
		rig_run_for(rig, 1000);
		leg_close(rig->client.leg, whys[_i]);
		rig_run_for(rig, 0);
		ck_assert_uint_eq(rig->client.closing, 1);
		rig_run(rig);
		ck_assert_ptr_null(rig->server.leg);
		rig->server.closing = rig->server.closed = rig->client.closed = 0;
		rig_connect(rig);
		rig_run(rig);
		ck_assert_uint_eq(own_port(), rig->client.config.source_port);
		ck_assert_uint_eq(rig->client.counters.source_port_retries, 0);
	}
	rig_end(rig);
}
END_TEST

/* Posted work is dropped if the client is gone, and sent if only this end closes. */
START_TEST(only_an_orderly_close_sends_posted_data)
{
	rig = rig_open(NULL);
	rig_call(&rig->client, 1000, 1000, 1000);
	leg_close(rig->client.leg, _i ? LEG_CLOSE_LOCAL : LEG_CLOSE_PEER);
	rig_run(rig);
	ck_assert_uint_eq(rig->server.calls, _i);
	ck_assert_int_eq(rig->server.why, _i ? LEG_CLOSE_PEER : LEG_CLOSE_LOST);
	rig_end(rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source_port");
	TCase *tc = tcase_create("source_port");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_leg_that_needs_its_port_has_it_or_none);
	tcase_add_loop_test(tc, a_leg_comes_from_its_address, 0, 2);
	tcase_add_test(tc, a_leg_comes_from_its_port);
	tcase_add_loop_test(tc, a_port_that_is_taken_does_not_keep_a_leg_from_connecting, 0, 2);
	tcase_add_loop_test(tc, a_leg_that_looks_for_a_port_can_be_closed, 0, 14);
	tcase_add_loop_test(tc, the_port_is_free_at_closing_whichever_end_closed, 0, 3);
	tcase_add_loop_test(tc, only_an_orderly_close_sends_posted_data, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
