// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where the next received bytes go, by what the peer has sent so far.
 *
 * The payload of an FPDU whose header is known goes where it belongs. Behind it the next FPDUs of a long tagged message are
 * expected to be as long as this one, to follow each other, and to be as many as the last such message had: their payloads
 * are received where they would belong then (rx_image.h). Between two messages the next is expected to go where none has
 * come yet that was asked for or lent for, the oldest first, as peers answer in order most of the time; one that does not
 * is not trusted with it for some messages.
 *
 * Memory may be written to on such a guess if the message under way will fill it anyway, or if it is lent for writing only,
 * and no RDMA Write has come so far into it: what is there means nothing to anybody yet. Between two such
 * payloads lies less than any FPDU has that is told to the owner, so nobody takes back memory while a guess about it is out.
 */
#include "fabric/iwarp/engine_priv.h"

#define TAIL_BYTES     16384u /* to read ahead when long messages are likely to follow */
#define MIN_HOLE_BYTES 64u    /* a last payload that is shorter is copied */
#define MAX_GAP_BYTES  4096u  /* between two long messages, to be read up to the second's header */
#define NEXT_BYTES     (MPA_LENGTH_BYTES + DDP_TAGGED_BYTES)
#define TRAILER_BYTES  (MPA_MAX_PAD_BYTES + MPA_CRC_BYTES)
#define RESERVED_BYTES (TRAILER_BYTES + MAX_GAP_BYTES + NEXT_BYTES)

_Static_assert(TRAILER_BYTES + NEXT_BYTES <
		       MPA_CRC_BYTES + MPA_LENGTH_BYTES + DDP_UNTAGGED_BYTES + MPA_CRC_BYTES,
	       "between two holes no untagged FPDU ends");

/* The rest of the tagged message under way, behind the FPDU under way; or all of the next. */
struct rest {
	uint8_t *mem;
	uint32_t left_bytes; /* as much is expected; more cannot come than there is room */
};

static bool send_opcode(const struct engine_rx *rx)
{
	return !rx->ddp.tagged && rx->ddp.qn == DDP_QN_SEND;
}

/* A short last FPDU says nothing of those that follow it. */
static void learn_length(struct engine_rx *rx)
{
	if (rx->payload_total >= ENGINE_DIRECT_BYTES) {
		rx->tagged_big = true;
		if (send_opcode(rx) && rx->send_have + rx->payload_total >= ENGINE_BULK_BYTES)
			rx->send_big = true;
	} else if (!rx->ddp.last) {
		if (rx->ddp.tagged)
			rx->tagged_big = false;
		else if (send_opcode(rx))
			rx->send_big = false;
	}
}

void engine_plan_learn(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;

	learn_length(rx);
	if (!rx->ddp.tagged) {
		rx->gap_have += rx->header_have + rx->payload_total + rx->trailer_need;
		return;
	}
	if (!rx->tagged_open) {
		rx->gap_bytes = rx->gap_have;
		rx->gap_have = 0;
		rx->message_have = 0;
		if (rx->doubts)
			rx->doubts--;
	}
	if (!rx->ddp.last || rx->fpdu_payload < rx->payload_total)
		rx->fpdu_payload = rx->payload_total;
	rx->message_have += rx->payload_total;
	if (rx->ddp.last && rx->message_have >= ENGINE_BULK_BYTES)
		rx->message_bytes = rx->message_have;
}

/* The same for a Send: how long the next header is of the message of long FPDUs that is under way; 0: there is none. */
static size_t next_header_bytes(const struct engine_rx *rx)
{
	bool between = rx->stage == RX_HEADER;

	if (rx->tagged_big && (between ? rx->tagged_open : rx->ddp.tagged && !rx->ddp.last))
		return MPA_LENGTH_BYTES + DDP_TAGGED_BYTES;
	if (rx->send_big && (between ? rx->send_have > 0 : send_opcode(rx) && !rx->ddp.last))
		return MPA_LENGTH_BYTES + DDP_UNTAGGED_BYTES;
	return 0;
}

/* What is left of the FPDU under way, but for payload that is received in place. */
static size_t fpdu_left(const struct engine_rx *rx)
{
	if (rx->stage == RX_HEADER)
		return 0;
	return rx->trailer_need - rx->trailer_have + (rx->direct_bytes ? 0 : rx->payload_left);
}

/*
 * How far the header of the next long message is, if one is likely to come and something else is expected before it that
 * came before the last one too; else 0.
 */
static size_t gap_left(const struct iwarp_engine *engine)
{
	const struct engine_rx *rx = &engine->rx;
	uint32_t gap = rx->gap_bytes;
	bool between = rx->stage == RX_HEADER;
	bool open = !between && rx->ddp.tagged ? !rx->ddp.last : rx->tagged_open;
	size_t here = between ? rx->header_have : 0, there;

	if (engine->bulk <= 1 || gap > MAX_GAP_BYTES || gap <= rx->gap_have || open)
		return 0;
	there = fpdu_left(rx) + gap - rx->gap_have + NEXT_BYTES;
	/* What has come of a header may be more than was expected up to there: it is another one. */
	return there > here ? there - here : 0;
}

/*
 * How far to read into staging: in a long message up to the end of its next header and no further, so that the
 * payload behind that is received in place too; little where such a message is likely to come; else as much as there
 * is, to have many small messages in one read.
 */
static size_t tail_bytes(const struct iwarp_engine *engine)
{
	const struct engine_rx *rx = &engine->rx;
	size_t next, gap;

	if (!engine_up(engine) || !(rx->tagged_big || rx->send_big))
		return IWARP_RX_STAGING_BYTES;
	next = next_header_bytes(rx);
	if (next && rx->stage == RX_HEADER && rx->header_have < next)
		return next - rx->header_have;
	if (next && rx->stage != RX_HEADER)
		return fpdu_left(rx) + next;
	gap = gap_left(engine);
	if (gap)
		return gap;
	return (rx->tagged_big && engine->bulk) || rx->send_big ? TAIL_BYTES
								: IWARP_RX_STAGING_BYTES;
}

/* Whether the payload that comes next is received where it belongs. */
static bool is_direct(struct iwarp_engine *engine)
{
	struct engine_rx *rx = &engine->rx;
	bool is_long = rx->payload_left >= ENGINE_DIRECT_BYTES;

	if (!engine_up(engine) || rx->stage != RX_PAYLOAD)
		return false;
	if (rx->ddp.tagged)
		return rx->dest && (rx->tagged_big || is_long);
	if (!send_opcode(rx) || rx->verdict != REASON_NONE || !(rx->send_big || is_long))
		return false;
	/* Without memory it goes on through staging, where that ends the connection. */
	return rx->dest || engine_place_send(engine);
}

static bool write_rest(const struct iwarp_engine *engine, struct rest *rest)
{
	const struct engine_rx *rx = &engine->rx;
	bool between = rx->stage == RX_HEADER;
	const struct fabric_key *key =
		between ? iwarp_keys_find(&engine->keys, rx->tagged_stag) : rx->key;
	uint64_t to = between ? rx->tagged_to : rx->ddp.to + rx->payload_total;
	uint32_t at;

	/* What can be read is not free, nor what an earlier Write has brought. */
	if (!key || key->rights != FABRIC_REMOTE_WRITE || to < key->addr ||
	    to - key->addr >= key->len_bytes || to - key->addr < key->reached_bytes)
		return false;
	at = (uint32_t)(to - key->addr);
	rest->mem = key->mem + at;
	rest->left_bytes = key->len_bytes - at;
	if (rx->message_bytes > rx->message_have &&
	    rx->message_bytes - rx->message_have < rest->left_bytes)
		rest->left_bytes = rx->message_bytes - rx->message_have;
	return true;
}

static bool response_rest(const struct iwarp_engine *engine, struct rest *rest)
{
	const struct engine_rx *rx = &engine->rx;
	const struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_out);
	uint32_t have = rx->read_received + (rx->stage == RX_HEADER ? 0 : rx->payload_total);

	if (!wr || have >= wr->sge[0].len_bytes)
		return false;
	rest->mem = wr->sge[0].addr + have;
	rest->left_bytes = wr->sge[0].len_bytes - have;
	return true;
}

/* Whether a tagged message of long FPDUs goes on, and with what. */
static bool rest_find(const struct iwarp_engine *engine, struct rest *rest)
{
	const struct engine_rx *rx = &engine->rx;
	bool between = rx->stage == RX_HEADER;
	unsigned opcode = between ? rx->tagged_opcode : rx->ddp.opcode;

	if (!engine_up(engine) || rx->verdict != REASON_NONE || !rx->tagged_big ||
	    rx->fpdu_payload < ENGINE_DIRECT_BYTES)
		return false;
	if (between ? !rx->tagged_open || rx->header_have > MPA_LENGTH_BYTES
		    : !rx->ddp.tagged || rx->ddp.last)
		return false;
	return opcode == RDMAP_WRITE ? write_rest(engine, rest) : response_rest(engine, rest);
}

/* How far to read behind the last FPDU of a message: up to the header of the next, if that is likely to come. */
static size_t gap_after(const struct iwarp_engine *engine)
{
	const struct engine_rx *rx = &engine->rx;

	if (engine->bulk > 1 && rx->gap_bytes <= MAX_GAP_BYTES)
		return rx->gap_bytes + NEXT_BYTES;
	return MAX_GAP_BYTES;
}

/*
 * Where the next long message goes, if it is of the kind of the last one, what came between the last two has come, and no
 * other was lent for or asked for before it.
 */
static bool next_guess(const struct iwarp_engine *engine, struct rest *rest)
{
	const struct engine_rx *rx = &engine->rx;
	const struct fabric_wr *wr = TAILQ_FIRST(&engine->reads_out);
	const struct fabric_key *key = TAILQ_FIRST(&engine->awaiting);

	if (!engine_up(engine) || rx->stage != RX_HEADER || rx->tagged_open || rx->doubts ||
	    rx->header_have > MPA_LENGTH_BYTES || rx->fpdu_payload < ENGINE_DIRECT_BYTES ||
	    !rx->tagged_big || !rx->message_bytes || rx->gap_have < rx->gap_bytes)
		return false;
	if (rx->tagged_opcode == RDMAP_READ_RESPONSE) {
		if (!wr || wr->sge[0].len_bytes < ENGINE_BULK_BYTES)
			return false;
		*rest = (struct rest){wr->sge[0].addr, wr->sge[0].len_bytes};
		return true;
	}
	if (!key || !iwarp_keys_has(key))
		return false;
	*rest = (struct rest){key->mem, key->len_bytes};
	if (rest->left_bytes > rx->message_bytes)
		rest->left_bytes = rx->message_bytes;
	return true;
}

/* The image of what follows: the end of this FPDU, and those expected behind it. */
static void image_make(const struct iwarp_engine *engine, struct rest *rest, struct rx_image *image)
{
	const struct engine_rx *rx = &engine->rx;

	rx_image_glue(image,
		      fpdu_left(rx) + NEXT_BYTES - (rx->stage == RX_HEADER ? rx->header_have : 0));
	while (rest->left_bytes) {
		uint32_t step = rx->fpdu_payload;

		if (step > rest->left_bytes)
			step = rest->left_bytes;
		if (image->end + step + RESERVED_BYTES > IWARP_RX_STAGING_BYTES)
			return;
		if (step < MIN_HOLE_BYTES)
			rx_image_glue(image, step);
		else if (image->nholes > rx->hits || !rx_image_hole(image, rest->mem, step))
			return;
		rest->mem += step;
		rest->left_bytes -= step;
		rx_image_glue(image, (-(NEXT_BYTES + step) & 3) + MPA_CRC_BYTES +
					     (rest->left_bytes ? NEXT_BYTES : gap_after(engine)));
	}
}

unsigned iwarp_engine_rx_plan(struct iwarp_engine *engine, uint8_t *staging,
			      struct iovec iov[IWARP_RX_MAX_IOV])
{
	struct engine_rx *rx = &engine->rx;
	struct rx_image *image = &engine->env->image;
	struct rest rest;
	unsigned n = 0;

	rx->direct_bytes = 0;
	if (is_direct(engine)) {
		rx->direct_bytes = rx->payload_left;
		iov[n].iov_base = rx->dest;
		iov[n++].iov_len = rx->direct_bytes;
	}
	rx_image_begin(image, staging);
	rx->guessed = next_guess(engine, &rest);
	if (rx->guessed || rest_find(engine, &rest))
		image_make(engine, &rest, image);
	else
		rx_image_glue(image, tail_bytes(engine));
	return n + rx_image_iov(image, iov + n);
}
