// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/mem_expose.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/minmax.h"

int mem_expose_reserve(struct exposed_mem *exposed_mem, unsigned nkeys)
{
	struct exposed_key *keys;

	assert(exposed_mem->nkeys == 0 && exposed_mem->keys == exposed_mem->few);
	if (nkeys <= MEM_EXPOSE_EMBEDDED_KEYS)
		return 0;
	keys = malloc(nkeys * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	exposed_mem->keys = keys;
	return 0;
}

/* Returns how many of @len_bytes, from offset @at, are filled if @ready_bytes of the whole are. */
static uint32_t share(uint32_t ready_bytes, uint32_t at, uint32_t len_bytes)
{
	return ready_bytes > at ? min_u32(ready_bytes - at, len_bytes) : 0;
}

static void on_unbound(struct fabric_key *key)
{
	struct exposed_mem *exposed_mem = container_of(key, struct exposed_key, key)->exposed_mem;

	assert(exposed_mem->unbinding > 0);
	if (--exposed_mem->unbinding == 0) {
		exposed_mem->nkeys = 0;
		exposed_mem->invalidated(exposed_mem);
	}
}

int mem_expose_add(struct exposed_mem *exposed_mem, struct buf *buf, uint8_t *mem,
		   uint32_t len_bytes, uint32_t ready_bytes, unsigned rights)
{
	for (uint32_t at = 0; at < len_bytes;) {
		struct exposed_key *lk = &exposed_mem->keys[exposed_mem->nkeys];
		uint32_t n = min_u32(len_bytes - at, exposed_mem->conn->max_segment_bytes);
		int rc;

		lk->exposed_mem = exposed_mem;
		lk->key = (struct fabric_key){
			.len_bytes = n,
			.ready_bytes = share(ready_bytes, at, n),
			.rights = rights,
			.buf = buf,
			.mem = mem + at,
			.unbound = on_unbound,
		};
		rc = fabric_key_bind(exposed_mem->conn->ep, &lk->key);
		if (rc)
			return rc;
		exposed_mem->conn->counters->keys_lent++;
		exposed_mem->nkeys++;
		at += n;
	}
	return 0;
}

static bool starves(const struct exposed_mem *exposed_mem)
{
	for (unsigned i = 0; i < exposed_mem->nkeys; i++)
		if (fabric_key_read_waits(&exposed_mem->keys[i].key))
			return true;
	return false;
}

/* Unbinds all keys. Returns true if the peer can reach nothing from now on. */
static bool unbind_all(struct exposed_mem *exposed_mem)
{
	exposed_mem->unbinding = 1; /* one extra, so that no unbound() finishes during the loop */
	for (unsigned i = 0; i < exposed_mem->nkeys; i++)
		if (!fabric_key_unbind(&exposed_mem->keys[i].key))
			exposed_mem->unbinding++;
	if (--exposed_mem->unbinding > 0)
		return false;
	exposed_mem->nkeys = 0;
	return true;
}

void mem_expose_ready(struct exposed_mem *exposed_mem, unsigned first, unsigned nkeys,
		      uint32_t ready_bytes)
{
	uint32_t at = 0;

	assert(first + nkeys <= exposed_mem->nkeys);
	for (unsigned i = first; i < first + nkeys; i++) {
		struct fabric_key *key = &exposed_mem->keys[i].key;
		uint32_t ready = share(ready_bytes, at, key->len_bytes);

		if (ready > key->ready_bytes)
			fabric_key_ready(key, ready);
		at += key->len_bytes;
	}
	if (!exposed_mem->ending || starves(exposed_mem))
		return;
	exposed_mem->ending = false;
	/*
	 * A Read that just received its bytes is still unanswered, so an unbind cannot finish now,
	 * unless the connection is closing, which ends this too.
	 */
	(void)unbind_all(exposed_mem);
}

bool mem_expose_has_key(const struct exposed_mem *exposed_mem, uint32_t rkey)
{
	for (unsigned i = 0; i < exposed_mem->nkeys; i++)
		if (exposed_mem->keys[i].key.rkey == rkey)
			return true;
	return false;
}

struct rpcrdma_segment mem_expose_segment(const struct exposed_mem *exposed_mem, unsigned i)
{
	const struct fabric_key *key = &exposed_mem->keys[i].key;

	return (struct rpcrdma_segment){key->rkey, key->len_bytes, key->addr};
}

bool mem_expose_invalidate(struct exposed_mem *exposed_mem)
{
	exposed_mem->ending = starves(exposed_mem);
	return !exposed_mem->ending && unbind_all(exposed_mem);
}
