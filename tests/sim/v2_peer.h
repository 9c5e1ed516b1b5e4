/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixture: legs that speak version two, connected to each other or each to a hand-made version-two
 * peer, and functions for the peer's actions.
 */
#ifndef TESTS_SIM_V2_PEER_H
#define TESTS_SIM_V2_PEER_H

#include "rpcrdma/proto.h"
#include "rpcrdma/rdma_leg_impl.h"
#include "rpcrdma/v2/version_cache.h"
#include "rpcrdma/v2/xchar_codec.h"
#include "tests/sim/raw.h"

/* What both ends begin with, and may come to. */
#define V2_FIRST_BYTES 4096u
#define V2_MAX_BYTES   65536u

extern struct rig *rig;
extern struct raw *raw;                /* NULL: both ends are legs */
extern struct version_cache v2_memory; /* of the client leg */

extern uint32_t v2_credit; /* in the RDMA_OPTIONALs that the hand-made peer sends: 32 at first */

/* The last message that came to the hand-made peer, with what follows its header. */
extern struct rpcrdma_header v2_hdr;
extern const uint8_t *v2_body;
extern uint32_t v2_len;
/* It, if it was an RDMA_OPTIONAL that decodes. */
extern struct xchar_operation v2_operation;

/** v2_begin - two legs to be that speak version two, nothing connected yet; @faults may be NULL. */
void v2_begin(const struct sim_faults *faults);
/** v2_end - end it all; nothing may have leaked. */
void v2_end(void);
/** v2_open - connect the two legs; both are open in version two then. */
void v2_open(void);
/** v2_probe - connect the client leg to a hand-made server, which has its INIT next. */
void v2_probe(void);
/** v2_open_client - the same, and the server answers with its INIT: the leg is open. */
void v2_open_client(void);
/** v2_open_server - the server leg with a hand-made client, which has sent nothing yet. */
void v2_open_server(void);
/** v2_settle - that client sends its INIT, has the leg's, and a Call is answered: version two is settled. */
void v2_settle(void);
/** v2_run - let the world go on for @ms. */
void v2_run(uint32_t ms);

/** v2_leg - the leg of a side, which must be there. */
struct rdma_leg *v2_leg(struct rig_side *side);
/** v2_raise - a side wants its own receives to be of @bytes. */
void v2_raise(struct rig_side *side, uint32_t bytes);
/** v2_ask - a side wants its peer's receives to be of @bytes. */
void v2_ask(struct rig_side *side, uint32_t bytes);
/** v2_size - the receive size that a side has told. */
uint32_t v2_size(struct rig_side *side);
/** v2_no_sim_error - no Send has been too long for its receive, nor found none, and no key was misused. */
void v2_no_sim_error(void);

/* What the hand-made peer sends; each runs the world for a moment. */

/** v2_post_option, v2_send_option - an RDMA_OPTIONAL; posted: the world is not run. */
void v2_post_option(uint32_t xid, uint32_t opttype, const void *info, uint32_t info_bytes);
void v2_send_option(uint32_t xid, uint32_t opttype, const void *info, uint32_t info_bytes);
/** v2_send_init - of all three characteristics, none of which is constant. */
void v2_send_init(uint32_t xid, uint32_t recv_bytes, bool invalidate);
/** v2_send_req - for a receive size. */
void v2_send_req(uint32_t xid, uint32_t recv_bytes);
/** v2_send_resp - to the REQ with @xid of one value: its element is in the subsets whose bits are set in @sets. */
void v2_send_resp(uint32_t xid, unsigned sets);
/** v2_send_upd - of one value. */
void v2_send_upd(uint32_t id, uint32_t value, bool pendclr);
/** v2_meet - a leg that is open before the hand-made peer: it has connected, or with @role 0 was connected to. Its side. */
struct rig_side *v2_meet(int role);

/** v2_send_call - a Call inline in version @vers that asks for a Reply of @reply_bytes. */
void v2_send_call(uint32_t vers, uint32_t xid, uint32_t call_bytes, uint32_t reply_bytes);
/** v2_send_reply - a Reply inline. */
void v2_send_reply(uint32_t vers, uint32_t xid, uint32_t reply_bytes, uint32_t credit);
/** v2_send_error - an RDMA_ERROR in version two. */
void v2_send_error(uint32_t xid, enum rpcrdma_err err);
/** v2_send_err_vers - ERR_VERS with that range. */
void v2_send_err_vers(uint32_t xid, uint32_t low, uint32_t high);

/** v2_next - the next Send that came to it is decoded. */
void v2_next(void);
/** v2_next_option - it is that operation. */
void v2_next_option(enum xchar_op op);
/** v2_next_call - it is a Call in version @vers. */
void v2_next_call(uint32_t vers);
/** v2_next_reply - it is a whole Reply inline to @xid in version @vers. */
void v2_next_reply(uint32_t vers, uint32_t xid, uint32_t reply_bytes);
/** v2_silence - nothing has come that was not looked at. */
void v2_silence(void);
/** v2_value - what the last operation says of a characteristic; it must. */
uint32_t v2_value(enum xchar_id id);
/** v2_verdict - the subset of the last operation, a RESP, in which alone element @n is. */
enum xchar_set v2_verdict(uint32_t n);

#endif
