// SPDX-License-Identifier: BSD-3-Clause
/* Tests the limits of TLS handshakes that clients have begun. */
#include "daemon/service/tls_limits.h"

#include <arpa/inet.h>
#include <string.h>

#include "tests/lib/test.h"

static struct tls_limits limits;
static struct tls_handshake list[TLS_LIMITS_PER_WORKER + 1];
static struct tls_worker_limits of_worker, other;
static uint64_t now_us;

static void setup(void)
{
	ck_assert_int_eq(tls_limits_init(&limits), 0);
	memset(list, 0, sizeof(list));
	tls_worker_limits_init(&of_worker);
	tls_worker_limits_init(&other);
}

static void teardown(void)
{
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		tls_limits_end(&limits, &of_worker, &list[i]);
	ck_assert_uint_eq(of_worker.count, 0);
	ck_assert_uint_eq(client_limits_addresses(&limits.clients), 0);
	tls_limits_fini(&limits);
}

static const char *begin(struct tls_worker_limits *worker, uint32_t addr,
			 struct tls_handshake *handshake)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons((uint16_t)worker->count)};

	in.sin_addr.s_addr = htonl(addr);
	return tls_limits_begin(&limits, worker, (struct sockaddr *)&in, now_us, handshake);
}

START_TEST(an_address_has_sixteen_at_a_time_on_all_workers)
{
	for (unsigned i = 0; i < TLS_LIMITS_PER_CLIENT; i++)
		ck_assert_ptr_null(begin(i % 2 ? &other : &of_worker, 0x0a000001, &list[i]));
	ck_assert_uint_eq(of_worker.count, TLS_LIMITS_PER_CLIENT / 2);
	ck_assert_uint_eq(other.count, TLS_LIMITS_PER_CLIENT / 2);
	ck_assert_str_eq(begin(&of_worker, 0x0a000001, &list[20]),
			 "at most 16 at a time from one address");
	ck_assert_uint_eq(of_worker.count, TLS_LIMITS_PER_CLIENT / 2);
	ck_assert_ptr_null(begin(&of_worker, 0x0a000002, &list[21]));
	tls_limits_end(&limits, &other, &list[1]);
	ck_assert_ptr_null(begin(&of_worker, 0x0a000001, &list[20]));
	for (unsigned i = 3; i < TLS_LIMITS_PER_CLIENT; i += 2)
		tls_limits_end(&limits, &other, &list[i]);
	ck_assert_uint_eq(other.count, 0);
}
END_TEST

START_TEST(a_worker_has_a_limit_for_all_addresses)
{
	for (unsigned i = 0; i < TLS_LIMITS_PER_WORKER; i++)
		ck_assert_ptr_null(begin(&of_worker, 0x0a000000 + i, &list[i]));
	ck_assert_str_eq(begin(&of_worker, 0x0b000000, &list[TLS_LIMITS_PER_WORKER]),
			 "at most 256 at a time on one worker thread");
	ck_assert_ptr_null(list[TLS_LIMITS_PER_WORKER].client);
	ck_assert_ptr_null(begin(&other, 0x0b000000, &list[TLS_LIMITS_PER_WORKER]));
	tls_limits_end(&limits, &other, &list[TLS_LIMITS_PER_WORKER]);
	tls_limits_end(&limits, &of_worker, &list[7]);
	ck_assert_ptr_null(begin(&of_worker, 0x0b000000, &list[7]));
}
END_TEST

START_TEST(the_oldest_is_ended_for_others_at_the_limit_of_the_worker)
{
	now_us = 5000000;
	for (unsigned i = 0; i < TLS_LIMITS_PER_WORKER; i++) {
		ck_assert_ptr_null(tls_worker_limits_evictable(&of_worker, now_us + 10000000));
		ck_assert_ptr_null(begin(&of_worker, 0x0a000000 + i, &list[i]));
		now_us++;
	}
	ck_assert_ptr_null(
		tls_worker_limits_evictable(&of_worker, 5000000 + TLS_LIMITS_GRACE_US - 1));
	ck_assert_ptr_eq(tls_worker_limits_evictable(&of_worker, 5000000 + TLS_LIMITS_GRACE_US),
			 &list[0]);
	tls_limits_end(&limits, &of_worker, &list[0]);
	ck_assert_ptr_null(begin(&of_worker, 0x0b000000, &list[0]));
	ck_assert_ptr_eq(tls_worker_limits_evictable(&of_worker, UINT64_MAX), &list[1]);
}
END_TEST

START_TEST(an_end_counts_once)
{
	ck_assert_ptr_null(begin(&of_worker, 0x0a000001, &list[0]));
	tls_limits_end(&limits, &of_worker, &list[0]);
	tls_limits_end(&limits, &of_worker, &list[0]);
	ck_assert_uint_eq(of_worker.count, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tls_limits");
	TCase *tc = tcase_create("tls_limits");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, an_address_has_sixteen_at_a_time_on_all_workers);
	tcase_add_test(tc, a_worker_has_a_limit_for_all_addresses);
	tcase_add_test(tc, the_oldest_is_ended_for_others_at_the_limit_of_the_worker);
	tcase_add_test(tc, an_end_counts_once);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
