/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks a message that should be a Call, and maps each verdict to the transport's reaction.
 *
 * The verdict is the same on every transport; the reaction is not. TCP has no error message of its
 * own, and its stream cannot be trusted after a message that is not RPC. RDMA has RDMA_ERROR, and
 * its messages are independent. So each transport has a table of struct call_rule, indexed by
 * verdict:
 *
 *	verdict             TCP                                RDMA
 *	CALL_AUTH_TLS       AUTH_ERROR, AUTH_REJECTEDCRED      the same
 *	CALL_BAD_AUTH       AUTH_ERROR, AUTH_BADCRED           the same
 *	CALL_RPC_MISMATCH   RPC_MISMATCH, 2 to 2               the same
 *	CALL_TRUNCATED      closes                             ERR_CHUNK
 *	CALL_IS_REPLY       (distinguished before)             ERR_CHUNK
 *	CALL_NOT_RPC        closes                             ERR_CHUNK
 *	CALL_XID_DIFFERS    (has no second XID)                ERR_CHUNK
 *	CALL_GARBAGE_ARGS   (has no chunks)                    GARBAGE_ARGS (A3.4-4)
 *	CALL_MISPLACED      (has no chunks)                    ERR_CHUNK
 *	CALL_CONFIG_PROGRAM PROG_UNAVAIL (A6.2-8)              answers itself, or the same (A6.2-10)
 *
 * GARBAGE_ARGS and PROG_UNAVAIL are encoded by rpc_encode_failure(), so an RPCSEC_GSS client gets
 * AUTH_ERROR, AUTH_FAILED.
 *
 * AUTH_TLS requests TLS. A TCP leg that offers TLS decides itself (rpctcp/tcp_tls.h). On others the
 * flavour is known and the credential rejected (RFC 9289 section 4.1). A credential or verifier of
 * more than 400 bytes is invalid (RFC 5531 section 8.2).
 */
#ifndef RPC_CALL_CHECK_H
#define RPC_CALL_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/rpc_header.h"

#define CALL_VERDICTS(X)                                                                           \
	X(CALL_OK, "can be forwarded")                                                             \
	X(CALL_PENDING, "an incomplete header")                                                    \
	X(CALL_AUTH_TLS, "AUTH_TLS")                                                               \
	X(CALL_BAD_AUTH, "a credential or verifier that is too long")                              \
	X(CALL_RPC_MISMATCH, "another RPC version")                                                \
	X(CALL_TRUNCATED, "a truncated header")                                                    \
	X(CALL_IS_REPLY, "a Reply where a Call should be")                                         \
	X(CALL_NOT_RPC, "neither a Call nor a Reply")                                              \
	X(CALL_XID_DIFFERS, "an XID other than the transport's")                                   \
	X(CALL_GARBAGE_ARGS, "a chunk whose length differs from the data that it replaces")        \
	X(CALL_MISPLACED, "a Read chunk at a position without a DDP-eligible item")                \
	X(CALL_CONFIG_PROGRAM, "a Call to the RDMA configuration program")

enum call_verdict {
#define CALL_VERDICT_ENUM(name, text) name,
	CALL_VERDICTS(CALL_VERDICT_ENUM) CALL_VERDICT_COUNT
#undef CALL_VERDICT_ENUM
};

/** call_verdict_text - Returns the verdict as text. */
const char *call_verdict_text(enum call_verdict verdict);

/**
 * call_check - Checks a message that should be a Call
 * @msg, @have_bytes: the part received so far
 * @len_bytes:        length of the whole message
 * @xid:              the XID from the transport's header; NULL: it has none
 * @config_program:   the transport's own program, whose Calls are not forwarded; 0: none
 * @hdr:              set for CALL_OK, CALL_AUTH_TLS and CALL_CONFIG_PROGRAM; for other verdicts
 *                    that have a Reply, only the xid is set
 *
 * Returns CALL_PENDING only while have_bytes is less than len_bytes. Never returns
 * CALL_GARBAGE_ARGS or CALL_MISPLACED, since it does not examine the arguments.
 */
enum call_verdict call_check(const uint8_t *msg, uint32_t have_bytes, uint32_t len_bytes,
			     const uint32_t *xid, uint32_t config_program,
			     struct rpc_call_hdr *hdr) MUST_CHECK;

/**
 * call_verdict_encode - Encodes the RPC Reply to a Call that was rejected
 * @hdr: as set by call_check(); for CALL_GARBAGE_ARGS the whole header
 *
 * Returns the bytes written to @to; 0 if the verdict has no Reply. Only CALL_AUTH_TLS,
 * CALL_BAD_AUTH, CALL_RPC_MISMATCH, CALL_GARBAGE_ARGS and CALL_CONFIG_PROGRAM have one.
 */
size_t call_verdict_encode(uint8_t to[RPC_ERROR_REPLY_BYTES], enum call_verdict verdict,
			   const struct rpc_call_hdr *hdr);

/**
 * call_verdict_is_denied - Returns whether call_verdict_encode() makes a denied Reply with
 * AUTH_FAILED: count auth_failed_sent.
 */
static inline bool call_verdict_is_denied(enum call_verdict verdict, const struct rpc_call_hdr *hdr)
{
	return (verdict == CALL_GARBAGE_ARGS || verdict == CALL_CONFIG_PROGRAM) &&
	       rpc_call_wants_verifier(hdr);
}

/* Counters of rejected Calls: part of the counter list of each kind of leg. */
#define CALL_VERDICT_COUNTERS(X)                                                                   \
	X(auth_tls_refused, "Calls that request TLS, rejected")                                    \
	X(bad_auth_refused, "Calls with credentials longer than RPC allows, rejected")             \
	X(rpc_mismatches, "Calls of another RPC version, rejected")                                \
	X(prog_unavail,                                                                            \
	  "Calls to the program that configures RDMA connections (config_program), rejected")      \
	X(auth_failed_sent,                                                                        \
	  "Calls denied with AUTH_FAILED instead of another error, because their security "        \
	  "flavour (RPCSEC_GSS, or unknown) needs a verifier of the server")                       \
	X(bad_calls, "messages that are not a well-formed Call")

enum call_answer {
	CALL_ANSWER_NONE,  /* none: the Call is accepted, or incomplete */
	CALL_ANSWER_REPLY, /* the Reply of call_verdict_encode() */
	CALL_ANSWER_ERROR, /* the transport's own error for this Call alone */
	CALL_ANSWER_CLOSE, /* close the connection */
};

/* A row of a transport's table: the reaction to a verdict. */
struct call_rule {
	enum call_answer answer;
	size_t counter;   /* offset in the transport's counters; unused with CALL_ANSWER_NONE */
	const char *note; /* a sentence for the log; NULL: none */
};

/* One row: an answer without its prefix, the counter struct, the counter, and the sentence. */
#define CALL_RULE(answer, counters, counter, note)                                                 \
	{                                                                                          \
		CALL_ANSWER_##answer, offsetof(struct counters, counter), note                     \
	}

/**
 * call_rule_count - Counts a rejected Call. @counters is the struct that the table was made for.
 */
static inline void call_rule_count(const struct call_rule *rule, void *counters)
{
	++*(uint64_t *)((char *)counters + rule->counter);
}

#endif
