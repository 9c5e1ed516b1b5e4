// SPDX-License-Identifier: BSD-3-Clause
/* The sim fabric, endpoint to endpoint. */
#include <errno.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/sim/bare.h"

static struct bare *bare;

static void setup(void)
{
	bare = bare_open(NULL);
}

static void teardown(void)
{
	bare_free(bare);
}

/* The server's Send of so many bytes, which the client must take by a receive of so many. */
static void send_expect(uint32_t len_bytes, uint32_t size_bytes)
{
	unsigned before = bare->client.nevents;

	ck_assert_int_eq(bare_post(&bare->server, FABRIC_SEND, 0, len_bytes, NULL, 0), 0);
	bare_run(bare, 1000);
	ck_assert_uint_eq(bare->client.nevents, before + 1);
	ck_assert_int_eq(bare->client.events[before].what, BARE_RECV);
	ck_assert_uint_eq(bare->client.events[before].recv.len_bytes, len_bytes);
	ck_assert_uint_eq(bare->client.events[before].recv.size_bytes, size_bytes);
}

START_TEST(receives_of_mixed_sizes_are_used_in_order)
{
	fabric_recv_post(bare->client.ep, 1, 10);
	fabric_recv_post(bare->client.ep, 2, 5000);
	for (unsigned i = 0; i < 8; i++)
		send_expect(i * 100, 1024);
	send_expect(10, 10);
	fabric_recv_post(bare->client.ep, 1, 3);
	send_expect(5000, 5000);
	send_expect(0, 5000);
	send_expect(3, 3);
}
END_TEST

START_TEST(a_send_longer_than_the_receive_at_the_head_ends_the_connection)
{
	fabric_recv_post(bare->client.ep, 1, 10);
	fabric_recv_post(bare->client.ep, 1, 5000);
	for (unsigned i = 0; i < 8; i++)
		send_expect(1024, 1024);
	ck_assert_int_eq(bare_post(&bare->server, FABRIC_SEND, 0, 11, NULL, 0), 0);
	bare_run(bare, 1000);
	ck_assert_int_eq(bare_closed(&bare->client), FABRIC_CLOSE_PROTOCOL);
	ck_assert_int_eq(bare_closed(&bare->server), FABRIC_CLOSE_TERMINATED);
	ck_assert_uint_eq(sim_net_stats(bare->net)->overlong, 1);
}
END_TEST

START_TEST(both_ends_see_the_source_that_was_asked_for)
{
	struct sockaddr_storage source = {.ss_family = AF_INET};
	struct fabric_ep_info info;

	teardown();
	bare = bare_new(NULL);
	memset((char *)&source + sizeof(source.ss_family), 0x2a, 6); /* a port and an address */
	bare->client.params.source = source;
	bare_connect(bare);
	fabric_ep_info(bare->client.ep, &info);
	ck_assert_mem_eq(&info.local, &source, sizeof(source));
	fabric_ep_info(bare->server.ep, &info);
	ck_assert_mem_eq(&info.peer, &source, sizeof(source));
}
END_TEST

START_TEST(without_a_source_the_host_chooses)
{
	struct fabric_ep_info info;

	fabric_ep_info(bare->client.ep, &info);
	ck_assert_int_eq(info.local.ss_family, AF_INET);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bare");
	TCase *tc = tcase_create("receives");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, receives_of_mixed_sizes_are_used_in_order);
	tcase_add_test(tc, a_send_longer_than_the_receive_at_the_head_ends_the_connection);
	suite_add_tcase(suite, tc);
	tc = tcase_create("addresses");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, both_ends_see_the_source_that_was_asked_for);
	tcase_add_test(tc, without_a_source_the_host_chooses);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
