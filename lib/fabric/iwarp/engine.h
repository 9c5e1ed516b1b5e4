/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol engine of one iWARP connection. It does no I/O, reads no clock and has no source of
 * randomness of its own. Its owner moves bytes between it and a TCP stream, passes it the time, and
 * calls it when a deadline has passed.
 *
 *	iwarp_engine_rx_plan()   where to receive the next bytes
 *	iwarp_engine_rx_done()   the number of bytes received
 *	iwarp_engine_tx_plan()   what to send next
 *	iwarp_engine_tx_done()   the number of bytes sent
 *	iwarp_engine_deadline()  when to call at the latest
 *	iwarp_engine_expire()    the deadline has passed
 *	iwarp_engine_action()    what to do with the TCP connection
 *
 * Receiving: the rest of a long payload, and the payloads predicted after it, are received directly
 * into registered memory (rx_iov.c). All other bytes pass through the owner's staging memory;
 * after iwarp_engine_rx_done() the engine has consumed all of it. Between a plan and its rx_done no
 * other engine of the same environment may make a plan.
 *
 * Sending: headers, padding and CRC come from the engine's own small arrays; payload is only
 * referenced.
 *
 * The engine calls the owner's fabric_ep_events, except closed(), only from rx_done, tx_plan,
 * tx_done and expire. Inside them every function here may be called except _free, rx_*, tx_* and
 * expire.
 */
#ifndef FABRIC_IWARP_ENGINE_H
#define FABRIC_IWARP_ENGINE_H

#include <sys/uio.h>

#include "base/state_machine.h"
#include "fabric/fabric.h"
#include "fabric/iwarp/iwarp_config.h"
#include "fabric/iwarp/random.h"
#include "fabric/iwarp/rx_scatter.h"

#define IWARP_MAX_IRD          128u /* also Linux siw's limit */
#define IWARP_MAX_KEYS         65536u
#define IWARP_RX_MAX_IOV       RX_SCATTER_MAX_IOV
#define IWARP_RX_STAGING_BYTES (256u * 1024u) /* size of the staging memory for a plan */
#define IWARP_MIN_FPDU_BYTES   128u
#define IWARP_MAX_FPDU_BYTES   65536u

#define IWARP_SETUP_TIMEOUT_US (10u * 1000000u)
/* Time limit after a keepalive was sent: for the answer, or any other byte of the peer. */
#define IWARP_KEEPALIVE_TIMEOUT_US (15u * 1000000u)
/* Limit for sending posted work and receiving the peer's FIN … */
#define IWARP_CLOSE_TIMEOUT_US (2u * 1000000u)
/* … which starts again if the peer has acknowledged this much in that time … */
#define IWARP_CLOSE_STEP_BYTES 16384u
/* … up to this total, because a stopping daemon waits for it. */
#define IWARP_CLOSE_MAX_US (30u * 1000000u)

/* The states of a connection, the event that each waits for, and their successors. */
#define ENGINE_STATES(X)                                                                           \
	X(ENGINE_NEW, "new", "the owner to connect, or to await a request",                        \
	  TO(ENGINE_AWAIT_REPLY) | TO(ENGINE_AWAIT_REQUEST) | TO(ENGINE_DROPPED))                  \
	X(ENGINE_AWAIT_REPLY, "awaiting the MPA reply", "the reply, or the deadline",              \
	  TO(ENGINE_OPEN) | TO(ENGINE_LAST_FRAME) | TO(ENGINE_DROPPED))                            \
	X(ENGINE_AWAIT_REQUEST, "awaiting an MPA request", "a request, or the deadline",           \
	  TO(ENGINE_REQUESTED) | TO(ENGINE_LAST_FRAME) | TO(ENGINE_DROPPED))                       \
	X(ENGINE_REQUESTED, "requested", "the owner to accept or reject",                          \
	  TO(ENGINE_REPLYING) | TO(ENGINE_LAST_FRAME) | TO(ENGINE_DROPPED))                        \
	X(ENGINE_REPLYING, "replying", "the MPA reply to be sent",                                 \
	  TO(ENGINE_OPEN) | TO(ENGINE_DROPPED))                                                    \
	X(ENGINE_OPEN, "open", "either end to close, or an error",                                 \
	  TO(ENGINE_CLOSING) | TO(ENGINE_LAST_FRAME) | TO(ENGINE_DROPPED))                         \
	X(ENGINE_CLOSING, "closing", "posted work to be sent, or the deadline",                    \
	  TO(ENGINE_LAST_FRAME) | TO(ENGINE_FIN_WAIT) | TO(ENGINE_DROPPED))                        \
	X(ENGINE_LAST_FRAME, "last frame",                                                         \
	  "a last frame (reject, Terminate) to be sent, or the deadline",                          \
	  TO(ENGINE_FIN_WAIT) | TO(ENGINE_DROPPED))                                                \
	X(ENGINE_FIN_WAIT, "fin wait", "the peer's FIN, or the deadline", TO(ENGINE_DROPPED))      \
	X(ENGINE_DROPPED, "dropped", "nothing", 0)
STATE_ENUM(engine_state, ENGINE_STATES);
extern const struct state_table iwarp_engine_states;

struct iwarp_engine;
struct iwarp_tx_batch;

/* Shared by the engines of one worker. */
struct iwarp_env {
	struct buf_pool *pool;
	struct iwarp_counters *counters;
	struct iwarp_random random;
	struct rx_scatter scatter;    /* in use from a plan to its rx_done */
	struct iwarp_tx_batch *spare; /* the batch freed last; iwarp_env_fini() frees it */
};

enum iwarp_action {
	IWARP_CONTINUE, /* read, and write what the engine plans */
	IWARP_FIN,      /* all is written: shut down the sending side, read until the peer's FIN */
	IWARP_DROP,     /* close the socket now */
};

/** iwarp_env_fini - Frees the environment's memory; all its engines must have been freed. */
void iwarp_env_fini(struct iwarp_env *env);

/**
 * iwarp_engine_new - Creates the engine of a new connection.
 * @env:    shared; must outlive the engine
 * @config: copied
 * @events: callbacks, called with @arg
 *
 * Returns NULL without memory.
 */
struct iwarp_engine *iwarp_engine_new(struct iwarp_env *env, const struct iwarp_config *config,
				      const struct fabric_ep_events *events, void *arg);
/** iwarp_engine_free - Frees the engine, after iwarp_engine_flush(); accepts NULL. */
void iwarp_engine_free(struct iwarp_engine *engine);

/**
 * iwarp_engine_connect - Starts as initiator: the request is sent first, after @params->preface.
 *
 * The set-up time starts. Returns 0 or -ENOMEM.
 */
int iwarp_engine_connect(struct iwarp_engine *engine, const struct fabric_ep_params *params,
			 uint64_t now_us) MUST_CHECK;
/** iwarp_engine_await_request - Starts as responder: awaits a request. The set-up time starts. */
void iwarp_engine_await_request(struct iwarp_engine *engine, uint64_t now_us);
/**
 * iwarp_engine_accept - Accepts after requested(). Returns 0; -ENOTCONN if the engine has ended.
 */
int iwarp_engine_accept(struct iwarp_engine *engine, const struct fabric_ep_params *params,
			uint64_t now_us) MUST_CHECK;
/** iwarp_engine_reject - Rejects after requested(), with at most FABRIC_MAX_REJECT_DATA bytes. */
void iwarp_engine_reject(struct iwarp_engine *engine, const void *private_data, size_t len_bytes,
			 uint64_t now_us);

/**
 * iwarp_engine_counters_set - Replaces the environment's counters, before any byte is exchanged.
 */
void iwarp_engine_counters_set(struct iwarp_engine *engine, struct iwarp_counters *counters);

/** iwarp_engine_mss - Sets TCP's MSS, which determines the length of FPDUs and where they end. */
void iwarp_engine_mss(struct iwarp_engine *engine, unsigned mss_bytes);

/** iwarp_engine_recv_post - Implements fabric_recv_post(). */
void iwarp_engine_recv_post(struct iwarp_engine *engine, unsigned count, uint32_t size_bytes);
/** iwarp_engine_recv_resize - Implements fabric_recv_resize(). */
unsigned iwarp_engine_recv_resize(struct iwarp_engine *engine, uint32_t size_bytes);
/** iwarp_engine_post - Implements fabric_post(). */
int iwarp_engine_post(struct iwarp_engine *engine, struct fabric_wr *wr) MUST_CHECK;
/** iwarp_engine_key_bind - Implements fabric_key_bind(); the caller sets the key's ep. */
int iwarp_engine_key_bind(struct iwarp_engine *engine, struct fabric_key *key) MUST_CHECK;
/**
 * iwarp_engine_reads_wait - Returns true if a Read of the peer waits to be answered: for the
 * socket, or for data.
 */
bool iwarp_engine_reads_wait(const struct iwarp_engine *engine);
/** iwarp_engine_key_read_waits - Implements fabric_key_read_waits(). */
bool iwarp_engine_key_read_waits(const struct iwarp_engine *engine, const struct fabric_key *key);
/** iwarp_engine_key_unbind - Implements fabric_key_unbind(). */
bool iwarp_engine_key_unbind(struct iwarp_engine *engine, struct fabric_key *key) MUST_CHECK;
/** iwarp_engine_depths - Stores the negotiated IRD and ORD. */
void iwarp_engine_depths(const struct iwarp_engine *engine, unsigned *ird, unsigned *ord);

/** iwarp_engine_describe - Writes what MPA negotiated as text for a log. */
void iwarp_engine_describe(const struct iwarp_engine *engine, char text[FABRIC_TEXT_BYTES]);

/**
 * iwarp_engine_keepalive - Implements fabric_ep_keepalive() by a zero-length RDMA Read.
 *
 * Only a responder may send it, and only to a peer that accepts Reads: knfsd as a server accepts
 * none and drops the connection. None is sent while Reads are outstanding, because the peer would
 * answer it after these; TCP detects a dead peer then.
 */
int iwarp_engine_keepalive(struct iwarp_engine *engine) MUST_CHECK;
/**
 * iwarp_engine_unacked - Sets the number of sent bytes that the peer has not acknowledged. Call it
 * before iwarp_engine_close() and iwarp_engine_expire().
 */
void iwarp_engine_unacked(struct iwarp_engine *engine, size_t len_bytes);
/**
 * iwarp_engine_close - Closes in order: posted work is sent first.
 *
 * The time limit is IWARP_CLOSE_TIMEOUT_US. It starts again each time that the peer has
 * acknowledged IWARP_CLOSE_STEP_BYTES within it. The total is at most the time that the unsent data
 * takes at that rate, and at most IWARP_CLOSE_MAX_US.
 */
void iwarp_engine_close(struct iwarp_engine *engine, uint64_t now_us);
/** iwarp_engine_abort - Ends the engine because TCP failed: no more can be sent or received. */
void iwarp_engine_abort(struct iwarp_engine *engine, enum fabric_close why, const char *detail);
/**
 * iwarp_engine_lost - Like iwarp_engine_abort(), and notes if a peer that accepted TCP never sent
 * its MPA reply.
 */
void iwarp_engine_lost(struct iwarp_engine *engine, enum fabric_close why, const char *detail);
/** iwarp_engine_silence - Returns fabric_ep_info.silence. */
const char *iwarp_engine_silence(const struct iwarp_engine *engine);

/**
 * iwarp_engine_rx_plan - Plans where to receive the next bytes.
 * @staging: IWARP_RX_STAGING_BYTES of scratch memory
 * @iov:     filled with 1 to IWARP_RX_MAX_IOV pieces
 *
 * Returns the number of pieces. The plan is valid until rx_done; no other function of the engine
 * may be called in between.
 */
unsigned iwarp_engine_rx_plan(struct iwarp_engine *engine, uint8_t *staging,
			      struct iovec iov[IWARP_RX_MAX_IOV]);
/** iwarp_engine_rx_done - Processes @len_bytes that were received into the plan, from its start. */
void iwarp_engine_rx_done(struct iwarp_engine *engine, size_t len_bytes, uint64_t now_us);
/** iwarp_engine_rx_eof - Processes the peer's FIN. */
void iwarp_engine_rx_eof(struct iwarp_engine *engine);

/**
 * iwarp_engine_tx_plan - Plans what to send next.
 * @iov: set to pieces that stay valid until tx_done or abort
 *
 * Returns the number of pieces; 0 if there is nothing to send.
 */
unsigned iwarp_engine_tx_plan(struct iwarp_engine *engine, const struct iovec **iov);
/** iwarp_engine_tx_done - Processes @len_bytes of the plan as sent; completes work requests. */
void iwarp_engine_tx_done(struct iwarp_engine *engine, size_t len_bytes, uint64_t now_us);

/** iwarp_engine_deadline - Returns when to call iwarp_engine_expire(); UINT64_MAX: never. */
uint64_t iwarp_engine_deadline(const struct iwarp_engine *engine);
/** iwarp_engine_expire - Acts on every deadline that has passed. */
void iwarp_engine_expire(struct iwarp_engine *engine, uint64_t now_us);

/** iwarp_engine_action - Returns what the owner must do with the TCP connection now. */
enum iwarp_action iwarp_engine_action(const struct iwarp_engine *engine);
/**
 * iwarp_engine_close_reason - Returns the close reason, after IWARP_FIN or IWARP_DROP; the engine
 * owns @detail.
 */
enum fabric_close iwarp_engine_close_reason(const struct iwarp_engine *engine, const char **detail);
/** iwarp_engine_peer_speaks_rpc - Returns whether the reason is RPC over TCP instead of an MPA request. */
bool iwarp_engine_peer_speaks_rpc(const struct iwarp_engine *engine);
/** iwarp_engine_flush - Flushes all posted work, and finishes deferred unbinds. */
void iwarp_engine_flush(struct iwarp_engine *engine);

#endif
