// SPDX-License-Identifier: BSD-3-Clause
/*
 * Builds the readv vector: plans where to receive the next bytes.
 *
 * The payload of an FPDU whose header is known is received into its place. After it, the next FPDUs
 * of a long tagged message are predicted to be like the earlier ones (rx_predict.h), and their
 * payloads are received directly into the predicted place (rx_scatter.h). Between two messages, the
 * next message is predicted for the oldest Read or key whose data has not begun to arrive, because
 * peers mostly answer in order.
 *
 * Memory may be written on such a prediction only if the message being received will fill it
 * anyway, or if it is exposed for RDMA Writes only and no Write has reached it yet: its content is
 * not in use then. Between two such payloads there are fewer bytes than in any FPDU that causes a
 * callback to the owner, so no key is unbound while a prediction for it is pending.
 */
#include <assert.h>

#include "fabric/iwarp/engine_priv.h"

#define TAIL_BYTES     16384u /* read-ahead if long messages are likely to follow */
#define MIN_HOLE_BYTES 64u    /* a shorter last payload is copied instead */
#define MAX_GAP_BYTES  4096u  /* read-ahead between two long messages, up to the second's header */
#define NEXT_BYTES     (MPA_LENGTH_BYTES + DDP_TAGGED_BYTES)
#define TRAILER_BYTES  (MPA_MAX_PAD_BYTES + MPA_CRC_BYTES)
#define RESERVED_BYTES (TRAILER_BYTES + MAX_GAP_BYTES + NEXT_BYTES)

_Static_assert(TRAILER_BYTES + NEXT_BYTES <
		       MPA_CRC_BYTES + MPA_LENGTH_BYTES + DDP_UNTAGGED_BYTES + MPA_CRC_BYTES,
	       "between two holes no untagged FPDU ends");

/* Position in the stream: in an FPDU whose header has arrived, or in the header of the next one. */
struct rx_position {
	size_t left_bytes; /* rest of the current FPDU, except payload received in place */
	size_t have_bytes; /* received bytes of the next header */
	bool tagged_open;  /* a tagged message continues after the current FPDU */
	bool tagged;       /* and the current FPDU belongs to it, or there is none */
	/* The current FPDU, or the next one if there is none, continues a Send. */
	bool send;
	/* Expected in the next FPDU of the tagged message. */
	uint8_t opcode;
	uint32_t stag;
	uint64_t to;
	uint32_t read_have; /* received bytes of the oldest Read before that FPDU */
};

/* Predicted data: the rest of a tagged message after the current FPDU, or the next message. */
struct expected {
	uint8_t *mem;
	uint32_t left_bytes; /* predicted bytes, at most the space there */
};

void engine_rx_learn(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;

	if (rx->ddp.tagged) {
		rx_predict_tagged(&rx->predict, rx->payload_total, !rx->tagged_open, rx->ddp.last);
		return;
	}
	if (engine_rx_is_send(rx))
		rx_predict_send(&rx->predict, rx->send_have, rx->payload_total, rx->ddp.last);
	rx_predict_untagged(&rx->predict, rx->header_have + rx->payload_total + rx->trailer_need);
}

static struct rx_position position_between_fpdus(const struct engine_rx *rx)
{
	return (struct rx_position){
		.have_bytes = rx->header_have,
		.tagged_open = rx->tagged_open,
		.tagged = rx->tagged_open,
		.send = rx->send_have > 0,
		.opcode = rx->tagged_opcode,
		.stag = rx->tagged_stag,
		.to = rx->tagged_to,
		.read_have = rx->read_received,
	};
}

static struct rx_position position_in_fpdu(const struct engine_rx *rx)
{
	bool goes_on = !rx->ddp.last;

	return (struct rx_position){
		.left_bytes = rx->trailer_need - rx->trailer_have + rx->payload_left,
		.tagged_open = rx->ddp.tagged ? goes_on : rx->tagged_open,
		.tagged = rx->ddp.tagged && goes_on,
		.send = engine_rx_is_send(rx) && goes_on,
		.opcode = rx->ddp.opcode,
		.stag = rx->ddp.stag,
		.to = rx->ddp.to + rx->payload_total,
		.read_have = rx->read_received + rx->payload_total,
	};
}

/* Returns the distance to @after_bytes after the current FPDU; 0 if that has been passed. */
static size_t bytes_until(const struct rx_position *now, size_t after_bytes)
{
	size_t end = now->left_bytes + after_bytes;

	return end > now->have_bytes ? end - now->have_bytes : 0;
}

/* Returns the length of the current message's next header if its FPDUs are long, else 0. */
static size_t next_header_bytes(const struct rx_predict *predict, const struct rx_position *now)
{
	if (predict->tagged_long && now->tagged)
		return NEXT_BYTES;
	if (predict->sends_long && now->send)
		return MPA_LENGTH_BYTES + DDP_UNTAGGED_BYTES;
	return 0;
}

/*
 * Returns the distance from the current FPDU to the end of the next long message's header, when
 * @gap_bytes have arrived since the last message; 0: no such message is predicted, or it is too
 * far.
 */
static size_t next_message_end(const struct iwarp_engine *engine, uint32_t gap_bytes)
{
	const struct rx_predict *predict = &engine->rx.predict;

	if (engine->bulk <= 1 || predict->gap_bytes > MAX_GAP_BYTES ||
	    gap_bytes > predict->gap_bytes)
		return 0;
	return predict->gap_bytes - gap_bytes + NEXT_BYTES;
}

/*
 * Returns how far to read into staging. In a long message: up to the end of its next header, so
 * that the payload after it is received in place too. Little if such a message is likely to follow.
 * Otherwise as much as possible, to read many small messages by one call.
 */
static size_t tail_bytes(const struct iwarp_engine *engine, const struct rx_position *now)
{
	const struct rx_predict *predict = &engine->rx.predict;
	size_t next, tail;

	if (!(predict->tagged_long || predict->sends_long))
		return IWARP_RX_STAGING_BYTES;
	next = next_header_bytes(predict, now);
	tail = next ? bytes_until(now, next) : 0;
	if (tail)
		return tail;
	next = now->tagged_open || predict->gap_have == predict->gap_bytes
		       ? 0
		       : next_message_end(engine, predict->gap_have);
	/* More of a header can have arrived than predicted: it is another header. */
	tail = next ? bytes_until(now, next) : 0;
	if (tail)
		return tail;
	return (predict->tagged_long && engine->bulk) || predict->sends_long
		       ? TAIL_BYTES
		       : IWARP_RX_STAGING_BYTES;
}

/* Returns true if the next payload is received into its place. */
static bool is_direct(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;
	bool is_long = rx->payload_left >= RX_DIRECT_BYTES;

	if (rx->stage != RX_PAYLOAD)
		return false;
	if (rx->ddp.tagged)
		return rx->dest && (rx->predict.tagged_long || is_long);
	if (!engine_rx_is_send(rx) || rx->verdict != REASON_NONE ||
	    !(rx->predict.sends_long || is_long))
		return false;
	/* Without memory the payload goes through staging, where that ends the connection. */
	return rx->dest || engine_place_send(engine);
}

static bool write_expected(const struct iwarp_engine *engine, const struct rx_position *now,
			   struct expected *expected)
{
	const struct fabric_key *key = stag_table_find(&engine->keys, now->stag);
	uint32_t at;

	/* Memory that the peer can read must not be overwritten, nor data of an earlier Write. */
	if (!key || key->rights != FABRIC_REMOTE_WRITE || now->to < key->addr ||
	    now->to - key->addr >= key->len_bytes ||
	    now->to - key->addr < key->written.reached_bytes)
		return false;
	at = (uint32_t)(now->to - key->addr);
	expected->mem = key->mem + at;
	expected->left_bytes = rx_predict_rest(&engine->rx.predict, key->len_bytes - at);
	return true;
}

static bool response_expected(const struct iwarp_engine *engine, const struct rx_position *now,
			      struct expected *expected)
{
	const struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_out);

	if (!wr || now->read_have >= wr->sge[0].len_bytes)
		return false;
	expected->mem = wr->sge[0].addr + now->read_have;
	expected->left_bytes = wr->sge[0].len_bytes - now->read_have;
	return true;
}

/* Returns true if a tagged message of long FPDUs continues, and sets @rest. */
static bool expected_find(const struct iwarp_engine *engine, const struct rx_position *now,
			  struct expected *expected)
{
	if (!now->tagged || now->have_bytes > MPA_LENGTH_BYTES ||
	    engine->rx.verdict != REASON_NONE || !rx_predict_expects_more(&engine->rx.predict))
		return false;
	return now->opcode == RDMAP_WRITE ? write_expected(engine, now, expected)
					  : response_expected(engine, now, expected);
}

/*
 * Predicts the place of the next long message. Returns true if it has the last message's opcode,
 * the usual gap between messages has arrived, and no other key or Read comes before it.
 */
static bool next_message_predict(const struct iwarp_engine *engine, const struct rx_position *now,
				 struct expected *expected)
{
	const struct engine_rx *rx = &engine->rx;
	const struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_out);
	const struct fabric_key *key = TAILQ_FIRST(&engine->awaiting_write);

	if (rx->stage != RX_HEADER || now->tagged || now->have_bytes > MPA_LENGTH_BYTES ||
	    !rx_predict_expects_next(&rx->predict))
		return false;
	if (now->opcode == RDMAP_READ_RESPONSE) {
		if (!wr || wr->sge[0].len_bytes < RX_BULK_BYTES)
			return false;
		*expected = (struct expected){wr->sge[0].addr, wr->sge[0].len_bytes};
		return true;
	}
	if (!key || !stag_table_has(key))
		return false;
	*expected = (struct expected){key->mem, key->len_bytes};
	if (expected->left_bytes > rx->predict.message_bytes)
		expected->left_bytes = rx->predict.message_bytes;
	return true;
}

/* Returns how far to read after a message's last FPDU: to the next header, if predicted. */
static size_t gap_bytes_after(const struct iwarp_engine *engine)
{
	size_t end = next_message_end(engine, 0);

	return end ? end : MAX_GAP_BYTES;
}

/* Adds the end of the current FPDU, and the predicted FPDUs. */
static void scatter_expect(const struct iwarp_engine *engine, const struct rx_position *now,
			   struct expected *expected, struct rx_scatter *scatter)
{
	const struct rx_predict *predict = &engine->rx.predict;
	unsigned holes = scatter->nholes + predict->holes_allowed;

	rx_scatter_stage(scatter, bytes_until(now, NEXT_BYTES));
	while (expected->left_bytes) {
		uint32_t step = predict->fpdu_payload;

		if (step > expected->left_bytes)
			step = expected->left_bytes;
		if (rx_scatter_staged_bytes(scatter) + step + RESERVED_BYTES >
		    IWARP_RX_STAGING_BYTES)
			return;
		if (step < MIN_HOLE_BYTES)
			rx_scatter_stage(scatter, step);
		else if (scatter->nholes == holes || !rx_scatter_hole(scatter, expected->mem, step))
			return;
		expected->mem += step;
		expected->left_bytes -= step;
		rx_scatter_stage(scatter, (-(NEXT_BYTES + step) & 3) + MPA_CRC_BYTES +
						  (expected->left_bytes ? NEXT_BYTES
									: gap_bytes_after(engine)));
	}
}

static void scatter_make(struct iwarp_engine *engine, struct rx_scatter *scatter)
{
	struct engine_rx *rx = &engine->rx;
	struct rx_position now =
		rx->stage == RX_HEADER ? position_between_fpdus(rx) : position_in_fpdu(rx);
	struct expected expected;

	if (is_direct(engine)) {
		rx_scatter_known(scatter, rx->dest, rx->payload_left);
		now.left_bytes -= rx->payload_left;
	}
	rx->predicted = next_message_predict(engine, &now, &expected);
	if (rx->predicted || expected_find(engine, &now, &expected))
		scatter_expect(engine, &now, &expected, scatter);
	else
		rx_scatter_stage(scatter, tail_bytes(engine, &now));
}

unsigned iwarp_engine_rx_plan(struct iwarp_engine *engine, uint8_t *staging,
			      struct iovec iov[IWARP_RX_MAX_IOV])
{
	struct rx_scatter *scatter = &engine->env->scatter;

	rx_scatter_begin(scatter, staging);
	if (engine_up(engine))
		scatter_make(engine, scatter);
	else
		rx_scatter_stage(scatter, IWARP_RX_STAGING_BYTES);
	assert(rx_scatter_staged_bytes(scatter) <= IWARP_RX_STAGING_BYTES);
	return rx_scatter_iov(scatter, iov);
}
