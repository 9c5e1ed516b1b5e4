// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the verbs fabric without a device: every function reports this, and nothing is left.
 * tests/lab tests with devices.
 */
#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#include "fabric/verbs/verbs.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

START_TEST(a_listener_without_the_connection_manager_says_so)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct verbs_config config = {0};
	struct fabric_listener *listener = NULL;
	struct loop *loop = fake_loop_new();

	if (!access("/dev/infiniband/rdma_cm", F_OK)) {
		fake_loop_free(loop);
		return;
	}
	ck_assert_int_lt(fabric_listen(&verbs_fabric_ops, &config, loop, (struct sockaddr *)&addr,
				       1, NULL, NULL, &listener),
			 0);
	ck_assert_ptr_null(listener);
	fake_loop_free(loop);
}
END_TEST

START_TEST(a_fabric_without_the_connection_manager_is_none)
{
	struct verbs_config config = {0};
	struct loop *loop = fake_loop_new();
	struct buf_pool *pool = buf_pool_new(4096, 8u << 20);

	if (access("/dev/infiniband/rdma_cm", F_OK))
		ck_assert_ptr_null(verbs_fabric_new(loop, pool, &config));
	buf_pool_free(pool);
	fake_loop_free(loop);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs");
	TCase *tc = tcase_create("verbs");

	tcase_add_test(tc, a_listener_without_the_connection_manager_says_so);
	tcase_add_test(tc, a_fabric_without_the_connection_manager_is_none);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
