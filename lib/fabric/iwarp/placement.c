// SPDX-License-Identifier: BSD-3-Clause
/*
 * Checks each header against keys, posted receives and outstanding Reads (RFC 5041 sections 5 and
 * 7, RFC 5040 sections 5 and 7), and executes a complete FPDU.
 */
#include <string.h>

#include "base/be_bytes.h"
#include "fabric/iwarp/engine_priv.h"

/* Tagged messages must not interleave, and their segments must be contiguous. */
static enum terminate_reason tagged_order_check(const struct engine_rx *rx)
{
	if (!rx->tagged_open)
		return REASON_NONE;
	if (rx->ddp.opcode != rx->tagged_opcode)
		return REASON_OPCODE;
	if (rx->ddp.stag != rx->tagged_stag)
		return REASON_STAG;
	if (rx->ddp.to != rx->tagged_to)
		return REASON_BOUNDS;
	return REASON_NONE;
}

/* RFC 5041 section 7.1: checks the STag, the offset, the bounds; then RDMAP's right to write. */
static enum terminate_reason write_check(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;
	enum terminate_reason reason = tagged_order_check(rx);
	struct fabric_key *key;
	uint32_t at;

	/* A zero-length RDMA Write accesses no memory, so any STag is valid. */
	if (reason != REASON_NONE || rx->payload_total == 0)
		return reason;
	key = stag_table_find(&engine->keys, rx->ddp.stag);
	if (!key)
		return REASON_STAG;
	if (rx->ddp.to + rx->payload_total < rx->ddp.to)
		return REASON_TO_WRAP;
	if (rx->ddp.to < key->addr || rx->payload_total > key->len_bytes ||
	    rx->ddp.to - key->addr > key->len_bytes - rx->payload_total)
		return REASON_BOUNDS;
	if (!(key->rights & FABRIC_REMOTE_WRITE))
		return REASON_RIGHTS;
	rx->key = key;
	at = (uint32_t)(rx->ddp.to - key->addr);
	rx->dest = key->mem + at;
	if (engine_key_awaits(key))
		TAILQ_REMOVE(&engine->awaiting_write, key, awaiting_write);
	coverage_reach(&key->written, at + rx->payload_total);
	return REASON_NONE;
}

/* Accepts only the Response of the oldest Read, in order, and exactly as long as requested. */
static enum terminate_reason response_check(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;
	enum terminate_reason reason = tagged_order_check(rx);
	const struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_out);
	uint32_t left;

	if (reason != REASON_NONE)
		return reason;
	if (!wr || rx->ddp.stag != (uint32_t)wr->priv[1])
		return REASON_STAG;
	left = wr->sge[0].len_bytes - rx->read_received;
	if (rx->ddp.to != wr->priv[0] + rx->read_received || rx->payload_total > left ||
	    (rx->ddp.last && rx->payload_total != left))
		return REASON_BOUNDS;
	rx->dest = wr->sge[0].addr + rx->read_received;
	return REASON_NONE;
}

static enum terminate_reason send_check(struct iwarp_engine *engine)
{
	const struct engine_rx *rx = &engine->rx;
	uint32_t recv_bytes;

	if (rx->ddp.qn != DDP_QN_SEND)
		return REASON_QN;
	if (rx->ddp.msn != engine->send_msn_rx)
		return REASON_MSN;
	if (engine->rtr_send && rx->payload_total == 0)
		return REASON_NONE;
	if (!posted_recvs_first(&engine->recvs, &recv_bytes))
		return REASON_NO_BUFFER;
	if (rx->ddp.mo != rx->send_have)
		return REASON_MO;
	if (rx->send_have > recv_bytes || rx->payload_total > recv_bytes - rx->send_have)
		return REASON_TOO_LONG;
	return REASON_NONE;
}

static enum terminate_reason read_request_check(struct iwarp_engine *engine)
{
	const struct engine_rx *rx = &engine->rx;

	if (rx->ddp.qn != DDP_QN_READ)
		return REASON_QN;
	if (rx->ddp.msn != engine->read_msn_rx)
		return REASON_MSN;
	if (rx->ddp.mo != 0)
		return REASON_MO;
	if (rx->payload_total > 0)
		return REASON_TOO_LONG;
	return rx->ddp.last ? REASON_NONE : REASON_UNSPECIFIED;
}

static enum terminate_reason terminate_check(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;

	if (rx->ddp.qn != DDP_QN_TERMINATE)
		return REASON_QN;
	if (rx->payload_total < TERM_CONTROL_BYTES || rx->payload_total > sizeof(rx->terminate))
		return REASON_UNSPECIFIED;
	rx->dest = rx->terminate;
	return REASON_NONE;
}

static enum terminate_reason header_check(struct iwarp_engine *engine)
{
	const struct ddp_header *ddp = &engine->rx.ddp;

	if (ddp->ddp_version != DDP_VERSION)
		return ddp->tagged ? REASON_TAGGED_VERSION : REASON_UNTAGGED_VERSION;
	if (ddp->rdmap_version != RDMAP_VERSION)
		return REASON_RDMAP_VERSION;
	switch (ddp->opcode) {
	case RDMAP_WRITE:
		return ddp->tagged ? write_check(engine) : REASON_OPCODE;
	case RDMAP_READ_RESPONSE:
		return ddp->tagged ? response_check(engine) : REASON_OPCODE;
	case RDMAP_READ_REQUEST:
		return ddp->tagged ? REASON_OPCODE : read_request_check(engine);
	case RDMAP_SEND:
	case RDMAP_SEND_INV:
	case RDMAP_SEND_SE:
	case RDMAP_SEND_SE_INV:
		return ddp->tagged ? REASON_OPCODE : send_check(engine);
	case RDMAP_TERMINATE:
		return ddp->tagged ? REASON_OPCODE : terminate_check(engine);
	default:
		return REASON_OPCODE;
	}
}

void engine_place_header(struct iwarp_engine *engine)
{
	if (engine->rx.header_have == MPA_LENGTH_BYTES || engine->rx.verdict != REASON_NONE)
		return;
	engine->rx.verdict = header_check(engine);
}

bool engine_place_send(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;
	uint32_t size_bytes;

	if (!rx->send_buf && posted_recvs_first(&engine->recvs, &size_bytes))
		rx->send_buf = buf_get(engine->env->pool, size_bytes);
	if (!rx->send_buf)
		return false;
	rx->dest = rx->send_buf->mem + rx->send_have;
	return true;
}

static void tagged_advance(struct engine_rx *rx)
{
	rx->tagged_open = !rx->ddp.last;
	rx->tagged_opcode = rx->ddp.opcode;
	rx->tagged_stag = rx->ddp.stag;
	rx->tagged_to = rx->ddp.to + rx->payload_total;
}

/*
 * Records a complete RDMA Write as written; its segments came in order and to one key
 * (tagged_order_check()). Its last segment can be empty, and its key unbound or bound again since
 * it began.
 */
static void write_cover(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;
	struct fabric_key *key = rx->key;

	if (rx->tagged_to == rx->write_to)
		return;
	if (!key)
		key = stag_table_find(&engine->keys, rx->ddp.stag);
	if (key && rx->write_to >= key->addr && rx->tagged_to - key->addr <= key->len_bytes)
		coverage_add(&key->written, (uint32_t)(rx->write_to - key->addr),
			     (uint32_t)(rx->tagged_to - rx->write_to));
}

static enum terminate_reason write_commit(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;

	if (!rx->tagged_open)
		rx->write_to = rx->ddp.to;
	tagged_advance(rx);
	engine->counters->write_bytes_received += rx->payload_total;
	if (rx->ddp.last) {
		engine->counters->writes_received++;
		write_cover(engine);
	}
	return REASON_NONE;
}

static enum terminate_reason response_commit(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;

	tagged_advance(rx);
	rx->read_received += rx->payload_total;
	engine->counters->read_bytes_received += rx->payload_total;
	if (rx->ddp.last) {
		engine->counters->read_responses_received++;
		engine_read_done(engine, FABRIC_OK);
	}
	return REASON_NONE;
}

static enum terminate_reason send_commit(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;
	bool inv = rx->ddp.opcode == RDMAP_SEND_INV || rx->ddp.opcode == RDMAP_SEND_SE_INV;
	struct fabric_recv recv = {.invalidated = inv};
	struct buf *buf = rx->send_buf;

	if (!rx->ddp.last) {
		rx->send_have += rx->payload_total;
		return REASON_NONE;
	}
	if (inv) {
		struct fabric_key *key = stag_table_find(&engine->keys, rx->ddp.stag);

		if (!key)
			return REASON_INVALIDATE;
		stag_table_remove(&engine->keys, key);
		recv.inv_rkey = rx->ddp.stag;
		engine->counters->sends_inv_received++;
	}
	engine->send_msn_rx++;
	recv.len_bytes = rx->send_have + rx->payload_total;
	recv.data = buf ? buf->mem : rx->in_place ? rx->in_place : rx->header;
	rx->send_have = 0;
	rx->send_buf = NULL;
	/* An RTR message is not delivered to the owner. */
	if ((!engine->rtr_send || recv.len_bytes > 0) &&
	    posted_recvs_first(&engine->recvs, &recv.size_bytes)) {
		posted_recvs_consume(&engine->recvs);
		engine->counters->sends_received++;
		if (engine->state == ENGINE_OPEN)
			engine->events->recv(engine->arg, &recv);
	}
	buf_put(buf);
	return REASON_NONE;
}

static enum terminate_reason read_request_commit(struct iwarp_engine *engine)
{
	struct rdmap_read read;
	enum terminate_reason reason;

	rdmap_read_decode(engine->rx.header + MPA_LENGTH_BYTES + DDP_UNTAGGED_BYTES, &read);
	reason = engine_irrq_add(engine, &read);
	if (reason != REASON_NONE)
		return reason;
	engine->read_msn_rx++;
	engine->counters->read_requests_received++;
	return REASON_NONE;
}

static enum terminate_reason terminate_commit(struct iwarp_engine *engine)
{
	const struct engine_rx *rx = &engine->rx;
	const uint8_t *ddp = rx->terminate + TERM_CONTROL_BYTES + 2;
	char text[160];

	engine->counters->terminates_received++;
	rdmap_terminate_describe(rx->terminate, rx->payload_total, text, sizeof(text));
	/* It can name the Read that the peer refused. */
	if (rx->payload_total == TERM_MAX_BYTES && !(ddp[0] & DDP_TAGGED) &&
	    (ddp[1] & RDMAP_OPCODE_MASK) == RDMAP_READ_REQUEST) {
		engine->refused = true;
		engine->refused_sink = be32_get(ddp + DDP_UNTAGGED_BYTES);
	}
	engine_note(engine, "peer sent %s", text);
	engine_drop(engine, FABRIC_CLOSE_TERMINATED, "%s", text);
	return REASON_NONE;
}

enum terminate_reason engine_place_commit(struct iwarp_engine *engine, uint64_t now_us)
{
	switch (engine->rx.ddp.opcode) {
	case RDMAP_WRITE:
		return write_commit(engine);
	case RDMAP_READ_RESPONSE:
		return response_commit(engine);
	case RDMAP_READ_REQUEST:
		return read_request_commit(engine);
	case RDMAP_TERMINATE:
		return terminate_commit(engine);
	default:
		return send_commit(engine);
	}
}
