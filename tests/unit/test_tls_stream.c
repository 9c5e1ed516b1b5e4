// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>

#include "tests/lib/test.h"
#include "tests/unit/tls_fixture.h"

#define LARGE_BYTES 300000u

static struct tls_rig rig;

static void setup(void)
{
	tls_rig_init(&rig);
}

static void teardown(void)
{
	tls_rig_fini(&rig);
}

static void expect_same(struct tls_end *from, struct tls_end *to, size_t length)
{
	uint8_t *bytes = malloc(length);

	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8));
	to->input_bytes = 0;
	ck_assert_int_eq(tls_end_write(from, bytes, length), 0);
	tls_rig_run(&rig);
	ck_assert_uint_eq(to->input_bytes, length);
	ck_assert_mem_eq(to->input, bytes, length);
	free(bytes);
}

START_TEST(bytes_arrive_in_both_directions)
{
	tls_rig_open(&rig);
	expect_same(&rig.client, &rig.server, 1);
	expect_same(&rig.client, &rig.server, LARGE_BYTES);
	expect_same(&rig.server, &rig.client, LARGE_BYTES);
	ck_assert_str_eq(tls_stream_peer(rig.client.stream)->name, "proxy.example");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tls_stream");
	TCase *tc = tcase_create("tls_stream");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, bytes_arrive_in_both_directions);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
