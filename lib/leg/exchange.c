// SPDX-License-Identifier: BSD-3-Clause
#include "leg/exchange.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "rpc/xdr.h"

#define RPC_MSG_PAD_BYTES 4u
#define KEYS_DRAWN        16u /* 256 bytes, which getrandom() never returns in part */

_Static_assert(offsetof(struct exchange, call_info) + sizeof(struct call_info) ==
		       sizeof(struct exchange),
	       "members after the facts are not cleared");

_Static_assert(BUDGET_CLAIM_IDLE == 0, "a zeroed claim must be idle");

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

struct exchange *exchange_new(struct freelists *freelists)
{
	struct exchange *x = freelists_get(freelists, sizeof(*x));

	if (!x)
		return NULL;
	/* Except call_info.ops, which needs no clearing. */
	clear_bytes(x, offsetof(struct exchange, call_info.ops));
	x->refs = 1;
	x->freelists = freelists;
	return x;
}

void exchange_free(struct exchange *x)
{
	if (x->hook)
		x->hook->done(x->hook, x);
	buf_put(x->call.buf);
	buf_put(x->reply.buf);
	budget_claim_release(&x->claim);
	freelists_put(x->freelists, x, sizeof(*x));
}

int rpc_msg_get(struct buf_pool *pool, uint32_t len_bytes, struct rpc_msg *msg)
{
	struct buf *buf = buf_get(pool, (size_t)RPC_MSG_HEADROOM + len_bytes + RPC_MSG_PAD_BYTES);

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
	return buf_pool_class_bytes((size_t)RPC_MSG_HEADROOM + len_bytes + RPC_MSG_PAD_BYTES);
}

/* Returns the longest payload of the Reply that can arrive separately; at most one ever does. */
static uint64_t split_payload_bytes(const struct call_info *call_info, uint64_t reply_bytes)
{
	uint64_t bytes;

	if (!call_info || call_info->stage != CALL_INFO_COMPLETE)
		return reply_bytes;
	bytes = call_info->nresult_payloads == 1 ? xdr_padded_bytes(call_info->bounds_bytes[0]) : 0;
	return bytes < reply_bytes ? bytes : reply_bytes;
}

size_t exchange_cost_bytes(size_t call_bytes, uint32_t reply_max_bytes,
			   const struct call_info *call_info, const struct reply_memory *memory)
{
	uint64_t reply = reply_max_bytes, payload, extra;

	if (reply_max_bytes <= memory->single_max_bytes || !memory->extra_bytes)
		return call_bytes + rpc_msg_cost_bytes(reply_max_bytes);
	reply = xdr_padded_bytes(reply_max_bytes);
	extra = reply < memory->extra_bytes ? reply : memory->extra_bytes;
	payload = split_payload_bytes(call_info, reply);
	if (payload && payload + 2 * (uint64_t)memory->margin_bytes > reply)
		reply = payload + 2 * (uint64_t)memory->margin_bytes;
	return call_bytes + rpc_msg_cost_bytes((uint32_t)reply) +
	       rpc_msg_cost_bytes((uint32_t)extra);
}

/*
 * A peer that chooses XIDs does not know the key, so not which collide. Different XIDs have
 * different hashes.
 */
static uint64_t xid_hash(const struct xid_table *table, uint32_t xid)
{
	uint64_t h = (xid + table->key.words[0]) * table->key.words[1];

	return hash_number(h ^ h >> 32);
}

static struct exchange *exchange_of(const struct xid_table *table, struct hash_node *node)
{
	return container_of(node - table->role, struct exchange, links[0]);
}

/*
 * One system call draws random numbers for KEYS_DRAWN tables. No two tables share a key, and no key
 * follows from another: what a peer learns about one connection's key by timing does not help with
 * the next.
 */
static int xid_table_draw_key(struct xid_table *table)
{
	static _Thread_local uint64_t drawn[KEYS_DRAWN][2];
	static _Thread_local unsigned left;

	if (!left) {
		if (getrandom(drawn, sizeof(drawn), 0) != sizeof(drawn))
			return -EAGAIN;
		left = KEYS_DRAWN;
	}
	left--;
	memcpy(table->key.words, drawn[left], sizeof(drawn[left]));
	explicit_bzero(drawn[left], sizeof(drawn[left]));
	table->key.words[1] |= 1;
	return 0;
}

void xid_table_init(struct xid_table *table, enum exchange_role role)
{
	*table = (struct xid_table){.role = role};
	hash_table_init(&table->table);
}

void xid_table_fini(struct xid_table *table)
{
	assert(table->table.count == 0);
	hash_table_fini(&table->table);
}

struct exchange *xid_table_find(const struct xid_table *table, uint32_t xid)
{
	struct hash_node *node = hash_table_first(&table->table, xid_hash(table, xid));

	return node ? exchange_of(table, node) : NULL;
}

NOT_INLINE static int xid_table_add_first(struct xid_table *table, struct exchange *x)
{
	int rc = xid_table_draw_key(table);

	return rc ? rc : xid_table_add(table, x);
}

int xid_table_add(struct xid_table *table, struct exchange *x)
{
	uint64_t hash;

	if (!table->key.words[1])
		return xid_table_add_first(table, x);
	hash = xid_hash(table, x->call_info.hdr.xid);
	if (hash_table_first(&table->table, hash))
		return -EEXIST;
	hash_table_add(&table->table, &x->links[table->role], hash);
	return 0;
}

void xid_table_remove(struct xid_table *table, struct exchange *x)
{
	hash_table_remove(&table->table, &x->links[table->role]);
}
