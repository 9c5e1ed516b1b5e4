// SPDX-License-Identifier: BSD-3-Clause
/*
 * Builds FPDUs and start-up frames into the batch to send.
 *
 * No TCP segment ends within an FPDU's padding and CRC. If a trailer arrives in two socket buffers,
 * Linux siw (6.1) copies its second part over the first, finds the CRC wrong and drops the
 * connection. The data of one send call begins a segment (MSG_EOR ends the previous one), so the
 * start of the following segments is known, except after a full window or a retransmission.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/be_bytes.h"
#include "base/crc32c.h"
#include "fabric/iwarp/engine_priv.h"

/* ---- the batch, and start-up frames ---- */

bool engine_batch_get(struct iwarp_engine *engine)
{
	struct iwarp_env *env = engine->env;

	if (engine->tx.batch)
		return true;
	engine->tx.batch = env->spare ? env->spare : malloc(sizeof(*engine->tx.batch));
	env->spare = NULL;
	if (!engine->tx.batch)
		return false;
	iwarp_tx_batch_reset(engine->tx.batch);
	return true;
}

void engine_batch_put(struct iwarp_engine *engine)
{
	if (!engine->tx.batch)
		return;
	free(engine->env->spare);
	engine->env->spare = engine->tx.batch;
	engine->tx.batch = NULL;
}

/* Sends the bytes as they are: not an FPDU, and any TCP segment boundary is allowed. */
static int bytes_send(struct iwarp_engine *engine, const uint8_t *bytes, size_t len)
{
	if (!engine_batch_get(engine))
		return -ENOMEM;
	memcpy(iwarp_tx_batch_alloc(engine->tx.batch, len), bytes, len);
	engine->tx.built += len;
	iwarp_tx_batch_frame_end(engine->tx.batch, engine->tx.built - len, engine->tx.built, false);
	return 0;
}

int engine_preface_send(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes)
{
	return len_bytes ? bytes_send(engine, bytes, len_bytes) : 0;
}

int engine_frame_send(struct iwarp_engine *engine, const struct mpa_frame *frame)
{
	uint8_t bytes[MPA_MAX_FRAME_BYTES];

	return bytes_send(engine, bytes, mpa_frame_encode(frame, bytes));
}

/* ---- FPDUs ---- */

/* The parts of an FPDU. */
struct fpdu {
	struct ddp_header header;
	const uint8_t *extra; /* follows the header: of a Read Request, or of a Terminate */
	size_t extra_bytes;
	const uint8_t *payload; /* NULL: payload of the work request being built */
	uint32_t payload_bytes;
};

/* Adds a piece of payload; returns the CRC continued over it. */
static uint32_t piece_add(struct iwarp_engine *engine, const uint8_t *mem, uint32_t len_bytes,
			  uint32_t crc)
{
	iwarp_tx_batch_append(engine->tx.batch, mem, len_bytes);
	return engine->crc ? crc32c_add(crc, mem, len_bytes) : crc;
}

/* Adds the next bytes of the work request being built; returns the CRC continued over them. */
static uint32_t pieces_add(struct iwarp_engine *engine, uint32_t len_bytes, uint32_t crc)
{
	struct engine_tx *tx = &engine->tx;

	while (len_bytes > 0) {
		const struct fabric_sge *sge = &tx->wr->sge[tx->sge];
		uint32_t left = sge->len_bytes - tx->sge_offset;
		uint32_t step = len_bytes < left ? len_bytes : left;

		if (left == 0) {
			tx->sge++;
			tx->sge_offset = 0;
			continue;
		}
		crc = piece_add(engine, sge->addr + tx->sge_offset, step, crc);
		tx->sge_offset += step;
		tx->offset += step;
		len_bytes -= step;
	}
	return crc;
}

static void fpdu_build(struct iwarp_engine *engine, const struct fpdu *fpdu)
{
	struct engine_tx *tx = &engine->tx;
	size_t ddp_bytes = fpdu->header.tagged ? DDP_TAGGED_BYTES : DDP_UNTAGGED_BYTES;
	size_t start_bytes = MPA_LENGTH_BYTES + ddp_bytes + fpdu->extra_bytes;
	size_t ulpdu = start_bytes - MPA_LENGTH_BYTES + fpdu->payload_bytes, pad, total;
	uint8_t *start = iwarp_tx_batch_alloc(tx->batch, start_bytes), *end;
	uint32_t crc = CRC32C_START;

	assert(ulpdu <= MPA_MAX_ULPDU_BYTES);
	be16_put(start, (uint16_t)ulpdu);
	ddp_header_encode(&fpdu->header, start + MPA_LENGTH_BYTES);
	if (fpdu->extra_bytes)
		memcpy(start + MPA_LENGTH_BYTES + ddp_bytes, fpdu->extra, fpdu->extra_bytes);
	if (engine->crc)
		crc = crc32c_add(crc, start, start_bytes);
	if (fpdu->payload && fpdu->payload_bytes)
		crc = piece_add(engine, fpdu->payload, fpdu->payload_bytes, crc);
	else
		crc = pieces_add(engine, fpdu->payload_bytes, crc);

	pad = -(MPA_LENGTH_BYTES + ulpdu) & 3;
	end = iwarp_tx_batch_alloc(tx->batch, pad + MPA_CRC_BYTES);
	memset(end, 0, pad + MPA_CRC_BYTES);
	if (engine->crc)
		mpa_crc_store(crc32c_add(crc, end, pad), end + pad);
	total = MPA_LENGTH_BYTES + ulpdu + pad + MPA_CRC_BYTES;
	tx->built += total;
	iwarp_tx_batch_frame_end(tx->batch, tx->built - total, tx->built, true);
}

/* Returns the longest payload: a multiple of four, so that only a last FPDU is padded. */
static uint32_t payload_limit(const struct iwarp_engine *engine, size_t header_bytes)
{
	return (uint32_t)(engine->fpdu_bytes - MPA_LENGTH_BYTES - header_bytes - MPA_CRC_BYTES) &
	       ~3u;
}

/* Returns true if a TCP segment would end within the trailer of such an FPDU, built now. */
static bool trailer_splits(const struct iwarp_engine *engine, size_t header_bytes, uint32_t payload)
{
	size_t bare = MPA_LENGTH_BYTES + header_bytes + payload;
	size_t trailer = (-bare & 3) + MPA_CRC_BYTES;
	uint64_t over =
		(engine->tx.built - engine->tx.segment_start + bare + trailer) % engine->mss_bytes;

	return over > 0 && over < trailer;
}

/*
 * Sets the payload length of the next FPDU: the longest whose trailer is not split. Returns false
 * if none is. If it is less than @left it is a multiple of four, so that only a last FPDU is
 * padded.
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
	const struct terminate_code_info *info = terminate_code_info(engine->tx.terminate);
	uint8_t bytes[TERM_MAX_BYTES];
	struct fpdu fpdu = {
		.header = header_of(RDMAP_TERMINATE),
		.extra = bytes,
		.extra_bytes = rdmap_terminate_encode(&engine->tx.term, bytes),
	};

	fpdu.header.qn = DDP_QN_TERMINATE;
	fpdu.header.msn = 1;
	fpdu_build(engine, &fpdu);
	engine->tx.terminate = REASON_NONE;
	engine->counters->terminates_sent++;
	++*(uint64_t *)((char *)engine->counters + info->counter);
}

/* Each Read has a new sink STag and offset; see stag_table.h. */
bool engine_read_build(struct iwarp_engine *engine)
{
	struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_wait);
	struct rdmap_read read = {
		.size_bytes = wr->sge[0].len_bytes,
		.source_stag = wr->rkey,
		.source_to = wr->raddr,
	};
	uint8_t bytes[RDMAP_READ_BYTES];
	struct fpdu fpdu = {
		.header = header_of(RDMAP_READ_REQUEST),
		.extra = bytes,
		.extra_bytes = sizeof(bytes),
	};

	if (trailer_splits(engine, DDP_MAX_BYTES, 0))
		return false;
	do {
		read.sink_stag = (uint32_t)iwarp_random_next(&engine->env->random);
	} while (read.sink_stag >> 8 == 0 || stag_table_find(&engine->keys, read.sink_stag));
	read.sink_to = (iwarp_random_next(&engine->env->random) >> 1 | 1u << 12) & ~(uint64_t)0xfff;
	wr->priv[0] = read.sink_to;
	wr->priv[1] = read.sink_stag;
	fpdu.header.qn = DDP_QN_READ;
	fpdu.header.msn = engine->read_msn_tx++;
	rdmap_read_encode(&read, bytes);
	fpdu_build(engine, &fpdu);
	engine_read_built(engine, wr);
	engine->counters->read_requests_sent++;
	return true;
}

bool engine_nudge_build(struct iwarp_engine *engine)
{
	struct fpdu fpdu = {.header = header_of(RDMAP_WRITE)};

	if (trailer_splits(engine, DDP_TAGGED_BYTES, 0))
		return false;
	engine->tx.nudge = false;
	if (engine->rx_any)
		return true;
	fpdu.header.tagged = true;
	fpdu_build(engine, &fpdu);
	engine->counters->nudges_sent++;
	return true;
}

bool engine_response_build(struct iwarp_engine *engine)
{
	struct engine_irrq_entry *irrq = engine_irrq_next(engine);
	struct fpdu fpdu = {
		.header = header_of(RDMAP_READ_RESPONSE),
		.payload = irrq->mem ? irrq->mem + irrq->offset : NULL,
	};
	uint32_t ready = engine_irrq_ready(irrq);

	if (!payload_fit(engine, DDP_TAGGED_BYTES, ready, &fpdu.payload_bytes))
		return false;
	if (irrq->offset == 0 && ready < irrq->read.size_bytes)
		engine->counters->read_responses_late++;
	fpdu.header.tagged = true;
	fpdu.header.stag = irrq->read.sink_stag;
	fpdu.header.to = irrq->read.sink_to + irrq->offset;
	irrq->offset += fpdu.payload_bytes;
	fpdu.header.last = irrq->offset == irrq->read.size_bytes;
	fpdu_build(engine, &fpdu);
	engine->counters->read_bytes_sent += fpdu.payload_bytes;
	if (!fpdu.header.last)
		return true;
	engine->tx.response_last = true;
	irrq->end = engine->tx.built;
	engine->irrq_built++;
	return true;
}

/* Returns the header of the next segment, without its last flag. */
static struct ddp_header wr_header(struct iwarp_engine *engine)
{
	const struct engine_tx *tx = &engine->tx;
	struct ddp_header header;

	if (tx->wr->op == FABRIC_WRITE) {
		header = header_of(RDMAP_WRITE);
		header.tagged = true;
		header.stag = tx->wr->rkey;
		header.to = tx->wr->raddr + tx->offset;
		return header;
	}
	header = header_of(tx->wr->op == FABRIC_SEND_INV ? RDMAP_SEND_INV : RDMAP_SEND);
	header.stag = tx->wr->op == FABRIC_SEND_INV ? tx->wr->inv_rkey : 0;
	header.qn = DDP_QN_SEND;
	header.msn = engine->send_msn_tx;
	header.mo = (uint32_t)tx->offset;
	return header;
}

static void wr_begin(struct iwarp_engine *engine)
{
	struct engine_tx *tx = &engine->tx;

	tx->wr = TAILQ_FIRST(&engine->queue);
	tx->sge = 0;
	tx->sge_offset = 0;
	tx->offset = tx->total = 0;
	for (unsigned i = 0; i < tx->wr->nsge; i++)
		tx->total += tx->wr->sge[i].len_bytes;
}

bool engine_wr_build(struct iwarp_engine *engine)
{
	struct engine_tx *tx = &engine->tx;
	struct fabric_wr *wr;
	struct fpdu fpdu = {.payload = NULL};
	uint64_t left;

	if (!tx->wr)
		wr_begin(engine);
	wr = tx->wr;
	fpdu.header = wr_header(engine);
	left = tx->total - tx->offset;
	if (!payload_fit(engine, fpdu.header.tagged ? DDP_TAGGED_BYTES : DDP_UNTAGGED_BYTES, left,
			 &fpdu.payload_bytes))
		return false;
	fpdu.header.last = fpdu.payload_bytes == left;
	if (wr->op == FABRIC_WRITE)
		engine->counters->write_bytes_sent += fpdu.payload_bytes;
	fpdu_build(engine, &fpdu);
	if (!fpdu.header.last)
		return true;
	if (wr->op != FABRIC_WRITE)
		engine->send_msn_tx++;
	TAILQ_REMOVE(&engine->queue, wr, entry);
	TAILQ_INSERT_TAIL(&engine->built, wr, entry);
	wr->priv[0] = tx->built;
	tx->wr = NULL;
	tx->response_last = false;
	return true;
}
