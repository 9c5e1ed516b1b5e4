// SPDX-License-Identifier: BSD-3-Clause
/* Exchanges, their messages, and the tables that find them by XID. */
#include "leg/exchange.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "rpc/xdr.h"

#define MSG_SLACK_BYTES 4u
#define FIRST_BUCKETS   16u
#define FIRST_SHIFT     60u /* of 64 bits, to number those */

_Static_assert(offsetof(struct exchange, facts) + sizeof(struct call_facts) ==
		       sizeof(struct exchange),
	       "what stands behind the facts is not cleared");

struct exchange *exchange_new(struct spares *spares)
{
	struct exchange *x = spares_get(spares, sizeof(*x));

	if (!x)
		return NULL;
	/* But for facts.ops, which needs no clearing. */
	memset(x, 0, offsetof(struct exchange, facts.ops));
	x->refs = 1;
	x->spares = spares;
	budget_claim_init(&x->claim, NULL, NULL);
	return x;
}

struct exchange *exchange_ref(struct exchange *x)
{
	x->refs++;
	return x;
}

void exchange_put(struct exchange *x)
{
	if (!x || --x->refs > 0)
		return;
	rpc_msg_put(&x->call);
	rpc_msg_put(&x->reply);
	budget_release(&x->claim);
	spares_put(x->spares, x, sizeof(*x));
}

int rpc_msg_get(struct pool *pool, uint32_t len_bytes, struct rpc_msg *msg)
{
	struct buf *buf = buf_get(pool, (size_t)RPC_MSG_HEADROOM + len_bytes + MSG_SLACK_BYTES);

	if (!buf)
		return -ENOMEM;
	msg->buf = buf;
	msg->data = buf->mem + RPC_MSG_HEADROOM;
	msg->len_bytes = msg->have_bytes = len_bytes;
	return 0;
}

void rpc_msg_put(struct rpc_msg *msg)
{
	buf_put(msg->buf);
	*msg = (struct rpc_msg){0};
}

size_t rpc_msg_cost_bytes(uint32_t len_bytes)
{
	return pool_class_bytes((size_t)RPC_MSG_HEADROOM + len_bytes + MSG_SLACK_BYTES);
}

/* The longest payload of the Reply that may come apart from the rest; only ever one does. */
static uint64_t lone_payload_bytes(const struct call_facts *facts, uint64_t reply_bytes)
{
	uint64_t bytes;

	if (!facts || facts->stage != FACTS_WHOLE)
		return reply_bytes;
	bytes = facts->nresult_payloads == 1 ? xdr_padded_bytes(facts->bounds_bytes[0]) : 0;
	return bytes < reply_bytes ? bytes : reply_bytes;
}

size_t exchange_cost_bytes(size_t call_bytes, uint32_t reply_max_bytes,
			   const struct call_facts *facts, const struct reply_room *room)
{
	uint64_t reply = reply_max_bytes, payload, beside;

	if (reply_max_bytes <= room->alone_bytes || !room->beside_bytes)
		return call_bytes + rpc_msg_cost_bytes(reply_max_bytes);
	reply = xdr_padded_bytes(reply_max_bytes);
	beside = reply < room->beside_bytes ? reply : room->beside_bytes;
	payload = lone_payload_bytes(facts, reply);
	if (payload && payload + 2 * (uint64_t)room->around_bytes > reply)
		reply = payload + 2 * (uint64_t)room->around_bytes;
	return call_bytes + rpc_msg_cost_bytes((uint32_t)reply) +
	       rpc_msg_cost_bytes((uint32_t)beside);
}

static struct exchange **next_of(const struct xid_table *table, struct exchange *x)
{
	return table->side == EXCHANGE_ORIGIN ? &x->origin_next : &x->target_next;
}

/* Whoever chooses the XIDs does not know the key, and so not which of them meet. */
static struct exchange **bucket_of(const struct xid_table *table, uint32_t xid)
{
	uint64_t h = (xid + table->key[0]) * table->key[1];

	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	return &table->buckets[h >> table->shift];
}

static int choose_key(struct xid_table *table)
{
	if (getrandom(table->key, sizeof(table->key), 0) != sizeof(table->key))
		return -ENOMEM;
	table->key[1] |= 1;
	return 0;
}

static int grow(struct xid_table *table)
{
	struct xid_table bigger = *table;

	if (!table->nbuckets && choose_key(&bigger))
		return -ENOMEM;
	bigger.nbuckets = table->nbuckets ? table->nbuckets * 2 : FIRST_BUCKETS;
	bigger.shift = table->nbuckets ? table->shift - 1 : FIRST_SHIFT;
	bigger.buckets = calloc(bigger.nbuckets, sizeof(struct exchange *));
	if (!bigger.buckets)
		return -ENOMEM;
	for (size_t i = 0; i < table->nbuckets; i++) {
		struct exchange *next;

		for (struct exchange *x = table->buckets[i]; x; x = next) {
			struct exchange **head = bucket_of(&bigger, x->facts.hdr.xid);

			next = *next_of(table, x);
			*next_of(table, x) = *head;
			*head = x;
		}
	}
	free(table->buckets);
	*table = bigger;
	return 0;
}

void xid_table_init(struct xid_table *table, enum exchange_side side)
{
	*table = (struct xid_table){.side = side};
}

void xid_table_fini(struct xid_table *table)
{
	assert(table->count == 0);
	free(table->buckets);
	table->buckets = NULL;
	table->nbuckets = 0;
}

struct exchange *xid_table_find(const struct xid_table *table, uint32_t xid)
{
	struct exchange *x;

	if (!table->nbuckets)
		return NULL;
	for (x = *bucket_of(table, xid); x && x->facts.hdr.xid != xid; x = *next_of(table, x))
		;
	return x;
}

int xid_table_add(struct xid_table *table, struct exchange *x)
{
	struct exchange **head;

	if (xid_table_find(table, x->facts.hdr.xid))
		return -EEXIST;
	if (table->count >= table->nbuckets) {
		int rc = grow(table);

		if (rc)
			return rc;
	}
	head = bucket_of(table, x->facts.hdr.xid);
	*next_of(table, x) = *head;
	*head = x;
	table->count++;
	return 0;
}

void xid_table_remove(struct xid_table *table, struct exchange *x)
{
	struct exchange **at = bucket_of(table, x->facts.hdr.xid);

	while (*at != x)
		at = next_of(table, *at);
	*at = *next_of(table, x);
	*next_of(table, x) = NULL;
	table->count--;
}
