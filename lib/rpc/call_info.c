// SPDX-License-Identifier: BSD-3-Clause
#include "rpc/call_info.h"

#include <inttypes.h>
#include <stdio.h>

/* Every exchange contains one. */
_Static_assert(sizeof(struct call_info) <= 320, "the information must stay small");

enum call_body_kind call_info_gss_body(const struct rpc_call_hdr *hdr)
{
	if (hdr->gss_vers != 1)
		return CALL_BODY_OPAQUE;
	if (hdr->gss_proc != RPC_GSS_DATA)
		return CALL_BODY_CONTROL;
	switch (hdr->gss_service) {
	case RPC_GSS_NONE:
		return CALL_BODY_PLAIN;
	case RPC_GSS_INTEGRITY:
		return CALL_BODY_INTEGRITY;
	default:
		return CALL_BODY_OPAQUE;
	}
}

void call_info_name(const struct call_info *call_info, char name[CALL_NAME_BYTES])
{
	const struct rpc_call_hdr *hdr = &call_info->hdr;

	if (call_info->procedure)
		snprintf(name, CALL_NAME_BYTES, "%s%" PRIu32 ".%s", call_info->program, hdr->vers,
			 call_info->procedure);
	else
		snprintf(name, CALL_NAME_BYTES, "%" PRIu32 ".%" PRIu32 ".%" PRIu32, hdr->prog,
			 hdr->vers, hdr->proc);
}
