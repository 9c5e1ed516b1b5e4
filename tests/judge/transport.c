// SPDX-License-Identifier: BSD-3-Clause
#include "tests/judge/transport.h"

#include "tests/judge/bytes.h"

/* ---------------------------------------------------------------- Calls and Replies */

/* A reverse Call has chunks only where version two's characteristics say that the initiator takes them. */
static void judge_reverse_call(struct session *s, const struct header *h)
{
	uint32_t backward = s->options.end[0].backward;

	if (header_has_chunks(h) && !(h->version == 2 && backward == BACKWARD_GENERAL))
		judge_violation(s->hearing, "Call 0x%08x of the acceptor has chunks", h->xid);
	if (h->version == 2 && backward == BACKWARD_NONE)
		judge_violation(s->hearing,
				"Call 0x%08x of the acceptor, and the initiator takes none",
				h->xid);
}

/* @msg: the RPC message, where the Send has it. */
static void take_call(struct session *s, unsigned side, struct header *h, const uint8_t *msg,
		      struct book_moment then)
{
	struct book_call call = {.xid = h->xid, .version = h->version};

	call.config = msg && book_is_config(s->hearing->judge, msg, h->body_len);
	call.reply_chunk = h->reply_chunk;
	call.misversioned = !versions_call(s, side, h->xid, h->version);
	call.handles = h->handles;
	call.handle_count = h->handle_count;
	h->handles = NULL;
	if (side == 1)
		judge_reverse_call(s, h);
	if (side == 0 && h->version == 1) {
		options_give_up(s, 0);
		then.outstanding -= then.held;
		config_call(s, h->xid, msg, h->body_len, then);
	}
	book_call(s->hearing, &s->book, side, call, then);
}

/* Read chunks in a Reply are draft-ietf-nfsv4-rpcrdma-03's, and an RDMA_DONE follows; RFC 8166 has none. */
static void judge_reply_chunks(struct session *s, unsigned side, const struct header *h)
{
	if (side == 0 && h->version == 1 && header_has_chunks(h))
		judge_violation(s->hearing, "the Reply of the initiator to 0x%08x has chunks",
				h->xid);
	if (!h->reads)
		return;
	s->hearing->unread = true;
	if (h->version == 2 || !s->hearing->judge->draft03)
		judge_violation(s->hearing, "the Reply to 0x%08x has read chunks", h->xid);
}

/*
 * A Reply returns the reply chunk of its Call, empty if it is inline: RFC 8166 section 4.3.3, and version two like it.
 * draft-ietf-nfsv4-rpcrdma-03 does not say so.
 */
static void judge_returned_chunk(struct session *s, const struct header *h,
				 const struct book_call *call)
{
	bool silent = h->version == 1 && s->hearing->judge->draft03;

	if (h->reply_chunk && !call->reply_chunk)
		judge_violation(s->hearing,
				"the Reply to 0x%08x has a reply chunk that was not offered",
				h->xid);
	if (h->proc == RDMA_MSG && call->reply_chunk && !h->reply_chunk && !silent)
		judge_violation(s->hearing,
				"the Reply to 0x%08x leaves out the reply chunk of its Call",
				h->xid);
	if (h->proc == RDMA_MSG && h->reply_chunk_bytes)
		judge_violation(s->hearing, "the Reply to 0x%08x is inline and in the reply chunk",
				h->xid);
}

/* Who answers has read what there was to read: draft-ietf-nfsv4-rpcrdma-03 sections 3.6 and 3.8. */
static void judge_reads(struct session *s, unsigned side, const char *what,
			const struct book_call *call)
{
	if (call && session_reads_any(s, side, call->handles, call->handle_count))
		judge_violation(s->hearing, "%s 0x%08x comes before its Reads have ended", what,
				call->xid);
}

static void take_reply(struct session *s, unsigned side, struct header *h, const uint8_t *msg)
{
	const struct book_call *call = book_find(&s->book, !side, h->xid);
	struct book_answer answer;
	bool to_be_done = h->reads && h->version == 1 && s->hearing->judge->draft03;

	judge_reply_chunks(s, side, h);
	if (call && call->misversioned)
		judge_violation(s->hearing, "Call 0x%08x is answered, where it can be refused only",
				h->xid);
	if (call)
		judge_returned_chunk(s, h, call);
	if (call)
		versions_answered(s, side, call->version);
	if (side == 1)
		config_reply(s, h->xid, msg, h->body_len);
	judge_reads(s, side, "the Reply to", call);
	answer = (struct book_answer){h->xid, h->version, h->credit, to_be_done, NULL, 0};
	if (to_be_done) {
		answer.handles = h->handles;
		answer.handle_count = h->handle_count;
		h->handles = NULL;
	}
	book_reply(s->hearing, &s->book, side, answer);
}

static void take_message(struct session *s, unsigned side, struct header *h,
			 struct book_moment then)
{
	if (h->body_len >= 4 && get_be32(h->body) != h->xid)
		judge_violation(s->hearing, "XIDs 0x%08x and 0x%08x in one message", h->xid,
				get_be32(h->body));
	switch (book_kind(s->hearing, h->body, h->body_len)) {
	case BOOK_CALL:
		take_call(s, side, h, h->body, then);
		break;
	case BOOK_REPLY:
		take_reply(s, side, h, h->body);
		break;
	case BOOK_NEITHER:
		break;
	}
}

/*
 * Which it is, without the message: in version two what has read chunks is a Call. In version one the initiator calls and
 * the acceptor replies, since reverse messages have no chunks.
 */
static void take_chunked(struct session *s, unsigned side, struct header *h,
			 struct book_moment then)
{
	bool call = h->version == 2 ? h->reads : side == 0;

	if (!h->position_zero && (call || !h->reply_chunk))
		judge_violation(s->hearing, "the message of RDMA_NOMSG 0x%08x is in no chunk",
				h->xid);
	if (call)
		take_call(s, side, h, NULL, then);
	else
		take_reply(s, side, h, NULL);
}

/* ---------------------------------------------------------------- the other kinds */

/* An error is for an RDMA_OPTIONAL, if one has the XID; INVAL_OPTION is for nothing else. */
static void take_error(struct session *s, unsigned side, const struct header *h)
{
	const struct book_call *call = book_find(&s->book, !side, h->xid);

	if (h->error == ERR_VERS && options_has(&s->options, !side, h->xid))
		versions_refuse(s, side, h, 2, false, false);
	if (options_error(s, side, h))
		return;
	s->hearing->tally.errors++;
	if (call && h->error == ERR_VERS)
		versions_refuse(s, side, h, call->version, true, call->misversioned);
	if (call && h->error != ERR_VERS && call->misversioned)
		judge_violation(s->hearing, "Call 0x%08x is answered, where it can be refused only",
				h->xid);
	if (h->error == ERR_OPTION)
		judge_violation(s->hearing, "0x%08x is no RDMA_OPTIONAL", h->xid);
	if (side == 1)
		config_reply(s, h->xid, NULL, 0);
	book_reply(s->hearing, &s->book, side,
		   (struct book_answer){.xid = h->xid,
					.version = h->error == ERR_VERS ? 0 : h->version});
}

static bool kind_exists(const struct session *s, const struct header *h)
{
	switch (h->proc) {
	case RDMA_MSG:
	case RDMA_NOMSG:
	case RDMA_ERROR:
		return true;
	case RDMA_MSGP:
	case RDMA_DONE:
		return h->version == 1 && s->hearing->judge->draft03;
	case RDMA_OPTIONAL:
		return h->version == 2;
	default:
		return false;
	}
}

static void take_kind(struct session *s, unsigned side, struct header *h, struct book_moment then)
{
	switch (h->proc) {
	case RDMA_NOMSG:
		take_chunked(s, side, h, then);
		break;
	case RDMA_DONE:
		s->hearing->judge->dones++;
		judge_reads(s, side, "RDMA_DONE", book_find_undone(&s->book, side, h->xid));
		book_done(s->hearing, &s->book, side, h->xid);
		break;
	case RDMA_ERROR:
		take_error(s, side, h);
		break;
	case RDMA_OPTIONAL:
		options_message(s, side, h, then);
		break;
	default:
		s->hearing->judge->padded += h->proc == RDMA_MSGP;
		take_message(s, side, h, then);
		break;
	}
}

/* ---------------------------------------------------------------- Sends */

/* RFC 8797 section 4.1: both ends must have announced support; the receiver decides. */
static void judge_invalidation(struct session *s, unsigned side, const struct header *h,
			       uint32_t stag)
{
	const struct book_call *call = book_find(&s->book, !side, h->xid);
	bool invited = h->version == 2 ? s->options.end[!side].invalidates
				       : s->limits.end[!side].invalidates;

	if (!invited)
		judge_violation(s->hearing, "0x%08x is sent with Invalidate, uninvited", h->xid);
	for (unsigned i = 0; call && i < call->handle_count; i++) {
		if (call->handles[i] == stag)
			return;
	}
	if (call)
		judge_violation(s->hearing, "0x%08x invalidates 0x%08x, which is not its own",
				h->xid, stag);
}

void transport_judge(struct session *s, unsigned side, const struct transport_send *send)
{
	struct header h;

	s->heard[!side] = true;
	options_heard(s, !side);
	if (!header_decode(&h, send->msg, send->len) || h.version < 1 || h.version > 2 ||
	    !h.credit) {
		judge_violation(s->hearing, "a Send of %zu bytes: version %u, credit %u", send->len,
				h.version, h.credit);
	} else if (!kind_exists(s, &h)) {
		judge_violation(s->hearing, "procedure %u of RPC-over-RDMA version %u", h.proc,
				h.version);
	} else {
		s->hearing->judge->sends_of_two += h.version == 2;
		s->hearing->unread |= h.version == 2 || h.proc == RDMA_MSGP || h.proc == RDMA_DONE;
		versions_send(s, side, &h);
		if (send->invalidates)
			judge_invalidation(s, side, &h, send->stag);
		if (h.malformed)
			judge_violation(s->hearing, "the transport header of 0x%08x is malformed",
					h.xid);
		/* These count as what they are: somebody waits for them, or they for an answer. */
		if (!h.malformed || h.proc >= RDMA_DONE)
			take_kind(s, side, &h, send->then);
	}
	s->heard[side] = false;
	header_fini(&h);
}
