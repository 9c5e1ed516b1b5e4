// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests two engines with events in random order, by seed: partial sends mixed with receives in
 * pieces, owners that post, close and abort inside of callbacks, and peers that change data in
 * transit. iwarp_sink.h checks everything that each engine sends against the documents. This test
 * checks that each posted work request completes exactly once, and that nothing is left.
 *
 * IWARP_RANDOM_SEEDS is the number of runs, IWARP_RANDOM_FIRST the first seed.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/iwarp_side.h"
#include "tests/unit/iwarp_sink.h"

#define SEEDS      3000u
#define PARTS      8u
#define MAX_POSTS  40u
#define MEM_BYTES  65536u
#define WIRE_BYTES (2u << 20)
#define QUIET_MAX  60u /* rounds in which nothing moves, before a run is over */

enum mischief { HONEST, RESTLESS, HOSTILE, MISCHIEFS };

struct post {
	struct fabric_wr wr;
	struct end *end;
	unsigned done;
	enum fabric_status status;
};

struct end {
	struct iwarp_side side;
	struct ear ear;
	struct end *peer;
	/*
	 * Memory that is being sent is never written: a CRC covers the bytes at the time of its
	 * computation.
	 */
	struct buf *source, *sink;
	struct fabric_key readable, writable, late;
	bool lent;
	struct post posts[MAX_POSTS];
	unsigned nposts, posts_max, sends_posted, sends_heard;
	uint32_t send_bytes[MAX_POSTS];
	uint8_t *wire; /* on its way to the peer */
	size_t wire_at, wire_end;
	bool eof; /* the peer was notified of the end */
};

static struct end ends[2];
static struct iwarp_random dice;
static enum mischief mischief;
static bool calm; /* the run comes to its end: owners do nothing more */

static uint32_t roll(uint32_t sides)
{
	return (uint32_t)(iwarp_random_next(&dice) % sides);
}

/* Sizes of every scale. */
static uint32_t roll_size(uint32_t max)
{
	return 1 + roll(1u << roll(17)) % max;
}

static void on_done(struct fabric_wr *wr, enum fabric_status status);
static void act(struct end *end);

/* What the n-th Send of an end is made of. */
static uint8_t *send_memory(struct end *end, unsigned n)
{
	return end->source->mem + n * 97;
}

static void aim(struct end *end, struct fabric_wr *wr)
{
	const struct fabric_key *key = wr->op == FABRIC_WRITE ? &end->peer->writable
				       : roll(2)              ? &end->peer->readable
							      : &end->peer->late;
	uint32_t len = roll_size(MEM_BYTES), at = roll(MEM_BYTES - len + 1);

	wr->nsge = 1;
	wr->sge[0].buf = wr->op == FABRIC_WRITE ? end->source : end->sink;
	wr->sge[0].addr = wr->sge[0].buf->mem + at;
	wr->sge[0].len_bytes = len;
	wr->rkey = key->rkey;
	wr->raddr = key->addr + roll(MEM_BYTES - len + 1);
}

static void fill_send(struct end *end, struct fabric_wr *wr)
{
	uint32_t len = roll_size(4096), first = roll(len + 1);
	uint8_t *mem = send_memory(end, end->sends_posted);

	wr->nsge = 2;
	wr->sge[0] = (struct fabric_sge){end->source, mem, first};
	wr->sge[1] = (struct fabric_sge){end->source, mem + first, len - first};
	end->send_bytes[end->sends_posted] = len;
}

static void post(struct end *end)
{
	static const enum fabric_wr_op ops[] = {FABRIC_SEND, FABRIC_SEND, FABRIC_WRITE, FABRIC_READ,
						FABRIC_READ};
	struct post *p = &end->posts[end->nposts];

	memset(p, 0, sizeof(*p));
	p->end = end;
	p->wr.op = ops[roll(sizeof(ops) / sizeof(ops[0]))];
	p->wr.done = on_done;
	if (p->wr.op == FABRIC_SEND)
		fill_send(end, &p->wr);
	else
		aim(end, &p->wr);
	if (iwarp_engine_post(end->side.engine, &p->wr))
		return;
	end->nposts++;
	if (p->wr.op == FABRIC_SEND)
		end->sends_posted++;
}

static void grow(struct end *end)
{
	uint32_t left = MEM_BYTES - end->late.ready_bytes, step = roll_size(MEM_BYTES);

	if (end->lent)
		end->late.ready_bytes += step < left ? step : left;
}

static void leave(struct end *end)
{
	if (roll(2))
		iwarp_engine_close(end->side.engine, end->side.now_us);
	else
		iwarp_engine_abort(end->side.engine, FABRIC_CLOSE_LOCAL, "closed");
}

/* Something that an owner may do at any moment, a callback included. */
static void act(struct end *end)
{
	if (calm || !end->lent || !end->peer->lent)
		return;
	if (mischief == RESTLESS && roll(120) == 0)
		leave(end);
	else if (end->nposts < end->posts_max && roll(3))
		post(end);
	else
		grow(end);
}

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct post *p = container_of(wr, struct post, wr);

	EAR_CHECK(p->done == 0);
	p->done++;
	p->status = status;
	act(p->end);
}

static void on_recv(struct iwarp_side *side)
{
	act(container_of(side, struct end, side));
}

static void on_unbound(struct fabric_key *key)
{
	EAR_CHECK(!"a key is given back while a Read of it is answered");
}

static void wire_put(struct end *end, const uint8_t *bytes, size_t len_bytes)
{
	EAR_CHECK(end->wire_end + len_bytes <= WIRE_BYTES);
	memcpy(end->wire + end->wire_end, bytes, len_bytes);
	end->wire_end += len_bytes;
}

/*
 * One bit of the header or of anything, its CRC made right or not; the frame twice or never;
 * rubbish.
 */
static void change(struct end *end, uint8_t *frame, size_t len_bytes)
{
	size_t range = roll(2) && len_bytes > 48 ? 48 : len_bytes;
	uint8_t rubbish[40];

	switch (roll(6)) {
	case 0:
	case 1:
	case 2:
		frame[roll((uint32_t)range)] ^= (uint8_t)(1u << roll(8));
		if (roll(4))
			ear_crc_fix(frame, len_bytes);
		break;
	case 3:
		wire_put(end, frame, len_bytes);
		break;
	case 4:
		return;
	default:
		for (size_t i = 0; i < sizeof(rubbish); i++)
			rubbish[i] = (uint8_t)roll(256);
		wire_put(end, rubbish, sizeof(rubbish));
		break;
	}
	wire_put(end, frame, len_bytes);
}

static void frame_heard(void *arg, uint8_t *frame, size_t len_bytes, bool is_fpdu)
{
	struct end *end = arg;

	if (mischief == HOSTILE && is_fpdu && roll(12) == 0)
		change(end, frame, len_bytes);
	else
		wire_put(end, frame, len_bytes);
}

static void send_heard(void *arg, const uint8_t *bytes, size_t len_bytes)
{
	struct end *end = arg;
	unsigned n = end->sends_heard++;

	EAR_CHECK(n < end->sends_posted);
	EAR_CHECK(len_bytes == end->send_bytes[n]);
	EAR_CHECK(memcmp(bytes, send_memory(end, n), len_bytes) == 0);
}

static void lend(struct end *end, struct fabric_key *key, struct buf *buf, unsigned rights,
		 uint32_t ready_bytes)
{
	*key = (struct fabric_key){
		.buf = buf,
		.mem = buf->mem,
		.len_bytes = MEM_BYTES,
		.ready_bytes = ready_bytes,
		.rights = rights,
		.unbound = on_unbound,
	};
	EAR_CHECK(iwarp_engine_key_bind(end->side.engine, key) == 0);
}

static void expose_all(struct end *end)
{
	if (end->lent || !end->side.established ||
	    iwarp_engine_action(end->side.engine) != IWARP_CONTINUE)
		return;
	lend(end, &end->readable, end->source, FABRIC_REMOTE_READ, MEM_BYTES);
	lend(end, &end->writable, end->sink, FABRIC_REMOTE_WRITE, MEM_BYTES);
	lend(end, &end->late, end->source, FABRIC_REMOTE_READ, roll(MEM_BYTES));
	end->lent = true;
}

static void begin_end(unsigned n, bool crc_here, bool crc)
{
	static const unsigned mss[] = {128, 536, 1428, 1448, 9001, 65483};
	struct iwarp_config config = {.crc = crc_here, .fpdu = (enum iwarp_fpdu)roll(3)};
	struct end *end = &ends[n];

	end->peer = &ends[1 - n];
	end->nposts = end->sends_posted = end->sends_heard = 0;
	end->posts_max = 1 + roll(MAX_POSTS);
	end->wire_at = end->wire_end = 0;
	end->eof = end->lent = false;
	side_init(&end->side, &config, iwarp_random_next(&dice));
	end->side.on_recv = on_recv;
	iwarp_engine_mss(end->side.engine, mss[roll(sizeof(mss) / sizeof(mss[0]))]);
	ear_init(&end->ear, crc, end);
	end->ear.frame_heard = frame_heard;
	end->ear.send_heard = send_heard;
	end->source = buf_get(end->side.pool, MEM_BYTES);
	end->sink = buf_get(end->side.pool, MEM_BYTES);
	EAR_CHECK(end->source && end->sink);
	side_fill(end->source->mem, MEM_BYTES, n + 1);
}

static bool is_gone(const struct end *end)
{
	return iwarp_engine_action(end->side.engine) == IWARP_DROP;
}

/* The socket takes some of what the engine plans; returns whether it took any. */
static bool send_some(struct end *end)
{
	static uint8_t bytes[WIRE_BYTES];
	size_t len;
	const struct iovec *iov;
	unsigned niov;
	size_t total = 0;

	if (is_gone(end))
		return false;
	niov = iwarp_engine_tx_plan(end->side.engine, &iov);
	for (unsigned i = 0; i < niov; i++) {
		EAR_CHECK(total + iov[i].iov_len <= sizeof(bytes));
		memcpy(bytes + total, iov[i].iov_base, iov[i].iov_len);
		total += iov[i].iov_len;
	}
	if (!total)
		return false;
	len = roll(3) ? roll_size(1u << 16) : total;
	if (len > total)
		len = total;
	ear_hear(&end->ear, bytes, len);
	iwarp_engine_tx_done(end->side.engine, len, end->side.now_us);
	return true;
}

/* The peer receives some of what is on its way, in pieces; or hears that no more comes. */
static bool give_some(struct end *end)
{
	struct end *to = end->peer;
	size_t len = end->wire_end - end->wire_at, want = roll_size(1u << 16), piece;

	if (is_gone(to))
		return false;
	if (!len) {
		if (end->eof || iwarp_engine_action(end->side.engine) == IWARP_CONTINUE)
			return false;
		end->eof = true;
		iwarp_engine_rx_eof(to->side.engine);
		return true;
	}
	if (len > want)
		len = want;
	for (piece = roll_size(1u << 16); len && !is_gone(to); len -= piece) {
		if (piece > len)
			piece = len;
		side_give(&to->side, end->wire + end->wire_at, piece, piece);
		end->wire_at += piece;
	}
	if (end->wire_at == end->wire_end)
		end->wire_at = end->wire_end = 0;
	return true;
}

static bool round_of(struct end *end)
{
	bool moved = false;

	expose_all(end);
	if (roll(2))
		act(end);
	for (unsigned n = roll(3); n; n--)
		moved |= send_some(end);
	for (unsigned n = roll(3); n; n--)
		moved |= give_some(end);
	return moved;
}

static void go_on(void)
{
	for (unsigned quiet = 0; quiet < QUIET_MAX;) {
		bool moved = round_of(&ends[0]);

		moved |= round_of(&ends[1]);
		quiet = moved ? 0 : quiet + 1;
	}
}

/* Where everybody was honest and nobody left, all is well. */
static void check_honest(const struct end *end)
{
	EAR_CHECK(end->nposts == end->posts_max);
	for (unsigned i = 0; i < end->nposts; i++) {
		EAR_CHECK(end->posts[i].done == 1);
		EAR_CHECK(end->posts[i].status == FABRIC_OK);
	}
	EAR_CHECK(end->peer->side.nsends == end->sends_posted);
	EAR_CHECK(end->ear.have == 0);
	EAR_CHECK(end->ear.count[EAR_TERMINATE] == 0);
	EAR_CHECK(end->ear.count[EAR_READ_REQUEST] == end->peer->ear.count[EAR_READ_RESPONSE]);
}

static void finish_end(struct end *end)
{
	/* An end that closes in order has sent whole frames. */
	if (iwarp_engine_action(end->side.engine) == IWARP_FIN)
		EAR_CHECK(end->ear.have == 0);
	while (!is_gone(end) && iwarp_engine_deadline(end->side.engine) != UINT64_MAX) {
		end->side.now_us = iwarp_engine_deadline(end->side.engine);
		iwarp_engine_expire(end->side.engine, end->side.now_us);
	}
	EAR_CHECK(is_gone(end));
	iwarp_engine_flush(end->side.engine);
	for (unsigned i = 0; i < end->nposts; i++)
		EAR_CHECK(end->posts[i].done == 1);
	if (end->lent) {
		EAR_CHECK(iwarp_engine_key_unbind(end->side.engine, &end->readable));
		EAR_CHECK(iwarp_engine_key_unbind(end->side.engine, &end->writable));
		EAR_CHECK(iwarp_engine_key_unbind(end->side.engine, &end->late));
	}
	EAR_CHECK(end->source->refs == 1 && end->sink->refs == 1);
	buf_put(end->source);
	buf_put(end->sink);
	side_fini(&end->side);
}

static void run(uint64_t seed)
{
	uint64_t seeds[4] = {seed, 11, 12, 13};
	bool crc_a, crc_b;

	ear_seed = seed;
	iwarp_random_seed(&dice, seeds);
	/* The first numbers of neighbouring seeds are much alike. */
	for (unsigned i = 0; i < 16; i++)
		(void)roll(2);
	mischief = roll(MISCHIEFS);
	calm = false;
	crc_a = roll(2);
	crc_b = roll(2);
	begin_end(0, crc_a, crc_a || crc_b);
	begin_end(1, crc_b, crc_a || crc_b);
	EAR_CHECK(iwarp_engine_connect(ends[0].side.engine, &ends[0].side.params, 0) == 0);
	iwarp_engine_await_request(ends[1].side.engine, 0);
	go_on();
	if (mischief == HONEST) {
		/* What was late comes, and what waited for it. */
		ends[0].late.ready_bytes = ends[1].late.ready_bytes = MEM_BYTES;
		go_on();
		check_honest(&ends[0]);
		check_honest(&ends[1]);
	}
	calm = true;
	iwarp_engine_close(ends[roll(2)].side.engine, ends[0].side.now_us);
	go_on();
	for (unsigned i = 0; i < 2; i++)
		iwarp_engine_close(ends[i].side.engine, ends[i].side.now_us);
	finish_end(&ends[0]);
	finish_end(&ends[1]);
}

static unsigned long setting(const char *name, unsigned long preset)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : preset;
}

START_TEST(random_events_in_random_order)
{
	unsigned long seeds = setting("IWARP_RANDOM_SEEDS", SEEDS);
	unsigned long first = setting("IWARP_RANDOM_FIRST", 1);

	for (unsigned i = 0; i < 2; i++)
		ends[i].wire = malloc(WIRE_BYTES);
	for (unsigned long i = (unsigned long)_i; i < seeds; i += PARTS)
		run(first + i);
	for (unsigned i = 0; i < 2; i++)
		free(ends[i].wire);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_random");
	TCase *tc = tcase_create("random");

	tcase_set_timeout(tc, 0);
	tcase_add_loop_test(tc, random_events_in_random_order, 0, PARTS);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
