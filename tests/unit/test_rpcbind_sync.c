// SPDX-License-Identifier: BSD-3-Clause
/* Tests which listeners are registered with rpcbind, and their netids. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/compiler.h"
#include "daemon/proxy/rpcbind_sync.h"
#include "daemon/rpcbind/rpcb_client.h"
#include "daemon/service/listener.h"
#include "tests/lib/test.h"

#define WANTED_MAX 16u

/* What a service listens at. */
struct listener {
	struct sockaddr_in6 addr;
	bool tcp, rdma;
};

static struct rpcb_mapping wanted[WANTED_MAX];
static size_t nwanted;
static struct service_config config;
static struct listener listener;
static struct proxy proxy;
static struct proxy_service service;

/* Replaces the daemon's: the registrar records the requested registrations. */

struct rpcb_client *rpcb_client_new(struct loop *loop, const char *path)
{
	return (struct rpcb_client *)wanted;
}

int rpcb_client_set(struct rpcb_client *rpcb, const struct rpcb_mapping *mappings, size_t count)
{
	ck_assert_uint_le(count, WANTED_MAX);
	memcpy(wanted, mappings, count * sizeof(*mappings));
	nwanted = count;
	return 0;
}

void rpcb_client_free(struct rpcb_client *rpcb)
{
}

const struct sockaddr *listener_address(const struct listener *at, size_t i, bool *tcp, bool *rdma)
{
	*tcp = at->tcp;
	*rdma = at->rdma;
	return i == 0 ? (const struct sockaddr *)&at->addr : NULL;
}

static void listens(const char *host, bool tcp, bool rdma)
{
	listener = (struct listener){
		.addr = {.sin6_family = AF_INET6, .sin6_port = htons(20049)},
		.tcp = tcp,
		.rdma = rdma,
	};
	ck_assert_int_eq(inet_pton(AF_INET6, host, &listener.addr.sin6_addr), 1);
	config = (struct service_config){.name = (char *)"nfs", .registered = REGISTER_NFS};
	proxy = (struct proxy){.loop = NULL};
	service = (struct proxy_service){.listener = &listener, .service.config = &config};
	TAILQ_INIT(&proxy.services);
	TAILQ_INSERT_TAIL(&proxy.services, &service, entry);
	nwanted = 0;
}

static void expect_mappings(const char *netid, const char *address, size_t first)
{
	for (uint32_t version = 3; version <= 4; version++) {
		const struct rpcb_mapping *mapping = &wanted[first + version - 3];

		ck_assert_uint_eq(mapping->program, 100003);
		ck_assert_uint_eq(mapping->program_version, version);
		ck_assert_str_eq(mapping->netid, netid);
		ck_assert_str_eq(mapping->address, address);
	}
}

/* A12-1 */
static const struct {
	const char *host;
	bool rdma;
	const char *netid, *address;
} netids[] = {
	{"::ffff:192.0.2.1", true, "rdma", "192.0.2.1.78.81"},
	{"2001:db8::1", true, "rdma6", "2001:db8::1.78.81"},
	{"::ffff:192.0.2.1", false, "tcp", "192.0.2.1.78.81"},
	{"2001:db8::1", false, "tcp6", "2001:db8::1.78.81"},
};

START_TEST(the_netids_of_rdma_are_rdma_and_rdma6)
{
	listens(netids[_i].host, !netids[_i].rdma, netids[_i].rdma);
	rpcbind_sync_update(&proxy);
	ck_assert_uint_eq(nwanted, 2);
	expect_mappings(netids[_i].netid, netids[_i].address, 0);
}
END_TEST

/* A10-1: it may register, where the file says so. */
START_TEST(listeners_without_registration_are_not_registered)
{
	listens("2001:db8::1", false, true);
	config.registered = REGISTER_NONE;
	rpcbind_sync_update(&proxy);
	ck_assert_uint_eq(nwanted, 0);
	ck_assert_ptr_null(proxy.rpcb);
	config.registered = REGISTER_NFS;
	rpcbind_sync_update(&proxy);
	ck_assert_uint_eq(nwanted, 2);
	/* Drained: it listens no more. */
	service.listener = NULL;
	rpcbind_sync_update(&proxy);
	ck_assert_uint_eq(nwanted, 0);
}
END_TEST

static const struct {
	enum mount_mode way;
	bool tcp, rdma;
	const char *netid; /* of MOUNT; NULL: it is not registered */
} mounts[] = {
	{MOUNT_CONNECT, true, false, "tcp"}, {MOUNT_RPCBIND, true, false, "tcp"},
	{MOUNT_AT, true, false, "tcp"},      {MOUNT_OFF, true, false, NULL},
	{MOUNT_CONNECT, true, true, "tcp"},  {MOUNT_CONNECT, false, true, NULL},
};

START_TEST(mount_is_registered_where_a_tcp_listener_serves_it)
{
	const struct rpcb_mapping *mount = &wanted[2];

	listens("::ffff:192.0.2.1", mounts[_i].tcp, mounts[_i].rdma);
	config.mount.way = mounts[_i].way;
	config.registered = REGISTER_MOUNT;
	rpcbind_sync_update(&proxy);
	expect_mappings(mounts[_i].tcp ? "tcp" : "rdma", "192.0.2.1.78.81", 0);
	if (!mounts[_i].netid) {
		ck_assert_uint_eq(nwanted, 2);
		return;
	}
	ck_assert_uint_eq(nwanted, mounts[_i].rdma ? 5 : 3);
	ck_assert_uint_eq(mount->program, 100005);
	ck_assert_uint_eq(mount->program_version, 3);
	ck_assert_str_eq(mount->netid, mounts[_i].netid);
	ck_assert_str_eq(mount->address, "192.0.2.1.78.81");
	ck_assert_uint_eq(mount->needs_program, 100003);
	ck_assert_uint_eq(mount->needs_version, 3);
	/* Back to NFS alone, as after a reload. */
	config.registered = REGISTER_NFS;
	rpcbind_sync_update(&proxy);
	ck_assert_uint_eq(nwanted, mounts[_i].rdma ? 4 : 2);
}
END_TEST

/* File handles of one server must not go to another. */
START_TEST(mount_is_registered_for_no_other_service_than_nfs)
{
	struct service_config other_config = {.name = (char *)"other",
					      .registered = REGISTER_MOUNT};
	struct listener other_at;
	struct proxy_service other = {.listener = &other_at, .service.config = &other_config};

	listens("::ffff:192.0.2.1", true, false);
	other_at = listener;
	other_at.addr.sin6_port = htons(2049);
	TAILQ_INSERT_TAIL(&proxy.services, &other, entry);
	rpcbind_sync_update(&proxy);
	ck_assert_uint_eq(nwanted, 2);
	expect_mappings("tcp", "192.0.2.1.78.81", 0);
}
END_TEST

START_TEST(a_listener_at_every_address_has_both_kinds)
{
	listens("::", false, true);
	rpcbind_sync_update(&proxy);
	ck_assert_uint_eq(nwanted, 4);
	expect_mappings("rdma6", "::.78.81", 0);
	expect_mappings("rdma", "0.0.0.0.78.81", 2);
	/* As many as there can be: every netid, and MOUNT for those of TCP. */
	listens("::", true, true);
	config.registered = REGISTER_MOUNT;
	rpcbind_sync_update(&proxy);
	ck_assert_uint_eq(nwanted, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("registration");
	TCase *tc = tcase_create("registration");

	tcase_add_loop_test(tc, the_netids_of_rdma_are_rdma_and_rdma6, 0, ARRAY_SIZE(netids));
	tcase_add_test(tc, listeners_without_registration_are_not_registered);
	tcase_add_loop_test(tc, mount_is_registered_where_a_tcp_listener_serves_it, 0,
			    ARRAY_SIZE(mounts));
	tcase_add_test(tc, mount_is_registered_for_no_other_service_than_nfs);
	tcase_add_test(tc, a_listener_at_every_address_has_both_kinds);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
