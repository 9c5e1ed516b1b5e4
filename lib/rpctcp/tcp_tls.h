/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPC-with-TLS on a TCP leg (RFC 9289): the probe in both roles, and the handshake.
 *
 * What an accepted leg does with each Call:
 *
 *	Call                             tls off              allowed        required
 *	in clear, no AUTH_TLS            forwarded            forwarded      AUTH_TOOWEAK
 *	a probe: NULL, AUTH_TLS          AUTH_REJECTEDCRED    "STARTTLS"     "STARTTLS"
 *	… while RPCs are in flight       AUTH_REJECTEDCRED    the same       (none can be)
 *	AUTH_TLS in another Call,
 *	or with a credential body        AUTH_REJECTEDCRED    AUTH_BADCRED   AUTH_BADCRED
 *	AUTH_TLS with a verifier         AUTH_REJECTEDCRED    AUTH_BADVERF   AUTH_BADVERF
 *	a probe with arguments           AUTH_REJECTEDCRED    GARBAGE_ARGS   GARBAGE_ARGS
 *	AUTH_TLS within TLS              -                    AUTH_BADCRED   AUTH_BADCRED
 *	another Call within TLS          -                    forwarded      forwarded
 *
 * The connection continues after each of these. A Call that RFC 5531 itself rejects
 * (rpc/call_check.h) gets the same answer in each case.
 *
 * After an accepted probe the leg sends "STARTTLS", then nothing in clear: the stream is replaced
 * by a TLS stream. Bytes in clear that follow the probe are input of the handshake, which fails. A
 * client has TCP_TLS_TIMEOUT_US for all of it.
 *
 * A connecting leg sends its preface and the probe, and closes unless the server agrees. Everything
 * happens within connect_timeout_us. Calls that the owner passes meanwhile wait.
 */
#ifndef RPCTCP_TCP_TLS_H
#define RPCTCP_TCP_TLS_H

#include "rpc/rpc_header.h"
#include "rpctcp/tcp_leg_priv.h"
#include "tls/tls_stream.h"

/**
 * tcp_tls_init - Initializes the TLS state of a leg, and queues the probe of a connecting leg, after
 * the preface. Returns 0 or -ENOMEM.
 */
int tcp_tls_init(struct tcp_leg *leg) MUST_CHECK;
/** tcp_tls_fini - Frees it. Accepts a leg without TLS. */
void tcp_tls_fini(struct tcp_leg *leg);

/**
 * tcp_tls_check_call - Decides about a Call of an accepted leg with the credential flavour AUTH_TLS
 * @len_bytes: of the Call
 * @reply:     receives a Reply that rejects it
 *
 * Returns the length of the Reply; 0 for a probe: skip it, then call tcp_tls_answer_probe().
 */
size_t tcp_tls_check_call(struct tcp_leg *leg, const struct rpc_call_hdr *hdr, uint32_t len_bytes,
			  uint8_t reply[RPC_ERROR_REPLY_BYTES]);
/**
 * tcp_tls_deny_clear - Encodes the Reply to a Call in clear that needs TLS. Returns its length.
 */
size_t tcp_tls_deny_clear(struct tcp_leg *leg, const struct rpc_call_hdr *hdr,
			  uint8_t reply[RPC_ERROR_REPLY_BYTES]);
/**
 * tcp_tls_answer_probe - At the end of a skipped record: if it is a probe, changes to SECURING, or
 * rejects it.
 */
void tcp_tls_answer_probe(struct tcp_leg *leg);

/**
 * tcp_tls_connect - Changes a connected leg to SECURING: the probe is sent.
 */
void tcp_tls_connect(struct tcp_leg *leg);
/** tcp_tls_ready - SECURING: the stream can be read or written. */
void tcp_tls_ready(struct tcp_leg *leg, unsigned events);
/**
 * tcp_tls_work - SECURING, from the task: sends what precedes the handshake, and begins it if it is
 * due. Returns whether it has begun: then the leftover is consumed.
 */
bool tcp_tls_work(struct tcp_leg *leg) MUST_CHECK;
/**
 * tcp_tls_connected - The handshake is over; @error: 0 or a negative errno. Returns whether the leg
 * is secured; if not it closes.
 */
bool tcp_tls_connected(struct tcp_leg *leg, int error) MUST_CHECK;
/** tcp_tls_expired - SECURING: the time is over. */
void tcp_tls_expired(struct tcp_leg *leg);

/** tcp_tls_answer_bytes - Returns how many bytes an accepted leg has sent to begin TLS; 0: none. */
uint32_t tcp_tls_answer_bytes(const struct tcp_leg *leg);
/** tcp_tls_peer - Returns the peer of a leg whose handshake is complete; NULL: clear text. */
const struct tls_peer *tcp_tls_peer(const struct tcp_leg *leg);

#endif
