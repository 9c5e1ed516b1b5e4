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

void nfs_call_walk_begin_cleared(struct call_info *call_info, uint32_t limit_bytes)
{
	nfs_call_walk_begin(call_info, limit_bytes);
}

void nfs_call_walk_begin(struct call_info *call_info, uint32_t limit_bytes)
{
	*call_info = (struct call_info){.hdr = call_info->hdr, .stage = CALL_INFO_HEAD};
	call_info->limit_bytes = call_info->reply_bound_bytes = limit_bytes;
}

void nfs_call_walk_continue(struct call_info *call_info, const struct nfs_sessions *sessions,
			    const struct xdr_sg *msg, const struct nfs_sink *sink)
{
	if (call_info->stage == CALL_INFO_COMPLETE || xdr_sg_have_bytes(msg) < msg->len_bytes)
		return;
	fake_looks++;
	call_info->stage = CALL_INFO_COMPLETE;
	if (fake_ceiling_bytes < call_info->reply_bound_bytes)
		call_info->reply_bound_bytes = fake_ceiling_bytes;
	call_info->is_proved = call_info->reply_bound_bytes < call_info->limit_bytes;
	call_info->narg_payloads = (uint32_t)fake_ncall_payloads;
	call_info->arg = fake_call_payloads[0];
	call_info->arg_is_data = fake_call_writes;
	call_info->result_is_data = fake_call_reads;
	call_info->nresult_payloads = (uint32_t)fake_nresult_bounds;
	memcpy(call_info->bounds_bytes, fake_result_bounds, sizeof(call_info->bounds_bytes));
	call_info->results = CALL_RESULTS_MAYBE;
}

enum nfs_binding nfs_args_binding(const struct call_info *call_info)
{
	return NFS_BINDING_UNKNOWN;
}

int nfs_reply_ddp_items(const struct call_info *call_info, const uint8_t *msg, uint32_t len_bytes,
			struct rpc_payload *payloads, unsigned max)
{
	int count = fake_nreply_payloads < (int)max ? fake_nreply_payloads : (int)max;

	fake_reply_looks++;
	if (count > 0)
		memcpy(payloads, fake_reply_payloads, (size_t)count * sizeof(*payloads));
	return count;
}

int nfs_reply_ddp_items_partial(const struct call_info *call_info, const uint8_t *msg,
				uint32_t have_bytes, uint32_t len_bytes,
				struct rpc_payload *payloads, unsigned max)
{
	int n = fake_nreply_payloads;

	if (n > 0 && have_bytes < fake_reply_payloads[n - 1].offset_bytes)
		return -EBADMSG;
	return nfs_reply_ddp_items(call_info, msg, len_bytes, payloads, max);
}

void nfs_sessions_learn(struct nfs_sessions *sessions, const struct call_info *call_info,
			const uint8_t *reply, uint32_t reply_bytes)
{
}
