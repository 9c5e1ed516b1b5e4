// SPDX-License-Identifier: BSD-3-Clause
#include "tests/nfs/pads.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void pads_add(struct pads_bytes *to, const void *from, uint32_t len)
{
	to->at = realloc(to->at, to->len + len + 1);
	assert(to->at);
	if (from)
		memcpy(to->at + to->len, from, len);
	else
		memset(to->at + to->len, PADS_FILLING, len);
	to->len += len;
}

struct pads_bytes pads_put(const struct nfs_msg *msg, const struct pads_how *how,
			   const struct spec_items *cut)
{
	const uint8_t *bytes = nfs_msg_bytes(msg);
	struct pads_bytes out = {0};
	uint32_t at = 0;
	unsigned next = 0;

	for (unsigned i = 0; i < msg->nopaques; i++) {
		const struct rpc_payload *opaque = &msg->opaques[i];
		uint64_t begins;

		pads_add(&out, bytes + at, opaque->offset_bytes - at);
		at = opaque->offset_bytes;
		begins = (uint64_t)how->base + out.len;
		if (cut && next < cut->count && cut->list[next].offset_bytes == at)
			at += (uint32_t)xdr_padded_bytes(cut->list[next++].len_bytes);
		else if (how->align > 1 && opaque->len_bytes >= how->thresh && begins % how->align)
			pads_add(&out, NULL, how->align - (uint32_t)(begins % how->align));
	}
	pads_add(&out, bytes + at, nfs_msg_len(msg) - at);
	return out;
}
