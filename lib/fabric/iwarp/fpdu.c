// SPDX-License-Identifier: BSD-3-Clause
/*
 * FPDUs to send, built into the batch.
 *
 * No TCP segment ends within an FPDU's padding and CRC: Linux siw (6.1) copies the second part of a trailer
 * that comes in two socket buffers over the first, finds the CRC wrong and drops the connection. What one call
 * sends begins a segment (MSG_EOR ends the one before), so where the others begin is known, but for
 * what a full window or a retransmission cuts.
 */
#include <assert.h>
#include <string.h>

#include "fabric/iwarp/bytes.h"
#include "fabric/iwarp/crc.h"
#include "fabric/iwarp/engine_priv.h"

/* Payload from the message being built, as pieces; returns the sum continued over it. */
static uint32_t payload_add(struct iwarp_engine *engine, uint32_t len_bytes, uint32_t crc)
{
	struct engine_tx *tx = &engine->tx;

	while (len_bytes > 0) {
		const uint8_t *mem;
		uint32_t step = len_bytes;

		if (tx->irq) {
			mem = tx->irq->mem + tx->offset;
		} else {
			const struct fabric_sge *sge = &tx->wr->sge[tx->sge];
			uint32_t left = sge->len_bytes - tx->sge_offset;

			if (left == 0) {
				tx->sge++;
				tx->sge_offset = 0;
				continue;
			}
			if (step > left)
				step = left;
			mem = sge->addr + tx->sge_offset;
			tx->sge_offset += step;
		}
		iwarp_batch_ref(tx->batch, mem, step);
		if (engine->crc)
			crc = iwarp_crc_add(crc, mem, step);
		tx->offset += step;
		len_bytes -= step;
	}
	return crc;
}

/*
 * One FPDU: @header, then @extra (a Read Request's or a Terminate's), then @payload_bytes of the
 * message being built.
 */
static void fpdu_build(struct iwarp_engine *engine, const struct ddp_header *header,
		       const uint8_t *extra, size_t extra_bytes, uint32_t payload_bytes)
{
	struct engine_tx *tx = &engine->tx;
	uint8_t start[MPA_LENGTH_BYTES + DDP_UNTAGGED_BYTES + TERM_MAX_BYTES];
	size_t start_bytes, ulpdu, pad;
	uint32_t crc = IWARP_CRC_START;
	uint8_t *end;

	start_bytes = MPA_LENGTH_BYTES + ddp_header_encode(header, start + MPA_LENGTH_BYTES);
	if (extra_bytes)
		memcpy(start + start_bytes, extra, extra_bytes);
	start_bytes += extra_bytes;
	ulpdu = start_bytes - MPA_LENGTH_BYTES + payload_bytes;
	assert(ulpdu <= MPA_MAX_ULPDU_BYTES);
	be16_put(start, (uint16_t)ulpdu);
	memcpy(iwarp_batch_glue(tx->batch, start_bytes), start, start_bytes);
	if (engine->crc)
		crc = iwarp_crc_add(crc, start, start_bytes);
	if (payload_bytes)
		crc = payload_add(engine, payload_bytes, crc);

	pad = -(MPA_LENGTH_BYTES + ulpdu) & 3;
	end = iwarp_batch_glue(tx->batch, pad + MPA_CRC_BYTES);
	memset(end, 0, pad + MPA_CRC_BYTES);
	if (engine->crc)
		iwarp_crc_store(iwarp_crc_add(crc, end, pad), end + pad);
	tx->built += MPA_LENGTH_BYTES + ulpdu + pad + MPA_CRC_BYTES;
	iwarp_batch_frame_end(tx->batch,
			      tx->built - (MPA_LENGTH_BYTES + ulpdu + pad + MPA_CRC_BYTES),
			      tx->built, true);
}

/* The longest payload behind a header: a multiple of four, so that only a last FPDU is padded. */
static uint32_t payload_limit(const struct iwarp_engine *engine, size_t header_bytes)
{
	return (uint32_t)(engine->fpdu_bytes - MPA_LENGTH_BYTES - header_bytes - MPA_CRC_BYTES) &
	       ~3u;
}

/* Whether a segment would end within the trailer of an FPDU of this length, were it built now. */
static bool trailer_splits(const struct iwarp_engine *engine, size_t header_bytes, uint32_t payload)
{
	size_t bare = MPA_LENGTH_BYTES + header_bytes + payload;
	size_t trailer = (-bare & 3) + MPA_CRC_BYTES;
	uint64_t over = (engine->tx.built - engine->tx.train + bare + trailer) % engine->mss_bytes;

	return over > 0 && over < trailer;
}

/*
 * How much payload the next FPDU takes: the longest that ends well. What is shorter than it could be is a
 * multiple of four, so that only a last FPDU is padded.
 */
static bool payload_fit(const struct iwarp_engine *engine, size_t header_bytes, uint64_t left,
			uint32_t *payload)
{
	uint32_t limit = payload_limit(engine, header_bytes);
	uint32_t len = left < limit ? (uint32_t)left : limit;

	while (trailer_splits(engine, header_bytes, len)) {
		if (len <= 4)
			return false;
		len = (len - 1) & ~3u;
	}
	*payload = len;
	return true;
}

static struct ddp_header header_of(enum rdmap_opcode opcode)
{
	return (struct ddp_header){
		.last = true,
		.ddp_version = DDP_VERSION,
		.rdmap_version = RDMAP_VERSION,
		.opcode = (uint8_t)opcode,
	};
}

void engine_terminate_build(struct iwarp_engine *engine)
{
	struct ddp_header header = header_of(RDMAP_TERMINATE);
	const struct iwarp_reason_info *info = iwarp_reason_info(engine->tx.terminate);
	uint8_t bytes[TERM_MAX_BYTES];
	size_t len = rdmap_terminate_encode(&engine->tx.term, bytes);

	header.qn = DDP_QN_TERMINATE;
	header.msn = 1;
	fpdu_build(engine, &header, bytes, len, 0);
	engine->tx.terminate = REASON_NONE;
	engine->counters->terminates_sent++;
	++*(uint64_t *)((char *)engine->counters + info->counter);
}

/* A fresh sink STag and offset for each Read; see keys.h. */
bool engine_read_build(struct iwarp_engine *engine)
{
	struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_wait);
	struct ddp_header header = header_of(RDMAP_READ_REQUEST);
	struct rdmap_read read = {
		.size_bytes = wr->sge[0].len_bytes,
		.source_stag = wr->rkey,
		.source_to = wr->raddr,
	};
	uint8_t bytes[RDMAP_READ_BYTES];

	if (trailer_splits(engine, DDP_MAX_BYTES, 0))
		return false;
	do {
		read.sink_stag = (uint32_t)iwarp_random_next(&engine->env->random);
	} while (read.sink_stag >> 8 == 0 || iwarp_keys_find(&engine->keys, read.sink_stag));
	read.sink_to = (iwarp_random_next(&engine->env->random) >> 1 | 1u << 12) & ~(uint64_t)0xfff;
	wr->priv[0] = read.sink_to;
	wr->priv[1] = read.sink_stag;
	header.qn = DDP_QN_READ;
	header.msn = engine->read_msn_tx++;
	rdmap_read_encode(&read, bytes);
	fpdu_build(engine, &header, bytes, sizeof(bytes), 0);
	engine_read_built(engine, wr);
	engine->counters->read_requests_sent++;
	return true;
}

bool engine_nudge_build(struct iwarp_engine *engine)
{
	struct ddp_header header = header_of(RDMAP_WRITE);

	if (trailer_splits(engine, DDP_TAGGED_BYTES, 0))
		return false;
	engine->tx.nudge = false;
	if (engine->rx_any)
		return true;
	header.tagged = true;
	fpdu_build(engine, &header, NULL, 0, 0);
	engine->counters->nudges_sent++;
	return true;
}

bool engine_response_build(struct iwarp_engine *engine)
{
	struct engine_tx *tx = &engine->tx;
	struct ddp_header header = header_of(RDMAP_READ_RESPONSE);
	uint64_t left = tx->total - tx->offset;
	uint32_t payload;

	if (!payload_fit(engine, DDP_TAGGED_BYTES, left, &payload))
		return false;
	header.tagged = true;
	header.last = payload == left;
	header.stag = tx->irq->read.sink_stag;
	header.to = tx->irq->read.sink_to + tx->offset;
	fpdu_build(engine, &header, NULL, 0, payload);
	engine->counters->read_bytes_sent += payload;
	if (!header.last)
		return true;
	tx->irq->built = true;
	tx->irq->end = tx->built;
	tx->irq = NULL;
	engine->irq_built++;
	return true;
}

bool engine_wr_build(struct iwarp_engine *engine)
{
	struct engine_tx *tx = &engine->tx;
	struct fabric_wr *wr = tx->wr;
	bool write = wr->op == FABRIC_WRITE;
	struct ddp_header header = header_of(write                       ? RDMAP_WRITE
					     : wr->op == FABRIC_SEND_INV ? RDMAP_SEND_INV
									 : RDMAP_SEND);
	uint64_t left = tx->total - tx->offset;
	uint32_t payload;

	if (!payload_fit(engine, write ? DDP_TAGGED_BYTES : DDP_UNTAGGED_BYTES, left, &payload))
		return false;
	header.last = payload == left;
	if (write) {
		header.tagged = true;
		header.stag = wr->rkey;
		header.to = wr->raddr + tx->offset;
		engine->counters->write_bytes_sent += payload;
	} else {
		header.stag = wr->op == FABRIC_SEND_INV ? wr->inv_rkey : 0;
		header.qn = DDP_QN_SEND;
		header.msn = engine->send_msn_tx;
		header.mo = (uint32_t)tx->offset;
	}
	fpdu_build(engine, &header, NULL, 0, payload);
	if (!header.last)
		return true;
	if (!write)
		engine->send_msn_tx++;
	TAILQ_REMOVE(&engine->queue, wr, entry);
	TAILQ_INSERT_TAIL(&engine->built, wr, entry);
	wr->priv[0] = tx->built;
	tx->wr = NULL;
	return true;
}
