/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One RPC on its way through the proxy: a Call, in time its Reply, and the memory that both may take.
 *
 * The leg that receives the Call (the origin) makes the exchange; the other leg (the target) sends the
 * Call on and fills in the Reply or a fault; the origin then answers its peer. Each of the two holds a
 * reference while it works on it, so either leg can close at any moment. Everything is freed, and the
 * memory given back to the budget, with the last reference.
 *
 * A message is always contiguous, in one buffer, with RPC_MSG_HEADROOM bytes before it in which a record
 * mark or a transport header fits.
 */
#ifndef LEG_EXCHANGE_H
#define LEG_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/account.h"
#include "base/hash_table.h"
#include "base/spares.h"
#include "fabric/pool.h"
#include "rpc/facts.h"

struct exchange;
struct leg;

#define RPC_MSG_HEADROOM 64u

/* The first have_bytes are final. They only grow in number, up to len_bytes: then it is complete. */
struct rpc_msg {
	struct buf *buf;     /* one reference; NULL: no message */
	uint8_t *data;       /* first byte of the RPC message, inside buf */
	uint32_t len_bytes;  /* of the whole, known from the start */
	uint32_t have_bytes; /* of these, how many are here */
};

/** rpc_msg_is_whole - whether all of the message is here. */
static inline bool rpc_msg_is_whole(const struct rpc_msg *msg)
{
	return msg->have_bytes == msg->len_bytes;
}

/* Why an exchange has no Reply to pass on. */
enum exchange_fault {
	EXCHANGE_OK,
	EXCHANGE_FAULT_ERR_CHUNK, /* the server's transport said ERR_CHUNK to this Call */
	EXCHANGE_FAULT_ERR_VERS,  /* … ERR_VERS, when it was too late to change the version */
	EXCHANGE_FAULT_BAD_REPLY, /* the reply broke the protocol */
	EXCHANGE_FAULT_TOO_BIG,   /* the reply is larger than reply_max_bytes */
	EXCHANGE_FAULT_CANT_SEND, /* the Call cannot be sent this way: a reverse Call past its limits */
	EXCHANGE_FAULT_LATE,      /* a reverse Call has had no answer in time (D4.2-2) */
};

/* Where the time of an RPC goes, from the first look at its Call until its peer has the Reply. */
#define CALL_STAGES(X)                                                                             \
	X(RECEIVE, "receive", "the rest of the Call to come")                                      \
	X(MEMORY, "memory", "memory for the Call and its largest Reply")                           \
	X(CREDIT, "credit", "to be sent: a server, a credit of it, or room in its socket")         \
	X(SERVER, "server", "the Reply, from its first byte to its last")                          \
	X(CLIENT, "client", "the client to take the Reply")

enum call_stage {
#define CALL_STAGE_ENUM(name, text, waits_for) CALL_STAGE_##name,
	CALL_STAGES(CALL_STAGE_ENUM) CALL_STAGE_COUNT
#undef CALL_STAGE_ENUM
};

/** call_stage_name - "receive" … */
const char *call_stage_name(enum call_stage stage);

/* How a message is carried on a leg; the last four in the terms of RFC 8166 section 3.5. */
#define MESSAGE_FORMS(X)                                                                           \
	X(RECORD, "record")   /* over TCP */                                                       \
	X(SHORT, "short")     /* inline */                                                         \
	X(CHUNKED, "chunked") /* inline, but for data that go by RDMA */                           \
	X(LONG, "long")       /* as a whole by RDMA */                                             \
	X(LENT, "lent")       /* as a whole, or in part, by RDMA Reads of the client: a Reply */

enum message_form {
#define MESSAGE_FORM_ENUM(name, text) MESSAGE_FORM_##name,
	MESSAGE_FORMS(MESSAGE_FORM_ENUM) MESSAGE_FORM_COUNT
#undef MESSAGE_FORM_ENUM
};

/** message_form_name - "record" … */
const char *message_form_name(enum message_form form);

/* Who is told of the end of an exchange. */
struct exchange_watch {
	/*
	 * Nobody refers to @x any more, and its messages are still there. From TCP that is when its Reply has been given to the
	 * socket, from RDMA when all that carries it has completed; or earlier, where it has none or its connection has ended.
	 */
	void (*over)(struct exchange_watch *watch, struct exchange *x);
};

/* Which of the links a table uses. */
enum exchange_side { EXCHANGE_ORIGIN, EXCHANGE_TARGET };

struct exchange {
	unsigned refs;
	unsigned copies;       /* of the Call that came while it was in flight, and were dropped */
	struct spares *spares; /* where it goes back to */
	struct rpc_msg call;
	struct rpc_msg reply;     /* set by the target, unless fault */
	uint32_t reply_max_bytes; /* the largest that the origin can deliver or the Call can have */
	enum exchange_fault fault;
	struct budget_claim claim; /* for call, reply and the legs' needs; moved in by the origin */
	uint64_t start_us; /* when the Call was complete here, or until then when it was given up */
	enum call_stage stage;
	/* An enum message_form each, by enum exchange_side; of a leg that is RDMA, once it is settled. */
	uint8_t call_forms[2], reply_forms[2];
	uint64_t stage_us;                                /* since when; 0: nobody keeps its time */
	uint32_t took_us[CALL_STAGE_COUNT];               /* so far */
	struct exchange_watch *watch;                     /* outlives it; NULL: nobody */
	struct leg *origin, *target;                      /* NULL once that leg has let go */
	void *origin_priv, *target_priv;                  /* each leg's own state for this RPC */
	TAILQ_ENTRY(exchange) origin_entry, target_entry; /* each leg's own lists */
	struct hash_node links[2];                        /* by side: each leg's own XID table */
	TAILQ_ENTRY(exchange) owner_entry;                /* of who owns both legs */
	/* Found once by the origin; they grow while the Call still comes. Last: see facts.ops. */
	struct call_facts facts;
};
TAILQ_HEAD(exchange_list, exchange);

/** exchange_new - an exchange with one reference and nothing in it, from @spares, which may be NULL; NULL without memory. */
struct exchange *exchange_new(struct spares *spares);
/** exchange_free - nobody refers to it any more: for exchange_put() alone. */
void exchange_free(struct exchange *x);
/** exchange_ref - one more reference; returns @x. */
static inline struct exchange *exchange_ref(struct exchange *x)
{
	x->refs++;
	return x;
}
/** exchange_put - one reference less; the last one frees messages and claim; accepts NULL. */
static inline void exchange_put(struct exchange *x)
{
	if (x && --x->refs == 0)
		exchange_free(x);
}

/**
 * exchange_spend - what has passed since the last look was spent in @stage, whatever stage it is in
 * @now_us: of the loop
 */
static inline void exchange_spend(struct exchange *x, enum call_stage stage, uint64_t now_us)
{
	uint64_t us = x->took_us[stage] + (now_us - x->stage_us);

	x->took_us[stage] = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
	x->stage_us = now_us;
}
/** exchange_enter - from its stage to another; the first one begins where stage_us is set. */
static inline void exchange_enter(struct exchange *x, enum call_stage stage, uint64_t now_us)
{
	/* Most stages end in the turn in which they began. */
	if (now_us != x->stage_us)
		exchange_spend(x, x->stage, now_us);
	x->stage = stage;
}

/**
 * rpc_msg_get - memory for a message of @len_bytes behind RPC_MSG_HEADROOM
 *
 * Four bytes of slack follow it for an XDR pad. It counts as complete: who gives it up before it is says
 * how much is there. Returns 0 or -ENOMEM.
 */
int rpc_msg_get(struct pool *pool, uint32_t len_bytes, struct rpc_msg *msg) MUST_CHECK;
/** rpc_msg_put - let go of a message's buffer; accepts one without. */
void rpc_msg_put(struct rpc_msg *msg);
/** rpc_msg_cost_bytes - what rpc_msg_get() of @len_bytes takes from the pool: count this in a claim. */
size_t rpc_msg_cost_bytes(uint32_t len_bytes);

/*
 * What the leg that a Call goes to may take of memory beyond one buffer for its Reply, where the Reply does not
 * come in one piece. All zero: nothing.
 */
struct reply_room {
	uint32_t alone_bytes;  /* a Reply that cannot be longer always comes in one piece */
	uint32_t around_bytes; /* before and behind a payload that comes apart, each */
	uint32_t beside_bytes; /* the longest that may come elsewhere than where room was made */
};

/**
 * exchange_cost_bytes - what an RPC can come to take from the pool: count this in its claim
 * @call_bytes:      what the buffer for its Call takes
 * @reply_max_bytes: its longest Reply
 * @facts:           of the Call; NULL: not known yet
 */
size_t exchange_cost_bytes(size_t call_bytes, uint32_t reply_max_bytes,
			   const struct call_facts *facts, const struct reply_room *room);

/* What an RPC takes in small objects, which no claim covers: its exchange, and what legs hold for it. */
#define EXCHANGE_BESIDE_BYTES 1184u

/*
 * A table of exchanges by XID, for matching Replies: one per leg and direction. It is keyed at random, so that no choice
 * of XIDs makes long chains.
 */
struct xid_table {
	enum exchange_side side;
	struct hash_table table;
	struct hash_key key; /* drawn with the first entry; all zero until then */
};

/** xid_table_init - an empty table, which must not be moved. */
void xid_table_init(struct xid_table *table, enum exchange_side side);
/** xid_table_fini - free the table itself; it must be empty. */
void xid_table_fini(struct xid_table *table);
/** xid_table_add - enter @x under x->facts.hdr.xid. Returns 0, -EEXIST, or -EAGAIN without a random key. */
int xid_table_add(struct xid_table *table, struct exchange *x) MUST_CHECK;
/** xid_table_find - the exchange with @xid, or NULL. */
struct exchange *xid_table_find(const struct xid_table *table, uint32_t xid);
/** xid_table_remove - take @x out; it must be in. */
void xid_table_remove(struct xid_table *table, struct exchange *x);

#endif
