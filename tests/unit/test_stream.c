// SPDX-License-Identifier: BSD-3-Clause
/* Tests the promises of streams, for sockets and for pairs in memory alike. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/stream_fixture.h"

static void (*const make[])(void) = {make_sockets, make_pair};
#define KINDS      2
#define SOCKETS    0

#define BULK_BYTES (300u * 1024u)

static void fill(uint8_t *to, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i++)
		to[i] = (uint8_t)(i * 7 + (i >> 8));
}

START_TEST(bytes_come_in_the_order_in_which_they_were_sent)
{
	uint8_t *bytes = malloc(BULK_BYTES);

	make[_i]();
	fill(bytes, BULK_BYTES);
	for (size_t at = 0; at < BULK_BYTES; at += 10000) {
		size_t n = BULK_BYTES - at < 10000 ? BULK_BYTES - at : 10000;

		end_send(&ends[0], bytes + at, n);
		end_expect(&ends[1], bytes + at, n);
		end_send(&ends[1], bytes, 100);
		end_expect(&ends[0], bytes, 100);
	}
	free(bytes);
}
END_TEST

START_TEST(bytes_are_gathered_and_scattered)
{
	char a[3], b[5], text[] = "onetwo33";
	struct iovec from[] = {{text, 3}, {text, 0}, {text + 3, 3}, {text + 6, 2}};
	struct iovec to[] = {{a, sizeof(a)}, {b, sizeof(b)}};

	make[_i]();
	ck_assert_int_eq(stream_writev(ends[0].stream, from, 4), 8);
	settle();
	ck_assert_int_eq(stream_readv(ends[1].stream, to, 2), 8);
	ck_assert(!memcmp(a, "one", 3));
	ck_assert(!memcmp(b, "two33", 5));
}
END_TEST

START_TEST(without_bytes_there_is_nothing_to_read)
{
	char byte;

	make[_i]();
	ck_assert_int_eq(end_read(&ends[0], &byte, 1), -EAGAIN);
	ck_assert_int_eq(stream_peek(ends[0].stream), -EAGAIN);
	end_watch(&ends[0], LOOP_READ);
	settle();
	ck_assert_uint_eq(ends[0].told, 0);
}
END_TEST

START_TEST(a_byte_that_was_peeked_at_stays)
{
	make[_i]();
	end_send(&ends[0], "x", 1);
	await(&ends[1], LOOP_READ);
	ck_assert_int_eq(stream_peek(ends[1].stream), 1);
	ck_assert_int_eq(stream_peek(ends[1].stream), 1);
	end_expect(&ends[1], "x", 1);
}
END_TEST

START_TEST(a_watched_event_repeats_until_the_watch_ends)
{
	make[_i]();
	end_send(&ends[0], "x", 1);
	for (unsigned i = 1; i <= 3; i++) {
		await(&ends[1], LOOP_READ | LOOP_WRITE);
		ck_assert_uint_ge(ends[1].told, i);
	}
	await(&ends[1], LOOP_READ);
	end_expect(&ends[1], "x", 1);
	ends[1].told = 0;
	end_watch(&ends[1], LOOP_READ);
	settle();
	ck_assert_uint_eq(ends[1].told, 0);
}
END_TEST

START_TEST(unwatched_events_are_not_reported)
{
	make[_i]();
	end_send(&ends[0], "x", 1);
	settle();
	end_watch(&ends[1], LOOP_READ);
	end_watch(&ends[1], 0);
	settle();
	ck_assert_uint_eq(ends[0].told + ends[1].told, 0);
}
END_TEST

START_TEST(a_full_stream_takes_more_once_it_is_read)
{
	static uint8_t bytes[65536];
	size_t sent = 0, got = 0;
	ssize_t n;

	make[_i]();
	for (;;) {
		while ((n = end_write(&ends[0], bytes, sizeof(bytes))) > 0)
			sent += (size_t)n;
		ck_assert_int_eq(n, -EAGAIN);
		ends[0].told = 0;
		end_watch(&ends[0], LOOP_WRITE);
		settle();
		if (!ends[0].told)
			break;
	}
	ck_assert_uint_gt(stream_unacked_bytes(ends[0].stream), 0);
	while (got < sent) {
		await(&ends[1], LOOP_READ);
		while ((n = end_read(&ends[1], bytes, sizeof(bytes))) > 0)
			got += (size_t)n;
	}
	ck_assert_uint_eq(got, sent);
	await(&ends[0], LOOP_WRITE);
	while (stream_unacked_bytes(ends[0].stream) > 0)
		settle();
	ck_assert_int_gt(end_write(&ends[0], bytes, sizeof(bytes)), 0);
}
END_TEST

START_TEST(the_end_comes_after_the_bytes)
{
	make[_i]();
	end_send(&ends[0], "last", 4);
	ck_assert_int_eq(stream_shutdown(ends[0].stream), 0);
	ck_assert_int_eq(end_write(&ends[0], "x", 1), -EPIPE);
	end_expect(&ends[1], "last", 4);
	end_expect_result(&ends[1], 0);
	ck_assert_int_eq(stream_peek(ends[1].stream), 0);
	ck_assert(!is_lost(&ends[1]));
	/* The other way is open. */
	end_send(&ends[1], "answer", 6);
	end_expect(&ends[0], "answer", 6);
	end_close(&ends[1], false);
	end_expect_result(&ends[0], 0);
}
END_TEST

START_TEST(an_orderly_close_delivers_sent_data)
{
	make[_i]();
	end_send(&ends[0], "last", 4);
	end_close(&ends[0], false);
	end_expect(&ends[1], "last", 4);
	end_expect_result(&ends[1], 0);
}
END_TEST

static void expect_reset(struct end *end)
{
	await(end, LOOP_READ);
	await(end, LOOP_LOST);
	ck_assert_int_eq(stream_peek(end->stream), -ECONNRESET);
}

START_TEST(a_reset_breaks_the_connection)
{
	make[_i]();
	ck_assert(!is_lost(&ends[1]));
	end_close(&ends[0], true);
	expect_reset(&ends[1]);
	ck_assert_int_lt(end_write(&ends[1], "x", 1), 0);
}
END_TEST

START_TEST(a_close_with_unread_bytes_is_a_reset)
{
	make[_i]();
	end_send(&ends[1], "unread", 6);
	await(&ends[0], LOOP_READ);
	end_close(&ends[0], false);
	expect_reset(&ends[1]);
}
END_TEST

START_TEST(bytes_to_a_closed_end_bring_a_reset)
{
	make[_i]();
	end_close(&ends[0], false);
	end_expect_result(&ends[1], 0);
	ck_assert_int_eq(end_write(&ends[1], "x", 1), 1);
	await(&ends[1], LOOP_LOST);
	ck_assert_int_lt(end_write(&ends[1], "x", 1), 0);
}
END_TEST

/* It is not read; bytes and an end of the peer's are there to be read later. */
START_TEST(a_stream_that_is_not_read_is_notified_only_of_a_reset)
{
	bool filled = _i / KINDS % 2, ended = _i / KINDS / 2;

	make[_i % KINDS]();
	end_watch(&ends[1], LOOP_LOST);
	if (filled)
		end_send(&ends[0], "unread", 6);
	if (ended)
		ck_assert_int_eq(stream_shutdown(ends[0].stream), 0);
	settle();
	ck_assert_uint_eq(ends[1].told, 0);
	end_close(&ends[0], true);
	settle();
	ck_assert_uint_eq(ends[1].told, 1);
	ck_assert_uint_eq(ends[1].events, LOOP_LOST);
}
END_TEST

START_TEST(the_end_of_the_peers_data_is_reported_once)
{
	make[_i]();
	end_watch(&ends[1], LOOP_LOST | LOOP_END);
	end_send(&ends[0], "unread", 6);
	settle();
	ck_assert_uint_eq(ends[1].told, 0);
	ck_assert_int_eq(stream_shutdown(ends[0].stream), 0);
	settle();
	ck_assert_uint_eq(ends[1].told, 1);
	ck_assert_uint_eq(ends[1].events, LOOP_END);
	end_watch(&ends[1], 0);
	end_watch(&ends[1], LOOP_LOST | LOOP_END);
	settle();
	ck_assert_uint_eq(ends[1].told, 1);
}
END_TEST

START_TEST(a_close_is_found_after_unread_data)
{
	make[_i]();
	end_send(&ends[0], "unread", 6);
	settle();
	ck_assert_uint_eq(stream_ended(ends[1].stream), 0);
	ck_assert_int_eq(stream_shutdown(ends[0].stream), 0);
	settle();
	ck_assert_uint_eq(stream_ended(ends[1].stream), LOOP_END);
	end_close(&ends[0], true);
	settle();
	ck_assert_uint_eq(stream_ended(ends[1].stream) & LOOP_LOST, LOOP_LOST);
}
END_TEST

START_TEST(a_loss_is_reported_once_for_each_watch)
{
	make[_i]();
	ck_assert(!is_lost(&ends[1]));
	end_close(&ends[0], true);
	settle();
	ck_assert_uint_eq(ends[1].told, 0);
	for (unsigned i = 1; i <= 3; i++) {
		await(&ends[1], LOOP_LOST);
		ck_assert_uint_eq(ends[1].told, i);
	}
}
END_TEST

START_TEST(a_stream_that_both_ends_have_closed_is_lost)
{
	make[_i]();
	ck_assert_int_eq(stream_shutdown(ends[0].stream), 0);
	ck_assert_int_eq(stream_shutdown(ends[1].stream), 0);
	await(&ends[0], LOOP_LOST);
	await(&ends[1], LOOP_LOST);
}
END_TEST

START_TEST(a_closed_stream_tells_nothing)
{
	make[_i]();
	end_send(&ends[0], "x", 1);
	settle();
	end_watch(&ends[1], LOOP_READ | LOOP_WRITE);
	stream_close(ends[1].stream, false);
	settle();
	ck_assert_uint_eq(ends[1].told, 0);
}
END_TEST

START_TEST(a_stream_may_be_closed_in_its_own_event)
{
	make[_i]();
	end_send(&ends[0], "x", 1);
	ends[1].close_in_events = true;
	await(&ends[1], LOOP_READ | LOOP_WRITE);
	settle();
	ck_assert_uint_eq(ends[1].told, 1);
	expect_reset(&ends[0]);
}
END_TEST

START_TEST(each_end_knows_both_addresses)
{
	struct sockaddr_storage local[2] = {0}, peer[2] = {0};

	make[_i]();
	for (int i = 0; i < 2; i++)
		stream_addrs(ends[i].stream, &local[i], &peer[i]);
	ck_assert(!memcmp(&local[0], &peer[1], sizeof(local[0])));
	ck_assert(!memcmp(&local[1], &peer[0], sizeof(local[0])));
	ck_assert(memcmp(&local[0], &local[1], sizeof(local[0])));
}
END_TEST

/* Connecting */

static struct stream_target target;
static int listener, fillers[2];
static enum pair_answer answer;

static enum pair_answer on_asked(void *arg, const struct stream_target *asked)
{
	ck_assert(!memcmp(asked, &target, sizeof(target)));
	return answer;
}

static void on_accepted(void *arg, struct stream *stream)
{
	end_bind(&ends[1], stream);
}

/* Whoever is connected to answers so. */
static void serve(int kind, enum pair_answer how)
{
	const struct pair_server server = {.asked = on_asked, .accepted = on_accepted};

	answer = how;
	memset(&target, 0, sizeof(target));
	target.source_port = SOURCE_PORT_ANY;
	listener = socket_listen(how == PAIR_SILENT ? 0 : 1, &target.addr);
	if (kind != SOCKETS) {
		pair_net_serve(pairs, &server);
		return;
	}
	if (how == PAIR_REFUSE) {
		close(listener);
		listener = -1;
	}
	/* A listener whose queue is full drops what else comes. */
	for (int i = 0; how == PAIR_SILENT && i < 2; i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fillers[i], (struct sockaddr *)&target.addr, sizeof(struct sockaddr_in));
	}
}

static void stop_serving(int kind)
{
	for (int i = 0; kind == SOCKETS && answer == PAIR_SILENT && i < 2; i++)
		close(fillers[i]);
	if (listener >= 0)
		close(listener);
}

static void start_connecting(int kind)
{
	struct stream_net *net = kind == SOCKETS ? &sockets.net : pair_net_streams(pairs);
	struct stream *stream;

	ck_assert_int_eq(stream_connect(net, &target, &stream), 0);
	end_bind(&ends[0], stream);
	ck_assert_uint_eq(ends[0].connected, 0);
}

START_TEST(a_connection_comes_up)
{
	struct sockaddr_storage local[2] = {0}, peer[2] = {0};
	struct stream *stream;

	serve(_i, PAIR_ACCEPT);
	start_connecting(_i);
	await_outcome(&ends[0]);
	ck_assert_int_eq(ends[0].error, 0);
	if (_i == SOCKETS) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);

		ck_assert_int_eq(tcp_stream_adopt(&sockets, fd, &stream), 0);
		end_bind(&ends[1], stream);
	}
	for (int i = 0; i < 2; i++)
		stream_addrs(ends[i].stream, &local[i], &peer[i]);
	ck_assert(!memcmp(&peer[0], &target.addr, sizeof(target.addr)));
	ck_assert(!memcmp(&peer[1], &local[0], sizeof(local[0])));
	end_send(&ends[0], "hello", 5);
	end_expect(&ends[1], "hello", 5);
	end_send(&ends[1], "you", 3);
	end_expect(&ends[0], "you", 3);
	settle();
	ck_assert_uint_eq(ends[0].connected, 1);
	stop_serving(_i);
}
END_TEST

START_TEST(a_connection_is_refused)
{
	serve(_i, PAIR_REFUSE);
	start_connecting(_i);
	await_outcome(&ends[0]);
	ck_assert_int_eq(ends[0].error, -ECONNREFUSED);
	settle();
	ck_assert_uint_eq(ends[0].connected, 1);
	stop_serving(_i);
}
END_TEST

START_TEST(silence_is_not_reported)
{
	serve(_i, PAIR_SILENT);
	start_connecting(_i);
	settle();
	ck_assert_uint_eq(ends[0].connected, 0);
	stream_close(ends[0].stream, false);
	settle();
	ck_assert_uint_eq(ends[0].connected, 0);
	stop_serving(_i);
}
END_TEST

START_TEST(a_stream_that_is_closed_before_it_is_up_tells_nothing)
{
	serve(_i, PAIR_ACCEPT);
	start_connecting(_i);
	stream_close(ends[0].stream, false);
	settle();
	ck_assert_uint_eq(ends[0].connected, 0);
	stop_serving(_i);
}
END_TEST

START_TEST(a_stream_may_be_closed_by_its_outcome)
{
	enum pair_answer how = _i / KINDS ? PAIR_REFUSE : PAIR_ACCEPT;

	serve(_i % KINDS, how);
	start_connecting(_i % KINDS);
	ends[0].close_in_events = true;
	await_outcome(&ends[0]);
	settle();
	ck_assert_uint_eq(ends[0].connected, 1);
	stop_serving(_i % KINDS);
}
END_TEST

static TCase *new_case(Suite *suite, const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, stream_setup, stream_teardown);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return tc;
}

int main(void)
{
	Suite *suite = suite_create("stream");
	TCase *tc = new_case(suite, "bytes");

	tcase_add_loop_test(tc, bytes_come_in_the_order_in_which_they_were_sent, 0, KINDS);
	tcase_add_loop_test(tc, bytes_are_gathered_and_scattered, 0, KINDS);
	tcase_add_loop_test(tc, without_bytes_there_is_nothing_to_read, 0, KINDS);
	tcase_add_loop_test(tc, a_byte_that_was_peeked_at_stays, 0, KINDS);
	tcase_add_loop_test(tc, a_watched_event_repeats_until_the_watch_ends, 0, KINDS);
	tcase_add_loop_test(tc, unwatched_events_are_not_reported, 0, KINDS);
	tcase_add_loop_test(tc, a_full_stream_takes_more_once_it_is_read, 0, KINDS);
	tcase_add_loop_test(tc, each_end_knows_both_addresses, 0, KINDS);

	tc = new_case(suite, "ends");
	tcase_add_loop_test(tc, the_end_comes_after_the_bytes, 0, KINDS);
	tcase_add_loop_test(tc, an_orderly_close_delivers_sent_data, 0, KINDS);
	tcase_add_loop_test(tc, a_reset_breaks_the_connection, 0, KINDS);
	tcase_add_loop_test(tc, a_close_with_unread_bytes_is_a_reset, 0, KINDS);
	tcase_add_loop_test(tc, bytes_to_a_closed_end_bring_a_reset, 0, KINDS);
	tcase_add_loop_test(tc, a_stream_that_is_not_read_is_notified_only_of_a_reset, 0,
			    4 * KINDS);
	tcase_add_loop_test(tc, the_end_of_the_peers_data_is_reported_once, 0, KINDS);
	tcase_add_loop_test(tc, a_close_is_found_after_unread_data, 0, KINDS);
	tcase_add_loop_test(tc, a_loss_is_reported_once_for_each_watch, 0, KINDS);
	tcase_add_loop_test(tc, a_stream_that_both_ends_have_closed_is_lost, 0, KINDS);
	tcase_add_loop_test(tc, a_closed_stream_tells_nothing, 0, KINDS);
	tcase_add_loop_test(tc, a_stream_may_be_closed_in_its_own_event, 0, KINDS);

	tc = new_case(suite, "connecting");
	tcase_add_loop_test(tc, a_connection_comes_up, 0, KINDS);
	tcase_add_loop_test(tc, a_connection_is_refused, 0, KINDS);
	tcase_add_loop_test(tc, silence_is_not_reported, 0, KINDS);
	tcase_add_loop_test(tc, a_stream_that_is_closed_before_it_is_up_tells_nothing, 0, KINDS);
	tcase_add_loop_test(tc, a_stream_may_be_closed_by_its_outcome, 0, 2 * KINDS);
	return test_main(suite);
}
