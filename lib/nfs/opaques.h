/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every counted opaque and string of a whole RPC message, in the order of its bytes: the bodies of credential and
 * verifier, then those among arguments or results (A3.5-7). Pure, linear in the length of the message.
 *
 * What is walked need not be the message as its program has it: a listener that says how many bytes an opaque takes
 * leads the walk past what was put before it, and on at once where its data are elsewhere.
 *
 * What an opaque holds is its program's: the parameters of AUTH_SYS, the attributes of NFSv4, and all that RPCSEC_GSS
 * protects are one opaque each.
 */
#ifndef NFS_OPAQUES_H
#define NFS_OPAQUES_H

#include "nfs/type.h"
#include "rpc/facts.h"

/**
 * nfs_call_opaques - tell @listener of each opaque of a Call
 * @msg, @len_bytes: all that is walked
 *
 * Returns false if the Call cannot be followed, or not to its end: then the listener has heard of those before.
 */
bool nfs_call_opaques(const uint8_t *msg, uint32_t len_bytes,
		      struct nfs_listener *listener) MUST_CHECK;

/**
 * nfs_reply_opaques - the same of a Reply
 * @facts: of its Call; NULL: one whose results have no opaques, so that only the header is walked
 *
 * A Reply that is no success is walked as far as its verifier.
 */
bool nfs_reply_opaques(const struct call_facts *facts, const uint8_t *msg, uint32_t len_bytes,
		       struct nfs_listener *listener) MUST_CHECK;

#endif
