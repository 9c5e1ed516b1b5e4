// SPDX-License-Identifier: BSD-3-Clause
/* What NFSv4.1 sessions allow their replies. */
#include "nfs/args.h"
#include "nfs/compound.h"
#include "nfs/nfs.h"

#define OP_CREATE_SESSION 43u
#define OP_SEQUENCE       53u

/*
 * ca_maxresponsesize counts all of the RPC message (RFC 8881 section 18.36.3). Servers differ in
 * what of RPCSEC_GSS they count: a verifier and a checksum of 400 bytes each may come on top.
 */
#define SESSION_SLACK_BYTES 1024u

/* Opens a Call of NFSv4.1 or later and reads its first operation; NULL if it is not one. */
static const struct nfs_proc *open_compound(const struct rpc_call_hdr *hdr, const uint8_t *msg,
					    uint32_t len_bytes, struct xdr_reader *args,
					    struct nfs_compound *compound, uint32_t *op)
{
	enum nfs_args seen;

	if (hdr->prog != NFS_PROGRAM_NFS || !nfs_compound_is(hdr->prog, hdr->vers, hdr->proc))
		return NULL;
	seen = nfs_args_open(hdr, msg, len_bytes, args);
	if (seen != NFS_ARGS_PLAIN && seen != NFS_ARGS_INTEGRITY)
		return NULL;
	if (!nfs_compound_call(hdr->prog, args, compound) || compound->minor_version == 0 ||
	    compound->op_count == 0)
		return NULL;
	return nfs_compound_op(args, compound, op);
}

static struct nfs_session *find(struct nfs_sessions *sessions, const uint8_t *id)
{
	for (unsigned i = 0; i < sessions->count; i++)
		if (memcmp(sessions->list[i].id, id, NFS_SESSION_ID_BYTES) == 0)
			return &sessions->list[i];
	return NULL;
}

static void enter(struct nfs_sessions *sessions, const uint8_t *id, uint32_t max_response_bytes)
{
	struct nfs_session *session = find(sessions, id);

	if (!session) {
		session = &sessions->list[sessions->next];
		sessions->next = (sessions->next + 1) % NFS_MAX_SESSIONS;
		if (sessions->count < NFS_MAX_SESSIONS)
			sessions->count++;
	}
	memcpy(session->id, id, NFS_SESSION_ID_BYTES);
	session->max_response_bytes = max_response_bytes;
}

/* Points @at at the results of a successful Reply to @hdr. */
static bool open_results(const struct rpc_call_hdr *hdr, const uint8_t *reply, uint32_t reply_bytes,
			 struct xdr_reader *at)
{
	struct rpc_reply_hdr reply_hdr;

	if (rpc_reply_decode(reply, reply_bytes, &reply_hdr) != RPC_OK ||
	    reply_hdr.stat != RPC_MSG_ACCEPTED || reply_hdr.accept_stat != RPC_SUCCESS)
		return false;
	xdr_reader_init(at, reply, reply_bytes);
	if (!xdr_skip(at, reply_hdr.results_offset))
		return false;
	return hdr->cred_flavor != RPC_AUTH_GSS || hdr->gss_service != RPC_GSS_INTEGRITY ||
	       xdr_skip(at, NFS_INTEGRITY_HEAD_BYTES);
}

/* Clients send CREATE_SESSION alone, or behind the SEQUENCE of another session. */
void nfs_sessions_learn(struct nfs_sessions *sessions, const struct rpc_call_hdr *hdr,
			const uint8_t *call, uint32_t call_bytes, const uint8_t *reply,
			uint32_t reply_bytes)
{
	struct nfs_marks marks = {0};
	struct nfs_compound compound;
	struct xdr_reader at;
	uint32_t op, results;
	const struct nfs_proc *row = open_compound(hdr, call, call_bytes, &at, &compound, &op);

	if (row && op == OP_SEQUENCE && compound.op_count > 1 && nfs_walk(&at, row->args, &marks))
		row = nfs_compound_op(&at, &compound, &op);
	if (!row || op != OP_CREATE_SESSION)
		return;
	if (!open_results(hdr, reply, reply_bytes, &at) || !nfs_compound_reply(&at, &results))
		return;
	while (results-- > 0) {
		marks = (struct nfs_marks){0};
		row = nfs_compound_op(&at, &compound, &op);
		if (!row || !nfs_walk(&at, row->results, &marks) || marks.status != 0)
			return;
		if (op == OP_CREATE_SESSION && marks.session)
			enter(sessions, marks.session, marks.count);
	}
}

uint32_t nfs_sessions_limit(const struct nfs_sessions *sessions, const struct rpc_call_hdr *hdr,
			    const uint8_t *msg, uint32_t len_bytes, uint32_t limit_bytes)
{
	struct nfs_marks marks = {0};
	struct nfs_compound compound;
	const struct nfs_session *session;
	const struct nfs_proc *row;
	struct xdr_reader args;
	uint64_t bytes;
	uint32_t op;

	if (sessions->count == 0)
		return limit_bytes;
	row = open_compound(hdr, msg, len_bytes, &args, &compound, &op);
	if (!row || op != OP_SEQUENCE || !nfs_walk(&args, row->args, &marks))
		return limit_bytes;
	session = find((struct nfs_sessions *)sessions, marks.session);
	if (!session)
		return limit_bytes;
	bytes = (uint64_t)session->max_response_bytes + SESSION_SLACK_BYTES;
	return bytes < limit_bytes ? (uint32_t)bytes : limit_bytes;
}
