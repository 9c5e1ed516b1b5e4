// SPDX-License-Identifier: BSD-3-Clause
#include "rpcrdma/lend.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/least.h"

int lend_reserve(struct lend *lend, unsigned nkeys)
{
	struct lend_key *keys;

	assert(lend->nkeys == 0 && lend->keys == lend->few);
	if (nkeys <= LEND_FEW)
		return 0;
	keys = malloc(nkeys * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	lend->keys = keys;
	return 0;
}

/* Returns how many of @len_bytes, from offset @at, are filled if @ready_bytes of the whole are. */
static uint32_t share(uint32_t ready_bytes, uint32_t at, uint32_t len_bytes)
{
	return ready_bytes > at ? least(ready_bytes - at, len_bytes) : 0;
}

static void on_unbound(struct fabric_key *key)
{
	struct lend *lend = container_of(key, struct lend_key, key)->lend;

	assert(lend->unbinding > 0);
	if (--lend->unbinding == 0) {
		lend->nkeys = 0;
		lend->ended(lend);
	}
}

int lend_memory(struct lend *lend, struct buf *buf, uint8_t *mem, uint32_t len_bytes,
		uint32_t ready_bytes, unsigned rights)
{
	for (uint32_t at = 0; at < len_bytes;) {
		struct lend_key *lk = &lend->keys[lend->nkeys];
		uint32_t n = least(len_bytes - at, lend->conn->max_segment_bytes);
		int rc;

		lk->lend = lend;
		lk->key = (struct fabric_key){
			.len_bytes = n,
			.ready_bytes = share(ready_bytes, at, n),
			.rights = rights,
			.buf = buf,
			.mem = mem + at,
			.unbound = on_unbound,
		};
		rc = fabric_key_bind(lend->conn->ep, &lk->key);
		if (rc)
			return rc;
		lend->conn->counters->keys_lent++;
		lend->nkeys++;
		at += n;
	}
	return 0;
}

static bool starves(const struct lend *lend)
{
	for (unsigned i = 0; i < lend->nkeys; i++)
		if (fabric_key_starves(&lend->keys[i].key))
			return true;
	return false;
}

/* Unbinds all keys. Returns true if the peer can reach nothing from now on. */
static bool unbind_all(struct lend *lend)
{
	lend->unbinding = 1; /* one extra, so that no unbound() finishes during the loop */
	for (unsigned i = 0; i < lend->nkeys; i++)
		if (!fabric_key_unbind(&lend->keys[i].key))
			lend->unbinding++;
	if (--lend->unbinding > 0)
		return false;
	lend->nkeys = 0;
	return true;
}

void lend_ready(struct lend *lend, unsigned first, unsigned nkeys, uint32_t ready_bytes)
{
	uint32_t at = 0;

	assert(first + nkeys <= lend->nkeys);
	for (unsigned i = first; i < first + nkeys; i++) {
		struct fabric_key *key = &lend->keys[i].key;
		uint32_t ready = share(ready_bytes, at, key->len_bytes);

		if (ready > key->ready_bytes)
			fabric_key_ready(key, ready);
		at += key->len_bytes;
	}
	if (!lend->ending || starves(lend))
		return;
	lend->ending = false;
	/*
	 * A Read that just received its bytes is still unanswered, so an unbind cannot finish now, unless the
	 * connection is closing, which ends this too.
	 */
	(void)unbind_all(lend);
}

bool lend_owns(const struct lend *lend, uint32_t rkey)
{
	for (unsigned i = 0; i < lend->nkeys; i++)
		if (lend->keys[i].key.rkey == rkey)
			return true;
	return false;
}

struct rpcrdma_segment lend_segment(const struct lend *lend, unsigned i)
{
	const struct fabric_key *key = &lend->keys[i].key;

	return (struct rpcrdma_segment){key->rkey, key->len_bytes, key->addr};
}

bool lend_end(struct lend *lend)
{
	lend->ending = starves(lend);
	return !lend->ending && unbind_all(lend);
}
