// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/quirk_peer.h"

#include "tests/lib/fake_nfs.h"
#include "tests/lib/test.h"

const uint8_t pd_ours[8] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

struct peer_cache peer_memory;
uint64_t peer_client;
bool peer_ddp;
enum dialect_id peer_version_one;

void open_peer(enum peer_id id, const uint8_t *pd)
{
	rig = rig_new(NULL);
	rig->client.config.version_one = peer_version_one;
	rig->client.config.peer = id;
	rig->client.config.ddp = peer_ddp;
	rig->client.config.peer_cache = &peer_memory;
	rig->client.config.peer_client = peer_client;
	raw = raw_open_server(rig, pd, pd ? 8 : 0);
}

void setup_peer(void)
{
	fake_nfs_reset();
	peer_memory = (struct peer_cache){0};
	peer_client = 0;
	peer_ddp = false;
	peer_version_one = DIALECT_RFC8166;
	fake_ceiling_bytes = 200;
}

void teardown_peer(void)
{
	teardown();
}

void expect_peer(const char *name)
{
	struct leg_info info;

	leg_info(rig->client.leg, &info);
	ck_assert_str_eq(info.peer_profile, name);
	ck_assert_ptr_nonnull(info.peer_why);
}

void refuse(uint32_t xid)
{
	struct rpcrdma_header hdr;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_ERROR);
	hdr.error = RPCRDMA_ERR_CHUNK;
	raw_send_header(raw, &hdr, NULL, 0);
}

void expect_not_sendable(uint32_t call_bytes)
{
	unsigned faults = rig->client.faults;
	uint64_t before = rig->client.counters.calls_not_sendable;

	make_call(call_bytes, 100, 100);
	ck_assert_uint_eq(sends_waiting(), 0);
	ck_assert_uint_eq(rig->client.faults, faults + 1);
	ck_assert_int_eq(rig->client.last_fault, EXCHANGE_FAULT_CANT_SEND);
	ck_assert_uint_eq(rig->client.counters.calls_not_sendable, before + 1);
	ck_assert_uint_eq(rig->client.closed, 0);
}
