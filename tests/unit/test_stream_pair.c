// SPDX-License-Identifier: BSD-3-Clause
/* Tests pairs of streams in memory: scarce resources, faults, and the steps at which they occur. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/stream_fixture.h"

#define BULK_BYTES 5000u

static uint8_t bulk[BULK_BYTES];

/* A net that has these faults, in place of the fixture's. */
static void renew(const struct pair_faults *wanted)
{
	pair_net_free(pairs);
	pairs = pair_net_new(loop, wanted);
	ck_assert_ptr_nonnull(pairs);
}

static void setup(void)
{
	stream_setup();
	for (size_t i = 0; i < sizeof(bulk); i++)
		bulk[i] = (uint8_t)(i * 13 + (i >> 7));
}

START_TEST(no_more_is_under_way_than_the_buffer_holds)
{
	renew(&(struct pair_faults){.buffer_bytes = 100});
	make_pair();
	ck_assert_int_eq(end_write(&ends[0], bulk, 60), 60);
	ck_assert_int_eq(end_write(&ends[0], bulk + 60, 60), 40);
	ck_assert_int_eq(end_write(&ends[0], bulk + 100, 1), -EAGAIN);
	end_expect(&ends[1], bulk, 30);
	ck_assert_int_eq(end_write(&ends[0], bulk + 100, 60), 30);
	end_expect(&ends[1], bulk + 30, 100);
}
END_TEST

START_TEST(reads_and_writes_are_as_short_as_asked_for)
{
	uint8_t got[20];

	renew(&(struct pair_faults){.max_read_bytes = 3, .max_write_bytes = 7});
	make_pair();
	ck_assert_int_eq(end_write(&ends[0], bulk, 20), 7);
	await(&ends[1], LOOP_READ);
	ck_assert_int_eq(end_read(&ends[1], got, 20), 3);
	ck_assert_int_eq(end_read(&ends[1], got + 3, 20), 3);
	ck_assert_int_eq(end_read(&ends[1], got + 6, 20), 1);
	ck_assert(!memcmp(got, bulk, 7));
}
END_TEST

/* Sends it all with that seed; returns how many steps it took. */
static unsigned run_seeded(uint64_t seed)
{
	unsigned steps;

	renew(&(struct pair_faults){.seed = seed,
				    .buffer_bytes = 777,
				    .max_delay_us = 50,
				    .short_reads = true,
				    .short_writes = true});
	make_pair();
	for (size_t at = 0; at < sizeof(bulk); at += 500) {
		end_send(&ends[0], bulk + at, 500);
		end_expect(&ends[1], bulk + at, 500);
	}
	steps = pair_net_steps(pairs);
	end_close(&ends[0], false);
	end_close(&ends[1], false);
	fake_loop_run(loop);
	return steps;
}

START_TEST(a_seed_makes_the_same_run_again)
{
	unsigned first = run_seeded(1), other = 0;

	ck_assert_uint_gt(first, 10);
	ck_assert_uint_eq(run_seeded(1), first);
	for (uint64_t seed = 2; seed < 20; seed++)
		other += run_seeded(seed) != first;
	ck_assert_uint_gt(other, 0);
}
END_TEST

START_TEST(delayed_data_arrive_in_order_and_in_time)
{
	renew(&(struct pair_faults){.seed = 7, .max_delay_us = 1000000});
	make_pair();
	for (size_t at = 0; at < 1000; at += 10)
		ck_assert_int_eq(end_write(&ends[0], bulk + at, 10), 10);
	ck_assert_int_eq(stream_shutdown(ends[0].stream), 0);
	ck_assert_int_eq(stream_peek(ends[1].stream), -EAGAIN);
	fake_loop_advance(loop, 1000000);
	end_expect(&ends[1], bulk, 1000);
	end_expect_result(&ends[1], 0);
}
END_TEST

START_TEST(a_reset_discards_unread_data)
{
	make_pair();
	end_send(&ends[0], bulk, 10);
	fake_loop_run(loop);
	ck_assert_int_eq(stream_peek(ends[1].stream), 1);
	end_close(&ends[0], true);
	fake_loop_run(loop);
	end_expect_result(&ends[1], -ECONNRESET);
	end_expect_result(&ends[1], -ECONNRESET);
}
END_TEST

START_TEST(a_cut_breaks_both_ends)
{
	make_pair();
	end_send(&ends[0], bulk, 10);
	pair_net_cut(pairs);
	for (int i = 0; i < 2; i++) {
		ck_assert(is_lost(&ends[i]));
		end_expect_result(&ends[i], -ECONNRESET);
		ck_assert_int_eq(end_write(&ends[i], bulk, 1), -ECONNRESET);
	}
}
END_TEST

/* At whichever step it comes, an end gets a prefix of what was sent, then the break, and nothing leaks. */
START_TEST(a_connection_may_be_cut_at_every_step)
{
	unsigned step = 1;
	bool cut = true;

	for (; cut; step++) {
		uint8_t got[300];
		size_t have = 0;
		ssize_t n = 0;

		renew(&(struct pair_faults){
			.cut_at_step = step, .max_read_bytes = 40, .max_write_bytes = 90});
		make_pair();
		while (have < sizeof(got)) {
			ck_assert_int_ne(end_write(&ends[0], bulk + have, sizeof(got) - have),
					 -EAGAIN);
			await(&ends[1], LOOP_READ);
			n = end_read(&ends[1], got + have, sizeof(got) - have);
			if (n < 0)
				break;
			have += (size_t)n;
			/* The rest of that write is not wanted twice. */
			while (have % 90 && (n = end_read(&ends[1], got + have, 90)) > 0)
				have += (size_t)n;
		}
		cut = is_lost(&ends[1]);
		ck_assert(!memcmp(got, bulk, have));
		ck_assert(cut || have == sizeof(got));
		end_close(&ends[0], false);
		end_close(&ends[1], false);
		fake_loop_run(loop);
	}
	ck_assert_uint_gt(step, 4);
}
END_TEST

static unsigned hooked_at;

static void hook(void *arg)
{
	ck_assert_ptr_eq(arg, &hooked_at);
	hooked_at = pair_net_steps(pairs);
	stream_close(ends[1].stream, false);
}

/* The event of that step does not occur if the step is the end of that end. */
START_TEST(anything_may_be_done_before_a_step)
{
	for (unsigned step = 1; step <= 2; step++) {
		renew(&(struct pair_faults){
			.hook_at_step = step, .hook = hook, .hook_arg = &hooked_at});
		make_pair();
		end_send(&ends[0], bulk, 10);
		end_watch(&ends[1], LOOP_READ);
		fake_loop_run(loop);
		ck_assert_uint_eq(hooked_at, step);
		ck_assert_uint_eq(ends[1].told, 0);
		end_expect_result(&ends[0], -ECONNRESET);
		end_close(&ends[0], false);
		end_close(&ends[1], false);
	}
}
END_TEST

static struct sockaddr_storage asked;

static enum pair_answer accept_all(void *arg, const struct stream_target *target)
{
	asked = target->addr;
	return PAIR_ACCEPT;
}

static void on_accepted(void *arg, struct stream *stream)
{
	end_bind(&ends[1], stream);
}

START_TEST(a_connection_uses_the_given_source_address)
{
	const struct pair_server server = {.asked = accept_all, .accepted = on_accepted};
	struct sockaddr_storage source = {.ss_family = AF_INET6};
	struct stream_target target = {.preferred_port = 0x0203, .sources = {&source, 1, 0, false}};
	struct sockaddr_storage local = {0}, peer = {0};
	struct stream *stream;

	pair_net_serve(pairs, &server);
	target.addr.ss_family = AF_INET6;
	((uint8_t *)&source)[20] = 9;
	ck_assert_int_eq(stream_connect(pair_net_streams(pairs), &target, &stream), 0);
	end_bind(&ends[0], stream);
	await_outcome(&ends[0]);
	ck_assert(!memcmp(&asked, &target.addr, sizeof(asked)));
	stream_addrs(ends[1].stream, &local, &peer);
	ck_assert(!memcmp(&local, &target.addr, sizeof(local)));
	memcpy((uint8_t *)&source + 2, "\2\3", 2);
	ck_assert(!memcmp(&peer, &source, sizeof(peer)));
}
END_TEST

START_TEST(a_cut_breaks_a_connection_that_is_being_set_up)
{
	const struct pair_server server = {.asked = accept_all, .accepted = on_accepted};
	struct stream_target target = {0};
	struct stream *stream;

	pair_net_serve(pairs, &server);
	ck_assert_int_eq(stream_connect(pair_net_streams(pairs), &target, &stream), 0);
	end_bind(&ends[0], stream);
	pair_net_cut(pairs);
	ck_assert_uint_eq(ends[0].connected, 0);
	await_outcome(&ends[0]);
	ck_assert_int_eq(ends[0].error, -ECONNRESET);
	settle();
	ck_assert_uint_eq(ends[0].connected, 1);
	ck_assert_ptr_null(ends[1].stream);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stream_pair");
	TCase *tc = tcase_create("stream_pair");

	tcase_add_checked_fixture(tc, setup, stream_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, no_more_is_under_way_than_the_buffer_holds);
	tcase_add_test(tc, reads_and_writes_are_as_short_as_asked_for);
	tcase_add_test(tc, a_seed_makes_the_same_run_again);
	tcase_add_test(tc, delayed_data_arrive_in_order_and_in_time);
	tcase_add_test(tc, a_reset_discards_unread_data);
	tcase_add_test(tc, a_cut_breaks_both_ends);
	tcase_add_test(tc, a_cut_breaks_a_connection_that_is_being_set_up);
	tcase_add_test(tc, a_connection_may_be_cut_at_every_step);
	tcase_add_test(tc, anything_may_be_done_before_a_step);
	tcase_add_test(tc, a_connection_uses_the_given_source_address);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
