// SPDX-License-Identifier: BSD-3-Clause
/* Tests when doubtful servers are checked. The test chooses the results of the checks. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "daemon/health/health.h"
#include "daemon/proxy/health_timer.h"
#include "daemon/service/servers.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

static struct proxy proxy;
static struct proxy_service ps;
static struct service_config service;
static struct check_config asked; /* the last check */
static unsigned checks;
static int check_rc;

int check_start(const struct check_config *config, struct check **out)
{
	if (check_rc)
		return check_rc;
	asked = *config;
	checks++;
	*out = (struct check *)&asked;
	return 0;
}

void check_abort(struct check *check)
{
	(void)check;
}

void check_free(struct check *check)
{
	(void)check;
}

static void setup(void)
{
	static char name[] = "files", host[] = "a", port[] = "2049";

	service = (struct service_config){
		.name = name,
		.connect = {TRANSPORT_TCP, host, port},
		.mount = {.way = MOUNT_RPCBIND},
		.max_connections = 4,
	};
	proxy = (struct proxy){.loop = fake_loop_new()};
	ps = (struct proxy_service){.proxy = &proxy};
	ck_assert_int_eq(service_init(&ps.service, &service), 0);
	ck_assert_int_eq(health_timer_start(&ps), 0);
	checks = 0;
	check_rc = 0;
}

static void teardown(void)
{
	health_timer_fini(&ps);
	service_fini(&ps.service);
	fake_loop_free(proxy.loop);
}

static void become_doubtful(struct servers *servers)
{
	const struct sockaddr_in client = {.sin_family = AF_INET,
					   .sin_addr.s_addr = htonl(0x0a000001)};

	ck_assert(!server_health_unanswered(&servers->list[0].health, NULL,
					    (const struct sockaddr *)&client, LEG_CLOSE_PEER, "",
					    loop_now_us(proxy.loop)));
}

START_TEST(a_doubtful_server_is_asked_once)
{
	health_timer_check_doubtful(&ps);
	ck_assert_uint_eq(checks, 0);
	become_doubtful(&ps.service.servers);
	health_timer_check_doubtful(&ps);
	health_timer_check_doubtful(&ps);
	ck_assert_uint_eq(checks, 1);
	ck_assert_uint_eq(asked.skipped_servers, ~UINT32_C(1));
	ck_assert(!asked.checks_mount);
}
END_TEST

/* It waits for no question to another server, and what comes of its own is known of it alone. */
START_TEST(so_is_a_server_of_mount)
{
	struct check_server server = {
		.steps = {[CHECK_CONNECT] = {.result = CHECK_PASSED},
			  [CHECK_NULL] = {.result = _i ? CHECK_PASSED : CHECK_FAILED,
					  .why = LEG_CLOSE_REFUSED,
					  .what = "it is off"}}};
	const struct check_report report = {.nservers = 1, .servers = &server};
	const struct nfs_server *nfs = ps.service.servers.list,
				*mount = ps.service.mount_servers.list;

	become_doubtful(&ps.service.servers);
	health_timer_check_doubtful(&ps);
	become_doubtful(&ps.service.mount_servers);
	health_timer_check_doubtful(&ps);
	ck_assert_uint_eq(checks, 2);
	ck_assert(asked.checks_mount);
	ck_assert_uint_eq(asked.skipped_servers, ~UINT32_C(1));
	asked.done(asked.arg, &report);
	ck_assert_int_eq(server_health_is_down(&mount->health), !_i);
	ck_assert(!server_health_is_down(&nfs->health));
	/* The other question is still out. */
	ck_assert(health_timer_is_busy(&ps));
}
END_TEST

/* Those that no client uses are asked for NFS alone. */
START_TEST(no_timer_asks_a_server_of_mount)
{
	const struct check_report report = {0};

	health_timer_fini(&ps);
	service.probe_interval_s = 1;
	ck_assert_int_eq(health_timer_start(&ps), 0);
	for (unsigned i = 1; i <= 5; i++) {
		fake_loop_run(proxy.loop);
		ck_assert_uint_eq(checks, i);
		ck_assert(!asked.checks_mount);
		asked.done(asked.arg, &report);
		fake_loop_advance(proxy.loop, 1000000);
	}
}
END_TEST

START_TEST(without_memory_it_is_asked_later)
{
	become_doubtful(&ps.service.servers);
	check_rc = -ENOMEM;
	health_timer_check_doubtful(&ps);
	check_rc = 0;
	health_timer_check_doubtful(&ps);
	ck_assert_uint_eq(checks, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("probing");
	TCase *tc = tcase_create("probing");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_doubtful_server_is_asked_once);
	tcase_add_loop_test(tc, so_is_a_server_of_mount, 0, 2);
	tcase_add_test(tc, no_timer_asks_a_server_of_mount);
	tcase_add_test(tc, without_memory_it_is_asked_later);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
