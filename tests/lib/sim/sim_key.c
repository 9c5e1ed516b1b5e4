// SPDX-License-Identifier: BSD-3-Clause
/* Keys of the sim fabric: exact bounds, exact rights, and an unbind that can take time. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/lib/sim/sim_priv.h"

/* In key->priv. */
enum key_state {
	KEY_LIVE = 1,
	KEY_INVALIDATED, /* by the peer; still bound as far as its owner is concerned */
	KEY_READ_OUT, /* unbound by its owner; unbound() follows when the peer's Reads of it are answered */
	KEY_UNBINDING, /* unbound() is on its way; the peer can still reach it */
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

static void expose(struct sim_ep *ep, struct fabric_key *key)
{
	struct sim_net *net = ep->net;
	struct buf_pool *pool = ep->ep.fabric->pool;

	coverage_init(&key->written, net->faults.untold_writes ? key->len_bytes : 0);
	if (!net->faults.untold_writes || key->rights != FABRIC_REMOTE_WRITE)
		return;
	if (!ep->owner)
		ep->owner = buf_pool_owner_new(pool);
	net->stats.cleared_bytes += buf_expose(key->buf, key->mem, key->len_bytes, ep->owner);
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
	assert(!net->faults.no_late_reads || key->ready_bytes == key->len_bytes);
	if (++net->stats.binds == net->faults.fail_bind)
		return -ENOMEM;
	if (net->faults.max_keys && net->stats.keys_at[ep->connects] >= net->faults.max_keys) {
		net->stats.keys_refused++;
		return -EAGAIN;
	}
	key->ep = fep;
	key->rkey = net->next_rkey;
	net->next_rkey += 0x107;
	/*
	 * Neither zero nor a real address, so that no code can use it as one; never near the wrap.
	 */
	key->addr = (sim_random(net) >> 2) | 0x1000;
	set_state(key, KEY_LIVE);
	expose(ep, key);
	buf_ref(key->buf);
	TAILQ_INSERT_TAIL(&ep->keys, key, entry);
	net->stats.keys_bound++;
	net->stats.keys_at[ep->connects]++;
	return 0;
}

static void key_free(struct sim_ep *ep, void *arg)
{
	ep->awaits_key = false;
	if (ep->state == SIM_OPEN)
		ep->ep.events->key_free(ep->ep.arg);
}

bool sim_key_await(struct fabric_ep *fep, unsigned own)
{
	struct sim_ep *ep = sim_ep_of(fep);

	if (ep->state != SIM_OPEN || ep->net->stats.keys_at[ep->connects] <= own)
		return false;
	ep->awaits_key = true;
	ep->own_keys += own;
	return true;
}

/* One that an endpoint which waits has itself given back is no news to it. */
static void came_back(struct sim_ep *from)
{
	struct sim_ep *ep;

	if (from->own_keys) {
		from->own_keys--;
		return;
	}
	/* Where keys have a limit, which is seldom. */
	if (!from->net->faults.max_keys)
		return;
	TAILQ_FOREACH(ep, &from->net->eps, entry)
		if (ep->awaits_key && ep->connects == from->connects)
			sim_schedule(ep, ep, SIM_KEYS, key_free, NULL);
}

static void drop(struct sim_ep *ep, struct fabric_key *key)
{
	TAILQ_REMOVE(&ep->keys, key, entry);
	ep->net->stats.keys_bound--;
	ep->net->stats.keys_at[ep->connects]--;
	coverage_fini(&key->written);
	buf_put(key->buf);
	key->priv = NULL;
	came_back(ep);
}

static void tell(struct sim_ep *ep, struct fabric_key *key)
{
	drop(ep, key);
	key->unbound(key);
}

bool sim_key_is_read(const struct sim_ep *ep, const struct fabric_key *key)
{
	const struct fabric_wr *wr;

	if (!key->priv || sim_ep_gone(ep) || !ep->peer)
		return false;
	TAILQ_FOREACH(wr, &ep->peer->reads, entry)
		if (wr->priv[1] == SIM_READ_ARRIVED && wr->rkey == key->rkey)
			return true;
	return false;
}

bool sim_key_starves(const struct fabric_key *key)
{
	const struct sim_ep *ep = sim_ep_of(key->ep);
	const struct fabric_wr *wr;

	if (!sim_key_is_read(ep, key))
		return false;
	TAILQ_FOREACH(wr, &ep->peer->reads, entry)
		if (wr->priv[1] == SIM_READ_ARRIVED && wr->rkey == key->rkey &&
		    wr->raddr - key->addr + wr->sge[0].len_bytes > key->ready_bytes)
			return true;
	return false;
}

static void finish(struct sim_ep *ep, void *arg)
{
	if (sim_key_is_read(ep, arg))
		set_state(arg, KEY_READ_OUT);
	else
		tell(ep, arg);
}

static void finish_later(struct sim_ep *ep, struct fabric_key *key)
{
	set_state(key, KEY_UNBINDING);
	sim_schedule(ep, ep, SIM_KEYS, finish, key);
}

static bool is_unbinding(const struct fabric_key *key)
{
	return state_of(key) == KEY_READ_OUT || state_of(key) == KEY_UNBINDING;
}

bool sim_key_unbind(struct fabric_key *key)
{
	struct sim_ep *ep = sim_ep_of(key->ep);
	bool later = false;

	assert(state_of(key) == KEY_LIVE || state_of(key) == KEY_INVALIDATED);
	if (sim_key_starves(key))
		sim_break(ep, FABRIC_CLOSE_LOCAL, FABRIC_CLOSE_LOST);
	if (ep->net->faults.async_unbind)
		later = ep->state == SIM_DYING ? sim_random(ep->net) % 2 : ep->state != SIM_CLOSED;
	if (sim_key_is_read(ep, key))
		set_state(key, KEY_READ_OUT);
	else if (later)
		finish_later(ep, key);
	else
		drop(ep, key);
	return !key->priv;
}

void sim_key_unfilled(struct sim_ep *ep, uint32_t rkey)
{
	const struct fabric_key *key = find(ep, rkey);

	if (key && is_unbinding(key))
		sim_break(ep, FABRIC_CLOSE_LOCAL, FABRIC_CLOSE_LOST);
}

void sim_key_answered(struct sim_ep *ep, uint32_t rkey)
{
	struct fabric_key *key = find(ep, rkey);

	if (key && state_of(key) == KEY_READ_OUT && !sim_key_is_read(ep, key))
		finish_later(ep, key);
}

/* In any order, if there is a seed. */
bool sim_key_bury(struct sim_ep *ep)
{
	struct fabric_key *key, *found = NULL;
	unsigned n = 0;

	TAILQ_FOREACH(key, &ep->keys, entry)
		if (is_unbinding(key) &&
		    (!n++ || (ep->net->faults.seed && sim_random(ep->net) % n == 0)))
			found = key;
	if (found)
		tell(ep, found);
	return found;
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

void sim_key_written(struct sim_ep *ep, uint32_t rkey, const uint8_t *mem, uint32_t len_bytes)
{
	struct fabric_key *key = find(ep, rkey);

	if (!ep->net->faults.untold_writes)
		coverage_add(&key->written, (uint32_t)(mem - key->mem), len_bytes);
}

/*
 * Where the peer's access lands, or NULL if it may not; and how many of the bytes there are filled.
 */
uint8_t *sim_key_reach(struct sim_ep *ep, uint32_t rkey, uint64_t addr, uint32_t len_bytes,
		       unsigned right, uint32_t *ready_bytes)
{
	struct fabric_key *key = find(ep, rkey);
	uint64_t at;

	if (!key || state_of(key) == KEY_INVALIDATED || !(key->rights & right))
		return NULL;
	if (addr < key->addr || len_bytes > key->len_bytes ||
	    addr - key->addr > key->len_bytes - len_bytes)
		return NULL;
	at = addr - key->addr;
	*ready_bytes = 0;
	if (key->ready_bytes > at)
		*ready_bytes = key->ready_bytes - at < len_bytes ? (uint32_t)(key->ready_bytes - at)
								 : len_bytes;
	return key->mem + at;
}
