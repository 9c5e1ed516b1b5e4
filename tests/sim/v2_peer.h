/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixture: legs that speak version two, connected to each other or each to a hand-made version-two
 * peer, and functions for the peer's actions.
 */
#ifndef TESTS_SIM_V2_PEER_H
#define TESTS_SIM_V2_PEER_H

#include "rpcrdma/proto.h"
#include "rpcrdma/rdma_leg_priv.h"
#include "rpcrdma/v2/version_cache.h"
#include "rpcrdma/v2/xchar_codec.h"
#include "tests/sim/raw.h"

/* The sizes that both ends begin with and can reach. */
#define V2_FIRST_BYTES 4096u
#define V2_MAX_BYTES   65536u

extern struct rig *rig;
extern struct raw *raw;                /* NULL: both ends are legs */
extern struct version_cache v2_memory; /* of the client leg */

extern uint32_t v2_credit; /* in the RDMA_OPTIONALs that the hand-made peer sends: 32 at first */

/* The last message that reached the hand-made peer, with the bytes after its header. */
extern struct rpcrdma_header v2_hdr;
extern const uint8_t *v2_body;
extern uint32_t v2_len;
/* The same, if it was an RDMA_OPTIONAL that decodes. */
extern struct xchar_operation v2_operation;

/**
 * v2_begin - Prepares two legs that will speak version two, without connections; @faults can be
 * NULL.
 */
void v2_begin(const struct sim_faults *faults);
/** v2_end - Ends everything and checks that nothing leaked. */
void v2_end(void);
/** v2_open - Connects the two legs; both are open in version two then. */
void v2_open(void);
/**
 * v2_probe - Connects the client leg to a hand-made server, whose next message is the leg's INIT.
 */
void v2_probe(void);
/** v2_open_client - The same, and the server answers with its INIT: the leg is open. */
void v2_open_client(void);
/** v2_open_server - Opens the server leg with a hand-made client that has sent nothing yet. */
void v2_open_server(void);
/**
 * v2_settle - That client sends its INIT, receives the leg's, and a Call is answered: version two
 * is settled.
 */
void v2_settle(void);
/** v2_run - Runs the loop for @ms. */
void v2_run(uint32_t ms);

/** v2_leg - Returns the leg of a side, which must exist. */
struct rdma_leg *v2_leg(struct rig_side *side);
/** v2_raise - Makes a side want its own Receives to have @bytes. */
void v2_raise(struct rig_side *side, uint32_t bytes);
/** v2_ask - Makes a side want its peer's Receives to have @bytes. */
void v2_ask(struct rig_side *side, uint32_t bytes);
/** v2_size - Returns the Receive size that a side has advertised. */
uint32_t v2_size(struct rig_side *side);
/**
 * v2_no_sim_error - Checks that no Send was too long for its Receive or found none, and no key was
 * misused.
 */
void v2_no_sim_error(void);

/* Actions of the hand-made peer; each runs the loop for a moment. */

/** v2_post_option, v2_send_option - Send an RDMA_OPTIONAL; posted: the loop does not run. */
void v2_post_option(uint32_t xid, uint32_t opttype, const void *info, uint32_t info_bytes);
void v2_send_option(uint32_t xid, uint32_t opttype, const void *info, uint32_t info_bytes);
/** v2_send_init - Sends all three characteristics, none of which is constant. */
void v2_send_init(uint32_t xid, uint32_t recv_bytes, bool invalidate);
/** v2_send_req - Requests a Receive size. */
void v2_send_req(uint32_t xid, uint32_t recv_bytes);
/**
 * v2_send_resp - Answers the REQ with @xid of one value: its element is in the subsets whose bits
 * are set in @sets.
 */
void v2_send_resp(uint32_t xid, unsigned sets);
/** v2_send_upd - Sends an UPD of one value. */
void v2_send_upd(uint32_t id, uint32_t value, bool pendclr);
/**
 * v2_meet - Opens a leg with the hand-made peer: the leg connected, or with @role 0 accepted.
 * Returns its side.
 */
struct rig_side *v2_meet(int role);

/** v2_send_call - Sends a Call inline in version @vers that asks for a Reply of @reply_bytes. */
void v2_send_call(uint32_t vers, uint32_t xid, uint32_t call_bytes, uint32_t reply_bytes);
/** v2_send_reply - Sends a Reply inline. */
void v2_send_reply(uint32_t vers, uint32_t xid, uint32_t reply_bytes, uint32_t credit);
/** v2_send_error - Sends an RDMA_ERROR in version two. */
void v2_send_error(uint32_t xid, enum rpcrdma_err err);
/** v2_send_err_vers - Sends ERR_VERS with that range. */
void v2_send_err_vers(uint32_t xid, uint32_t low, uint32_t high);

/** v2_next - Decodes the next Send that reached the peer. */
void v2_next(void);
/** v2_next_option - Checks that it is that operation. */
void v2_next_option(enum xchar_op op);
/** v2_next_call - Checks that it is a Call in version @vers. */
void v2_next_call(uint32_t vers);
/** v2_next_reply - Checks that it is a whole Reply inline to @xid in version @vers. */
void v2_next_reply(uint32_t vers, uint32_t xid, uint32_t reply_bytes);
/** v2_silence - Checks that no unread Send has arrived. */
void v2_silence(void);
/** v2_value - Returns the value of a characteristic in the last operation, which must have it. */
uint32_t v2_value(enum xchar_id id);
/** v2_verdict - Returns the only subset of the last operation, a RESP, that has element @n. */
enum xchar_set v2_verdict(uint32_t n);

#endif
