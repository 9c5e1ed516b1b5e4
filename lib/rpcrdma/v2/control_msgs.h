/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of our own, which are no Calls of a client: their XIDs, and the credits that they hold
 * (draft-dnoveck-nfsv4-rpcrdma-xcharext-00; ).
 *
 * The end that connected takes a credit for each, since a peer may have no receive to spare. What has an answer gives
 * it back with that; what has none, with the next message of the peer. Messages never hold the last credit; for one that
 * waits for a credit one is kept back, or Calls that wait for it, too, would take each as it comes. The other end
 * takes none, and has one message without an answer out at a time. None is kept back for a message that waits for an
 * answer to another one: a peer that gives none is not to stop Calls.
 */
#ifndef RPCRDMA_V2_CONTROL_MSGS_H
#define RPCRDMA_V2_CONTROL_MSGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpcrdma/credits.h"

#define CONTROL_MSGS_MAX 4u

struct own_message {
	uint32_t xid;
	bool has_answer; /* one with its XID is waited for; else any message of the peer is as good */
};

struct control_msgs {
	struct credit_window *window; /* that credits are taken of; NULL: of none */
	unsigned count;
	struct own_message list[CONTROL_MSGS_MAX];
};

/** control_msgs_init - none is out; @window is the connector's, or NULL. */
void control_msgs_init(struct control_msgs *own, struct credit_window *window);
/** control_msgs_may_send - whether one may be sent now; all that are out leave a credit to Calls. */
bool control_msgs_may_send(const struct control_msgs *own);
/** control_msgs_wait - whether one waits for leave. Returns true if Calls may have a credit that was kept back for it. */
bool control_msgs_wait(struct control_msgs *own, bool waits) MUST_CHECK;
/** control_msgs_credits - how many credits they hold. */
static inline unsigned control_msgs_credits(const struct control_msgs *own)
{
	return own->window ? own->count : 0;
}
/** control_msgs_sent - one is sent, with @xid. */
void control_msgs_sent(struct control_msgs *own, uint32_t xid, bool has_answer);
/** control_msgs_has - whether @xid is of one that is out. */
bool control_msgs_has(const struct control_msgs *own, uint32_t xid);
/** control_msgs_answered - the one with @xid, if there is one, is over. Returns whether there was. */
bool control_msgs_answered(struct control_msgs *own, uint32_t xid);
/** control_msgs_heard - the peer has sent something: those without an answer are over. Returns whether there were any. */
bool control_msgs_heard(struct control_msgs *own);

#endif
