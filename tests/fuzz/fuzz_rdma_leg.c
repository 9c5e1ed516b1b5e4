// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes a whole RDMA leg over the sim fabric: the first byte chooses the leg, what its server is taken for and
 * what that shows; then each Send is a length of two bytes and that many bytes. Whatever comes, the leg ends in
 * order and gives all memory back.
 */
#include "rpc/xdr.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/fake_nfs.h"
#include "tests/sim/raw.h"

#define SENDS_MAX      64u
#define CONFIG_PROGRAM 100417u

static const uint8_t private_data[] = {0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3};

static void bind_payload(struct rig *rig)
{
	fake_nfs_reset();
	fake_reply_payloads[0] = (struct rpc_payload){24, 40};
	fake_nreply_payloads = 1;
	fake_result_bounds[0] = 5000;
}

static void ignore_reply(struct rig_side *side, const struct exchange *x)
{
}

/* A short Reply, whatever the Call asks for. */
static void answer(struct rig_side *side, struct exchange *x)
{
	FUZZ_ASSERT(x->reply_max_bytes <= RIG_MAX_MSG);
	FUZZ_ASSERT(rpc_msg_get(side->rig->pool, 64, &x->reply) == 0);
	rig_fill_reply(x->reply.data, 64, x->facts.hdr.xid);
	leg_reply(side->leg, x);
}

static struct raw *open_client(struct rig *rig)
{
	struct raw *raw;

	rig->server.config.config_protocol = true;
	rig->server.config.leg.config_program = CONFIG_PROGRAM;
	raw = raw_open_client(rig, private_data, sizeof(private_data));
	rig_call(&rig->server, 200, 100, 100);
	return raw;
}

static struct raw *open_server(struct rig *rig, uint8_t choice)
{
	struct raw *raw;

	rig->client.config.ddp = !(choice & 0x80);
	rig->client.config.peer = (enum peer_id)(choice / 4 % PEER_COUNT);
	raw = choice & 2 ? raw_open_server(rig, NULL, 0)
			 : raw_open_server(rig, private_data, sizeof(private_data));
	rig_call(&rig->client, 200, 100, 100);
	rig_call(&rig->client, 9000, 100, 100);
	rig_call(&rig->client, 200, 5000, 9000);
	fake_nresult_bounds = 1;
	rig_call(&rig->client, 200, 5000, 5100);
	return raw;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rig *rig;
	struct raw *raw;

	if (!size)
		return 0;
	rig = rig_new(NULL);
	bind_payload(rig);
	rig->client.on_reply = rig->server.on_reply = ignore_reply;
	rig->client.on_call = rig->server.on_call = answer;
	raw = data[0] % 2 ? open_server(rig, data[0]) : open_client(rig);
	rig_run_for(rig, 1000);
	for (size_t at = 1, n = 0; size - at >= 2 && n < SENDS_MAX && !raw->closed; n++) {
		size_t len = (size_t)data[at] << 8 | data[at + 1];

		at += 2;
		if (len > size - at)
			len = size - at;
		raw_send(raw, data + at, len);
		at += len;
	}
	raw_free(raw);
	rig_end(rig);
	return 0;
}
