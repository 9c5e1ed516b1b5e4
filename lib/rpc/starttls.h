/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange by which RPC-with-TLS begins (RFC 9289 section 4.1): a client probes the server with
 * a NULL Call whose credential flavour is AUTH_TLS, and the server agrees by the verifier
 * "STARTTLS". The TLS handshake follows on the same connection.
 */
#ifndef RPC_STARTTLS_H
#define RPC_STARTTLS_H

#include <stdint.h>

#include "base/compiler.h"
#include "rpc/rpc_header.h"

/* Result of starttls_check_probe(). */
enum starttls_probe {
	STARTTLS_PROBE,          /* well-formed */
	STARTTLS_PROBE_BAD_CRED, /* not the NULL procedure, or its credential has a body */
	STARTTLS_PROBE_BAD_VERF, /* its verifier is not an empty AUTH_NONE */
	STARTTLS_PROBE_BAD_ARGS, /* it has arguments, and NULL has none */
};

/** starttls_encode_probe - Encodes a probe. Returns the bytes written to @to: 40. */
size_t starttls_encode_probe(uint8_t to[RPC_NULL_CALL_BYTES], uint32_t xid, uint32_t prog,
			     uint32_t vers);
/**
 * starttls_check_probe - Checks a Call with the credential flavour AUTH_TLS
 * @len_bytes: of the whole Call
 */
enum starttls_probe starttls_check_probe(const struct rpc_call_hdr *hdr, uint32_t len_bytes);

#define STARTTLS_ANSWER_BYTES 32u
/**
 * starttls_encode_answer - Encodes the Reply that accepts a probe. Returns the bytes written to
 * @to: STARTTLS_ANSWER_BYTES.
 */
size_t starttls_encode_answer(uint8_t to[RPC_ERROR_REPLY_BYTES], uint32_t xid);

/* The longest Reply that accepts a probe: PROG_MISMATCH carries two versions. */
#define STARTTLS_ANSWER_MAX_BYTES 40u

/* Result of starttls_check_answer(). */
enum starttls_answer {
	STARTTLS_ACCEPTED,    /* the TLS handshake can begin */
	STARTTLS_NOT_OFFERED, /* an accepted Reply without the verifier */
	STARTTLS_DENIED,      /* a denied Reply */
	STARTTLS_NO_ANSWER,   /* not a Reply, or not to this XID */
};

/**
 * starttls_check_answer - Checks the Reply to a probe
 * @msg, @have_bytes: its first STARTTLS_ANSWER_MAX_BYTES, or all of a shorter one
 * @len_bytes:        of the whole Reply
 *
 * Any accept_stat is good: a server can add the verifier before it looks at the program.
 */
enum starttls_answer starttls_check_answer(const uint8_t *msg, uint32_t have_bytes,
					   uint32_t len_bytes, uint32_t xid) MUST_CHECK;

#endif
