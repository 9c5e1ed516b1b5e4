// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests a TCP leg that lacks memory for TLS: in each run one allocation fails. The linker sends our
 * calloc() here (--wrap).
 */
#include <errno.h>
#include <stdlib.h>

#include "rpc/record_mark.h"
#include "tests/unit/tcp_tls_bench.h"

#define NONE 0u

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

static unsigned fails_at; /* the n-th allocation from now on, from 1 */

void *__wrap_calloc(size_t count, size_t bytes)
{
	if (fails_at && !--fails_at)
		return NULL;
	return __real_calloc(count, bytes);
}

/* The leg closes for want of memory, or cannot be made. */
static void expect_no_memory(struct bench_side *side, int rc)
{
	if (rc) {
		ck_assert_int_eq(rc, -ENOMEM);
		side->leg = NULL;
		return;
	}
	ck_assert_uint_eq(side->closing, 1);
	ck_assert_msg(side->why == LEG_CLOSE_RESOURCES, "%s: %s", leg_close_name(side->why),
		      side->detail);
}

START_TEST(an_accepted_leg_closes_without_memory)
{
	for (unsigned at = 1;; at++) {
		struct stream *ends[2];
		unsigned left;
		int rc;

		tls_bench_renew(NULL);
		ck_assert_int_eq(pair_new(bench_net, ends), 0);
		raw = ends[1];
		fails_at = at;
		rc = tcp_leg_accept(&server.config, ends[0], NULL, &server.leg);
		if (!rc)
			raw_probe(3);
		left = fails_at;
		fails_at = NONE;
		if (left)
			break;
		expect_no_memory(&server, rc);
	}
	ck_assert_uint_eq(server.closing, 0);
	raw_expect_answer(3);
	raw_secure(TLS_ROLE_CLIENT, tls_client, NULL, 0);
	bench_run();
	ck_assert_uint_eq(server.secured, 1);
}
END_TEST

START_TEST(a_leg_that_connects_closes_without_memory)
{
	const struct stream_target target = {.addr.ss_family = AF_INET};

	for (unsigned at = 1;; at++) {
		uint8_t bytes[RECORD_MARK_BYTES + TLS_PROBE_BYTES];
		unsigned left;
		int rc;

		tls_bench_renew(NULL);
		fails_at = at;
		rc = tcp_leg_connect(&client.config, &target, &client.leg);
		left = fails_at;
		fails_at = NONE;
		if (left) {
			bench_run();
			ck_assert_uint_eq(raw_read(bytes, sizeof(bytes)), sizeof(bytes));
			break;
		}
		expect_no_memory(&client, rc);
	}
	ck_assert_uint_eq(client.closing, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tcp_tls_memory");
	TCase *tc = tcase_create("memory");

	tcase_add_unchecked_fixture(tc, tls_bench_begin, tls_bench_end);
	tcase_add_checked_fixture(tc, tls_bench_setup, tls_bench_teardown);
	tcase_add_test(tc, an_accepted_leg_closes_without_memory);
	tcase_add_test(tc, a_leg_that_connects_closes_without_memory);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
