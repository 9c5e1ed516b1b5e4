// SPDX-License-Identifier: BSD-3-Clause
/* Records which Reply sizes NFSv4.1 sessions allow. */
#include "nfs/compound.h"
#include "nfs/nfs.h"

/*
 * ca_maxresponsesize counts the whole RPC message (RFC 8881 section 18.36.3). Servers differ in
 * what they count of RPCSEC_GSS: a verifier and a checksum of 400 bytes each can come in addition.
 */
#define SESSION_SLACK_BYTES 1024u

/* CREATE_SESSION is one of the first two operations of its Call (may_create_session). */
#define MAX_CREATE_SESSION_OPS 2u

/* Returns the index of a session; the number of sessions if it is not in the list. */
static unsigned session_find(const struct nfs_sessions *sessions, const uint8_t *id)
{
	unsigned i = 0;

	while (i < sessions->count && memcmp(sessions->list[i].id, id, NFS_SESSION_ID_BYTES))
		i++;
	return i;
}

static void session_add(struct nfs_sessions *sessions, const uint8_t *id,
			uint32_t max_response_bytes)
{
	unsigned i = session_find(sessions, id);

	if (i == sessions->count) {
		i = sessions->next;
		sessions->next = (sessions->next + 1) % NFS_MAX_SESSIONS;
		if (sessions->count < NFS_MAX_SESSIONS)
			sessions->count++;
	}
	memcpy(sessions->list[i].id, id, NFS_SESSION_ID_BYTES);
	sessions->list[i].max_response_bytes = max_response_bytes;
}

/* Moves @at to the results of a successful Reply to a Call with this @body. */
static bool open_results(enum call_body_kind body, const uint8_t *reply, uint32_t reply_bytes,
			 struct xdr_sg_reader *at)
{
	struct rpc_reply_hdr hdr;

	if (rpc_reply_decode(reply, reply_bytes, &hdr) != RPC_OK || hdr.stat != RPC_MSG_ACCEPTED ||
	    hdr.accept_stat != RPC_SUCCESS)
		return false;
	xdr_sg_reader_init_flat(at, reply, reply_bytes);
	return xdr_sg_skip(at, hdr.results_offset) &&
	       (body != CALL_BODY_INTEGRITY || xdr_sg_skip(at, NFS_INTEGRITY_HEAD_BYTES));
}

void nfs_sessions_learn(struct nfs_sessions *sessions, const struct call_info *call_info,
			const uint8_t *reply, uint32_t reply_bytes)
{
	const struct nfs_compound compound = {.minor_version = call_info->minor_version};
	struct xdr_sg_reader at;
	uint32_t op, results;

	if (!call_info->may_create_session ||
	    !open_results(call_info->body, reply, reply_bytes, &at) ||
	    !nfs_compound_reply(&at, NULL, &results))
		return;
	for (uint32_t i = 0; i < results && i < MAX_CREATE_SESSION_OPS; i++) {
		struct nfs_marks marks = {.elements_max = NFS_REPLY_MAX_ELEMENTS};
		const struct nfs_proc *row = nfs_compound_op(&at, &compound, &op);

		if (!row || !nfs_walk(&at, row->results, &marks) || marks.status != 0)
			return;
		if (op == NFS_OP_CREATE_SESSION && marks.has_session)
			session_add(sessions, marks.session, marks.count);
	}
}

uint32_t nfs_sessions_limit(const struct nfs_sessions *sessions,
			    const uint8_t id[NFS_SESSION_ID_BYTES], uint32_t limit_bytes)
{
	unsigned i = session_find(sessions, id);
	uint64_t bytes;

	if (i == sessions->count)
		return limit_bytes;
	bytes = (uint64_t)sessions->list[i].max_response_bytes + SESSION_SLACK_BYTES;
	return bytes < limit_bytes ? (uint32_t)bytes : limit_bytes;
}
