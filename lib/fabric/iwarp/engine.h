/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol engine of one iWARP connection. It does no I/O, reads no clock and draws no random numbers
 * of its own: its owner moves bytes between it and a TCP stream, tells it the time and calls it when a
 * deadline has passed.
 *
 *	iwarp_engine_rx_plan()   where the next received bytes go
 *	iwarp_engine_rx_done()   so many came
 *	iwarp_engine_tx_plan()   what to send next
 *	iwarp_engine_tx_done()   so many went
 *	iwarp_engine_deadline()  when to call at the latest
 *	iwarp_engine_expire()    it is that late
 *	iwarp_engine_wish()      what to do with the TCP connection
 *
 * Receiving: a payload of which much is still to come is received where it belongs, in registered memory, and so are
 * those that are expected behind it (rx_plan.c); everything else passes through the owner's staging memory, of which the
 * engine keeps nothing: after iwarp_engine_rx_done() all of it has been consumed. From a plan to its rx_done no other
 * engine of the same environment may be asked for one.
 *
 * Sending: headers, padding and CRC come from the engine's own small arrays, payload is only pointed to.
 *
 * The engine calls the owner's fabric_ep_events, all but closed(), from rx_done, tx_plan, tx_done and expire
 * only; inside them every function here but _free, rx_*, tx_* and expire may be called.
 */
#ifndef FABRIC_IWARP_ENGINE_H
#define FABRIC_IWARP_ENGINE_H

#include <sys/uio.h>

#include "base/state.h"
#include "fabric/fabric.h"
#include "fabric/iwarp/iwarp_config.h"
#include "fabric/iwarp/random.h"
#include "fabric/iwarp/rx_image.h"

#define IWARP_MAX_IRD          128u /* Linux siw's limit too */
#define IWARP_MAX_KEYS         65536u
#define IWARP_RX_MAX_IOV       RX_IMAGE_MAX_IOV
#define IWARP_RX_STAGING_BYTES (256u * 1024u) /* the staging that a plan is made for */
#define IWARP_MIN_FPDU_BYTES   128u
#define IWARP_MAX_FPDU_BYTES   65536u

#define IWARP_SETUP_TIMEOUT_US (10u * 1000000u)
/* For the answer to a probe, or any other byte of the peer's, once the probe has been given to TCP. */
#define IWARP_PROBE_TIMEOUT_US (15u * 1000000u)
/* To send what was posted and see the peer's FIN. */
#define IWARP_CLOSE_TIMEOUT_US (2u * 1000000u)
/* What a peer takes of what is sent before the end in that time, for the end to wait for as long again. */
#define IWARP_CLOSE_STEP_BYTES 16384u
/* Whatever it takes: a daemon that stops waits for it. */
#define IWARP_CLOSE_MAX_US (30u * 1000000u)

/* What a connection waits for, and what may follow. */
#define ENGINE_STATES(X)                                                                           \
	X(ENGINE_NEW, "new", "iwarp_engine_connect() or _listen()",                                \
	  TO(ENGINE_AWAIT_REPLY) | TO(ENGINE_AWAIT_REQUEST) | TO(ENGINE_DROPPED))                  \
	X(ENGINE_AWAIT_REPLY, "awaiting the MPA reply", "the reply, or the deadline",              \
	  TO(ENGINE_OPEN) | TO(ENGINE_ENDING) | TO(ENGINE_DROPPED))                                \
	X(ENGINE_AWAIT_REQUEST, "awaiting an MPA request", "a request, or the deadline",           \
	  TO(ENGINE_REQUESTED) | TO(ENGINE_ENDING) | TO(ENGINE_DROPPED))                           \
	X(ENGINE_REQUESTED, "requested", "the owner to accept or reject",                          \
	  TO(ENGINE_REPLYING) | TO(ENGINE_ENDING) | TO(ENGINE_DROPPED))                            \
	X(ENGINE_REPLYING, "replying", "the MPA reply to be sent",                                 \
	  TO(ENGINE_OPEN) | TO(ENGINE_DROPPED))                                                    \
	X(ENGINE_OPEN, "open", "the owner to close, the peer to leave, or either to err",          \
	  TO(ENGINE_CLOSING) | TO(ENGINE_ENDING) | TO(ENGINE_DROPPED))                             \
	X(ENGINE_CLOSING, "closing", "what was posted to be sent, or the deadline",                \
	  TO(ENGINE_ENDING) | TO(ENGINE_ENDED) | TO(ENGINE_DROPPED))                               \
	X(ENGINE_ENDING, "ending", "a last frame (reject, Terminate) to be sent, or the deadline", \
	  TO(ENGINE_ENDED) | TO(ENGINE_DROPPED))                                                   \
	X(ENGINE_ENDED, "ended", "the peer's FIN, or the deadline", TO(ENGINE_DROPPED))            \
	X(ENGINE_DROPPED, "dropped", "nothing any more", 0)
STATE_ENUM(engine_state, ENGINE_STATES);
extern const struct state_table iwarp_engine_states;

struct iwarp_engine;
struct iwarp_tx_batch;

/* What the engines of one worker share. */
struct iwarp_env {
	struct pool *pool;
	struct iwarp_counters *counters;
	struct iwarp_random random;
	struct rx_image image;        /* from a plan to its rx_done */
	struct iwarp_tx_batch *spare; /* the last batch given back; iwarp_env_fini() frees it */
};

enum iwarp_wish {
	IWARP_GO_ON, /* read, and write what there is to write */
	IWARP_FIN,   /* all is written: shut down the sending side, read until the peer's FIN */
	IWARP_DROP,  /* close the socket now */
};

/** iwarp_env_fini - free what engines left in the environment; all of them must be gone. */
void iwarp_env_fini(struct iwarp_env *env);

/**
 * iwarp_engine_new - the engine of a new connection
 * @env:    shared; outlives the engine
 * @config: copied
 * @events: what to call, with @arg
 *
 * Returns NULL without memory.
 */
struct iwarp_engine *iwarp_engine_new(struct iwarp_env *env, const struct iwarp_config *config,
				      const struct fabric_ep_events *events, void *arg);
/** iwarp_engine_free - free it, after iwarp_engine_flush(); accepts NULL. */
void iwarp_engine_free(struct iwarp_engine *engine);

/**
 * iwarp_engine_connect - be the initiator: the request is the first thing to send, behind @params->preface
 *
 * Set-up time runs from here. Returns 0 or -ENOMEM.
 */
int iwarp_engine_connect(struct iwarp_engine *engine, const struct fabric_ep_params *params,
			 uint64_t now_us) MUST_CHECK;
/** iwarp_engine_listen - be the responder: await a request. Set-up time runs. */
void iwarp_engine_listen(struct iwarp_engine *engine, uint64_t now_us);
/** iwarp_engine_accept - answer requested(). Returns 0, or -ENOTCONN if it is gone. */
int iwarp_engine_accept(struct iwarp_engine *engine, const struct fabric_ep_params *params,
			uint64_t now_us) MUST_CHECK;
/** iwarp_engine_reject - refuse after requested(), with at most FABRIC_MAX_REJECT_DATA. */
void iwarp_engine_reject(struct iwarp_engine *engine, const void *private_data, size_t len_bytes,
			 uint64_t now_us);

/** iwarp_engine_count_in - count in others than those of its env; before it has any bytes. */
void iwarp_engine_count_in(struct iwarp_engine *engine, struct iwarp_counters *counters);

/** iwarp_engine_mss - the TCP connection's segment size, for the length of FPDUs and where they end. */
void iwarp_engine_mss(struct iwarp_engine *engine, unsigned mss_bytes);

/** iwarp_engine_recv_post - see fabric_recv_post(). */
void iwarp_engine_recv_post(struct iwarp_engine *engine, unsigned count, uint32_t size_bytes);
/** iwarp_engine_recv_resize - see fabric_recv_resize(). */
unsigned iwarp_engine_recv_resize(struct iwarp_engine *engine, uint32_t size_bytes);
/** iwarp_engine_post - see fabric_post(). */
int iwarp_engine_post(struct iwarp_engine *engine, struct fabric_wr *wr) MUST_CHECK;
/** iwarp_engine_key_bind - see fabric_key_bind(); the key's ep is the caller's. */
int iwarp_engine_key_bind(struct iwarp_engine *engine, struct fabric_key *key) MUST_CHECK;
/** iwarp_engine_reads_wait - whether a Read of the peer's waits to be answered: for the socket, or for bytes. */
bool iwarp_engine_reads_wait(const struct iwarp_engine *engine);
/** iwarp_engine_key_starves - see fabric_key_starves(). */
bool iwarp_engine_key_starves(const struct iwarp_engine *engine, const struct fabric_key *key);
/** iwarp_engine_key_unbind - see fabric_key_unbind(). */
bool iwarp_engine_key_unbind(struct iwarp_engine *engine, struct fabric_key *key) MUST_CHECK;
/** iwarp_engine_depths - the Reads that were negotiated, in and out. */
void iwarp_engine_depths(const struct iwarp_engine *engine, unsigned *ird, unsigned *ord);

/** iwarp_engine_describe - what MPA agreed on, in words for a log. */
void iwarp_engine_describe(const struct iwarp_engine *engine, char text[FABRIC_TEXT_BYTES]);

/**
 * iwarp_engine_probe - see fabric_ep_probe()
 *
 * A zero-length RDMA Read, which only a responder may send, and only to a peer that agreed to be read from:
 * knfsd, whom we connect to, takes none and drops the connection. While Reads are out none is sent: it would
 * be answered after them, which may take the peer any time, and TCP finds out too.
 */
int iwarp_engine_probe(struct iwarp_engine *engine) MUST_CHECK;
/** iwarp_engine_unacked - so much of what was sent the peer has not taken; due before a close and an expire. */
void iwarp_engine_unacked(struct iwarp_engine *engine, size_t len_bytes);
/**
 * iwarp_engine_close - end in good order: what was posted is sent first
 *
 * That takes IWARP_CLOSE_TIMEOUT_US, and as long again each time that the peer has taken IWARP_CLOSE_STEP_BYTES in
 * it, but no longer than what there is to send now takes at that rate, nor than IWARP_CLOSE_MAX_US.
 */
void iwarp_engine_close(struct iwarp_engine *engine, uint64_t now_us);
/** iwarp_engine_abort - the TCP connection failed: nothing more can be sent or received. */
void iwarp_engine_abort(struct iwarp_engine *engine, enum fabric_close why, const char *detail);
/** iwarp_engine_lost - the same, and what that says of a peer that accepts TCP and owes its MPA reply. */
void iwarp_engine_lost(struct iwarp_engine *engine, enum fabric_close why, const char *detail);
/** iwarp_engine_silence - see fabric_ep_info.silence. */
const char *iwarp_engine_silence(const struct iwarp_engine *engine);

/**
 * iwarp_engine_rx_plan - where the next received bytes go
 * @staging: IWARP_RX_STAGING_BYTES of scratch memory
 * @iov:     filled with at most IWARP_RX_MAX_IOV pieces, at least one
 *
 * Returns how many. The plan holds until rx_done; nothing else of the engine may be called in between.
 */
unsigned iwarp_engine_rx_plan(struct iwarp_engine *engine, uint8_t *staging,
			      struct iovec iov[IWARP_RX_MAX_IOV]);
/** iwarp_engine_rx_done - @len_bytes were received into the plan, from its start. */
void iwarp_engine_rx_done(struct iwarp_engine *engine, size_t len_bytes, uint64_t now_us);
/** iwarp_engine_rx_eof - the peer sent FIN. */
void iwarp_engine_rx_eof(struct iwarp_engine *engine);

/**
 * iwarp_engine_tx_plan - what to send next
 * @iov: set to pieces that stay good until tx_done or abort
 *
 * Returns how many pieces; 0 if there is nothing to send.
 */
unsigned iwarp_engine_tx_plan(struct iwarp_engine *engine, const struct iovec **iov);
/** iwarp_engine_tx_done - @len_bytes of the plan were given to TCP; completes work requests. */
void iwarp_engine_tx_done(struct iwarp_engine *engine, size_t len_bytes, uint64_t now_us);

/** iwarp_engine_deadline - when to call iwarp_engine_expire(); UINT64_MAX: never. */
uint64_t iwarp_engine_deadline(const struct iwarp_engine *engine);
/** iwarp_engine_expire - act upon every deadline that has passed. */
void iwarp_engine_expire(struct iwarp_engine *engine, uint64_t now_us);

/** iwarp_engine_wish - what the TCP connection should do now. */
enum iwarp_wish iwarp_engine_wish(const struct iwarp_engine *engine);
/** iwarp_engine_why - why it ended, once the wish is IWARP_FIN or IWARP_DROP; @detail lives as long as it. */
enum fabric_close iwarp_engine_why(const struct iwarp_engine *engine, const char **detail);
/** iwarp_engine_flush - complete all that is posted with FABRIC_FLUSHED, finish deferred unbinds. */
void iwarp_engine_flush(struct iwarp_engine *engine);

#endif
