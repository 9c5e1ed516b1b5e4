// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests an RDMA client whose first Call is for MOUNT: another upstream replaces the one that was
 * connected for it.
 */
#include <stdlib.h>

#include "daemon/bridge/bridge.h"
#include "nfs/proc_table.h"
#include "rpc/xdr.h"
#include "tests/lib/test.h"
#include "tests/sim/bridge_bench.h"
#include "tests/sim/rig.h"

static struct bench *bench;
static struct stub *client, *server;

static void teardown(void)
{
	if (bench)
		bench_end(bench);
	bench = NULL;
}

static void call(uint32_t xid, uint32_t program)
{
	struct exchange *x = exchange_new(NULL);

	RIG_ASSERT(rpc_msg_get(bench->pool, RIG_CALL_MIN, &x->call) == 0);
	rig_fill_call(x->call.data, RIG_CALL_MIN, xid, 100);
	be32_put(x->call.data + 12, program);
	RIG_ASSERT(rpc_call_decode(x->call.data, RIG_CALL_MIN, &x->call_info.hdr) == RPC_OK);
	x->start_us = loop_now_us(bench->loop);
	client->config.events->call(client->config.arg, x);
}

/* Its first upstream is open, and its first Call has not come. */
static void open_rdma(void)
{
	bench = bench_new(NULL);
	bench_add_mount(bench);
	bench->config.listen.transport = TRANSPORT_IWARP;
	bench_connect_by(bench, TRANSPORT_TCP);
	bench->stub_server = true;
	client = bench_incoming(bench);
	client->config.events->requested(client->config.arg);
	bench_run(bench, 1);
	server = bench_stub(bench, 1);
	server->config.events->opened(server->config.arg);
	client->config.events->opened(client->config.arg);
	ck_assert_str_eq(bench_state(bench), "open");
}

/* The steps of a reroute, up to that of number @steps. */
static void reroute(unsigned steps)
{
	call(1, NFS_PROGRAM_MOUNT);
	ck_assert_str_eq(bench_state(bench), "rerouting");
	ck_assert_uint_eq(server->close_calls, 1);
	ck_assert_uint_eq(server->calls, 0);
	if (steps > 0)
		stub_closing(server, LEG_CLOSE_LOCAL, "");
	if (steps > 1)
		stub_over(server);
	if (steps > 2)
		bench_run(bench, 1);
	if (steps > 3) {
		server = bench_stub(bench, 2);
		server->config.events->opened(server->config.arg);
	}
}
#define STEPS 4u

START_TEST(the_call_waits_for_the_other_server)
{
	open_rdma();
	reroute(3);
	ck_assert_str_eq(bench_state(bench), "connecting");
	/* Calls that arrive meanwhile wait too, and are not for that upstream. */
	call(2, NFS_PROGRAM_NFS);
	ck_assert_uint_eq(client->replies, 0);
	server = bench_stub(bench, 2);
	server->config.events->opened(server->config.arg);
	ck_assert_str_eq(bench_state(bench), "open");
	ck_assert_uint_eq(bench_stub(bench, 1)->attempt.program, NFS_PROGRAM_NFS);
	ck_assert_uint_eq(server->attempt.program, NFS_PROGRAM_MOUNT);
	ck_assert_uint_eq(server->calls, 1);
	ck_assert_uint_eq(client->replies, 1);
	call(3, NFS_PROGRAM_MOUNT);
	call(4, NFS_PROGRAM_NFS);
	ck_assert_uint_eq(server->calls, 2);
	ck_assert_uint_eq(client->replies, 2);
	ck_assert_uint_eq(bench->service.mount_servers.list[0].connections, 1);
	ck_assert_uint_eq(bench->service.servers.list[0].connections, 0);
	stub_fail(client, LEG_CLOSE_PEER, "");
	stub_fail(server, LEG_CLOSE_PEER, "");
}
END_TEST

START_TEST(a_first_call_for_nfs_stays)
{
	open_rdma();
	call(1, NFS_PROGRAM_NFSACL);
	call(2, NFS_PROGRAM_MOUNT);
	call(3, 400000);
	ck_assert_str_eq(bench_state(bench), "open");
	ck_assert_uint_eq(server->calls, 1);
	ck_assert_uint_eq(client->replies, 2);
	ck_assert_uint_eq(server->close_calls, 0);
	stub_fail(client, LEG_CLOSE_PEER, "");
	stub_fail(server, LEG_CLOSE_PEER, "");
}
END_TEST

START_TEST(its_failure_ends_the_connection)
{
	open_rdma();
	reroute(3);
	server = bench_stub(bench, 2);
	stub_fail(server, LEG_CLOSE_REFUSED, "");
	ck_assert_str_eq(bench_state(bench), "closing");
	ck_assert_uint_eq(client->close_calls, 1);
	ck_assert_uint_eq(worker_service_closed(&bench->ws, LEG_CLOSE_REFUSED), 1);
	/* That is no word on the server of NFS. */
	ck_assert_uint_eq(bench->service.servers.list[0].failures, 0);
	ck_assert_uint_eq(bench->service.mount_servers.list[0].failures, 1);
	stub_fail(client, LEG_CLOSE_LOST, "");
}
END_TEST

/* Whoever ends it, and however: bench_end() sees that nothing is left. */
static void end_both(unsigned steps)
{
	if (!client->closing)
		stub_closing(client, LEG_CLOSE_PEER, "");
	stub_over(client);
	if (steps < 1)
		stub_closing(server, LEG_CLOSE_LOCAL, "");
	if (steps < 2)
		stub_over(server);
	if (steps == 3)
		server = bench_stub(bench, 2);
	if (steps >= 3)
		stub_fail(server, LEG_CLOSE_LOCAL, "");
	bench_run(bench, 1);
	ck_assert_str_eq(bench_state(bench), "gone");
}

START_TEST(a_client_that_leaves_meanwhile_leaves_nothing)
{
	open_rdma();
	reroute((unsigned)_i);
	stub_closing(client, LEG_CLOSE_PEER, "");
	end_both((unsigned)_i);
}
END_TEST

START_TEST(a_bridge_that_is_closed_meanwhile_leaves_nothing)
{
	open_rdma();
	reroute((unsigned)_i);
	bridge_close(bench_bridge(bench), LEG_CLOSE_SHUTDOWN, CLOSE_BY_PROXY, "");
	ck_assert_uint_eq(client->close_calls, 1);
	end_both((unsigned)_i);
}
END_TEST

START_TEST(a_bridge_that_is_drained_while_it_reroutes_closes_immediately)
{
	open_rdma();
	reroute((unsigned)_i);
	bridge_drain(bench_bridge(bench));
	ck_assert_uint_eq(client->close_calls, 1);
	end_both((unsigned)_i);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("routing");
	TCase *tc = tcase_create("routing");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, the_call_waits_for_the_other_server);
	tcase_add_test(tc, a_first_call_for_nfs_stays);
	tcase_add_test(tc, its_failure_ends_the_connection);
	tcase_add_loop_test(tc, a_client_that_leaves_meanwhile_leaves_nothing, 0, STEPS + 1);
	tcase_add_loop_test(tc, a_bridge_that_is_closed_meanwhile_leaves_nothing, 0, STEPS + 1);
	tcase_add_loop_test(tc, a_bridge_that_is_drained_while_it_reroutes_closes_immediately, 0,
			    STEPS);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
