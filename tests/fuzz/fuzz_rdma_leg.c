// SPDX-License-Identifier: BSD-3-Clause
/*
 * Fuzzes a whole RDMA leg over the sim fabric. The first byte chooses the leg, the dialect of
 * version one, the configured `peer` of its server and what that server shows. Then each Send is a
 * length of two bytes and that many bytes. The only key that the peer exposes is the first that
 * exists: below it are a Call of the client, or the Reply to the first of the server's Calls.
 * Whatever arrives, the leg ends in order and frees all memory.
 */
#include "rpc/xdr.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/fake_nfs.h"
#include "tests/sim/raw.h"

#define SENDS_MAX      64u
#define CONFIG_PROGRAM 100417u
/* Bits of the first byte: version one is draft-03's; the server is asked for its configuration. */
#define DRAFT03    0x40u
#define CONFIGURES 0x20u
#define SECOND_US  1000000u
#define LENT_BYTES 16384u
#define LONG_BYTES 6000u
#define FIRST_XID  0x1000u /* of the rig's Calls */
#define CLIENT_XID 9u

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

/*
 * A short Reply, whatever the Call asks for; to an odd XID one that fits inline nowhere, where it
 * may be as long.
 */
static void answer(struct rig_side *side, struct exchange *x)
{
	uint32_t bytes =
		x->call_info.hdr.xid % 2 && x->reply_max_bytes >= LONG_BYTES ? LONG_BYTES : 64;

	FUZZ_ASSERT(x->reply_max_bytes <= RIG_MAX_MSG);
	FUZZ_ASSERT(rpc_msg_get(side->rig->pool, bytes, &x->reply) == 0);
	rig_fill_reply(x->reply.data, bytes, x->call_info.hdr.xid);
	leg_reply(side->leg, x);
}

static void choose_dialect(struct rdma_leg_config *config, uint8_t choice)
{
	if (!(choice & DRAFT03))
		return;
	config->version_one = DIALECT_DRAFT03;
	config->padding_align_bytes = 64;
	config->padding_threshold_bytes = 16;
	config->done_timeout_us = SECOND_US;
	config->done_policy = choice & 2 ? DONE_POLICY_WITHDRAW : DONE_POLICY_CLOSE;
}

static struct raw *open_client(struct rig *rig, uint8_t choice)
{
	struct raw *raw;

	choose_dialect(&rig->server.config, choice);
	rig->server.config.config_protocol = true;
	rig->server.config.leg.config_program = CONFIG_PROGRAM;
	raw = raw_open_client(rig, private_data, sizeof(private_data));
	rig_call(&rig->server, 200, 100, 100);
	return raw;
}

static struct raw *open_server(struct rig *rig, uint8_t choice)
{
	struct raw *raw;

	choose_dialect(&rig->client.config, choice);
	rig->client.config.config_protocol =
		(choice & (DRAFT03 | CONFIGURES)) == (DRAFT03 | CONFIGURES);
	rig->client.config.leg.config_program = CONFIG_PROGRAM;
	rig->client.config.ddp = !(choice & 0x80);
	rig->client.config.peer = (enum peer_id)(choice / 4 % PEER_COUNT);
	raw = choice & 2 ? raw_new(rig, NULL, 0) : raw_new(rig, private_data, sizeof(private_data));
	rig->raw_server = raw;
	rig_connect(rig);
	/* No longer than the question for the configuration waits for its answer. */
	rig_run_for(rig, SECOND_US);
	FUZZ_ASSERT(rig->client.opened == 1);
	rig_call(&rig->client, 200, 100, 100);
	rig_call(&rig->client, 9000, 100, 100);
	rig_call(&rig->client, 200, 5000, 9000);
	fake_nresult_bounds = 1;
	rig_call(&rig->client, 200, 5000, 5100);
	return raw;
}

static void lend_message(struct raw *raw, bool is_reply)
{
	uint8_t bytes[LENT_BYTES];

	if (is_reply)
		rig_fill_reply(bytes, sizeof(bytes), FIRST_XID);
	else
		rig_fill_call(bytes, sizeof(bytes), CLIENT_XID, 0);
	raw_lend(raw, bytes, sizeof(bytes), FABRIC_REMOTE_READ);
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
	raw = data[0] % 2 ? open_server(rig, data[0]) : open_client(rig, data[0]);
	lend_message(raw, data[0] % 2);
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
