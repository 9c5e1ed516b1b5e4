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
#define KEYS_DRAWN      16u /* 256 bytes, which the kernel gives whole */

_Static_assert(offsetof(struct exchange, facts) + sizeof(struct call_facts) ==
		       sizeof(struct exchange),
	       "what stands behind the facts is not cleared");

_Static_assert(BUDGET_CLAIM_IDLE == 0, "a claim that is cleared is not idle");

const char *call_stage_name(enum call_stage stage)
{
	static const char *const names[] = {
#define CALL_STAGE_NAME(name, text, waits_for) text,
		CALL_STAGES(CALL_STAGE_NAME)
#undef CALL_STAGE_NAME
	};

	return names[stage];
}

const char *message_form_name(enum message_form form)
{
	static const char *const names[] = {
#define MESSAGE_FORM_NAME(name, text) text,
		MESSAGE_FORMS(MESSAGE_FORM_NAME)
#undef MESSAGE_FORM_NAME
	};

	return names[form];
}

struct exchange *exchange_new(struct spares *spares)
{
	struct exchange *x = spares_get(spares, sizeof(*x));

	if (!x)
		return NULL;
	/* But for facts.ops, which needs no clearing. */
	clear_bytes(x, offsetof(struct exchange, facts.ops));
	x->refs = 1;
	x->spares = spares;
	return x;
}

void exchange_free(struct exchange *x)
{
	if (x->watch)
		x->watch->over(x->watch, x);
	buf_put(x->call.buf);
	buf_put(x->reply.buf);
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

/* Whoever chooses the XIDs does not know the key, and so not which of them meet. */
static struct exchange **bucket_of(const struct xid_table *table, uint32_t xid)
{
	uint64_t h = (xid + table->key[0]) * table->key[1];

	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	return &table->buckets[h >> table->shift];
}

static void enter(enum exchange_side side, struct exchange **head, struct exchange *x)
{
	struct xid_link *link = &x->links[side];

	link->next = *head;
	link->at = head;
	if (link->next)
		link->next->links[side].at = &link->next;
	*head = x;
}

/*
 * Random numbers are drawn for KEYS_DRAWN tables in one system call. No two tables share a key, nor does one follow from
 * another: what a peer finds out about one connection's, by timing, is of no use with the next one.
 */
static int choose_key(struct xid_table *table)
{
	static _Thread_local uint64_t drawn[KEYS_DRAWN][2];
	static _Thread_local unsigned left;

	if (!left) {
		if (getrandom(drawn, sizeof(drawn), 0) != sizeof(drawn))
			return -EAGAIN;
		left = KEYS_DRAWN;
	}
	left--;
	memcpy(table->key, drawn[left], sizeof(table->key));
	explicit_bzero(drawn[left], sizeof(drawn[left]));
	table->key[1] |= 1;
	return 0;
}

NOT_INLINE static int grow(struct xid_table *table)
{
	struct xid_table bigger = *table;
	int rc = table->nbuckets ? 0 : choose_key(&bigger);

	if (rc)
		return rc;
	bigger.nbuckets = table->nbuckets ? table->nbuckets * 2 : FIRST_BUCKETS;
	bigger.shift = table->nbuckets ? table->shift - 1 : FIRST_SHIFT;
	bigger.buckets = calloc(bigger.nbuckets, sizeof(struct exchange *));
	if (!bigger.buckets)
		return -ENOMEM;
	for (size_t i = 0; i < table->nbuckets; i++) {
		struct exchange *next;

		for (struct exchange *x = table->buckets[i]; x; x = next) {
			next = x->links[table->side].next;
			enter(table->side, bucket_of(&bigger, x->facts.hdr.xid), x);
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

static struct exchange *find_in(const struct xid_table *table, struct exchange *x, uint32_t xid)
{
	while (x && x->facts.hdr.xid != xid)
		x = x->links[table->side].next;
	return x;
}

struct exchange *xid_table_find(const struct xid_table *table, uint32_t xid)
{
	return table->nbuckets ? find_in(table, *bucket_of(table, xid), xid) : NULL;
}

int xid_table_add(struct xid_table *table, struct exchange *x)
{
	uint32_t xid = x->facts.hdr.xid;
	struct exchange **head = table->nbuckets ? bucket_of(table, xid) : NULL;

	if (head && find_in(table, *head, xid))
		return -EEXIST;
	if (table->count >= table->nbuckets) {
		int rc = grow(table);

		if (rc)
			return rc;
		head = bucket_of(table, xid);
	}
	enter(table->side, head, x);
	table->count++;
	return 0;
}

void xid_table_remove(struct xid_table *table, struct exchange *x)
{
	struct xid_link *link = &x->links[table->side];

	*link->at = link->next;
	if (link->next)
		link->next->links[table->side].at = link->at;
	*link = (struct xid_link){0};
	table->count--;
}
