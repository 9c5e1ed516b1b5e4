// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/peer_profile.h"

#include <assert.h>

#include "rpcrdma/proto.h"

#define MIB (1024u * 1024u)

static const struct peer_profile profiles[] = {
	/* Conforms as far as known; violations are tolerated, as for every server. */
	[PEER_AUTO] =
		{
			.name = "auto",
			.private_data = true,
			.position_zero = true,
			.lenient = true,
		},
	/*
	 * svcrdma accepts whole messages and payloads of any size. It invalidates if our flag is
	 * set, though its own is clear; old versions write pads. Very old versions send no private
	 * data: if named in the configuration, they do not get the quirks of the servers below.
	 */
	[PEER_LINUX] =
		{
			.name = "linux",
			.private_data = true,
			.position_zero = true,
			.lenient = true,
		},
	/*
	 * NFS-Ganesha has buffers of 1 MiB for data moved by RDMA. Before April 2026 it aborts by
	 * an assertion if a longer reply chunk is offered, even unused. A READ of 1 MiB fits only
	 * with its data in a write chunk, and a WRITE of 1 MiB only with its data in a read chunk.
	 * From April 2025 to April 2026 it wrote wrong bytes to the file if the data of a WRITE
	 * came inline.
	 */
	[PEER_GANESHA] =
		{
			.name = "ganesha",
			.private_data = true,
			.segment_max_bytes = MIB,
			.chunk_max_bytes = MIB,
			.position_zero = true,
			.ddp = true,
			.data_in_chunk = true,
			.lenient = true,
		},
	/*
	 * Chimera answers ERR_CHUNK to RDMA_NOMSG Calls: only a Call with a payload can be longer
	 * than inline. The other quirks are those above, because only that one answer distinguishes
	 * the two servers, and its meaning can change.
	 */
	[PEER_CHIMERA] =
		{
			.name = "chimera",
			.private_data = true,
			.segment_max_bytes = MIB,
			.chunk_max_bytes = MIB,
			.ddp = true,
			.data_in_chunk = true,
			.lenient = true,
		},
	/* Solaris and illumos have no private data and use Sends of 1024 bytes. */
	[PEER_SOLARIS] =
		{
			.name = "solaris",
			.inline_max_bytes = RPCRDMA_DEFAULT_INLINE,
			.position_zero = true,
			.lenient = true,
		},
	/* Only what the documents allow. */
	[PEER_STRICT] =
		{
			.name = "strict",
			.private_data = true,
			.position_zero = true,
		},
};

const struct peer_profile *peer_profile(enum peer_id id)
{
	assert(id < PEER_COUNT);
	return &profiles[id];
}

void peer_cache_long_rejected(struct peer_cache *memory, uint64_t client, uint64_t now_us)
{
	bool another = now_us < atomic_load(&memory->client_rejected_until_us) &&
		       atomic_load(&memory->rejected_client) != client;

	if (another)
		atomic_store(&memory->rejects_until_us, now_us + PEER_CACHE_US);
	atomic_store(&memory->rejected_client, client);
	atomic_store(&memory->client_rejected_until_us, now_us + PEER_CACHE_US);
}

void peer_cache_long_accepted(struct peer_cache *memory, uint64_t now_us)
{
	atomic_store(&memory->accepts_until_us, now_us + PEER_CACHE_US);
	atomic_store(&memory->rejects_until_us, 0);
	atomic_store(&memory->client_rejected_until_us, 0);
}

bool peer_cache_accepts_long(struct peer_cache *memory, uint64_t now_us)
{
	return now_us < atomic_load(&memory->accepts_until_us);
}

bool peer_cache_rejects_long(struct peer_cache *memory, uint64_t client, uint64_t now_us)
{
	return now_us < atomic_load(&memory->rejects_until_us) ||
	       (now_us < atomic_load(&memory->client_rejected_until_us) &&
		client == atomic_load(&memory->rejected_client));
}
