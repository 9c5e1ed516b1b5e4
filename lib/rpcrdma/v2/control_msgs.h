/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control messages originated by the proxy: their XIDs, and the credits that they use
 * (draft-dnoveck-nfsv4-rpcrdma-xcharext-00; ).
 *
 * The end that connected uses a credit for each, because the peer can lack a spare Receive. The
 * credit is free again with the answer, or for a message without an answer with the next message of
 * the peer. Control messages never use the last credit. While one waits, one credit is reserved for
 * it, or queued Calls would take every credit first. The other end uses no credits, and has at most
 * one message without an answer outstanding. No credit is reserved for a message that waits for the
 * answer to another one: a peer that never answers must not block Calls.
 */
#ifndef RPCRDMA_V2_CONTROL_MSGS_H
#define RPCRDMA_V2_CONTROL_MSGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpcrdma/credits.h"

#define CONTROL_MSGS_MAX 4u

struct control_msg {
	uint32_t xid;
	bool has_answer; /* answered with its XID; otherwise any message of the peer ends it */
};

struct control_msgs {
	struct credit_window *window; /* window of its credits; NULL: none */
	unsigned count;
	struct control_msg list[CONTROL_MSGS_MAX];
};

/** control_msgs_init - Initializes the list; @window is the connector's, or NULL. */
void control_msgs_init(struct control_msgs *control, struct credit_window *window);
/**
 * control_msgs_may_send - Returns true if a control message can be sent now, leaving a credit to
 * Calls.
 */
bool control_msgs_may_send(const struct control_msgs *control);
/**
 * control_msgs_wait - Sets whether a control message waits. Returns true if its reserved credit
 * becomes free.
 */
bool control_msgs_wait(struct control_msgs *control, bool waits) MUST_CHECK;
/** control_msgs_credits - Returns the number of credits in use. */
static inline unsigned control_msgs_credits(const struct control_msgs *control)
{
	return control->window ? control->count : 0;
}
/** control_msgs_sent - Records a sent message with @xid. */
void control_msgs_sent(struct control_msgs *control, uint32_t xid, bool has_answer);
/** control_msgs_has - Returns true if @xid is that of an outstanding message. */
bool control_msgs_has(const struct control_msgs *control, uint32_t xid);
/** control_msgs_answered - Ends the message with @xid; returns false if no message has it. */
bool control_msgs_answered(struct control_msgs *control, uint32_t xid);
/**
 * control_msgs_message_received - Ends all messages without an answer, after any message of the
 * peer. Returns false if none.
 */
bool control_msgs_message_received(struct control_msgs *control);

#endif
