/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a transport finds when it looks at a message that should be a Call, and what it does then.
 *
 * The verdict is the same on every transport. What follows from it is not: TCP has no error message of its own,
 * and after a message that is no RPC its stream cannot be trusted; RDMA has RDMA_ERROR, and its messages do not
 * depend on each other. So each transport has one table of struct call_rule by verdict:
 *
 *	verdict             TCP                                RDMA
 *	CALL_AUTH_TLS       AUTH_ERROR, AUTH_REJECTEDCRED      the same
 *	CALL_BAD_AUTH       AUTH_ERROR, AUTH_BADCRED           the same
 *	CALL_RPC_MISMATCH   RPC_MISMATCH, 2 to 2               the same
 *	CALL_CUT            closes                             ERR_CHUNK
 *	CALL_IS_REPLY       (is told apart before)             ERR_CHUNK
 *	CALL_NOT_RPC        closes                             ERR_CHUNK
 *	CALL_XID_DIFFERS    (expects none)                     ERR_CHUNK
 *	CALL_GARBAGE_ARGS   (has no chunks)                    GARBAGE_ARGS (A3.4-4)
 *	CALL_CONFIGURES     PROG_UNAVAIL (A6.2-8)              answers itself, or the same (A6.2-10)
 *
 * GARBAGE_ARGS and PROG_UNAVAIL are rpc_encode_failure(), so that an RPCSEC_GSS client gets AUTH_ERROR, AUTH_FAILED.
 *
 * AUTH_TLS asks for a session that is not offered (RFC 9289 section 4.1): the flavour is understood and the
 * credential refused. A credential or verifier of more than 400 bytes cannot be one (RFC 5531 section 8.2).
 */
#ifndef RPC_CALL_VERDICT_H
#define RPC_CALL_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpc/msg.h"

#define CALL_VERDICTS(X)                                                                           \
	X(CALL_PASSES, "may be passed on")                                                         \
	X(CALL_PENDING, "a header that is not all here yet")                                       \
	X(CALL_AUTH_TLS, "AUTH_TLS")                                                               \
	X(CALL_BAD_AUTH, "a credential or verifier that is too long")                              \
	X(CALL_RPC_MISMATCH, "another version of RPC")                                             \
	X(CALL_CUT, "a header that is truncated")                                                  \
	X(CALL_IS_REPLY, "a Reply where a Call should be")                                         \
	X(CALL_NOT_RPC, "neither a Call nor a Reply")                                              \
	X(CALL_XID_DIFFERS, "an XID other than the transport's")                                   \
	X(CALL_GARBAGE_ARGS, "data and a chunk in their place that differ in length")              \
	X(CALL_MISPLACED, "a read chunk at the position of no DDP-eligible item")                  \
	X(CALL_CONFIGURES, "a Call to the program that configures an RDMA connection")

enum call_verdict {
#define CALL_VERDICT_ENUM(name, text) name,
	CALL_VERDICTS(CALL_VERDICT_ENUM) CALL_VERDICT_COUNT
#undef CALL_VERDICT_ENUM
};

/** call_verdict_text - the verdict in words. */
const char *call_verdict_text(enum call_verdict verdict);

/**
 * call_judge - what a message is that should be a Call
 * @msg, @have_bytes: as much of it as is here
 * @len_bytes:        of the whole
 * @xid:              what the transport says its XID is; NULL: it says nothing
 * @config_program:   the program of which no Call passes: that of the transport itself; 0: there is none
 * @hdr:              set on CALL_PASSES, CALL_AUTH_TLS and CALL_CONFIGURES; its xid alone is set if there is a Reply to
 *                    answer with
 *
 * Returns CALL_PENDING only while have_bytes is less than len_bytes, and never CALL_GARBAGE_ARGS nor CALL_MISPLACED:
 * arguments are not looked at.
 */
enum call_verdict call_judge(const uint8_t *msg, uint32_t have_bytes, uint32_t len_bytes,
			     const uint32_t *xid, uint32_t config_program,
			     struct rpc_call_hdr *hdr) MUST_CHECK;

/**
 * call_verdict_encode - the RPC Reply that a Call gets for a verdict
 * @hdr: as call_judge() has set it; for CALL_GARBAGE_ARGS the whole header
 *
 * Returns the bytes written to @to, or 0 if there is no such Reply: only CALL_AUTH_TLS, CALL_BAD_AUTH,
 * CALL_RPC_MISMATCH, CALL_GARBAGE_ARGS and CALL_CONFIGURES have one.
 */
size_t call_verdict_encode(uint8_t to[RPC_ERROR_REPLY_BYTES], enum call_verdict verdict,
			   const struct rpc_call_hdr *hdr);

/** call_verdict_is_denied - whether that Reply is a denied one in the place of an accepted one: auth_failed_sent is due. */
static inline bool call_verdict_is_denied(enum call_verdict verdict, const struct rpc_call_hdr *hdr)
{
	return (verdict == CALL_GARBAGE_ARGS || verdict == CALL_CONFIGURES) &&
	       rpc_call_wants_verifier(hdr);
}

/* What a transport counts of Calls that did not pass: part of the list of counters of each kind of leg. */
#define CALL_VERDICT_COUNTERS(X)                                                                   \
	X(auth_tls_refused, "Calls that ask for TLS, which is not offered: refused as RPC has it") \
	X(bad_auth_refused, "Calls with credentials longer than RPC allows, refused")              \
	X(rpc_mismatches, "Calls of another version of RPC, refused")                              \
	X(prog_unavail,                                                                            \
	  "Calls to the program that configures RDMA connections (config_program), refused")       \
	X(auth_failed_sent,                                                                        \
	  "Calls whose security flavour needs a verifier of the server's (RPCSEC_GSS), or is not " \
	  "known, denied with AUTH_FAILED where other Calls get an error of the proxy's")          \
	X(bad_calls, "messages that are no well-formed Call")

enum call_answer {
	CALL_ANSWER_NONE,  /* it passes, or more of it must come */
	CALL_ANSWER_REPLY, /* with what call_verdict_encode() makes */
	CALL_ANSWER_ERROR, /* with the transport's own error for this Call alone */
	CALL_ANSWER_CLOSE, /* by the end of the connection */
};

/* A row of a transport's table: what a verdict leads to. */
struct call_rule {
	enum call_answer answer;
	size_t counter; /* its offset in the transport's struct of counters; with any answer but NONE */
	const char *note; /* a sentence for the log; NULL: none */
};

/* One row: an answer without its prefix, the struct of counters, the counter, and the sentence. */
#define CALL_RULE(answer, counters, counter, note)                                                 \
	{                                                                                          \
		CALL_ANSWER_##answer, offsetof(struct counters, counter), note                     \
	}

/** call_rule_count - count a Call that did not pass; @counters is the struct that the table was made for. */
static inline void call_rule_count(const struct call_rule *rule, void *counters)
{
	++*(uint64_t *)((char *)counters + rule->counter);
}

#endif
