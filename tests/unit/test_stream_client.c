// SPDX-License-Identifier: BSD-3-Clause
/* Tests streams to clients that read, read slowly, do not read, stop, and disconnect. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/control/stream_client.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

#define ROOM_BYTES 65536u

static struct loop *loop;
static struct stream_client *stream_client;
static int client;
static unsigned rooms, enoughs, overs;
static const char *lost;

static void on_room(void *arg)
{
	rooms++;
}

static void on_enough(void *arg)
{
	enoughs++;
}

static void on_lost(void *arg, const char *why)
{
	lost = why;
	stream_client_free(stream_client);
	stream_client = NULL;
}

static void on_over(void *arg)
{
	overs++;
	stream_client_free(stream_client);
	stream_client = NULL;
}

static const struct stream_client_events events = {
	.on_space = on_room, .stop_requested = on_enough, .lost = on_lost, .drained = on_over};

static void setup(void)
{
	int ends[2], small = 4096;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	ck_assert_int_eq(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	loop = fake_loop_new();
	stream_client = stream_client_new(loop, ends[0], ROOM_BYTES, &events, NULL);
	ck_assert_ptr_nonnull(stream_client);
	close(ends[0]);
	client = ends[1];
	rooms = enoughs = overs = 0;
	lost = NULL;
}

static void teardown(void)
{
	stream_client_free(stream_client);
	stream_client = NULL;
	if (client >= 0)
		close(client);
	fake_loop_run(loop);
	fake_loop_free(loop);
}

/* The bytes that are sent follow each other in a pattern. */
static uint8_t byte_at(size_t at)
{
	return (uint8_t)(at * 7 + at / 251);
}

static void put(size_t from, size_t len)
{
	uint8_t bytes[ROOM_BYTES];

	for (size_t i = 0; i < len; i++)
		bytes[i] = byte_at(from + i);
	stream_client_put(stream_client, bytes, len);
}

/* Reads what is there. Returns where the pattern goes on. */
static size_t read_on(size_t from)
{
	uint8_t bytes[4096];
	unsigned wrong = 0;
	ssize_t n;

	while ((n = recv(client, bytes, sizeof(bytes), 0)) > 0)
		for (ssize_t i = 0; i < n; i++, from++)
			wrong += bytes[i] != byte_at(from);
	ck_assert_uint_eq(wrong, 0);
	return from;
}

START_TEST(a_client_that_reads_gets_all_in_order)
{
	size_t sent = 0, got = 0;

	while (sent < 20 * ROOM_BYTES) {
		size_t len = stream_client_space(stream_client) < 999
				     ? stream_client_space(stream_client)
				     : 999;

		put(sent, len);
		sent += len;
		fake_loop_run(loop);
		got = read_on(got);
	}
	stream_client_end(stream_client);
	fake_loop_run(loop);
	while (stream_client) {
		got = read_on(got);
		fake_loop_run(loop);
	}
	got = read_on(got);
	ck_assert_uint_eq(got, sent);
	ck_assert_uint_eq(overs, 1);
	ck_assert_ptr_null(lost);
}
END_TEST

START_TEST(queued_data_are_bounded_and_free_space_is_notified)
{
	put(0, ROOM_BYTES);
	ck_assert_uint_eq(stream_client_space(stream_client), 0);
	fake_loop_run(loop);
	ck_assert_uint_gt(stream_client_space(stream_client), 0);
	ck_assert_uint_lt(stream_client_space(stream_client), ROOM_BYTES);
	rooms = 0;
	read_on(0);
	fake_loop_run(loop);
	ck_assert_uint_gt(rooms, 0);
}
END_TEST

START_TEST(a_client_that_reads_slowly_stays)
{
	size_t got = 0;

	put(0, ROOM_BYTES);
	for (unsigned i = 0; i < 10; i++) {
		fake_loop_run(loop);
		fake_loop_advance(loop, STREAM_CLIENT_STALL_US - 1000);
		got = read_on(got);
	}
	ck_assert_ptr_null(lost);
}
END_TEST

START_TEST(a_client_that_does_not_read_is_lost)
{
	put(0, ROOM_BYTES);
	fake_loop_run(loop);
	fake_loop_advance(loop, STREAM_CLIENT_STALL_US + 1);
	ck_assert_str_eq(lost, "it does not read");
}
END_TEST

START_TEST(a_client_without_data_can_stay_forever)
{
	put(0, 100);
	fake_loop_run(loop);
	ck_assert_uint_eq(read_on(0), 100);
	fake_loop_advance(loop, 1000 * (uint64_t)STREAM_CLIENT_STALL_US);
	ck_assert_ptr_null(lost);
}
END_TEST

START_TEST(a_half_closed_client_gets_the_rest)
{
	put(0, 100);
	ck_assert_int_eq(shutdown(client, SHUT_WR), 0);
	fake_loop_run(loop);
	ck_assert_uint_eq(enoughs, 1);
	put(100, 50);
	stream_client_end(stream_client);
	fake_loop_run(loop);
	ck_assert_uint_eq(read_on(0), 150);
	ck_assert_uint_eq(overs, 1);
	ck_assert_uint_eq(enoughs, 1);
}
END_TEST

START_TEST(a_closed_client_is_lost_with_the_next_bytes)
{
	close(client);
	client = -1;
	fake_loop_run(loop);
	ck_assert_uint_eq(enoughs, 1);
	put(0, 100);
	fake_loop_run(loop);
	ck_assert_str_eq(lost, "it has gone");
}
END_TEST

START_TEST(a_little_that_a_client_says_is_passed_over)
{
	char words[STREAM_CLIENT_MAX_INPUT_BYTES] = "words";

	ck_assert_int_eq(send(client, words, sizeof(words), 0), sizeof(words));
	fake_loop_run(loop);
	ck_assert_uint_eq(enoughs, 0);
	ck_assert_ptr_null(lost);
	ck_assert_int_eq(shutdown(client, SHUT_WR), 0);
	fake_loop_run(loop);
	ck_assert_uint_eq(enoughs, 1);
	ck_assert_ptr_null(lost);
}
END_TEST

START_TEST(a_client_that_sends_data_is_lost)
{
	char words[STREAM_CLIENT_MAX_INPUT_BYTES + 1] = "words";

	ck_assert_int_eq(send(client, words, sizeof(words), 0), sizeof(words));
	fake_loop_run(loop);
	ck_assert_uint_eq(enoughs, 0);
	ck_assert_str_eq(lost, "it sends data");
}
END_TEST

START_TEST(a_client_that_cannot_be_watched_is_lost)
{
	fake_loop_blind(loop, true);
	put(0, ROOM_BYTES);
	fake_loop_run(loop);
	ck_assert_str_eq(lost, "its socket cannot be polled");
	fake_loop_blind(loop, false);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("feed");
	TCase *tc = tcase_create("feed");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_client_that_reads_gets_all_in_order);
	tcase_add_test(tc, queued_data_are_bounded_and_free_space_is_notified);
	tcase_add_test(tc, a_client_that_reads_slowly_stays);
	tcase_add_test(tc, a_client_that_does_not_read_is_lost);
	tcase_add_test(tc, a_client_without_data_can_stay_forever);
	tcase_add_test(tc, a_half_closed_client_gets_the_rest);
	tcase_add_test(tc, a_closed_client_is_lost_with_the_next_bytes);
	tcase_add_test(tc, a_little_that_a_client_says_is_passed_over);
	tcase_add_test(tc, a_client_that_sends_data_is_lost);
	tcase_add_test(tc, a_client_that_cannot_be_watched_is_lost);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
