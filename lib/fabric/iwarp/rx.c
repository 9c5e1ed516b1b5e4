// SPDX-License-Identifier: BSD-3-Clause
/*
 * Parses the stream of received FPDUs.
 *
 * An error found in a header is acted on only after the whole FPDU has arrived and its CRC is
 * right: a header with a flipped bit is a CRC error, not a protection error. Payload may be placed
 * before that, where the header says and its key allows. If the CRC is wrong then, the connection
 * ends, with every RPC that could have read the payload.
 */
#include <string.h>

#include "base/be_bytes.h"
#include "base/crc32c.h"
#include "base/proto_sniff.h"
#include "fabric/iwarp/engine_priv.h"

static void fpdu_restart(struct engine_rx *rx)
{
	rx->stage = RX_HEADER;
	rx->verdict = REASON_NONE;
	rx->header_have = 0;
	rx->header_need = MPA_LENGTH_BYTES;
	rx->trailer_have = 0;
	rx->dest = NULL;
	rx->in_place = NULL;
	rx->key = NULL;
}

/*
 * Returns true for a PROXY header (of either version) instead of an FPDU, which would be an FPDU of
 * an unknown version. No CRC follows it.
 */
static bool is_proxy_header(const struct iwarp_engine *engine)
{
	const struct engine_rx *rx = &engine->rx;

	return !engine->initiator &&
	       proto_sniff_detect(rx->header, rx->header_have) == PROTO_SNIFF_PROXY;
}

static void drop_proxy_header(struct iwarp_engine *engine)
{
	engine_drop(engine, FABRIC_CLOSE_PROXY_HEADER, "in the middle of the stream");
}

/* The headers are complete, or as complete as the FPDU's length allows. */
static void header_end(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;
	uint32_t ulpdu = be16_get(rx->header);

	rx->payload_total = ulpdu - (rx->header_have - MPA_LENGTH_BYTES);
	rx->payload_left = rx->payload_total;
	rx->trailer_need = (-(MPA_LENGTH_BYTES + ulpdu) & 3) + MPA_CRC_BYTES;
	if (engine->crc)
		rx->crc = crc32c_add(CRC32C_START, rx->header, rx->header_have);
	engine_place_header(engine);
	if (rx->verdict != REASON_NONE && is_proxy_header(engine)) {
		drop_proxy_header(engine);
		return;
	}
	engine_rx_learn(engine);
	rx->stage = rx->payload_left ? RX_PAYLOAD : RX_TRAILER;
}

/* Returns the length of the headers, or the minimum if @have_bytes do not determine it. */
static unsigned header_bytes(const uint8_t *bytes, size_t have_bytes)
{
	uint32_t ulpdu;
	size_t need;

	if (have_bytes < MPA_LENGTH_BYTES)
		return MPA_LENGTH_BYTES;
	ulpdu = be16_get(bytes);
	if (ulpdu < DDP_CONTROL_BYTES)
		return MPA_LENGTH_BYTES;
	if (have_bytes < MPA_LENGTH_BYTES + DDP_CONTROL_BYTES)
		return MPA_LENGTH_BYTES + DDP_CONTROL_BYTES;
	need = ddp_header_bytes(bytes + MPA_LENGTH_BYTES);
	return MPA_LENGTH_BYTES + (unsigned)(ulpdu < need ? DDP_CONTROL_BYTES : need);
}

static void header_decode(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;

	if (rx->header_have >= MPA_LENGTH_BYTES + DDP_TAGGED_BYTES) {
		ddp_header_decode(rx->header + MPA_LENGTH_BYTES, &rx->ddp);
	} else {
		/* Too short for its headers; a zero-length RTR FPDU is valid. */
		memset(&rx->ddp, 0, sizeof(rx->ddp));
		if (be16_get(rx->header) > 0 || !engine->rtr_send)
			rx->verdict = REASON_FPDU;
	}
	header_end(engine);
}

static size_t header_consume(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes)
{
	struct engine_rx *rx = &engine->rx;
	size_t step;

	/* Nearly always the headers are complete. */
	if (rx->header_have == 0)
		rx->header_need = header_bytes(bytes, len_bytes);
	step = rx->header_need - rx->header_have;
	if (step > len_bytes)
		step = len_bytes;
	memcpy(rx->header + rx->header_have, bytes, step);
	rx->header_have += (unsigned)step;
	if (rx->header_have < rx->header_need) {
		if (is_proxy_header(engine))
			drop_proxy_header(engine);
		return step;
	}
	rx->header_need = header_bytes(rx->header, rx->header_have);
	if (rx->header_have == rx->header_need)
		header_decode(engine);
	return step;
}

/* Counts @len_bytes of payload that have been placed or discarded. */
static void payload_advance(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes)
{
	struct engine_rx *rx = &engine->rx;

	if (engine->crc)
		rx->crc = crc32c_add(rx->crc, bytes, len_bytes);
	if (rx->dest)
		rx->dest += len_bytes;
	rx->payload_left -= (uint32_t)len_bytes;
	if (rx->payload_left == 0)
		rx->stage = RX_TRAILER;
}

static size_t payload_consume(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes)
{
	struct engine_rx *rx = &engine->rx;
	size_t step = rx->payload_left;

	if (rx->verdict == REASON_NONE && engine_rx_is_send(rx) && !rx->dest) {
		/* A complete Send is delivered from the staging memory. */
		if (rx->ddp.last && rx->ddp.mo == 0 && rx->payload_left == rx->payload_total &&
		    len_bytes >= rx->payload_left + rx->trailer_need) {
			rx->in_place = bytes;
		} else if (!rx->in_place && !engine_place_send(engine)) {
			engine_drop(engine, FABRIC_CLOSE_RESOURCES, "no memory for a Send");
			return len_bytes;
		}
	}
	if (step > len_bytes)
		step = len_bytes;
	if (rx->dest) {
		memcpy(rx->dest, bytes, step);
		engine->counters->payload_bytes_copied += step;
		payload_advance(engine, rx->dest, step);
	} else {
		payload_advance(engine, bytes, step);
	}
	return step;
}

static bool crc_ok(struct iwarp_engine *engine)
{
	const struct engine_rx *rx = &engine->rx;
	size_t pad = rx->trailer_need - MPA_CRC_BYTES;
	uint8_t crc[MPA_CRC_BYTES];

	if (!engine->crc)
		return true;
	engine->counters->crc_checked++;
	mpa_crc_store(crc32c_add(rx->crc, rx->trailer, pad), crc);
	if (memcmp(crc, rx->trailer + pad, MPA_CRC_BYTES) == 0)
		return true;
	engine->counters->crc_bad++;
	return false;
}

static void fpdu_end(struct iwarp_engine *engine, uint64_t now_us)
{
	struct engine_rx *rx = &engine->rx;
	enum terminate_reason reason = rx->verdict;

	engine->counters->fpdus_received++;
	engine->tx.await_first_fpdu = false;
	if (!crc_ok(engine))
		reason = REASON_CRC;
	else if (reason == REASON_NONE && rx->header_have > MPA_LENGTH_BYTES)
		reason = engine_place_commit(engine, now_us);
	engine->rtr_send = false;
	if (reason != REASON_NONE)
		engine_terminate(engine, reason, now_us);
	fpdu_restart(rx);
}

static size_t trailer_consume(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes,
			      uint64_t now_us)
{
	struct engine_rx *rx = &engine->rx;
	size_t step = rx->trailer_need - rx->trailer_have;

	if (step > len_bytes)
		step = len_bytes;
	memcpy(rx->trailer + rx->trailer_have, bytes, step);
	rx->trailer_have += (unsigned)step;
	if (rx->trailer_have == rx->trailer_need)
		fpdu_end(engine, now_us);
	return step;
}

static void stream_consume(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes,
			   uint64_t now_us)
{
	/* A callback or an error can end the connection: discard the remaining bytes then. */
	while (len_bytes > 0 && engine->state < ENGINE_LAST_FRAME) {
		size_t used = 0;

		if (!engine_up(engine)) {
			used = engine_handshake_rx(engine, bytes, len_bytes, now_us);
		} else {
			engine->rx_any = true;
			engine->nudge_deadline = UINT64_MAX;
			switch (engine->rx.stage) {
			case RX_HEADER:
				used = header_consume(engine, bytes, len_bytes);
				break;
			case RX_PAYLOAD:
				used = payload_consume(engine, bytes, len_bytes);
				break;
			case RX_TRAILER:
				used = trailer_consume(engine, bytes, len_bytes, now_us);
				break;
			}
		}
		bytes += used;
		len_bytes -= used;
	}
}

/*
 * Checks whether the payload predicted for the next hole has arrived. If not, it copies received
 * bytes back into staging before anything else. Returns how many bytes it consumed.
 */
static size_t hole_consume(struct iwarp_engine *engine, size_t have_bytes)
{
	struct engine_rx *rx = &engine->rx;
	struct rx_scatter *scatter = &engine->env->scatter;
	const struct rx_hole *hole = rx_scatter_next_hole(scatter);
	size_t step = have_bytes - hole->at;

	if (step > hole->len_bytes)
		step = hole->len_bytes;
	if (rx->stage != RX_PAYLOAD || rx->dest != hole->mem)
		step = 0;
	else if (step > rx->payload_left)
		step = rx->payload_left;
	if (step && rx->payload_left == hole->len_bytes) {
		rx_scatter_pass_hole(scatter);
		if (!rx_scatter_is_known(scatter, hole)) {
			rx->predicted = false;
			rx_predict_hit(&rx->predict);
		}
	} else {
		/* A message shorter than predicted does not change the length of FPDUs. */
		if (!step || !rx->ddp.last)
			rx_predict_miss(&rx->predict, !step && rx->predicted);
		engine->counters->payload_bytes_copied +=
			rx_scatter_copy_back(scatter, hole->at + step, have_bytes);
	}
	if (step)
		payload_advance(engine, rx->dest, step);
	return step;
}

static void scatter_consume(struct iwarp_engine *engine, size_t have_bytes, uint64_t now_us)
{
	const struct rx_scatter *scatter = &engine->env->scatter;
	size_t at = 0;

	while (at < have_bytes && engine->state < ENGINE_LAST_FRAME) {
		size_t end = rx_scatter_contiguous(scatter, have_bytes);

		if (end > at)
			stream_consume(engine, rx_scatter_staging_at(scatter, at), end - at,
				       now_us);
		at = end;
		if (at < have_bytes && engine->state < ENGINE_LAST_FRAME)
			at += hole_consume(engine, have_bytes);
	}
}

void iwarp_engine_rx_done(struct iwarp_engine *engine, size_t len_bytes, uint64_t now_us)
{
	engine->counters->bytes_received += len_bytes;
	engine_keepalive_received(engine, now_us);
	scatter_consume(engine, len_bytes, now_us);
}
