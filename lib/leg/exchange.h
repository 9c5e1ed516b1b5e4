/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One RPC on its way through the proxy: a Call, later its Reply, and the memory reserved for both.
 *
 * The leg that receives the Call (the origin) creates the exchange. The other leg (the target)
 * sends the Call and fills in the Reply or a fault. Then the origin answers its peer. Each leg
 * holds a reference while it works on the exchange, so either leg can close at any time. The last
 * reference frees everything and releases the memory to the budget.
 *
 * A message is always contiguous, in one buffer, after RPC_MSG_HEADROOM bytes that can hold a
 * record mark or a transport header.
 */
#ifndef LEG_EXCHANGE_H
#define LEG_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/budget_account.h"
#include "base/freelist.h"
#include "base/hash_table.h"
#include "fabric/buf_pool.h"
#include "rpc/call_info.h"

struct exchange;
struct leg;

#define RPC_MSG_HEADROOM 64u

/* The first have_bytes are final. They grow up to len_bytes; then the message is complete. */
struct rpc_msg {
	struct buf *buf;     /* one reference; NULL: no message */
	uint8_t *data;       /* first byte of the message, inside buf */
	uint32_t len_bytes;  /* of the complete message, known from the start */
	uint32_t have_bytes; /* received so far */
};

/** rpc_msg_is_whole - Returns whether the message is complete. */
static inline bool rpc_msg_is_whole(const struct rpc_msg *msg)
{
	return msg->have_bytes == msg->len_bytes;
}

/* Why an exchange has no Reply to deliver. */
enum exchange_fault {
	EXCHANGE_OK,
	EXCHANGE_FAULT_ERR_CHUNK, /* the server answered ERR_CHUNK */
	EXCHANGE_FAULT_ERR_VERS,  /* the server answered ERR_VERS too late to change the version */
	EXCHANGE_FAULT_BAD_REPLY, /* the Reply broke the protocol */
	EXCHANGE_FAULT_TOO_BIG,   /* the Reply is larger than reply_max_bytes */
	EXCHANGE_FAULT_CANT_SEND, /* the Call cannot be sent: a reverse Call past its limits */
	EXCHANGE_FAULT_LATE,      /* a reverse Call timed out (D4.2-2) */
};

/*
 * The stages in which an RPC spends time, from the parsing of its Call until its peer has the
 * Reply.
 */
#define CALL_STAGES(X)                                                                             \
	X(RECEIVE, "receive", "the rest of the Call")                                              \
	X(MEMORY, "memory", "memory for the Call and its largest Reply")                           \
	X(CREDIT, "credit", "a server, its credit, or space in the send buffer")                   \
	X(SERVER, "server", "the Reply, from its first byte to its last")                          \
	X(CLIENT, "client", "the client to acknowledge the Reply")

enum call_stage {
#define CALL_STAGE_ENUM(name, text, waits_for) CALL_STAGE_##name,
	CALL_STAGES(CALL_STAGE_ENUM) CALL_STAGE_COUNT
#undef CALL_STAGE_ENUM
};

/** call_stage_name - Returns the stage's name, such as "receive". */
const char *call_stage_name(enum call_stage stage);

/* How a leg carries a message; the last four in the terms of RFC 8166 section 3.5. */
#define MESSAGE_FORMS(X)                                                                           \
	X(RECORD, "record")   /* over TCP */                                                       \
	X(SHORT, "short")     /* inline */                                                         \
	X(CHUNKED, "chunked") /* inline, except for data that RDMA moves */                        \
	X(LONG, "long")       /* completely by RDMA */                                             \
	X(READ_CHUNK, "lent") /* a Reply that the client fetches by Read chunk */

enum message_form {
#define MESSAGE_FORM_ENUM(name, text) MESSAGE_FORM_##name,
	MESSAGE_FORMS(MESSAGE_FORM_ENUM) MESSAGE_FORM_COUNT
#undef MESSAGE_FORM_ENUM
};

/** message_form_name - Returns the form's name, such as "record". */
const char *message_form_name(enum message_form form);

/* Hook for the end of an exchange. */
struct exchange_hook {
	/*
	 * Called when the last reference to @x is gone; its messages still exist. By then a TCP leg
	 * has written the Reply to its socket, and the work requests of an RDMA leg's Reply have
	 * completed. Without a Reply, or after the connection has ended, the call comes earlier.
	 */
	void (*done)(struct exchange_hook *hook, struct exchange *x);
};

/* The two legs of an exchange, as an index. */
enum exchange_role { EXCHANGE_ORIGIN, EXCHANGE_TARGET };

struct exchange {
	unsigned refs;
	/* Duplicates of the Call that were discarded while it was in flight. */
	unsigned copies;
	struct freelists *freelists; /* where the memory is returned */
	struct rpc_msg call;
	struct rpc_msg reply; /* set by the target, unless fault */
	/* Longest Reply that the origin can send and the Call allows. */
	uint32_t reply_max_bytes;
	enum exchange_fault fault;
	/* Memory for both messages and the work of both legs; claimed by the origin. */
	struct budget_claim claim;
	uint64_t start_us; /* when the Call was complete, or before that when it was delivered */
	enum call_stage stage;
	/*
	 * The enum message_form on each leg, indexed by enum exchange_role. Valid once the leg has
	 * chosen it.
	 */
	uint8_t call_forms[2], reply_forms[2];
	uint64_t stage_us;                           /* start of the stage; 0: not timed */
	uint32_t stage_elapsed_us[CALL_STAGE_COUNT]; /* time in each stage so far */
	struct exchange_hook *hook;                  /* outlives the exchange; NULL: none */
	/* NULL once that leg has dropped its reference */
	struct leg *origin, *target;
	void *origin_priv, *target_priv;                  /* each leg's object for this RPC */
	TAILQ_ENTRY(exchange) origin_entry, target_entry; /* each leg's lists */
	/* In each leg's XID table; indexed by enum exchange_role. */
	struct hash_node links[2];
	TAILQ_ENTRY(exchange) owner_entry; /* list of the bridge */
	/*
	 * Parsed once by the origin; grows while the Call arrives. Last member: see call_info.ops.
	 */
	struct call_info call_info;
};
TAILQ_HEAD(exchange_list, exchange);

/**
 * exchange_new - Creates an exchange with one reference, from @freelists, which can be NULL.
 * Returns NULL without memory.
 */
struct exchange *exchange_new(struct freelists *freelists);
/** exchange_free - Frees an exchange without references; only for exchange_put(). */
void exchange_free(struct exchange *x);
/** exchange_ref - Adds a reference. Returns @x. */
static inline struct exchange *exchange_ref(struct exchange *x)
{
	x->refs++;
	return x;
}
/**
 * exchange_put - Drops a reference; the last one frees the messages and the claim. Accepts NULL.
 */
static inline void exchange_put(struct exchange *x)
{
	if (x && --x->refs == 0)
		exchange_free(x);
}

/**
 * exchange_stage_add - Adds the time since stage_us to @stage, which need not be the current stage
 * @now_us: time of the loop
 */
static inline void exchange_stage_add(struct exchange *x, enum call_stage stage, uint64_t now_us)
{
	uint64_t us = x->stage_elapsed_us[stage] + (now_us - x->stage_us);

	x->stage_elapsed_us[stage] = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
	x->stage_us = now_us;
}
/** exchange_stage_enter - Adds the time since stage_us to the current stage, and enters @stage. */
static inline void exchange_stage_enter(struct exchange *x, enum call_stage stage, uint64_t now_us)
{
	/* Most stages end in the iteration in which they start. */
	if (now_us != x->stage_us)
		exchange_stage_add(x, x->stage, now_us);
	x->stage = stage;
}

/**
 * rpc_msg_get - Allocates a message of @len_bytes, after RPC_MSG_HEADROOM
 *
 * The buffer has four more bytes for an XDR pad. The message counts as complete; a caller that
 * delivers it earlier sets have_bytes. Returns 0 or -ENOMEM.
 */
int rpc_msg_get(struct buf_pool *pool, uint32_t len_bytes, struct rpc_msg *msg) MUST_CHECK;
/** rpc_msg_put - Releases a message's buffer. Accepts a message without one. */
void rpc_msg_put(struct rpc_msg *msg);
/**
 * rpc_msg_cost_bytes - Returns how much rpc_msg_get() of @len_bytes takes from the pool, for a
 * claim.
 */
size_t rpc_msg_cost_bytes(uint32_t len_bytes);

/*
 * Memory that the target leg can need in addition to one buffer for the Reply, if the Reply arrives
 * in several pieces. All zero: none.
 */
struct reply_memory {
	uint32_t single_max_bytes; /* Replies of up to this size arrive in one piece */
	uint32_t margin_bytes;     /* space on each side of a payload that arrives separately */
	uint32_t extra_bytes;      /* longest part that can arrive outside the reserved place */
};

/**
 * exchange_cost_bytes - Returns how many bytes an RPC can take from the pool, for its claim
 * @call_bytes:      size of the Call's buffer
 * @reply_max_bytes: its longest Reply
 * @call_info:       of the Call; NULL: not known yet
 * @reply_memory:    of the target leg
 */
size_t exchange_cost_bytes(size_t call_bytes, uint32_t reply_max_bytes,
			   const struct call_info *call_info,
			   const struct reply_memory *reply_memory);

/* Small objects of an RPC that no claim covers: its exchange, and one object of each leg. */
#define EXCHANGE_OVERHEAD_BYTES 1184u

/*
 * Table of exchanges by XID: one per leg and direction. Its hash has a random key, so that a peer
 * cannot make long chains by its choice of XIDs.
 */
struct xid_table {
	enum exchange_role role;
	struct hash_table table;
	struct hash_key key; /* drawn when the first entry is added; all zero before */
};

/** xid_table_init - Initializes an empty table, which must not be moved. */
void xid_table_init(struct xid_table *table, enum exchange_role role);
/** xid_table_fini - Frees the table, which must be empty. */
void xid_table_fini(struct xid_table *table);
/**
 * xid_table_add - Adds @x under x->call_info.hdr.xid. Returns 0, -EEXIST, or -EAGAIN without a
 * random key.
 */
int xid_table_add(struct xid_table *table, struct exchange *x) MUST_CHECK;
/** xid_table_find - Returns the exchange with @xid, or NULL. */
struct exchange *xid_table_find(const struct xid_table *table, uint32_t xid);
/** xid_table_remove - Removes @x, which must be in the table. */
void xid_table_remove(struct xid_table *table, struct exchange *x);

#endif
