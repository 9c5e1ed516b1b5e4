/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of a Call: plain data, found by one walk of its arguments (lib/nfs) and kept with the exchange,
 * so that nobody reads the Call again. No pointer leads into the message, which may move.
 *
 * Facts grow by stages, since a Call may be known before all of it is here:
 *
 *	FACTS_NONE ──begin──▶ FACTS_HEAD ──a payload was passed──▶ FACTS_DATA ──▶ FACTS_WHOLE
 *	                          └──────────────no payload, or not to be followed──────▲
 *
 * ceiling_bytes is good at every stage for what has been seen of the Call: what the arguments walked so far prove,
 * and FACTS_UNBOUNDED_BYTES for all that proves nothing, as bytes that are still to come. So until FACTS_WHOLE it may
 * rise, when such bytes ask for more than that: whoever promised memory by an earlier ceiling holds the Reply to
 * that promise. What else is said of arguments and results is a count so far until FACTS_WHOLE, where all of it is
 * taken back if the Call cannot be followed.
 */
#ifndef RPC_FACTS_H
#define RPC_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/msg.h"

/* Where a DDP-eligible data item of a message is. */
struct rpc_payload {
	uint32_t offset_bytes; /* from the start of the RPC message, of the first data byte */
	uint32_t len_bytes;    /* without XDR padding */
};

enum facts_stage {
	FACTS_NONE,
	FACTS_HEAD, /* RPC header and procedure, and so what the Reply can be at most if that tells */
	FACTS_DATA,  /* also where the first payload among the arguments is */
	FACTS_WHOLE, /* everything that will ever be known */
};

/* What the security flavour leaves to see of a Call's arguments and its Reply's results. */
enum facts_body {
	FACTS_BODY_PLAIN,     /* they can be read, and payloads may move */
	FACTS_BODY_INTEGRITY, /* they can be read, but nothing may move (RFC 2203 section 5.3.3.2) */
	FACTS_BODY_CONTROL,   /* a context is made or destroyed: a token, whatever the program */
	FACTS_BODY_HIDDEN,    /* encrypted, unknown or cut short */
};

/* Whether the arguments could be followed, as far as that was needed. */
enum facts_trail {
	FACTS_FOLLOWED,
	FACTS_LOST,         /* they are no such arguments, or end too early */
	FACTS_LOST_IN_HOLE, /* what had to be read was not here, and may say more once it is */
};

/* What can be said of payloads among the results. */
enum facts_results {
	FACTS_RESULTS_NONE,    /* there are none, or they may not move */
	FACTS_RESULTS_MAYBE,   /* there may be */
	FACTS_RESULTS_UNKNOWN, /* there is no telling, not from the Reply either */
};

/*
 * How much of a Call is walked: what has more cannot be followed, so that no Call holds its worker for long. These are
 * more operations than any server takes in one COMPOUND (Linux 50, Ganesha 100), and more elements of arrays and lists,
 * those of all operations together, than any client sends.
 */
#define FACTS_MAX_OPS      1024u
#define FACTS_MAX_ELEMENTS 1024u
#define FACTS_LISTED_OPS                                                                           \
	128u /* operations whose numbers are kept; those behind them are in a sum (reply_sum) */
#define FACTS_OP_ILLEGAL UINT8_MAX /* stands for 10044 in the list of operations */
/* Results of which the bound is kept: one is what requesters move. */
#define FACTS_MAX_BOUNDS 4u

/*
 * What a Reply is allowed of which the Call does not prove how large it can get: programs that are not known, bodies
 * that are encrypted, rows without a bound, Calls that cannot be followed or are not all here. Results of 1 MiB and
 * what is around them.
 */
#define FACTS_UNBOUNDED_BYTES (1024u * 1024u + 64u * 1024u)

/* How far the walk has come. For the walk alone. */
struct facts_walk {
	uint32_t at_bytes;     /* in the message: all before it has been walked */
	uint32_t ops_left;     /* of a COMPOUND, once its frame has been read */
	uint32_t want_bytes;   /* of the message, before it is worth another try */
	uint32_t vain_bytes;   /* walked and given up, since what follows was not here */
	uint32_t told_bytes;   /* in the message: what the sink was told of last */
	uint32_t steps;        /* operations walked, one that was begun again counted again */
	uint64_t result_bytes; /* the largest results of what has been walked and has a bound */
	bool unbounded;        /* something that has been walked has none */
	bool session_limits;   /* the limit is that of the Call's session */
	bool framed;           /* a COMPOUND's frame has been read */
	bool args_matter;      /* they say more than is known from the header */
	uint16_t elements;     /* of arrays and lists that have been walked */
	uint32_t ops_sum;      /* of the operations behind those that are listed */
};

struct call_facts {
	struct rpc_call_hdr hdr; /* decoded by call_judge() */
	/* The names of program and procedure, "NFS" and "COMPOUND"; NULL: not known. See call_facts_name(). */
	const char *program, *procedure;
	uint8_t stage;               /* enum facts_stage */
	uint8_t body;                /* enum facts_body */
	uint8_t trail;               /* enum facts_trail */
	uint8_t results;             /* enum facts_results */
	bool compound;               /* the procedure is made of operations */
	bool arg_is_data;            /* `arg` is data of a file, and no path */
	bool result_is_data;         /* the first result that may move is data, and no path */
	bool may_create_session : 1; /* CREATE_SESSION is the first operation, or behind SEQUENCE */
	bool is_proved : 1; /* no Reply is larger than the ceiling: the Call says so, or its session */
	uint16_t reply_ops; /* operations up to the last with a payload in its results … */
	uint32_t
		reply_sum; /* … and the sum of those of them that are not listed: facts_ops_sum() */
	uint32_t limit_bytes; /* of the ceiling: the one given, or what the Call's session allows */
	uint32_t ceiling_bytes; /* the largest Reply that the Call may get, header included */
	/* Among the arguments: data of WRITE, targets of new links. How many, and the first. */
	uint32_t narg_payloads;
	struct rpc_payload arg;
	/* Among the results: data of READ, paths of READLINK. How many, and the most that the first can have. */
	uint32_t nresult_payloads;
	uint32_t bounds_bytes[FACTS_MAX_BOUNDS];
	/* Of a COMPOUND: the operations that were walked, and the numbers of the first of them (ops). */
	uint32_t minor_version;
	uint32_t nops;
	struct facts_walk walk;
	/* Last: nobody clears it, since only what nops counts is ever read. */
	uint8_t ops[FACTS_LISTED_OPS];
};

/** facts_ops_sum - add the number of an operation to @sum, by which a Reply shows that it answers the same ones. */
static inline uint32_t facts_ops_sum(uint32_t sum, uint32_t op)
{
	return (sum ^ op) * 16777619u;
}

/** call_facts_gss_body - the same as below, of RPCSEC_GSS. */
enum facts_body call_facts_gss_body(const struct rpc_call_hdr *hdr);
/** call_facts_body - what the security flavour of a Call leaves to see of it, and of its Reply. */
static inline enum facts_body call_facts_body(const struct rpc_call_hdr *hdr)
{
	return hdr->cred_flavor == RPC_AUTH_GSS ? call_facts_gss_body(hdr) : FACTS_BODY_PLAIN;
}

#define CALL_NAME_BYTES 48u /* room for a name, its end included */

/**
 * call_facts_name - a Call's procedure by name
 *
 * "NFS4.COMPOUND", or "100003.9.1" of program, version and procedure if there is no name for it.
 */
void call_facts_name(const struct call_facts *facts, char name[CALL_NAME_BYTES]);

#endif
