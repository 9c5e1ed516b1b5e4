// SPDX-License-Identifier: BSD-3-Clause
/* Tests the modules of the load generator and its server (tests/bench). */
#include "tests/bench/send_queue.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/arrivals.h"
#include "tests/bench/file_data.h"
#include "tests/bench/latency.h"
#include "tests/bench/record_reader.h"
#include "tests/lib/test.h"

/* ---- file_data ---- */

START_TEST(bytes_that_land_elsewhere_are_seen)
{
	static const uint32_t lengths[] = {1,    4,     512,   1408,  1448,   4096,
					   8192, 16384, 32768, 65536, 131072, 1u << 20};
	uint64_t offset = 3 * 4096;

	file_data_init();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (uint64_t times = 1; times <= 16; times++) {
			uint64_t elsewhere = offset + times * lengths[i];

			ck_assert(!file_data_is(offset, file_data_at(elsewhere), 16));
			ck_assert(file_data_is(elsewhere, file_data_at(elsewhere), 16));
		}
	}
}
END_TEST

START_TEST(every_byte_is_compared)
{
	static uint8_t copy[FILE_DATA_CHUNK + 3];
	size_t wrong[] = {0, 1, FILE_DATA_CHUNK - 1, FILE_DATA_CHUNK, FILE_DATA_CHUNK + 2};

	file_data_init();
	memcpy(copy, file_data_at(77), FILE_DATA_CHUNK);
	memcpy(copy + FILE_DATA_CHUNK, file_data_at(77 + FILE_DATA_CHUNK), 3);
	ck_assert(file_data_is(77, copy, sizeof(copy)));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		copy[wrong[i]] ^= 1;
		ck_assert(!file_data_is(77, copy, sizeof(copy)));
		copy[wrong[i]] ^= 1;
	}
}
END_TEST

/* ---- latency ---- */

START_TEST(a_latency_is_less_than_one_percent_off)
{
	static struct latency latency;
	struct random random = {7};

	for (int i = 0; i < 10000; i++) {
		uint64_t ns = random_next(&random) >> (22 + i % 42), told;
		memset(&latency, 0, sizeof(latency));
		latency_add(&latency, ns);
		latency_add(&latency, UINT64_MAX >> 22);
		told = latency_ns(&latency, 0.1);
		ck_assert((double)told >= (double)ns * 0.99 && (double)told <= (double)ns * 1.01);
	}
}
END_TEST

START_TEST(percentiles_are_those_of_the_added_values)
{
	static struct latency latency;

	for (uint64_t us = 1; us <= 1000; us++)
		latency_add(&latency, us * 1000);
	ck_assert_double_eq_tol((double)latency_ns(&latency, 0.5), 501e3, 5e3);
	ck_assert_double_eq_tol((double)latency_ns(&latency, 0.99), 991e3, 1e4);
	ck_assert_uint_eq(latency_ns(&latency, 1), 1000000);
	ck_assert_uint_eq(latency.count, 1000);
	latency_add(&latency, UINT64_MAX);
	ck_assert_uint_eq(latency_ns(&latency, 1), UINT64_MAX);
}
END_TEST

/* ---- arrivals ---- */

START_TEST(arrivals_come_at_their_rate_and_at_random)
{
	struct arrivals arrivals;
	uint64_t begin = 5000000000, due, last = begin, longer = 0;
	unsigned count = 0;

	arrivals_init(&arrivals, 100000, 3, begin);
	ck_assert(!arrivals_take(&arrivals, &due));
	ck_assert(arrivals_come(&arrivals, begin + 2000000000));
	while (arrivals_take(&arrivals, &due)) {
		ck_assert_uint_ge(due, last);
		longer += due - last > 10000;
		last = due;
		count++;
	}
	ck_assert_uint_le(last, begin + 2000000000);
	ck_assert_double_eq_tol(count, 200000, 2000);
	/* One in e waits longer than the mean for the next one. */
	ck_assert_double_eq_tol((double)longer / count, 0.3679, 0.005);
	arrivals_fini(&arrivals);
}
END_TEST

START_TEST(a_seed_decides_when_they_come)
{
	struct arrivals a, b, c;
	uint64_t due_a, due_b, due_c;
	unsigned same = 0;

	arrivals_init(&a, 1000, 1, 0);
	arrivals_init(&b, 1000, 1, 0);
	arrivals_init(&c, 1000, 2, 0);
	arrivals_come(&a, 1000000000);
	arrivals_come(&b, 1000000000);
	arrivals_come(&c, 2000000000);
	while (arrivals_take(&a, &due_a)) {
		ck_assert(arrivals_take(&b, &due_b) && due_a == due_b);
		same += arrivals_take(&c, &due_c) && due_a == due_c;
	}
	ck_assert_uint_lt(same, 10);
	arrivals_fini(&a);
	arrivals_fini(&b);
	arrivals_fini(&c);
}
END_TEST

START_TEST(no_more_than_the_bound_wait)
{
	struct arrivals arrivals;

	arrivals_init(&arrivals, 1e6, 1, 0);
	ck_assert(!arrivals_come(&arrivals, 2000000000));
	ck_assert_uint_eq(arrivals.count, ARRIVALS_MAX);
	arrivals_fini(&arrivals);
}
END_TEST

/* ---- records ---- */

struct seen {
	uint8_t bytes[4096];
	size_t len, begun, ended, left, head_len;
};

static void seen_more(void *arg, const uint8_t *data, size_t len)
{
	struct seen *seen = arg;

	ck_assert_uint_le(len, seen->left);
	memcpy(seen->bytes + seen->len, data, len);
	seen->len += len;
	seen->left -= len;
}

static void seen_begin(void *arg, const uint8_t *head, size_t head_len, size_t len)
{
	struct seen *seen = arg;

	ck_assert_uint_eq(seen->begun, seen->ended);
	ck_assert_uint_eq(head_len, len < seen->head_len ? len : seen->head_len);
	seen->begun++;
	seen->left = len;
	seen_more(seen, head, head_len);
}

static void seen_end(void *arg)
{
	struct seen *seen = arg;

	ck_assert_uint_eq(seen->left, 0);
	seen->ended++;
}

static const struct record_ops seen_ops = {seen_begin, seen_more, seen_end};

/* Three records: shorter than a head, as long, and longer. */
static size_t put_records(uint8_t *to, uint8_t *bodies)
{
	static const uint32_t lengths[] = {24, 40, 333};
	size_t len = 0, bodies_len = 0;

	for (size_t i = 0; i < 3; i++) {
		const uint8_t mark[] = {0x80, 0, (uint8_t)(lengths[i] >> 8), (uint8_t)lengths[i]};

		memcpy(to + len, mark, 4);
		len += 4;
		for (uint32_t j = 0; j < lengths[i]; j++)
			to[len++] = bodies[bodies_len++] = (uint8_t)(i * 91 + j * 7);
	}
	return len;
}

START_TEST(records_are_the_same_however_they_are_cut)
{
	uint8_t bytes[1024], bodies[1024];
	size_t len = put_records(bytes, bodies);

	for (size_t cut = 1; cut <= len; cut++) {
		struct record_reader reader = {.head_bytes = 40};
		struct seen seen = {.head_len = 40};

		for (size_t pos = 0, n; pos < len; pos += n) {
			n = len - pos < cut ? len - pos : cut;
			ck_assert_int_eq(
				record_reader_feed(&reader, &seen_ops, &seen, bytes + pos, n), 0);
		}
		ck_assert_uint_eq(seen.ended, 3);
		ck_assert_uint_eq(seen.len, len - 12);
		ck_assert_mem_eq(seen.bytes, bodies, seen.len);
	}
}
END_TEST

START_TEST(invalid_records_are_refused)
{
	static const uint8_t fragment[] = {0, 0, 0, 24}, short_one[] = {0x80, 0, 0, 23};
	struct record_reader reader = {.head_bytes = 40};
	struct seen seen = {.head_len = 40};

	ck_assert_int_eq(record_reader_feed(&reader, &seen_ops, &seen, fragment, 4), -EBADMSG);
	reader = (struct record_reader){.head_bytes = 40};
	ck_assert_int_eq(record_reader_feed(&reader, &seen_ops, &seen, short_one, 4), -EBADMSG);
}
END_TEST

/* ---- send_queue ---- */

#define MESSAGES 300

/* Message @i has a head of 28 bytes and data of many sizes, some of them none. */
static uint32_t data_of(uint32_t i)
{
	return i % 3 ? i * 997 % 40000 : 0;
}

/* What comes: the messages in their order. */
struct sent {
	uint32_t count, pos, wrong;
};

static void sent_begin(void *arg, const uint8_t *head, size_t head_len, size_t len)
{
	struct sent *sent = arg;
	uint32_t bytes = data_of(sent->count);
	const uint8_t xid[] = {0, 0, (uint8_t)(sent->count >> 8), (uint8_t)sent->count};

	ck_assert_uint_eq(len, 28 + bytes + (-bytes & 3));
	ck_assert_mem_eq(head, xid, 4);
	for (size_t i = 4; i < head_len; i++)
		ck_assert_uint_eq(head[i], i);
	sent->pos = 0;
}

static void sent_more(void *arg, const uint8_t *data, size_t len)
{
	struct sent *sent = arg;
	uint32_t bytes = data_of(sent->count);

	for (size_t i = 0; i < len; i++, sent->pos++) {
		uint8_t byte = sent->pos < bytes ? *file_data_at(sent->count * 5 + sent->pos) : 0;
		uint8_t spoilt = (uint8_t)~byte;

		if (data[i] == byte)
			continue;
		ck_assert(sent->pos == 0 && data[i] == spoilt);
		sent->wrong++;
	}
}

static void sent_end(void *arg)
{
	struct sent *sent = arg;

	sent->count++;
}

static const struct record_ops sent_ops = {sent_begin, sent_more, sent_end};

static void put_message(struct send_queue *queue, uint32_t i)
{
	uint8_t bytes[28];
	struct buf message = {.data = bytes, .len = sizeof(bytes)};

	for (uint8_t j = 0; j < sizeof(bytes); j++)
		bytes[j] = j;
	send_queue_put(queue, &message, i, i * 5, data_of(i));
	if (i % 99 == 1)
		send_queue_spoil(queue);
}

START_TEST(queued_data_arrive_with_any_send_size)
{
	struct record_reader reader = {.head_bytes = 28};
	struct send_queue queue = {0};
	struct sent sent = {0};
	uint32_t put = 0;
	int fds[2], left = 0;

	file_data_init();
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	while (sent.count < MESSAGES) {
		uint8_t input[7001];
		ssize_t n;

		for (int i = 0; i < 4 && put < MESSAGES; i++)
			put_message(&queue, put++);
		left = send_queue_flush(&queue, fds[0]);
		ck_assert_int_ge(left, 0);
		n = recv(fds[1], input, sizeof(input), 0);
		ck_assert_int_gt(n, 0);
		ck_assert_int_eq(record_reader_feed(&reader, &sent_ops, &sent, input, (size_t)n),
				 0);
	}
	ck_assert_int_eq(left, 0);
	ck_assert_uint_eq(send_queue_pieces(&queue), 0);
	ck_assert_uint_eq(sent.wrong, 4);
	close(fds[1]);
	put_message(&queue, 0);
	ck_assert_int_eq(send_queue_flush(&queue, fds[0]), -EPIPE);
	close(fds[0]);
	send_queue_fini(&queue);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("load");
	TCase *tc = tcase_create("load");

	tcase_add_test(tc, bytes_that_land_elsewhere_are_seen);
	tcase_add_test(tc, every_byte_is_compared);
	tcase_add_test(tc, a_latency_is_less_than_one_percent_off);
	tcase_add_test(tc, percentiles_are_those_of_the_added_values);
	tcase_add_test(tc, arrivals_come_at_their_rate_and_at_random);
	tcase_add_test(tc, a_seed_decides_when_they_come);
	tcase_add_test(tc, no_more_than_the_bound_wait);
	tcase_add_test(tc, records_are_the_same_however_they_are_cut);
	tcase_add_test(tc, invalid_records_are_refused);
	tcase_add_test(tc, queued_data_arrive_with_any_send_size);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
