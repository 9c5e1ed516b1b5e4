// SPDX-License-Identifier: BSD-3-Clause
/* Tests taps: the order of events, overflow, concurrent writers, and the selection of events. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/loop.h"
#include "daemon/tap/tap.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

#define QUEUE_BYTES 4096u

static struct loop *loop;
static struct tap *tap;
static unsigned filled;
static char taken[4096];
static unsigned ntaken, stop_at;

static void on_filled(void *arg)
{
	filled++;
}

static void open_tap(size_t queue_bytes)
{
	const struct tap_config config = {
		.queue_bytes = queue_bytes,
		.loop = loop,
		.post = fake_loop_post,
		.filled = on_filled,
	};

	tap = tap_new(&config);
	ck_assert_ptr_nonnull(tap);
}

static void setup(void)
{
	loop = fake_loop_new();
	filled = ntaken = stop_at = 0;
	taken[0] = '\0';
	open_tap(QUEUE_BYTES);
}

static void teardown(void)
{
	tap_close(tap);
	fake_loop_run(loop);
	tap_unref(tap);
	fake_loop_free(loop);
}

static void put(const char *text)
{
	tap_put(tap, text, strlen(text), NULL, 0);
}

static bool on_record(void *arg, const void *record, size_t bytes)
{
	ck_assert_uint_eq((uintptr_t)record % _Alignof(max_align_t), 0);
	if (ntaken < 100)
		snprintf(taken + strlen(taken), sizeof(taken) - strlen(taken), "%.*s ", (int)bytes,
			 (const char *)record);
	return ++ntaken != stop_at;
}

/* Returns how many were missed. */
static uint64_t take(void)
{
	uint64_t missed;

	(void)tap_drain(tap, on_record, NULL, &missed);
	return missed;
}

START_TEST(records_come_in_order_and_are_notified_once)
{
	put("one");
	tap_put(tap, "t", 1, "wo", 2);
	ck_assert_uint_eq(filled, 0);
	fake_loop_run(loop);
	ck_assert_uint_eq(filled, 1);
	ck_assert_uint_eq(take(), 0);
	ck_assert_str_eq(taken, "one two ");
	put("three");
	fake_loop_run(loop);
	ck_assert_uint_eq(filled, 2);
	ck_assert_uint_eq(take(), 0);
	ck_assert_str_eq(taken, "one two three ");
}
END_TEST

START_TEST(missed_messages_are_counted_after_the_kept_ones)
{
	unsigned kept;
	uint64_t missed;

	for (unsigned i = 0; i < QUEUE_BYTES; i++)
		put("x");
	missed = take();
	kept = ntaken;
	ck_assert_uint_gt(kept, QUEUE_BYTES / 100);
	ck_assert_uint_eq(kept + missed, QUEUE_BYTES);
	/* There is room again, and what was told is not told again. */
	put("x");
	ck_assert_uint_eq(take(), 0);
	ck_assert_uint_eq(ntaken, kept + 1);
}
END_TEST

/* Else the records behind a gap would seem to stand before it. */
START_TEST(nothing_follows_a_gap_until_it_is_reported)
{
	char large[QUEUE_BYTES / 2] = "";

	put("first");
	tap_put(tap, large, sizeof(large), NULL, 0);
	tap_put(tap, large, sizeof(large), NULL, 0);
	put("small");
	ck_assert_uint_eq(take(), 2);
	ck_assert_uint_eq(ntaken, 2);
	put("small");
	ck_assert_uint_eq(take(), 0);
	ck_assert_uint_eq(ntaken, 3);
}
END_TEST

START_TEST(a_message_that_never_fits_is_missed_and_others_are_not)
{
	char large[QUEUE_BYTES] = "";

	tap_put(tap, large, sizeof(large), NULL, 0);
	put("small");
	ck_assert_uint_eq(take(), 1);
	ck_assert_str_eq(taken, "small ");
}
END_TEST

START_TEST(a_reader_can_pause_and_continue)
{
	uint64_t missed;

	put("one");
	put("two");
	stop_at = 1;
	ck_assert(tap_drain(tap, on_record, NULL, &missed));
	ck_assert_str_eq(taken, "one ");
	put("three");
	ck_assert(!tap_drain(tap, on_record, NULL, &missed));
	ck_assert_str_eq(taken, "one two ");
	take();
	ck_assert_str_eq(taken, "one two three ");
}
END_TEST

START_TEST(a_closed_tap_notifies_no_reader)
{
	put("one");
	tap_close(tap);
	fake_loop_run(loop);
	ck_assert_uint_eq(filled, 0);
	put("two");
	fake_loop_run(loop);
	ck_assert_uint_eq(filled, 0);
}
END_TEST

/* What comes too late is not missed, either. */
START_TEST(messages_of_a_closed_tap_can_be_read)
{
	put("one");
	tap_close(tap);
	put("two");
	ck_assert_uint_eq(take(), 0);
	ck_assert_str_eq(taken, "one ");
	ck_assert_uint_eq(take(), 0);
	ck_assert_uint_eq(ntaken, 1);
}
END_TEST

/* ---- threads ---- */

#define WRITERS     4u
#define EACH_WRITES 20000u

struct meeting {
	struct loop *loop;
	struct tap *tap;
	uint32_t last[WRITERS]; /* the number of each one's last record */
	uint64_t seen, missed;
};

struct mark {
	uint32_t writer, number;
};

static bool on_mark(void *arg, const void *record, size_t bytes)
{
	struct meeting *meeting = arg;
	struct mark mark;

	ck_assert_uint_eq(bytes, sizeof(mark));
	memcpy(&mark, record, sizeof(mark));
	ck_assert_uint_gt(mark.number, meeting->last[mark.writer]);
	meeting->last[mark.writer] = mark.number;
	meeting->seen++;
	return true;
}

static void on_met(void *arg)
{
	struct meeting *meeting = arg;
	uint64_t missed;

	(void)tap_drain(meeting->tap, on_mark, meeting, &missed);
	meeting->missed += missed;
	if (meeting->seen + meeting->missed == WRITERS * EACH_WRITES)
		event_loop_stop(meeting->loop);
}

struct writer {
	struct meeting *meeting;
	uint32_t number;
};

static void *write_marks(void *arg)
{
	const struct writer *writer = arg;

	for (uint32_t i = 1; i <= EACH_WRITES; i++) {
		const struct mark mark = {writer->number, i};

		tap_put(writer->meeting->tap, &mark, sizeof(mark), NULL, 0);
	}
	return NULL;
}

START_TEST(threads_fill_it_at_once)
{
	struct meeting meeting = {.loop = event_loop_new()};
	const struct tap_config config = {
		.queue_bytes = 65536,
		.loop = meeting.loop,
		.post = event_loop_post,
		.filled = on_met,
		.arg = &meeting,
	};
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];

	meeting.tap = tap_new(&config);
	ck_assert_ptr_nonnull(meeting.tap);
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){&meeting, i};
		ck_assert_int_eq(pthread_create(&threads[i], NULL, write_marks, &writers[i]), 0);
	}
	event_loop_run(meeting.loop);
	for (uint32_t i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_gt(meeting.seen, 0);
	tap_close(meeting.tap);
	tap_unref(meeting.tap);
	event_loop_free(meeting.loop);
}
END_TEST

/* ---- what is wanted ---- */

static struct tap_request request;
static char error[TAP_ERROR_BYTES];

static void accepts(enum tap_kind kind, const char *text)
{
	ck_assert_msg(!tap_request_parse(kind, text, &request, error), "%s: %s", text, error);
}

START_TEST(nothing_said_is_everything)
{
	accepts(TAP_CALLS, "");
	ck_assert_str_eq(request.service, "");
	ck_assert(!request.has_client);
	ck_assert_int_eq(request.operation, NFS_OPERATION_COUNT);
	ck_assert_uint_eq(request.slower_us, 0);
	ck_assert_uint_eq(request.count, 0);
	ck_assert_uint_eq(request.seconds, 0);
	accepts(TAP_MESSAGES, "");
	ck_assert_uint_eq(request.snap_bytes, TAP_SNAP_BYTES);
	ck_assert_uint_eq(request.max_bytes, TAP_MAX_BYTES);
	ck_assert_uint_eq(request.seconds, TAP_SECONDS);
}
END_TEST

START_TEST(each_option_is_read)
{
	accepts(TAP_CALLS,
		"--slower 100ms nfs --client 10.0.0.0/8 --operation read --count 7 --seconds 3");
	ck_assert_str_eq(request.service, "nfs");
	ck_assert(request.has_client);
	ck_assert_uint_eq(request.client.prefix_bits, 8);
	ck_assert_int_eq(request.operation, NFS_OPERATION_READ);
	ck_assert_uint_eq(request.slower_us, 100000);
	ck_assert_uint_eq(request.count, 7);
	ck_assert_uint_eq(request.seconds, 3);
	accepts(TAP_CALLS, "--slower 2s");
	ck_assert_uint_eq(request.slower_us, 2000000);
	accepts(TAP_CALLS, "--slower 500us");
	ck_assert_uint_eq(request.slower_us, 500);
	accepts(TAP_CALLS, "--slower 0s");
	accepts(TAP_MESSAGES, "--snaplen 64K --max-bytes 1G");
	ck_assert_uint_eq(request.snap_bytes, 65536);
	ck_assert_uint_eq(request.max_bytes, 1u << 30);
}
END_TEST

static const struct {
	enum tap_kind kind;
	const char *text, *error;
} wrong[] = {
	{TAP_CALLS, "a b", "unexpected argument 'b'"},
	{TAP_CALLS, "--what 3", "unknown option --what"},
	{TAP_CALLS, "--snaplen 100", "unknown option --snaplen"},
	{TAP_MESSAGES, "--slower 1s", "unknown option --slower"},
	{TAP_CALLS, "--client", "--client needs a value"},
	{TAP_CALLS, "--operation READS", "there is no operation READS: did you mean READ?"},
	{TAP_MESSAGES, "--operation setattrib",
	 "there is no operation setattrib: did you mean SETATTR?"},
	{TAP_CALLS, "--operation nothing", "there is no operation nothing"},
	{TAP_CALLS, "--slower 100",
	 "--slower needs a whole number with us, ms or s, up to 4294s, such as 100ms"},
	{TAP_CALLS, "--slower 0.1s",
	 "--slower needs a whole number with us, ms or s, up to 4294s, such as 100ms"},
	{TAP_CALLS, "--slower -1s",
	 "--slower needs a whole number with us, ms or s, up to 4294s, such as 100ms"},
	{TAP_CALLS, "--slower 4295s",
	 "--slower needs a whole number with us, ms or s, up to 4294s, such as 100ms"},
	{TAP_CALLS, "--slower 99999999999999999999us",
	 "--slower needs a whole number with us, ms or s, up to 4294s, such as 100ms"},
	{TAP_CALLS, "--count 0", "--count needs a number from 1 to 1000000000"},
	{TAP_CALLS, "--count 1x", "--count needs a number from 1 to 1000000000"},
	{TAP_CALLS, "--seconds 0", "--seconds needs a number from 1 to 604800"},
	{TAP_MESSAGES, "--snaplen 63", "--snaplen needs a size from 64 to 2M, such as 512 or 64K"},
	{TAP_MESSAGES, "--snaplen 3M", "--snaplen needs a size from 64 to 2M, such as 512 or 64K"},
	{TAP_MESSAGES, "--max-bytes 4095",
	 "--max-bytes needs a size from 4096 to 1024G, such as 64M or 1G"},
	{TAP_MESSAGES, "--max-bytes 1025G",
	 "--max-bytes needs a size from 4096 to 1024G, such as 64M or 1G"},
};

START_TEST(errors_of_a_request_are_reported)
{
	ck_assert_int_eq(tap_request_parse(wrong[_i].kind, wrong[_i].text, &request, error),
			 -EINVAL);
	ck_assert_str_eq(error, wrong[_i].error);
}
END_TEST

START_TEST(a_service_of_a_name_too_long_is_none)
{
	char text[CONFIG_NAME_MAX_BYTES + 2];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(tap_request_parse(TAP_CALLS, text, &request, error), -EINVAL);
	text[CONFIG_NAME_MAX_BYTES] = '\0';
	accepts(TAP_CALLS, text);
}
END_TEST

static bool takes(const char *service, const char *host, enum nfs_operation operation)
{
	struct sockaddr_in addr = {.sin_family = AF_INET};

	ck_assert_int_eq(inet_pton(AF_INET, host, &addr.sin_addr), 1);
	return tap_request_matches(&request, service, (const struct sockaddr *)&addr, operation);
}

START_TEST(only_selected_messages_are_stored)
{
	accepts(TAP_CALLS, "nfs --client 10.0.0.0/8 --operation READ");
	ck_assert(takes("nfs", "10.1.2.3", NFS_OPERATION_READ));
	ck_assert(!takes("nfs", "10.1.2.3", NFS_OPERATION_WRITE));
	ck_assert(!takes("nfs", "11.1.2.3", NFS_OPERATION_READ));
	ck_assert(!takes("nfs2", "10.1.2.3", NFS_OPERATION_READ));
	accepts(TAP_CALLS, "");
	ck_assert(takes("nfs2", "11.1.2.3", NFS_OPERATION_WRITE));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tap");
	TCase *queue = tcase_create("queue"), *threads = tcase_create("threads");
	TCase *wanted = tcase_create("wanted");

	tcase_add_checked_fixture(queue, setup, teardown);
	tcase_add_test(queue, records_come_in_order_and_are_notified_once);
	tcase_add_test(queue, missed_messages_are_counted_after_the_kept_ones);
	tcase_add_test(queue, nothing_follows_a_gap_until_it_is_reported);
	tcase_add_test(queue, a_message_that_never_fits_is_missed_and_others_are_not);
	tcase_add_test(queue, a_reader_can_pause_and_continue);
	tcase_add_test(queue, a_closed_tap_notifies_no_reader);
	tcase_add_test(queue, messages_of_a_closed_tap_can_be_read);
	suite_add_tcase(suite, queue);
	tcase_add_test(threads, threads_fill_it_at_once);
	suite_add_tcase(suite, threads);
	tcase_add_test(wanted, nothing_said_is_everything);
	tcase_add_test(wanted, each_option_is_read);
	tcase_add_loop_test(wanted, errors_of_a_request_are_reported, 0, ARRAY_SIZE(wrong));
	tcase_add_test(wanted, a_service_of_a_name_too_long_is_none);
	tcase_add_test(wanted, only_selected_messages_are_stored);
	suite_add_tcase(suite, wanted);
	return test_main(suite);
}
