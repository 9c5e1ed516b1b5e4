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
#ifndef RPCRDMA_OWN_MESSAGES_H
#define RPCRDMA_OWN_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpcrdma/credits.h"

#define OWN_MESSAGES_MAX 4u

struct own_message {
	uint32_t xid;
	bool has_answer; /* one with its XID is waited for; else any message of the peer is as good */
};

struct own_messages {
	struct credit_window *window; /* that credits are taken of; NULL: of none */
	unsigned count;
	struct own_message list[OWN_MESSAGES_MAX];
};

/** own_messages_init - none is out; @window is the connector's, or NULL. */
void own_messages_init(struct own_messages *own, struct credit_window *window);
/** own_messages_may_send - whether one may be sent now; all that are out leave a credit to Calls. */
bool own_messages_may_send(const struct own_messages *own);
/** own_messages_wait - whether one waits for leave. Returns true if Calls may have a credit that was kept back for it. */
bool own_messages_wait(struct own_messages *own, bool waits) MUST_CHECK;
/** own_messages_credits - how many credits they hold. */
static inline unsigned own_messages_credits(const struct own_messages *own)
{
	return own->window ? own->count : 0;
}
/** own_messages_sent - one is sent, with @xid. */
void own_messages_sent(struct own_messages *own, uint32_t xid, bool has_answer);
/** own_messages_has - whether @xid is of one that is out. */
bool own_messages_has(const struct own_messages *own, uint32_t xid);
/** own_messages_answered - the one with @xid, if there is one, is over. Returns whether there was. */
bool own_messages_answered(struct own_messages *own, uint32_t xid);
/** own_messages_heard - the peer has sent something: those without an answer are over. Returns whether there were any. */
bool own_messages_heard(struct own_messages *own);

#endif
