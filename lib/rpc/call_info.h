/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Information about a Call: plain data, collected by one walk of its arguments (lib/nfs) and kept
 * with the exchange, so that the Call is never parsed again. It has no pointers into the message,
 * which can move.
 *
 * Information grows by stages, since a Call is parsed while it arrives:
 *
 *	NONE ──begin──▶ HEAD ──a payload was passed──▶ DATA ──▶ COMPLETE
 *	                  └────no payload, or parsing failed─────▲
 *
 * reply_bound_bytes is valid at every stage. It is the proven bound for the bytes parsed so far,
 * plus REPLY_UNBOUNDED_BYTES for anything without a bound, including bytes that have not arrived.
 * It can still rise until CALL_INFO_COMPLETE. A caller that has reserved memory by an earlier value
 * must limit the Reply to that value. All other counts of arguments and results are preliminary
 * until CALL_INFO_COMPLETE; if parsing has failed they are cleared then.
 */
#ifndef RPC_CALL_INFO_H
#define RPC_CALL_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/rpc_header.h"

/* The place of a DDP-eligible data item in a message. */
struct rpc_payload {
	uint32_t offset_bytes; /* of the first data byte, from the start of the RPC message */
	uint32_t len_bytes;    /* without XDR padding */
};

enum call_info_stage {
	CALL_INFO_NONE,
	CALL_INFO_HEAD, /* RPC header, procedure, and the bound of the Reply if known from these */
	CALL_INFO_DATA, /* also the place of the first payload of the arguments */
	CALL_INFO_COMPLETE, /* everything that will ever be known */
};

/* How the security flavour protects a Call's arguments and its Reply's results. */
enum call_body_kind {
	CALL_BODY_PLAIN,     /* readable, and payloads can be moved */
	CALL_BODY_INTEGRITY, /* readable, but must not be moved (RFC 2203 section 5.3.3.2) */
	CALL_BODY_CONTROL,   /* a token that creates or destroys a context, whatever the program */
	CALL_BODY_OPAQUE,    /* encrypted, unknown or truncated */
};

/* Whether the arguments could be parsed as far as needed. */
enum call_parse {
	CALL_PARSE_OK,
	CALL_PARSE_FAILED, /* malformed or truncated */
	CALL_PARSE_HOLE,   /* needed bytes are in a chunk; can be retried when they have arrived */
};

/* Whether the results contain payloads. */
enum call_results {
	CALL_RESULTS_NONE,    /* none, or none that can be moved */
	CALL_RESULTS_MAYBE,   /* possibly */
	CALL_RESULTS_UNKNOWN, /* unknown, even from the Reply */
};

/*
 * Limits of the walk, so that no Call occupies its worker for long. A Call that exceeds one counts
 * as not parsable. No server accepts so many operations in one COMPOUND (Linux 50, Ganesha 100),
 * and no client sends so many elements of arrays and lists in one Call.
 */
#define CALL_MAX_OPS      1024u
#define CALL_MAX_ELEMENTS 1024u
/* Operations whose numbers are stored; later ones are in a hash (reply_sum). */
#define CALL_LISTED_OPS 128u
#define CALL_OP_ILLEGAL UINT8_MAX /* stands for 10044 in the list of operations */
/* Results whose bound is stored; requesters move one. */
#define CALL_MAX_BOUNDS 4u

/*
 * The size allowed for a Reply that the Call does not bound: unknown programs, encrypted bodies,
 * procedures without a bound, and Calls that cannot be parsed or are incomplete. Results of 1 MiB
 * and their headers.
 */
#define REPLY_UNBOUNDED_BYTES (1024u * 1024u + 64u * 1024u)

/* Progress of the walk; only for the walk itself. */
struct call_walk_state {
	uint32_t at_bytes;       /* offset in the message; everything before it has been walked */
	uint32_t ops_left;       /* operations left of a COMPOUND, once its header was read */
	uint32_t want_bytes;     /* length of the message needed before the next attempt */
	uint32_t wasted_bytes;   /* walked in vain, because later bytes had not arrived */
	uint32_t reported_bytes; /* offset in the message of the last opaque reported to the sink */
	uint32_t steps;          /* operations walked; repeated attempts count again */
	uint64_t result_bytes;   /* bound of the results of everything walked that has a bound */
	bool unbounded;          /* something walked has no bound */
	bool session_limits;     /* the limit is the session's */
	bool framed;             /* a COMPOUND's header has been read */
	bool args_matter;        /* the arguments must be read, not only the header */
	uint16_t elements;       /* elements of arrays and lists walked */
	uint32_t ops_sum;        /* hash of the operations after the stored ones */
};

struct call_info {
	struct rpc_call_hdr hdr; /* decoded by call_check() */
	/*
	 * Names of program and procedure, "NFS" and "COMPOUND"; NULL: unknown. See
	 * call_info_name().
	 */
	const char *program, *procedure;
	uint8_t stage;       /* enum call_info_stage */
	uint8_t body;        /* enum call_body_kind */
	uint8_t parse;       /* enum call_parse */
	uint8_t results;     /* enum call_results */
	bool compound;       /* the procedure consists of operations */
	bool arg_is_data;    /* `arg` is file data, not a path */
	bool result_is_data; /* the first movable result is file data, not a path */
	/* CREATE_SESSION is the first operation, or follows SEQUENCE */
	bool may_create_session : 1;
	/* No Reply can exceed reply_bound_bytes: proven by the Call or its session. */
	bool is_proved : 1;
	uint16_t reply_ops; /* operations up to the last one with a payload in its results … */
	/* … and the hash of those that are not stored: call_info_ops_sum(). */
	uint32_t reply_sum;
	uint32_t limit_bytes; /* upper limit of reply_bound_bytes: the service's or the session's */
	uint32_t reply_bound_bytes; /* largest Reply that the Call can get, including its header */
	/*
	 * Payloads of the arguments, data of WRITE and targets of new links: their number, and the
	 * first one.
	 */
	uint32_t narg_payloads;
	struct rpc_payload arg;
	/*
	 * Payloads of the results, data of READ and paths of READLINK: their number, and the bound
	 * of each.
	 */
	uint32_t nresult_payloads;
	uint32_t bounds_bytes[CALL_MAX_BOUNDS];
	/* COMPOUND: how many operations were walked; their numbers are in `ops`. */
	uint32_t minor_version;
	uint32_t nops;
	struct call_walk_state walk;
	/* Last member, never cleared: only the first nops entries are valid. */
	uint8_t ops[CALL_LISTED_OPS];
};

/**
 * call_info_ops_sum - Returns hash @sum with one more operation, for comparing the operations of a
 * Reply with those of its Call.
 */
static inline uint32_t call_info_ops_sum(uint32_t sum, uint32_t op)
{
	return (sum ^ op) * 16777619u;
}

/** call_info_gss_body - call_info_body() for RPCSEC_GSS. */
enum call_body_kind call_info_gss_body(const struct rpc_call_hdr *hdr);
/**
 * call_info_body - Returns how the security flavour protects a Call's arguments and its Reply's
 * results.
 */
static inline enum call_body_kind call_info_body(const struct rpc_call_hdr *hdr)
{
	return hdr->cred_flavor == RPC_AUTH_GSS ? call_info_gss_body(hdr) : CALL_BODY_PLAIN;
}

#define CALL_NAME_BYTES 48u /* including the terminating null byte */

/**
 * call_info_name - Writes the name of a Call's procedure
 *
 * "NFS4.COMPOUND"; or "100003.9.1", of program, version and procedure, if it has no name.
 */
void call_info_name(const struct call_info *call_info, char name[CALL_NAME_BYTES]);

#endif
