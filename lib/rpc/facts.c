// SPDX-License-Identifier: BSD-3-Clause
#include "rpc/facts.h"

#include <inttypes.h>
#include <stdio.h>

/* Every exchange contains one. */
_Static_assert(sizeof(struct call_facts) <= 320, "the information must stay small");

enum facts_body call_facts_gss_body(const struct rpc_call_hdr *hdr)
{
	if (hdr->gss_vers != 1)
		return FACTS_BODY_HIDDEN;
	if (hdr->gss_proc != RPC_GSS_DATA)
		return FACTS_BODY_CONTROL;
	switch (hdr->gss_service) {
	case RPC_GSS_NONE:
		return FACTS_BODY_PLAIN;
	case RPC_GSS_INTEGRITY:
		return FACTS_BODY_INTEGRITY;
	default:
		return FACTS_BODY_HIDDEN;
	}
}

void call_facts_name(const struct call_facts *facts, char name[CALL_NAME_BYTES])
{
	const struct rpc_call_hdr *hdr = &facts->hdr;

	if (facts->procedure)
		snprintf(name, CALL_NAME_BYTES, "%s%" PRIu32 ".%s", facts->program, hdr->vers,
			 facts->procedure);
	else
		snprintf(name, CALL_NAME_BYTES, "%" PRIu32 ".%" PRIu32 ".%" PRIu32, hdr->prog,
			 hdr->vers, hdr->proc);
}
