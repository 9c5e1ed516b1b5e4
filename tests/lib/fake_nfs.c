// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/fake_nfs.h"

#include <errno.h>
#include <string.h>

struct rpc_payload fake_reply_payloads[4], fake_call_payloads[4];
uint32_t fake_result_bounds[4];
int fake_nreply_payloads, fake_ncall_payloads, fake_nresult_bounds;
bool fake_call_writes, fake_call_reads;
uint32_t fake_ceiling_bytes = UINT32_MAX;
unsigned fake_looks, fake_reply_looks;

void fake_nfs_reset(void)
{
	fake_nreply_payloads = fake_ncall_payloads = fake_nresult_bounds = 0;
	fake_call_writes = fake_call_reads = false;
	fake_ceiling_bytes = UINT32_MAX;
	fake_looks = fake_reply_looks = 0;
}

void nfs_facts_begin_cleared(struct call_facts *facts, uint32_t limit_bytes)
{
	nfs_facts_begin(facts, limit_bytes);
}

void nfs_facts_begin(struct call_facts *facts, uint32_t limit_bytes)
{
	*facts = (struct call_facts){.hdr = facts->hdr, .stage = FACTS_HEAD};
	facts->limit_bytes = facts->ceiling_bytes = limit_bytes;
}

void nfs_facts_go_on(struct call_facts *facts, const struct nfs_sessions *sessions,
		     const struct rpc_pieces *msg, const struct nfs_sink *sink)
{
	if (facts->stage == FACTS_WHOLE || rpc_pieces_have_bytes(msg) < msg->len_bytes)
		return;
	fake_looks++;
	facts->stage = FACTS_WHOLE;
	if (fake_ceiling_bytes < facts->ceiling_bytes)
		facts->ceiling_bytes = fake_ceiling_bytes;
	facts->is_proved = facts->ceiling_bytes < facts->limit_bytes;
	facts->narg_payloads = (uint32_t)fake_ncall_payloads;
	facts->arg = fake_call_payloads[0];
	facts->arg_is_data = fake_call_writes;
	facts->result_is_data = fake_call_reads;
	facts->nresult_payloads = (uint32_t)fake_nresult_bounds;
	memcpy(facts->bounds_bytes, fake_result_bounds, sizeof(facts->bounds_bytes));
	facts->results = FACTS_RESULTS_MAYBE;
}

enum nfs_binding nfs_args_binding(const struct call_facts *facts)
{
	return NFS_BINDING_UNKNOWN;
}

int nfs_reply_payloads(const struct call_facts *facts, const uint8_t *msg, uint32_t len_bytes,
		       struct rpc_payload *payloads, unsigned max)
{
	int count = fake_nreply_payloads < (int)max ? fake_nreply_payloads : (int)max;

	fake_reply_looks++;
	if (count > 0)
		memcpy(payloads, fake_reply_payloads, (size_t)count * sizeof(*payloads));
	return count;
}

int nfs_reply_payloads_begun(const struct call_facts *facts, const uint8_t *msg,
			     uint32_t have_bytes, uint32_t len_bytes, struct rpc_payload *payloads,
			     unsigned max)
{
	int n = fake_nreply_payloads;

	if (n > 0 && have_bytes < fake_reply_payloads[n - 1].offset_bytes)
		return -EBADMSG;
	return nfs_reply_payloads(facts, msg, len_bytes, payloads, max);
}

void nfs_sessions_learn(struct nfs_sessions *sessions, const struct call_facts *facts,
			const uint8_t *reply, uint32_t reply_bytes)
{
}
