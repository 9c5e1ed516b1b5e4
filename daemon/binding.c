// SPDX-License-Identifier: BSD-3-Clause
/* Lays the NFS upper-layer binding (lib/nfs) into the hands of the legs. */
#include "daemon/binding.h"

#include "nfs/nfs.h"

static uint32_t reply_ceiling(void *arg, const struct rpc_call_hdr *hdr, const uint8_t *msg,
			      uint32_t len_bytes, uint32_t limit_bytes)
{
	return nfs_reply_ceiling(hdr, msg, len_bytes, limit_bytes);
}

const struct leg_binding binding_for_legs = {.reply_ceiling = reply_ceiling};
