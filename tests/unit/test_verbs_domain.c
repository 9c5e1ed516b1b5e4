// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests which protection domain a connection uses, and what is registered in it, on a fake device.
 */
#include <arpa/inet.h>

#include "fabric/verbs/pd.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/verbs_scene.h"

#define CONNECTIONS 4u

static struct fabric_ep *eps[CONNECTIONS];
static struct rdma_cm_id *ids[CONNECTIONS];

/* The first two are to one host, each at a port of its own. */
static const char *const hosts[CONNECTIONS] = {"10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.3"};

static void connect_to(unsigned i, const struct sockaddr *addr)
{
	ck_assert_int_eq(
		fabric_connect(scene.fabric, addr, &scene.params, &scene_events, NULL, &eps[i]), 0);
	scene.ep = eps[i];
	ids[i] = fake.id;
	scene_event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	scene_event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
}

static void connect_all(void)
{
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		struct sockaddr_in addr = {.sin_family = AF_INET,
					   .sin_port = htons((uint16_t)(20049 + i))};

		ck_assert_int_eq(inet_pton(AF_INET, hosts[i], &addr.sin_addr), 1);
		connect_to(i, (struct sockaddr *)&addr);
	}
}

static void close_one(unsigned i)
{
	unsigned closed = scene.closed;

	fake.id = ids[i];
	scene_event(RDMA_CM_EVENT_REJECTED, 0);
	ck_assert_uint_eq(scene.closed, closed + 1);
	fabric_ep_free(eps[i]);
}

static void close_all(unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		close_one(i);
	scene.ep = NULL;
	scene.closed = 1;
	scene_end();
}

static struct ibv_pd *pd_of(unsigned i)
{
	return verbs_ep_of(eps[i])->domain->pd;
}

static const struct {
	enum ibv_transport_type transport;
	unsigned cap_flags;
	enum verbs_pd_scope pd_scope;
	unsigned pds;
} rows[] = {
	{IB, WINDOWS, VERBS_PD_AUTO, 1},
	/* Windows answer to their queue pair alone: nothing else is needed. */
	{IB, WINDOWS, VERBS_PD_CONNECTION, 1},
	{IB, 0, VERBS_PD_AUTO, 3},
	{IB, 0, VERBS_PD_PEER, 3},
	{IB, 0, VERBS_PD_CONNECTION, 4},
	{IB, 0, VERBS_PD_WORKER, 1},
};

START_TEST(a_domain_is_that_of_the_worker_the_peer_or_the_connection)
{
	struct verbs_config config = scene_config();

	config.pd_scope = rows[_i].pd_scope;
	scene_begin_as(rows[_i].transport, rows[_i].cap_flags, &config);
	connect_all();
	ck_assert_uint_eq(fake.pds, rows[_i].pds);
	ck_assert_int_eq(pd_of(0) == pd_of(1), rows[_i].pds != 4);
	ck_assert_int_eq(pd_of(1) == pd_of(2), rows[_i].pds == 1);
	ck_assert_ptr_eq(fake.qp->pd, pd_of(3));
	close_all(0, CONNECTIONS);
}
END_TEST

/* All receives are of one slab here. */
START_TEST(a_slab_is_registered_once_for_all_connections_of_a_peer)
{
	scene_begin(IB, 0);
	connect_all();
	ck_assert_uint_eq(fake.regions, 3);
	/* The first connection of the host ends: the other one keeps what is registered. */
	close_one(0);
	ck_assert_uint_eq(fake.pds, 3);
	ck_assert_uint_eq(fake.regions, 3);
	close_one(1);
	ck_assert_uint_eq(fake.pds, 2);
	ck_assert_uint_eq(fake.regions, 2);
	connect_to(1, (struct sockaddr *)&scene.addr);
	ck_assert_uint_eq(fake.registered, 4);
	close_all(1, CONNECTIONS);
}
END_TEST

/* Exposed memory, and the sink of a Read on iWARP, are unchanged. */
START_TEST(slabs_alone_are_written_in_any_order)
{
	struct buf *buf;

	scene_begin(_i ? IWARP : IB, 0);
	fake.refuses_relaxed = _i == 2;
	buf = buf_get(scene.pool, 100);
	scene_connected();
	ck_assert_uint_eq(fake.access & IBV_ACCESS_RELAXED_ORDERING,
			  _i == 2 ? 0 : IBV_ACCESS_RELAXED_ORDERING);
	ck_assert_int_eq(scene_lend(0, buf), 0);
	ck_assert_uint_eq(fake.access & IBV_ACCESS_RELAXED_ORDERING, 0);
	ck_assert(fabric_key_unbind(&scene.keys[0]));
	scene_post(0, buf);
	fake_loop_run(scene.loop);
	/* The device is not asked again. */
	ck_assert_uint_eq(fake.relaxed_refused, _i == 2 ? 1 : 0);
	scene_event(RDMA_CM_EVENT_DISCONNECTED, 0);
	buf_put(buf);
	scene_end();
}
END_TEST

static size_t slabs_kept(unsigned nbufs)
{
	struct buf *bufs[200]; /* 12.5 MiB; the scene's pool has a reserve of 8 */
	struct buf_pool_stats stats;

	for (unsigned i = 0; i < nbufs; i++) {
		bufs[i] = buf_get(scene.pool, 65536);
		if (!verbs_slab_mr(verbs_ep_of(scene.ep), bufs[i]))
			fake_loop_run(scene.loop);
		ck_assert_ptr_nonnull(verbs_slab_mr(verbs_ep_of(scene.ep), bufs[i]));
	}
	for (unsigned i = 0; i < nbufs; i++)
		buf_put(bufs[i]);
	buf_pool_stats_get(scene.pool, &stats);
	return stats.empty_bytes;
}

START_TEST(slabs_stay_registered_up_to_the_recent_peak)
{
	unsigned registered;
	size_t kept;

	scene_begin(IB, WINDOWS);
	scene_connected();
	kept = slabs_kept(200);
	registered = fake.registered;
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(slabs_kept(200), kept);
	ck_assert_uint_eq(fake.registered, registered);
	scene_ended();
}
END_TEST

/*
 * A host is known by its IPv4 address or by that as v4-mapped, and a link-local one on its link
 * only.
 */
START_TEST(a_peer_is_known_by_its_address)
{
	static const struct {
		const char *one, *other;
		uint32_t one_scope, other_scope;
		bool same;
	} pairs[] = {
		{"::ffff:10.0.0.1", "::ffff:10.0.0.1", 0, 0, true},
		{"fe80::1", "fe80::1", 2, 2, true},
		{"fe80::1", "fe80::1", 2, 3, false},
		{"2001:db8::1", "2001:db8::2", 0, 0, false},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct sockaddr_in6 addr = {.sin6_family = AF_INET6, .sin6_port = htons(20049)};

		scene_begin(IB, 0);
		ck_assert_int_eq(inet_pton(AF_INET6, pairs[i].one, &addr.sin6_addr), 1);
		addr.sin6_scope_id = pairs[i].one_scope;
		connect_to(0, (struct sockaddr *)&addr);
		ck_assert_int_eq(inet_pton(AF_INET6, pairs[i].other, &addr.sin6_addr), 1);
		addr.sin6_scope_id = pairs[i].other_scope;
		connect_to(1, (struct sockaddr *)&addr);
		ck_assert_uint_eq(fake.pds, pairs[i].same ? 1 : 2);
		close_all(0, 2);
	}
}
END_TEST

/* Not every library sets errno. */
START_TEST(a_device_without_a_domain_to_give_ends_the_connection)
{
	struct verbs_config config = scene_config();

	config.pd_scope = _i ? VERBS_PD_WORKER : VERBS_PD_PEER;
	scene_begin_as(IB, 0, &config);
	fake.no_pd = true;
	ck_assert_int_eq(fabric_connect(scene.fabric, (struct sockaddr *)&scene.addr, &scene.params,
					&scene_events, NULL, &scene.ep),
			 0);
	scene_event(RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	/* A peer's is allocated with its first queue pair. */
	if (!_i)
		scene_event(RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	ck_assert_uint_eq(scene.closed, 1);
	ck_assert_int_eq(scene.why, FABRIC_CLOSE_RESOURCES);
	scene_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_pd");
	TCase *tc = tcase_create("verbs_pd");

	tcase_add_loop_test(tc, a_domain_is_that_of_the_worker_the_peer_or_the_connection, 0,
			    ARRAY_SIZE(rows));
	tcase_add_test(tc, a_slab_is_registered_once_for_all_connections_of_a_peer);
	tcase_add_test(tc, a_peer_is_known_by_its_address);
	tcase_add_loop_test(tc, slabs_alone_are_written_in_any_order, 0, 3);
	tcase_add_test(tc, slabs_stay_registered_up_to_the_recent_peak);
	tcase_add_loop_test(tc, a_device_without_a_domain_to_give_ends_the_connection, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
