/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP leg: record-marked ONC RPC (RFC 5531 section 11) over one stream, both roles at once.
 *
 * An accepted leg watches for the first byte, says requested(), and reads nothing before leg_accept(). A
 * connecting leg tries one address and then says opened() or closes.
 *
 * Reading: memory for a Call and its largest Reply is claimed in one step, when the Call is here or enough
 * of it; a claim that must wait pauses the connection (call_admission.h has the exception). Replies come into memory
 * that their Calls have claimed, and a connecting leg never waits for the budget, since the Replies that give
 * memory back may stand behind the Call that waits: it takes a few reverse Calls of small size outside the
 * budget and answers the others SYSTEM_ERR. So it does with Calls and Replies that are too long. A Call of RPCSEC_GSS is
 * denied with AUTH_FAILED instead (rpc_encode_failure()).
 *
 * Answered here and never passed on: another RPC version (RPC_MISMATCH), a credential or verifier
 * that cannot be (AUTH_ERROR, AUTH_BADCRED), and AUTH_TLS (AUTH_ERROR, AUTH_REJECTEDCRED).
 *
 * A leg, its worker and its loop belong to one thread.
 */
#ifndef RPCTCP_TCP_LEG_H
#define RPCTCP_TCP_LEG_H

#include "base/compiler.h"
#include "leg/leg.h"
#include "rpctcp/tcp_config.h"
#include "stream/stream.h"

/** tcp_worker_init - take the staging memory; @streams outlives the legs. Returns 0 or -ENOMEM. */
int tcp_worker_init(struct tcp_worker *worker, struct stream_net *streams) MUST_CHECK;
/** tcp_worker_fini - give it back; no leg may be left. */
void tcp_worker_fini(struct tcp_worker *worker);

/* The addresses of a connection that was accepted. */
struct tcp_ends {
	struct sockaddr_storage local, peer;
};

/**
 * tcp_leg_accept - make a leg from an accepted connection
 * @config: copied, but for what it points to
 * @stream: taken, also on failure
 * @ends:   NULL: the stream is asked
 *
 * requested() follows at the peer's first byte, or closing(). Returns 0 or -ENOMEM.
 */
int tcp_leg_accept(const struct tcp_leg_config *config, struct stream *stream,
		   const struct tcp_ends *ends, struct leg **out) MUST_CHECK;

/** tcp_leg_stream - the stream of a leg that has said requested() and was not accepted; NULL if it ends already. */
struct stream *tcp_leg_stream(struct leg *leg);
/**
 * tcp_leg_part - take that stream out of the leg, which is freed: its peer does not speak RPC over TCP
 * @ends: set
 *
 * Not from inside an event of the leg. Nothing is called back any more. Returns the stream.
 */
struct stream *tcp_leg_part(struct leg *leg, struct tcp_ends *ends) MUST_CHECK;

/**
 * tcp_leg_connect - make a leg that connects to one address
 * @config: copied, but for what it points to
 * @target: copied
 *
 * config->leg.preface goes out as soon as it is up. opened() or closing() follows, within config->leg.connect_timeout_us, also where it is known at once
 * that the address cannot be reached. The local address, by which a client's port is remembered, stays in
 * leg_info() until leg_free(). Returns 0 or -ENOMEM.
 */
int tcp_leg_connect(const struct tcp_leg_config *config, const struct stream_target *target,
		    struct leg **out) MUST_CHECK;

/**
 * tcp_leg_beside_bytes - what a leg can come to hold that no claim covers
 * @accepted: its peer is a client
 *
 * What was read and not taken, the start of a record that is not whole, answers of our own, and for each Call of
 * the peer its small objects; of a client the Calls that are parked, of a server its short Calls and Replies.
 */
size_t tcp_leg_beside_bytes(bool accepted);

#endif
