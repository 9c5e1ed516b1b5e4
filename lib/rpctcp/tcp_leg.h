/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP leg: record-marked ONC RPC (RFC 5531 section 11) over one stream, both roles together.
 *
 * An accepted leg waits for the first byte, calls requested(), and reads nothing before
 * leg_accept(). A connecting leg tries one address, and then calls opened() or closes.
 *
 * Reading: memory for a Call and its largest Reply is claimed in one step, when enough of the Call
 * has arrived. A claim that must wait pauses the connection, with one exception (call_admission.h).
 * Replies use memory that their Calls have claimed. A connecting leg never waits for the budget:
 * the Replies that release memory may be queued after the Call that waits. It accepts a few short
 * reverse Calls outside the budget, and answers others SYSTEM_ERR. Calls that are too long, and
 * Calls with a Reply that is too long, are answered SYSTEM_ERR too. An RPCSEC_GSS Call is denied
 * with AUTH_FAILED instead (rpc_encode_failure()).
 *
 * Answered locally and never forwarded: another RPC version (RPC_MISMATCH), an invalid credential
 * or verifier (AUTH_ERROR, AUTH_BADCRED), and AUTH_TLS (AUTH_ERROR, AUTH_REJECTEDCRED, where TLS is
 * off). With TLS see tcp_tls.h.
 *
 * A leg, its worker and its loop belong to one thread.
 */
#ifndef RPCTCP_TCP_LEG_H
#define RPCTCP_TCP_LEG_H

#include "base/compiler.h"
#include "leg/leg.h"
#include "rpctcp/tcp_config.h"
#include "stream/stream.h"

/**
 * tcp_worker_init - Allocates the staging memory. @streams outlives the legs. Returns 0 or -ENOMEM.
 */
int tcp_worker_init(struct tcp_worker *worker, struct stream_net *streams) MUST_CHECK;
/** tcp_worker_fini - Frees the memory of the worker. No leg may exist. */
void tcp_worker_fini(struct tcp_worker *worker);

/* The addresses of an accepted connection. */
struct tcp_addrs {
	struct sockaddr_storage local, peer;
};

/**
 * tcp_leg_accept - Creates a leg from an accepted connection
 * @config: copied, except what it points to
 * @stream: owned by the leg; freed on failure
 * @ends:   NULL: ask the stream
 *
 * requested() follows at the peer's first byte, or closing(). Returns 0 or -ENOMEM.
 */
int tcp_leg_accept(const struct tcp_leg_config *config, struct stream *stream,
		   const struct tcp_addrs *ends, struct leg **out) MUST_CHECK;

/**
 * tcp_leg_stream - Returns the stream of a leg between requested() and leg_accept(); NULL if it is
 * closing.
 */
struct stream *tcp_leg_stream(struct leg *leg);
/**
 * tcp_leg_detach - Detaches that stream and frees the leg: its peer does not speak RPC over TCP
 * @ends: set
 *
 * Do not call it from an event of the leg. No callback follows. Returns the stream.
 */
struct stream *tcp_leg_detach(struct leg *leg, struct tcp_addrs *ends) MUST_CHECK;

/**
 * tcp_leg_connect - Creates a leg that connects to one address
 * @config: copied, except what it points to
 * @target: copied
 *
 * config->leg.preface is sent as soon as it is connected. With TLS the handshake follows, and
 * opened() is called after it. opened() or closing() follows within
 * config->leg.connect_timeout_us, even if it is known immediately that the address cannot be
 * reached. The local address, whose port is recorded for the client, stays in leg_info() until
 * leg_free(). Returns 0 or -ENOMEM.
 */
int tcp_leg_connect(const struct tcp_leg_config *config, const struct stream_target *target,
		    struct leg **out) MUST_CHECK;

/**
 * tcp_leg_overhead_bytes - Returns how much memory a leg can hold that no claim covers
 * @accepted: its peer is a client
 *
 * That is unconsumed input, the start of an incomplete record, locally generated Replies, and the
 * small objects of each Call of the peer. A client can also have parked Calls, a server short
 * reverse Calls with their Replies.
 */
size_t tcp_leg_overhead_bytes(bool accepted);

#endif
