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
 * anyway, or if it is exposed for RDMA Writes only and no Write has reached it yet: nobody uses its
 * content then. Between two such payloads there are fewer bytes than in any FPDU that causes a
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
struct under_way {
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
struct rest {
	uint8_t *mem;
	uint32_t left_bytes; /* predicted bytes, at most the space there */
};

void engine_plan_learn(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;

	if (rx->ddp.tagged) {
		rx_habit_tagged(&rx->habit, rx->payload_total, !rx->tagged_open, rx->ddp.last);
		return;
	}
	if (engine_rx_is_send(rx))
		rx_habit_send(&rx->habit, rx->send_have, rx->payload_total, rx->ddp.last);
	rx_habit_between(&rx->habit, rx->header_have + rx->payload_total + rx->trailer_need);
}

static struct under_way between_fpdus(const struct engine_rx *rx)
{
	return (struct under_way){
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

static struct under_way in_fpdu(const struct engine_rx *rx)
{
	bool goes_on = !rx->ddp.last;

	return (struct under_way){
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

/* Returns the distance to @behind_bytes after the current FPDU; 0 if that has been passed. */
static size_t as_far_as(const struct under_way *now, size_t behind_bytes)
{
	size_t end = now->left_bytes + behind_bytes;

	return end > now->have_bytes ? end - now->have_bytes : 0;
}

/* Returns the length of the current message's next header if its FPDUs are long, else 0. */
static size_t next_header_bytes(const struct rx_habit *habit, const struct under_way *now)
{
	if (habit->tagged_long && now->tagged)
		return NEXT_BYTES;
	if (habit->sends_long && now->send)
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
	const struct rx_habit *habit = &engine->rx.habit;

	if (engine->bulk <= 1 || habit->gap_bytes > MAX_GAP_BYTES || gap_bytes > habit->gap_bytes)
		return 0;
	return habit->gap_bytes - gap_bytes + NEXT_BYTES;
}

/*
 * Returns how far to read into staging. In a long message: up to the end of its next header, so
 * that the payload after it is received in place too. Little if such a message is likely to follow.
 * Otherwise as much as possible, to read many small messages by one call.
 */
static size_t tail_bytes(const struct iwarp_engine *engine, const struct under_way *now)
{
	const struct rx_habit *habit = &engine->rx.habit;
	size_t next, tail;

	if (!(habit->tagged_long || habit->sends_long))
		return IWARP_RX_STAGING_BYTES;
	next = next_header_bytes(habit, now);
	tail = next ? as_far_as(now, next) : 0;
	if (tail)
		return tail;
	next = now->tagged_open || habit->gap_have == habit->gap_bytes
		       ? 0
		       : next_message_end(engine, habit->gap_have);
	/* More of a header can have arrived than predicted: it is another header. */
	tail = next ? as_far_as(now, next) : 0;
	if (tail)
		return tail;
	return (habit->tagged_long && engine->bulk) || habit->sends_long ? TAIL_BYTES
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
		return rx->dest && (rx->habit.tagged_long || is_long);
	if (!engine_rx_is_send(rx) || rx->verdict != REASON_NONE ||
	    !(rx->habit.sends_long || is_long))
		return false;
	/* Without memory the payload goes through staging, where that ends the connection. */
	return rx->dest || engine_place_send(engine);
}

static bool write_rest(const struct iwarp_engine *engine, const struct under_way *now,
		       struct rest *rest)
{
	const struct fabric_key *key = iwarp_keys_find(&engine->keys, now->stag);
	uint32_t at;

	/* Memory that the peer can read must not be overwritten, nor data of an earlier Write. */
	if (!key || key->rights != FABRIC_REMOTE_WRITE || now->to < key->addr ||
	    now->to - key->addr >= key->len_bytes ||
	    now->to - key->addr < key->written.reached_bytes)
		return false;
	at = (uint32_t)(now->to - key->addr);
	rest->mem = key->mem + at;
	rest->left_bytes = rx_habit_rest(&engine->rx.habit, key->len_bytes - at);
	return true;
}

static bool response_rest(const struct iwarp_engine *engine, const struct under_way *now,
			  struct rest *rest)
{
	const struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_out);

	if (!wr || now->read_have >= wr->sge[0].len_bytes)
		return false;
	rest->mem = wr->sge[0].addr + now->read_have;
	rest->left_bytes = wr->sge[0].len_bytes - now->read_have;
	return true;
}

/* Returns true if a tagged message of long FPDUs continues, and sets @rest. */
static bool rest_find(const struct iwarp_engine *engine, const struct under_way *now,
		      struct rest *rest)
{
	if (!now->tagged || now->have_bytes > MPA_LENGTH_BYTES ||
	    engine->rx.verdict != REASON_NONE || !rx_habit_expects(&engine->rx.habit))
		return false;
	return now->opcode == RDMAP_WRITE ? write_rest(engine, now, rest)
					  : response_rest(engine, now, rest);
}

/*
 * Predicts the place of the next long message. Returns true if it has the last message's opcode,
 * the usual gap between messages has arrived, and no other key or Read comes before it.
 */
static bool next_guess(const struct iwarp_engine *engine, const struct under_way *now,
		       struct rest *rest)
{
	const struct engine_rx *rx = &engine->rx;
	const struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_out);
	const struct fabric_key *key = TAILQ_FIRST(&engine->awaiting);

	if (rx->stage != RX_HEADER || now->tagged || now->have_bytes > MPA_LENGTH_BYTES ||
	    !rx_habit_expects_next(&rx->habit))
		return false;
	if (now->opcode == RDMAP_READ_RESPONSE) {
		if (!wr || wr->sge[0].len_bytes < RX_BULK_BYTES)
			return false;
		*rest = (struct rest){wr->sge[0].addr, wr->sge[0].len_bytes};
		return true;
	}
	if (!key || !iwarp_keys_has(key))
		return false;
	*rest = (struct rest){key->mem, key->len_bytes};
	if (rest->left_bytes > rx->habit.message_bytes)
		rest->left_bytes = rx->habit.message_bytes;
	return true;
}

/* Returns how far to read after a message's last FPDU: to the next header, if predicted. */
static size_t gap_after(const struct iwarp_engine *engine)
{
	size_t end = next_message_end(engine, 0);

	return end ? end : MAX_GAP_BYTES;
}

/* Adds the end of the current FPDU, and the predicted FPDUs. */
static void image_expect(const struct iwarp_engine *engine, const struct under_way *now,
			 struct rest *rest, struct rx_image *image)
{
	const struct rx_habit *habit = &engine->rx.habit;
	unsigned holes = image->nholes + habit->holes_allowed;

	rx_image_glue(image, as_far_as(now, NEXT_BYTES));
	while (rest->left_bytes) {
		uint32_t step = habit->fpdu_payload;

		if (step > rest->left_bytes)
			step = rest->left_bytes;
		if (rx_image_staged(image) + step + RESERVED_BYTES > IWARP_RX_STAGING_BYTES)
			return;
		if (step < MIN_HOLE_BYTES)
			rx_image_glue(image, step);
		else if (image->nholes == holes || !rx_image_hole(image, rest->mem, step))
			return;
		rest->mem += step;
		rest->left_bytes -= step;
		rx_image_glue(image, (-(NEXT_BYTES + step) & 3) + MPA_CRC_BYTES +
					     (rest->left_bytes ? NEXT_BYTES : gap_after(engine)));
	}
}

static void image_make(struct iwarp_engine *engine, struct rx_image *image)
{
	struct engine_rx *rx = &engine->rx;
	struct under_way now = rx->stage == RX_HEADER ? between_fpdus(rx) : in_fpdu(rx);
	struct rest rest;

	if (is_direct(engine)) {
		rx_image_sure(image, rx->dest, rx->payload_left);
		now.left_bytes -= rx->payload_left;
	}
	rx->guessed = next_guess(engine, &now, &rest);
	if (rx->guessed || rest_find(engine, &now, &rest))
		image_expect(engine, &now, &rest, image);
	else
		rx_image_glue(image, tail_bytes(engine, &now));
}

unsigned iwarp_engine_rx_plan(struct iwarp_engine *engine, uint8_t *staging,
			      struct iovec iov[IWARP_RX_MAX_IOV])
{
	struct rx_image *image = &engine->env->image;

	rx_image_begin(image, staging);
	if (engine_up(engine))
		image_make(engine, image);
	else
		rx_image_glue(image, IWARP_RX_STAGING_BYTES);
	assert(rx_image_staged(image) <= IWARP_RX_STAGING_BYTES);
	return rx_image_iov(image, iov);
}
