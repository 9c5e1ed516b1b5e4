// SPDX-License-Identifier: BSD-3-Clause
/* Tests how much memory RDMA can lock, and the message if the limit is too low. */
#include <string.h>
#include <sys/resource.h>

#include "fabric/verbs/verbs_config.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_fake.h"

#define MIB ((size_t)1 << 20)

static const struct verbs_memlock_use use = {
	.memory_bytes = 64 * MIB, .services = 3, .domains = 100};

START_TEST(memory_is_counted_once_for_each_domain)
{
	static const struct {
		struct verbs_memlock_devices devices;
		size_t times;
	} rows[] = {
		{{0, 0}, 0},
		{{1, 0}, 3},
		{{2, 0}, 6},
		/* A domain per connection; keys and sinks are registered in addition. */
		{{0, 1}, 101},
		{{0, 2}, 101},
		{{2, 1}, 107},
	};
	struct verbs_memlock_use vast = use, off = use;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_uint_eq(verbs_memlock_bytes(&use, &rows[i].devices),
				  rows[i].times * 64 * MIB);
	/*
	 * A service without windows has domains of peers on any device; queues are locked whatever
	 * there is.
	 */
	off.per_peer = 1;
	off.queues_bytes = 5 * MIB;
	ck_assert_uint_eq(verbs_memlock_bytes(&off, &rows[1].devices), (104 * 64 + 5) * MIB);
	ck_assert_uint_eq(verbs_memlock_bytes(&off, &rows[0].devices), 0);
	vast.memory_bytes = SIZE_MAX / 50;
	ck_assert_uint_eq(verbs_memlock_bytes(&vast, &rows[3].devices), SIZE_MAX);
}
END_TEST

/*
 * With the 88 receives that 64 credits come to: about what a ConnectX connection is seen to take.
 */
START_TEST(the_queues_of_a_connection_are_counted)
{
	ck_assert_uint_eq(verbs_queues_bytes(88), (128 + 4 + 32 + 4) * 1024u);
	ck_assert_uint_eq(verbs_queues_bytes(1000), (128 + 16 + 128 + 4) * 1024u);
}
END_TEST

/*
 * Queues for 11, 23, 95 and then 190 endpoints; it is most when the second, the third or the fourth
 * has just been created.
 */
START_TEST(completion_queues_that_are_not_used_whole_are_counted)
{
	static const struct {
		unsigned endpoints;
		size_t kib;
	} rows[] = {
		{0, 0},
		{1, 256 - 32},
		{11, 256 - 32},
		{12, 256 + 512 - 12 * 32},
		{35, 256 + 512 + 2048 - 35 * 32},
		{129, 256 + 512 + 2048 - 35 * 32},
		{130, 256 + 512 + 2048 + 4096 - 130 * 32},
		{100000, 256 + 512 + 2048 + 4096 - 130 * 32},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_uint_eq(verbs_cqs_spare_bytes(rows[i].endpoints, 88), rows[i].kib << 10);
}
END_TEST

static void limit_to(size_t bytes)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > bytes)
		limit.rlim_max = bytes;
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

START_TEST(a_memlock_limit_is_reported_with_its_cure)
{
	static const struct {
		enum ibv_transport_type transport;
		unsigned cap_flags;
		const char *mib;
	} rows[] = {
		{IBV_TRANSPORT_IB, IBV_DEVICE_MEM_WINDOW_TYPE_2B, "192 MiB"},
		{IBV_TRANSPORT_IB, 0, "6464 MiB"},
		{IBV_TRANSPORT_IWARP, IBV_DEVICE_MEM_WINDOW_TYPE_2B, "6464 MiB"},
	};
	char text[512] = "";

	verbs_fake_reset(rows[_i].transport, rows[_i].cap_flags);
	limit_to(64 << 10);
	ck_assert(!verbs_memlock_check(&use, text, sizeof(text)));
	ck_assert_ptr_nonnull(strstr(text, rows[_i].mib));
	ck_assert_ptr_nonnull(strstr(text, "LimitMEMLOCK=infinity"));
	ck_assert_uint_eq(fake.opened, 0);
}
END_TEST

START_TEST(nothing_is_locked_without_a_device)
{
	char text[512];

	verbs_fake_reset(IBV_TRANSPORT_IB, 0);
	fake.ndevices = 0;
	limit_to(0);
	ck_assert(!verbs_devices_present());
	ck_assert(verbs_memlock_check(&use, text, sizeof(text)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_memlock");
	TCase *tc = tcase_create("memlock");

	tcase_add_test(tc, memory_is_counted_once_for_each_domain);
	tcase_add_test(tc, the_queues_of_a_connection_are_counted);
	tcase_add_test(tc, completion_queues_that_are_not_used_whole_are_counted);
	tcase_add_loop_test(tc, a_memlock_limit_is_reported_with_its_cure, 0, 3);
	tcase_add_test(tc, nothing_is_locked_without_a_device);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
