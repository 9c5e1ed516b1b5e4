// SPDX-License-Identifier: BSD-3-Clause
/* The sim fabric's keys: exact bounds, exact rights, and an end that may take its time. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "fabric/sim/sim_priv.h"

/* In key->priv. */
enum key_state {
	KEY_LIVE = 1,
	KEY_INVALIDATED, /* by the peer; still bound as far as its owner is concerned */
	KEY_UNBINDING,   /* unbound() is due; the peer can still reach it */
};

static enum key_state state_of(const struct fabric_key *key)
{
	return (enum key_state)(uintptr_t)key->priv;
}

static void set_state(struct fabric_key *key, enum key_state state)
{
	key->priv = (void *)(uintptr_t)state;
}

static struct fabric_key *find(struct sim_ep *ep, uint32_t rkey)
{
	struct fabric_key *key;

	TAILQ_FOREACH(key, &ep->keys, entry)
		if (key->rkey == rkey)
			break;
	return key;
}

int sim_key_bind(struct fabric_ep *fep, struct fabric_key *key)
{
	struct sim_ep *ep = sim_ep_of(fep);
	struct sim_net *net = ep->net;

	if (ep->state != SIM_OPEN)
		return -ENOTCONN;
	assert(key->len_bytes > 0 && key->rights);
	assert(key->mem >= key->buf->mem &&
	       key->mem + key->len_bytes <= key->buf->mem + key->buf->size_bytes);
	assert(!net->faults.max_key_bytes || key->len_bytes <= net->faults.max_key_bytes);
	if (++net->stats.binds == net->faults.fail_bind)
		return -ENOMEM;
	key->ep = fep;
	key->rkey = net->next_rkey;
	net->next_rkey += 0x107;
	/* Neither zero nor an address, so that nobody takes it for one; never near the wrap. */
	key->addr = (sim_random(net) >> 2) | 0x1000;
	set_state(key, KEY_LIVE);
	buf_ref(key->buf);
	TAILQ_INSERT_TAIL(&ep->keys, key, entry);
	return 0;
}

static void drop(struct sim_ep *ep, struct fabric_key *key)
{
	TAILQ_REMOVE(&ep->keys, key, entry);
	buf_put(key->buf);
	key->priv = NULL;
}

static void finish(struct sim_ep *ep, void *arg)
{
	struct fabric_key *key = arg;

	drop(ep, key);
	key->unbound(key);
}

bool sim_key_unbind(struct fabric_key *key)
{
	struct sim_ep *ep = sim_ep_of(key->ep);

	assert(state_of(key) == KEY_LIVE || state_of(key) == KEY_INVALIDATED);
	if (ep->net->faults.async_unbind && !sim_ep_gone(ep)) {
		set_state(key, KEY_UNBINDING);
		sim_schedule(ep, ep, SIM_KEYS, finish, key);
		return false;
	}
	drop(ep, key);
	return true;
}

/* The connection ends: what was still unbinding is unbound now. */
void sim_keys_bury(struct sim_ep *ep)
{
	struct fabric_key *key;

	for (;;) {
		TAILQ_FOREACH(key, &ep->keys, entry)
			if (state_of(key) == KEY_UNBINDING)
				break;
		if (!key)
			break;
		finish(ep, key);
	}
}

bool sim_key_invalidate(struct sim_ep *ep, uint32_t rkey)
{
	struct fabric_key *key = find(ep, rkey);

	if (!key || state_of(key) == KEY_INVALIDATED)
		return false;
	if (state_of(key) == KEY_LIVE)
		set_state(key, KEY_INVALIDATED);
	return true;
}

/* Where the peer's access lands, or NULL if it may not. */
uint8_t *sim_key_reach(struct sim_ep *ep, uint32_t rkey, uint64_t addr, uint32_t len_bytes,
		       unsigned right)
{
	struct fabric_key *key = find(ep, rkey);

	if (!key || state_of(key) == KEY_INVALIDATED || !(key->rights & right))
		return NULL;
	if (addr < key->addr || len_bytes > key->len_bytes ||
	    addr - key->addr > key->len_bytes - len_bytes)
		return NULL;
	return key->mem + (addr - key->addr);
}
