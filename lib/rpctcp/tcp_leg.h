/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP leg: record-marked ONC RPC (RFC 5531 section 11) over one stream, both roles at once.
 *
 * An accepted leg watches for the first byte, says requested(), and reads nothing before leg_accept(). A
 * connecting leg tries one address and then says opened() or closes.
 *
 * Reading: memory for a Call and its largest Reply is claimed in one step before the Call is taken
 * in; a claim that must wait pauses the connection. Replies come into memory that their Calls have
 * claimed, and a connecting leg never waits for the budget, since the Replies that give memory back
 * may stand behind the Call that waits: it takes a few reverse Calls of small size outside the budget
 * and answers the others SYSTEM_ERR.
 *
 * Answered here and never passed on: another RPC version (RPC_MISMATCH), a credential or verifier
 * that cannot be (AUTH_ERROR, AUTH_BADCRED), and AUTH_TLS (AUTH_ERROR, AUTH_REJECTEDCRED).
 *
 * A leg, its worker and its loop belong to one thread.
 */
#ifndef RPCTCP_TCP_LEG_H
#define RPCTCP_TCP_LEG_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "base/counter.h"
#include "leg/leg.h"
#include "rpc/call_verdict.h"
#include "stream/stream.h"

#define TCP_LEG_COUNTERS(X)                                                                        \
	X(connections_accepted, "connections taken over from a listener")                          \
	X(connections_opened, "connections made to servers")                                       \
	X(connect_failures, "addresses that could not be reached")                                 \
	X(source_port_retries, "source ports that were taken when they were wanted")               \
	X(bytes_received, "bytes received")                                                        \
	X(bytes_sent, "bytes sent")                                                                \
	X(records_received, "records received whole")                                              \
	X(records_sent, "records sent whole")                                                      \
	X(calls_received, "Calls received and passed on")                                          \
	X(calls_sent, "Calls sent whole")                                                          \
	X(replies_received, "Replies received and passed on")                                      \
	X(replies_sent, "Replies sent whole")                                                      \
	X(payload_bytes_copied, "bytes of messages copied from staging")                           \
	X(budget_waits, "Calls that had to wait for memory")                                       \
	X(stash_bytes, "bytes set aside while their connection waited")                            \
	X(retransmissions_swallowed, "Calls in flight that were sent again")                       \
	CALL_VERDICT_COUNTERS(X)                                                                   \
	X(system_errors_sent, "Calls answered SYSTEM_ERR")                                         \
	X(reverse_refused, "reverse Calls past their limits, answered SYSTEM_ERR")                 \
	X(unmatched_replies, "Replies without a Call, thrown away")                                \
	X(replies_too_big, "Replies larger than their Call allows, thrown away")                   \
	X(stalls, "connections closed since a record or a Reply made no progress")
COUNTER_STRUCT(tcp_leg_counters, TCP_LEG_COUNTERS);

#define TCP_STAGING_BYTES (256u * 1024u)

/* What the TCP legs of one worker share. */
struct tcp_worker {
	uint8_t *staging;           /* good within one callback only */
	struct stream_net *streams; /* makes those of connecting legs */
	struct tcp_leg_counters counters;
};

/** tcp_worker_init - take the staging memory; @streams outlives the legs. Returns 0 or -ENOMEM. */
int tcp_worker_init(struct tcp_worker *worker, struct stream_net *streams) MUST_CHECK;
/** tcp_worker_fini - give it back; no leg may be left. */
void tcp_worker_fini(struct tcp_worker *worker);

struct tcp_leg_config {
	struct leg_config leg;
	struct tcp_worker *worker; /* outlives the leg */
};

/**
 * tcp_leg_accept - make a leg from an accepted connection
 * @config: copied, but for what it points to
 * @stream: taken, also on failure
 *
 * requested() follows at the peer's first byte, or closing(). Returns 0 or -ENOMEM.
 */
int tcp_leg_accept(const struct tcp_leg_config *config, struct stream *stream,
		   struct leg **out) MUST_CHECK;

/**
 * tcp_leg_connect - make a leg that connects to one address
 * @config: copied, but for what it points to
 * @target: copied
 *
 * opened() or closing() follows, within config->leg.connect_timeout_us, also where it is known at once
 * that the address cannot be reached. The local address, by which a replay port is remembered, stays in
 * leg_info() until leg_free(). Returns 0 or -ENOMEM.
 */
int tcp_leg_connect(const struct tcp_leg_config *config, const struct stream_target *target,
		    struct leg **out) MUST_CHECK;

#endif
