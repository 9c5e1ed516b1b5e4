// SPDX-License-Identifier: BSD-3-Clause
/* Transport characteristics: what each operation leads to, as a peer's hand sees it. */
#include <string.h>

#include "base/compiler.h"
#include "rpcrdma/characteristics.h"
#include "tests/lib/test.h"

#define BIG 16384u

static struct characteristics ch;
static struct characteristics_look look;
static struct characteristics_config config;
static struct characteristics_message message; /* of the last step */
static struct xchar_operation sent;            /* the same, decoded */
static uint32_t resize_bytes;                  /* of the last step */
static uint32_t own_xid;                       /* of the last message that has no other */
static uint8_t info[300000];

static void start(bool connector)
{
	config.connector = connector;
	characteristics_init(&ch, &config);
}

static void setup(void)
{
	config = (struct characteristics_config){
		.enabled = true,
		.recv_bytes = 4096,
		.receive_max_bytes = 65536,
		.send_max_bytes = 65536,
		.invalidate = true,
		.reverse = XCHAR_BRS_SZLIM,
	};
	look = (struct characteristics_look){
		.smallest_bytes = UINT32_MAX, .may_ask = true, .may_tell = true};
	own_xid = 1000;
	start(false);
}

/* What comes. */

static unsigned take(enum xchar_op op, uint32_t xid, size_t len)
{
	unsigned what = ~0u;

	ck_assert_uint_ne(len, 0);
	ck_assert_int_eq(characteristics_take(&ch, xid, op, info, len, &what), XCHAR_OK);
	return what;
}

static unsigned take_init(uint32_t xid, const struct xchar_value *values, unsigned count,
			  uint32_t nochg)
{
	return take(XCHAR_INIT, xid, xchar_encode_init(info, sizeof(info), values, count, nochg));
}

static unsigned take_req(uint32_t xid, const struct xchar_value *values, unsigned count)
{
	return take(XCHAR_REQ, xid, xchar_encode_req(info, sizeof(info), values, count));
}

static unsigned take_req_size(uint32_t xid, uint32_t bytes)
{
	const struct xchar_value size = {XCHAR_RBSIZ, true, bytes};

	return take_req(xid, &size, 1);
}

static unsigned take_upd(uint32_t id, uint32_t value, bool pendclr)
{
	const struct xchar_value values = {id, true, value};

	return take(XCHAR_UPD, 55, xchar_encode_upd(info, sizeof(info), &values, pendclr));
}

/* A RESP whose subsets have one word each. */
static unsigned take_resp(uint32_t xid, uint8_t done, uint8_t rej, uint8_t pend)
{
	const uint8_t words[] = {0, 0, 0, 1,   0, 0, 0, done, 0, 0, 0, 1,
				 0, 0, 0, rej, 0, 0, 0, 1,    0, 0, 0, pend};

	memcpy(info, words, sizeof(words));
	return take(XCHAR_RESP, xid, sizeof(words));
}

/* What is due. */

/* What does not matter of the look changes nothing. */
static enum characteristics_step next(void)
{
	struct characteristics_look seen = look;
	enum characteristics_step step;

	if (look.counted_bytes <= characteristics_counts_over(&ch))
		seen.counted_bytes = 0;
	if (look.needed_bytes <= characteristics_needs_over(&ch))
		seen.needed_bytes = 0;
	step = characteristics_next(&ch, &seen, &message, &resize_bytes);
	ck_assert_int_eq(characteristics_next(&ch, &look, &message, &resize_bytes), step);
	return step;
}

static void nothing(void)
{
	ck_assert_int_eq(next(), CHARACTERISTICS_NOTHING);
}

/* A message, decoded; asked for twice, since a step stays due until it is done. */
static void sends(enum xchar_op op)
{
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(next(), CHARACTERISTICS_SEND);
		ck_assert_int_eq(message.op, op);
		ck_assert_int_eq(xchar_decode(op, message.info, message.info_bytes, &sent),
				 XCHAR_OK);
	}
	if (!message.answers)
		own_xid++;
}

static void done(void)
{
	characteristics_sent(&ch, message.answers ? message.xid : own_xid);
}

/* Receives of another size, which are all there at once unless a test says otherwise. */
static void resizes(uint32_t bytes, bool granted)
{
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(next(), CHARACTERISTICS_RESIZE);
		ck_assert_uint_eq(resize_bytes, bytes);
	}
	characteristics_resized(&ch, granted);
	ck_assert_int_eq(ch.posted_bytes == bytes, granted);
}

/* A RESP to the REQ @xid whose element @n is in @set alone. */
static void responds(uint32_t xid, uint32_t n, enum xchar_set set)
{
	sends(XCHAR_RESP);
	ck_assert(message.answers);
	ck_assert_uint_eq(message.xid, xid);
	for (unsigned i = 0; i < XCHAR_SETS; i++)
		ck_assert_int_eq(xchar_subset_has(&sent.sets[i], n), i == set);
}

static void tells(uint32_t bytes, bool pendclr)
{
	struct xchar_value value;

	sends(XCHAR_UPD);
	ck_assert(!message.answers);
	ck_assert(xchar_next(&sent.spec, &value));
	ck_assert_uint_eq(value.id, XCHAR_RBSIZ);
	ck_assert_uint_eq(value.value, bytes);
	ck_assert_int_eq(sent.pendclr, pendclr);
	done();
	nothing();
}

static void asks(uint32_t bytes)
{
	struct xchar_value value;

	sends(XCHAR_REQ);
	ck_assert(!message.answers);
	ck_assert(xchar_next(&sent.spec, &value));
	ck_assert(!xchar_next(&sent.spec, &value));
	ck_assert_uint_eq(value.id, XCHAR_RBSIZ);
	ck_assert_uint_eq(value.value, bytes);
	done();
	nothing();
}

/* The values of an INIT are those that are configured; the receive size alone may change. */
static void holds_all(const struct xchar_operation *init, uint32_t recv_bytes)
{
	struct xchar_spec spec = init->spec;
	struct xchar_value value;
	uint32_t values[XCHAR_ID_MAX + 1] = {0};

	ck_assert_uint_eq(spec.left, 3);
	for (uint32_t n = 0; xchar_next(&spec, &value); n++) {
		ck_assert(value.known);
		values[value.id] = value.value;
		ck_assert_int_eq(xchar_subset_has(&init->nochg, n), value.id != XCHAR_RBSIZ);
	}
	ck_assert_uint_eq(values[XCHAR_RBSIZ], recv_bytes);
	ck_assert_uint_eq(values[XCHAR_RQREMINV], config.invalidate);
	ck_assert_uint_eq(values[XCHAR_BRS], config.reverse);
}

/* An acceptor that has answered an INIT with @recv_bytes; 0: with nothing. */
static void greeted(uint32_t recv_bytes)
{
	const struct xchar_value size = {XCHAR_RBSIZ, true, recv_bytes};

	ck_assert_uint_eq(take_init(7, &size, recv_bytes ? 1 : 0, 0), 0);
	sends(XCHAR_INIT);
	done();
	nothing();
}

/* The same whose receives were raised to @bytes. */
static void raised(uint32_t bytes)
{
	greeted(BIG);
	ck_assert_uint_eq(take_req_size(8, bytes), 0);
	resizes(bytes, true);
	responds(8, 0, XCHAR_DONE);
	done();
	nothing();
	look.smallest_bytes = bytes;
}

/* INIT */

START_TEST(a_connector_begins_with_all_that_it_is)
{
	config.recv_bytes = 8192;
	start(true);
	characteristics_hello(&ch, &message);
	ck_assert_int_eq(message.op, XCHAR_INIT);
	ck_assert(!message.answers);
	ck_assert_uint_le(message.info_bytes, 1024 - 24);
	ck_assert_int_eq(xchar_decode(XCHAR_INIT, message.info, message.info_bytes, &sent),
			 XCHAR_OK);
	holds_all(&sent, 8192);
	/* As sent, whether the caller says so or not. */
	characteristics_sent(&ch, 1);
	nothing();
	ck_assert_uint_eq(take_init(1, NULL, 0, 0), 0);
	nothing();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 8192);
}
END_TEST

START_TEST(an_acceptor_answers_the_first_init_alone)
{
	ck_assert_uint_eq(take_init(77, NULL, 0, 0), 0);
	sends(XCHAR_INIT);
	ck_assert(message.answers);
	ck_assert_uint_eq(message.xid, 77);
	holds_all(&sent, 4096);
	done();
	nothing();
	ck_assert_uint_eq(take_init(78, NULL, 0, 0), 0);
	nothing();
}
END_TEST

START_TEST(an_end_without_characteristics_says_and_knows_nothing)
{
	unsigned what;

	config.enabled = false;
	start(true);
	characteristics_hello(&ch, &message);
	ck_assert_int_eq(xchar_decode(XCHAR_INIT, message.info, message.info_bytes, &sent),
			 XCHAR_OK);
	ck_assert_uint_eq(sent.spec.left, 0);
	for (uint32_t op = 0; op < 6; op++)
		ck_assert_int_eq(characteristics_take(&ch, 1, op, info, 0, &what),
				 XCHAR_UNKNOWN_OP);
	ck_assert(!ch.peer_knows);
	characteristics_ask(&ch, BIG);
	characteristics_raise(&ch, BIG);
	nothing();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 8192), 4096);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 8192), 8192);
}
END_TEST

START_TEST(an_acceptor_without_an_init_sends_nothing_of_its_own)
{
	characteristics_ask(&ch, BIG);
	characteristics_raise(&ch, BIG);
	nothing();
	/* Not after other operations either, which it answers. */
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 8192, false), 0);
	characteristics_ask(&ch, BIG);
	characteristics_raise(&ch, BIG);
	nothing();
	ck_assert_uint_eq(take_req_size(9, 8192), 0);
	resizes(8192, true);
	responds(9, 0, XCHAR_DONE);
	done();
	nothing();
	/* And then its INIT tells what holds. */
	ck_assert_uint_eq(take_init(77, NULL, 0, 0), 0);
	sends(XCHAR_INIT);
	holds_all(&sent, 8192);
}
END_TEST

START_TEST(a_connector_asks_nothing_of_a_peer_that_does_not_know)
{
	start(true);
	characteristics_hello(&ch, &message);
	characteristics_ask(&ch, BIG);
	characteristics_raise(&ch, BIG);
	nothing();
}
END_TEST

START_TEST(another_init_updates_each_value)
{
	const struct xchar_value first[] = {{XCHAR_RBSIZ, true, BIG}, {XCHAR_RQREMINV, true, 1}};
	const struct xchar_value second[] = {{XCHAR_BRS, true, XCHAR_BRS_GENL},
					     {XCHAR_RBSIZ, true, 32768}};

	ck_assert(!characteristics_may_invalidate(&ch));
	ck_assert_int_eq(characteristics_peer_reverse(&ch), XCHAR_BRS_UNKNOWN);
	ck_assert_uint_eq(take_init(1, first, 2, 0), 0);
	sends(XCHAR_INIT);
	done();
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 4096), BIG);
	ck_assert(characteristics_may_invalidate(&ch));
	ck_assert_int_eq(characteristics_peer_reverse(&ch), XCHAR_BRS_UNKNOWN);
	ck_assert_uint_eq(take_init(2, second, 2, 0), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 4096), 32768);
	ck_assert(characteristics_may_invalidate(&ch));
	ck_assert_int_eq(characteristics_peer_reverse(&ch), XCHAR_BRS_GENL);
	ck_assert_uint_eq(ch.peer_first_bytes, BIG);
	ck_assert_uint_eq(take_init(3, &first[0], 1, 0), CHARACTERISTICS_LOWERED);
	nothing();
}
END_TEST

START_TEST(of_a_value_that_comes_twice_the_last_counts)
{
	const struct xchar_value values[] = {{XCHAR_RBSIZ, true, 32768}, {XCHAR_RBSIZ, true, BIG}};

	/* That the first one is constant says nothing. */
	ck_assert_uint_eq(take_init(1, values, 2, 0x1), 0);
	sends(XCHAR_INIT);
	done();
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 32768, false), 0);
}
END_TEST

START_TEST(a_broken_promise_is_obeyed_and_told)
{
	const struct xchar_value values[] = {{XCHAR_RBSIZ, true, 4096}, {XCHAR_RQREMINV, true, 0}};

	ck_assert_uint_eq(take_init(1, values, 2, 0x3), 0);
	sends(XCHAR_INIT);
	done();
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 4096, false), 0);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, false), CHARACTERISTICS_INCONSTANT);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	ck_assert_uint_eq(take_init(2, &values[1], 1, 0), 0);
	ck_assert_uint_eq(take_upd(XCHAR_RQREMINV, 1, false), CHARACTERISTICS_INCONSTANT);
	ck_assert(characteristics_may_invalidate(&ch));
	ck_assert_uint_eq(take_upd(XCHAR_BRS, XCHAR_BRS_GENL, false), 0);
}
END_TEST

START_TEST(what_does_not_decode_changes_nothing)
{
	unsigned what;
	size_t len = xchar_encode_req(info, sizeof(info), NULL, 0);

	ck_assert_int_eq(characteristics_take(&ch, 1, XCHAR_REQ, info, len - 1, &what), XCHAR_BAD);
	ck_assert_int_eq(characteristics_take(&ch, 1, 99, info, len, &what), XCHAR_UNKNOWN_OP);
	ck_assert(!ch.peer_knows);
	nothing();
}
END_TEST

/* REQ of the peer's */

START_TEST(what_is_so_already_is_done_and_the_rest_rejected)
{
	static const struct {
		struct xchar_value value;
		enum xchar_set set;
	} rows[] = {
		{{XCHAR_RBSIZ, true, 4096}, XCHAR_DONE},
		{{XCHAR_RBSIZ, true, 0}, XCHAR_DONE},
		{{XCHAR_RBSIZ, true, 4095}, XCHAR_DONE},
		{{XCHAR_RBSIZ, true, 65537}, XCHAR_REJ},
		{{XCHAR_RBSIZ, true, UINT32_MAX}, XCHAR_REJ},
		{{XCHAR_RQREMINV, true, 1}, XCHAR_DONE},
		{{XCHAR_RQREMINV, true, 0}, XCHAR_REJ},
		{{XCHAR_BRS, true, XCHAR_BRS_SZLIM}, XCHAR_DONE},
		{{XCHAR_BRS, true, XCHAR_BRS_GENL}, XCHAR_REJ},
		{{XCHAR_BRS, true, XCHAR_BRS_UNKNOWN}, XCHAR_REJ},
		{{77, true, 5}, XCHAR_REJ},
		{{0, true, 5}, XCHAR_REJ},
		{{UINT32_MAX, true, 5}, XCHAR_REJ},
	};

	greeted(4096);
	look.smallest_bytes = 4096;
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ck_assert_uint_eq(take_req(i, &rows[i].value, 1), 0);
		responds(i, 0, rows[i].set);
		done();
		nothing();
	}
	ck_assert_uint_eq(ch.posted_bytes, 4096);
	ck_assert_uint_eq(take_req(99, NULL, 0), 0);
	sends(XCHAR_RESP);
	ck_assert_uint_eq(message.info_bytes, 12);
}
END_TEST

START_TEST(no_more_is_granted_than_is_configured)
{
	config.recv_bytes = 32768;
	config.receive_max_bytes = 8192;
	start(false);
	greeted(4096);
	look.smallest_bytes = 32768;
	ck_assert_uint_eq(take_req_size(1, 32769), 0);
	responds(1, 0, XCHAR_REJ);
	done();
	ck_assert_uint_eq(take_req_size(2, 32768), 0);
	responds(2, 0, XCHAR_DONE);
}
END_TEST

START_TEST(of_a_value_that_is_wanted_twice_the_last_counts)
{
	const struct xchar_value values[] = {
		{XCHAR_RBSIZ, true, UINT32_MAX}, {XCHAR_BRS, true, XCHAR_BRS_SZLIM}, {77, true, 0},
		{XCHAR_RBSIZ, true, 8192},       {XCHAR_BRS, true, XCHAR_BRS_NONE},
	};
	static const enum xchar_set sets[] = {XCHAR_DONE, XCHAR_REJ, XCHAR_REJ, XCHAR_DONE,
					      XCHAR_REJ};

	greeted(4096);
	ck_assert_uint_eq(take_req(5, values, ARRAY_SIZE(values)), 0);
	resizes(8192, true);
	for (uint32_t n = 0; n < ARRAY_SIZE(sets); n++)
		responds(5, n, sets[n]);
	done();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 8192);
}
END_TEST

START_TEST(a_raised_size_is_done_when_all_receives_have_it)
{
	greeted(4096);
	look.smallest_bytes = 8192;
	ck_assert_uint_eq(take_req_size(5, 8192), 0);
	resizes(8192, true);
	responds(5, 0, XCHAR_DONE);
	/* It counts when the answer is on its way, and not before. */
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	done();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 8192);
	nothing();
}
END_TEST

START_TEST(a_raised_size_pends_until_the_old_receives_are_gone)
{
	greeted(4096);
	look.smallest_bytes = 4096;
	ck_assert_uint_eq(take_req_size(5, 8192), 0);
	resizes(8192, true);
	responds(5, 0, XCHAR_PEND);
	done();
	nothing();
	look.may_tell = false;
	look.smallest_bytes = 8192;
	nothing();
	look.may_tell = true;
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	tells(8192, true);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 8192);
}
END_TEST

START_TEST(a_raise_without_memory_is_rejected)
{
	greeted(4096);
	ck_assert_uint_eq(take_req_size(5, 8192), 0);
	resizes(8192, false);
	responds(5, 0, XCHAR_REJ);
	done();
	nothing();
	ck_assert_uint_eq(ch.posted_bytes, 4096);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
}
END_TEST

START_TEST(a_lower_size_is_done_when_no_call_counts_on_more)
{
	raised(BIG);
	look.counted_bytes = 4096;
	/* An answer waits for nothing. */
	look.may_tell = look.may_ask = false;
	ck_assert_uint_eq(take_req_size(5, 4096), 0);
	resizes(4096, true);
	responds(5, 0, XCHAR_DONE);
	done();
	nothing();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
}
END_TEST

START_TEST(a_lower_size_pends_while_a_call_counts_on_more)
{
	raised(BIG);
	look.counted_bytes = 4097;
	ck_assert_uint_eq(take_req_size(5, 4096), 0);
	responds(5, 0, XCHAR_PEND);
	done();
	nothing();
	/* Calls that follow do not count on more, or it would pend for ever; receives are the old ones. */
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	ck_assert_uint_eq(ch.posted_bytes, BIG);
	/* Receives and what is told of them change together. */
	look.counted_bytes = 4096;
	look.may_tell = false;
	nothing();
	look.may_tell = true;
	resizes(4096, true);
	look.may_tell = false;
	look.smallest_bytes = 4096;
	tells(4096, true);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
}
END_TEST

START_TEST(the_newest_request_takes_the_place_of_what_pends)
{
	greeted(4096);
	look.smallest_bytes = 4096;
	ck_assert_uint_eq(take_req_size(5, 8192), 0);
	resizes(8192, true);
	responds(5, 0, XCHAR_PEND);
	done();
	ck_assert_uint_eq(take_req_size(6, BIG), 0);
	resizes(BIG, true);
	responds(6, 0, XCHAR_PEND);
	done();
	look.smallest_bytes = 8192;
	nothing();
	look.smallest_bytes = BIG;
	tells(BIG, true);
	/* Down, pending; and up to what is there still. */
	look.counted_bytes = 10000;
	ck_assert_uint_eq(take_req_size(7, 4096), 0);
	responds(7, 0, XCHAR_PEND);
	done();
	ck_assert_uint_eq(take_req_size(8, BIG), 0);
	responds(8, 0, XCHAR_DONE);
	done();
	look.counted_bytes = 0;
	nothing();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), BIG);
}
END_TEST

START_TEST(a_rejected_request_ends_what_pended)
{
	raised(BIG);
	for (unsigned round = 0; round < 2; round++) {
		look.counted_bytes = 10000;
		ck_assert_uint_eq(take_req_size(5, 4096), 0);
		responds(5, 0, XCHAR_PEND);
		done();
		look.counted_bytes = 0;
		look.may_tell = false;
		ck_assert_uint_eq(take_req_size(6, round ? UINT32_MAX : 32768), 0);
		if (!round)
			resizes(32768, false);
		responds(6, 0, XCHAR_REJ);
		done();
		nothing();
		ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), BIG);
		look.may_tell = true;
		if (round)
			break;
		tells(BIG, true);
	}
	/* One that pends in its turn is not ended by that. */
	look.counted_bytes = 10000;
	ck_assert_uint_eq(take_req_size(7, 8192), 0);
	responds(7, 0, XCHAR_PEND);
	done();
	nothing();
	look.counted_bytes = 0;
	resizes(8192, true);
	tells(8192, true);
}
END_TEST

static size_t put(size_t at, uint32_t word)
{
	ck_assert_uint_le(at + 4, sizeof(info));
	for (unsigned i = 0; i < 4; i++)
		info[at + i] = (uint8_t)(word >> (24 - 8 * i));
	return at + 4;
}

/* A REQ of @count values without a meaning, but for that at @place, if there is one: 8192 bytes. */
static size_t long_req(uint32_t count, uint32_t place)
{
	size_t len = put(0, count);

	for (uint32_t n = 0; n < count; n++) {
		len = put(len, n == place ? XCHAR_RBSIZ : 1000 + n);
		len = put(len, n == place ? 4 : 0);
		if (n == place)
			len = put(len, 8192);
	}
	return len;
}

START_TEST(ten_thousand_values_are_parted)
{
	greeted(4096);
	ck_assert_uint_eq(take(XCHAR_REQ, 5, long_req(10000, UINT32_MAX)), 0);
	for (uint32_t n = 0; n < 10000; n += 999)
		responds(5, n, XCHAR_REJ);
	ck_assert_uint_eq(message.info_bytes, 12 + 4 * ((10000 + 31) / 32));
	done();
	ck_assert_uint_eq(take(XCHAR_REQ, 6, long_req(10000, 40)), 0);
	resizes(8192, true);
	responds(6, 39, XCHAR_REJ);
	responds(6, 40, XCHAR_DONE);
	responds(6, 41, XCHAR_REJ);
	responds(6, 9999, XCHAR_REJ);
}
END_TEST

START_TEST(all_is_rejected_where_an_answer_might_be_too_long)
{
	const struct xchar_value size = {XCHAR_RBSIZ, true, 8192};
	struct xchar_value values[CHARACTERISTICS_KNOWN_MAX + 1];

	greeted(4096);
	ck_assert_uint_eq(take(XCHAR_REQ, 5, long_req(30000, 29999)), 0);
	responds(5, 29999, XCHAR_REJ);
	ck_assert_uint_le(message.info_bytes, CHARACTERISTICS_RESP_BYTES);
	done();
	/* As many known ones as are kept, and one more. */
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = size;
	ck_assert_uint_eq(take_req(6, values, CHARACTERISTICS_KNOWN_MAX + 1), 0);
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++)
		responds(6, i, XCHAR_REJ);
	done();
	ck_assert_uint_eq(take_req(7, values, CHARACTERISTICS_KNOWN_MAX), 0);
	resizes(8192, true);
	for (unsigned i = 0; i < CHARACTERISTICS_KNOWN_MAX; i++)
		responds(7, i, XCHAR_DONE);
	done();
	nothing();
}
END_TEST

START_TEST(what_no_answer_holds_is_told)
{
	uint32_t most = 32 * ((CHARACTERISTICS_RESP_BYTES - 12) / 4);

	greeted(4096);
	ck_assert_uint_eq(take(XCHAR_REQ, 5, long_req(most, UINT32_MAX)), 0);
	responds(5, most - 1, XCHAR_REJ);
	ck_assert_uint_eq(message.info_bytes, CHARACTERISTICS_RESP_BYTES);
	done();
	ck_assert_uint_eq(take(XCHAR_REQ, 6, long_req(most + 1, 0)), CHARACTERISTICS_UNANSWERED);
	nothing();
}
END_TEST

/* Receives that are raised here */

START_TEST(a_raise_of_ours_is_told_when_all_receives_have_it)
{
	greeted(4096);
	look.smallest_bytes = 4096;
	characteristics_raise(&ch, 4096);
	nothing();
	characteristics_raise(&ch, 8192);
	/* One at a time. */
	characteristics_raise(&ch, BIG);
	resizes(8192, true);
	nothing();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	look.smallest_bytes = 8192;
	look.may_tell = false;
	nothing();
	look.may_tell = true;
	tells(8192, false);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 8192);
	characteristics_raise(&ch, UINT32_MAX);
	resizes(65536, true);
}
END_TEST

START_TEST(a_raise_of_ours_without_memory_is_over)
{
	greeted(4096);
	characteristics_raise(&ch, 8192);
	resizes(8192, false);
	nothing();
	characteristics_raise(&ch, BIG);
	resizes(BIG, true);
	tells(BIG, false);
}
END_TEST

START_TEST(a_request_takes_the_place_of_a_raise_of_ours)
{
	greeted(4096);
	look.smallest_bytes = 4096;
	characteristics_raise(&ch, BIG);
	resizes(BIG, true);
	nothing();
	/* A lower one than is told, or the same: there is nothing to wait for. */
	ck_assert_uint_eq(take_req_size(5, 4096), 0);
	resizes(4096, true);
	responds(5, 0, XCHAR_DONE);
	done();
	look.smallest_bytes = 4096;
	nothing();
	/* One that is rejected leaves it. */
	characteristics_raise(&ch, BIG);
	resizes(BIG, true);
	ck_assert_uint_eq(take_req_size(6, 65536), 0);
	resizes(65536, false);
	responds(6, 0, XCHAR_REJ);
	done();
	nothing();
	look.smallest_bytes = BIG;
	tells(BIG, false);
}
END_TEST

START_TEST(a_raise_that_was_replaced_in_vain_is_given_back)
{
	raised(8192);
	characteristics_raise(&ch, BIG);
	resizes(BIG, true);
	look.counted_bytes = 8192;
	ck_assert_uint_eq(take_req_size(5, 4096), 0);
	responds(5, 0, XCHAR_PEND);
	done();
	ck_assert_uint_eq(take_req_size(6, UINT32_MAX), 0);
	responds(6, 0, XCHAR_REJ);
	done();
	sends(XCHAR_UPD);
	done();
	resizes(8192, true);
	nothing();
}
END_TEST

START_TEST(no_raise_of_ours_while_a_request_pends)
{
	raised(BIG);
	look.counted_bytes = BIG;
	ck_assert_uint_eq(take_req_size(5, 4096), 0);
	responds(5, 0, XCHAR_PEND);
	done();
	characteristics_raise(&ch, 65536);
	nothing();
	look.counted_bytes = 0;
	resizes(4096, true);
	tells(4096, true);
	characteristics_raise(&ch, 65536);
	resizes(65536, true);
}
END_TEST

/* What this end asks for */

START_TEST(what_is_done_holds)
{
	greeted(0);
	look.may_ask = false;
	characteristics_ask(&ch, BIG);
	nothing();
	look.may_ask = true;
	asks(BIG);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 4096), 4096);
	ck_assert_uint_eq(take_resp(own_xid, 1, 0, 0), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 4096), BIG);
	ck_assert_uint_eq(take_resp(own_xid, 1, 0, 0), CHARACTERISTICS_STRAY);
}
END_TEST

START_TEST(a_wish_that_was_not_sent_is_replaced)
{
	greeted(8192);
	look.may_ask = false;
	characteristics_ask(&ch, BIG);
	characteristics_ask(&ch, 32768);
	look.may_ask = true;
	asks(32768);
	ck_assert_uint_eq(take_resp(own_xid, 0, 1, 0), CHARACTERISTICS_REJECTED);
	/* What is there already is no wish, nor what became so. */
	look.may_ask = false;
	characteristics_ask(&ch, BIG);
	characteristics_ask(&ch, 8192);
	look.may_ask = true;
	nothing();
	look.may_ask = false;
	characteristics_ask(&ch, BIG);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 32768, false), 0);
	look.may_ask = true;
	nothing();
}
END_TEST

START_TEST(nothing_is_asked_for_beyond_what_is_sent)
{
	greeted(0);
	characteristics_ask(&ch, UINT32_MAX);
	asks(65536);
	ck_assert_uint_eq(take_resp(own_xid, 1, 0, 0), 0);
	/* No more of it is no less. */
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 131072, false), 0);
	characteristics_ask(&ch, 262144);
	nothing();
	characteristics_ask(&ch, 1);
	asks(4096);
}
END_TEST

START_TEST(what_is_rejected_is_not_asked_for_again)
{
	static const struct {
		uint8_t done, rej, pend;
		unsigned what;
	} rows[] = {
		{0, 1, 0, CHARACTERISTICS_REJECTED},
		{0, 0, 0, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
		{2, 0, 0, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
		{1, 1, 0, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
		{1, 0, 1, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
		{0, 1, 1, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
		{1, 1, 1, CHARACTERISTICS_REJECTED | CHARACTERISTICS_CONFUSED},
	};

	greeted(8192);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		characteristics_ask(&ch, i % 2 ? 4096 : BIG);
		asks(i % 2 ? 4096 : BIG);
		ck_assert_uint_eq(take_resp(own_xid ^ 1, 1, 0, 0), CHARACTERISTICS_STRAY);
		ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), i % 2 ? 4096 : 8192);
		ck_assert_uint_eq(take_resp(own_xid, rows[i].done, rows[i].rej, rows[i].pend),
				  rows[i].what);
		ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
		nothing();
	}
}
END_TEST

START_TEST(an_error_rejects_a_request_alone)
{
	greeted(8192);
	ck_assert(!characteristics_refused(&ch, own_xid));
	characteristics_ask(&ch, 4096);
	asks(4096);
	ck_assert(!characteristics_refused(&ch, own_xid + 1));
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 4096);
	ck_assert(characteristics_refused(&ch, own_xid));
	ck_assert(!characteristics_refused(&ch, own_xid));
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	nothing();
}
END_TEST

START_TEST(what_pends_is_ended_by_an_update)
{
	greeted(8192);
	characteristics_ask(&ch, BIG);
	asks(BIG);
	/* What came before the RESP ends nothing. */
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 8192, true), 0);
	ck_assert_uint_eq(take_resp(own_xid, 0, 0, 1), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	characteristics_ask(&ch, 32768);
	nothing();
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, true), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, true), CHARACTERISTICS_UNASKED);
	ck_assert_uint_eq(take_upd(XCHAR_BRS, XCHAR_BRS_NONE, true), CHARACTERISTICS_UNASKED);
	/* It may leave everything as it was. */
	characteristics_ask(&ch, 32768);
	asks(32768);
	ck_assert_uint_eq(take_resp(own_xid, 0, 0, 1), 0);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, true), CHARACTERISTICS_REJECTED);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
}
END_TEST

START_TEST(a_lower_size_holds_from_the_moment_of_asking)
{
	greeted(BIG);
	characteristics_ask(&ch, 8192);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	asks(8192);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	/* A Reply without another way may be as long as the peer still takes. */
	ck_assert_uint_eq(characteristics_reply_bytes(&ch, 0), BIG);
	/* A larger size is told, and the request stands. */
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 32768, false), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	ck_assert_uint_eq(take_resp(own_xid, 0, 0, 1), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8192);
	ck_assert_uint_eq(characteristics_reply_bytes(&ch, 0), 32768);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 32768, true), CHARACTERISTICS_REJECTED);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 32768);
	characteristics_ask(&ch, 4096);
	asks(4096);
	ck_assert_uint_eq(take_resp(own_xid, 0, 0, 1), 0);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 4096, true), 0);
	ck_assert_uint_eq(characteristics_reply_bytes(&ch, 0), 4096);
}
END_TEST

START_TEST(a_lower_size_is_not_asked_for_while_a_reply_needs_more)
{
	greeted(BIG);
	look.needed_bytes = 8193;
	characteristics_ask(&ch, 8192);
	nothing();
	/* A higher one does not wait for that. */
	characteristics_ask(&ch, 32768);
	asks(32768);
	ck_assert_uint_eq(take_resp(own_xid, 0, 1, 0), CHARACTERISTICS_REJECTED);
	characteristics_ask(&ch, 8192);
	nothing();
	look.needed_bytes = 8192;
	asks(8192);
}
END_TEST

/* While sizes rise, or a wish waits for a credit, no RPC has to be looked at. */
START_TEST(calls_in_flight_matter_where_a_size_is_lowered)
{
	greeted(BIG);
	look.smallest_bytes = 4096;
	ck_assert_uint_eq(take_req_size(8, BIG), 0);
	ck_assert_uint_eq(characteristics_counts_over(&ch), UINT32_MAX);
	resizes(BIG, true);
	responds(8, 0, XCHAR_PEND);
	done();
	ck_assert_uint_eq(characteristics_counts_over(&ch), UINT32_MAX);
	look.smallest_bytes = BIG;
	tells(BIG, true);
	ck_assert_uint_eq(take_req_size(9, 8192), 0);
	ck_assert_uint_eq(characteristics_counts_over(&ch), 8192);
	look.counted_bytes = 8193;
	responds(9, 0, XCHAR_PEND);
	done();
	ck_assert_uint_eq(characteristics_counts_over(&ch), 8192);
	look.may_ask = false;
	characteristics_ask(&ch, 2 * BIG);
	ck_assert_uint_eq(characteristics_needs_over(&ch), UINT32_MAX);
	characteristics_ask(&ch, 8192);
	ck_assert_uint_eq(characteristics_needs_over(&ch), 8192);
}
END_TEST

START_TEST(a_lower_size_that_nobody_asked_for_is_obeyed_and_told)
{
	greeted(32768);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, BIG, false), CHARACTERISTICS_LOWERED);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), BIG);
	/* Lower than was asked for. */
	characteristics_ask(&ch, 8192);
	asks(8192);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 8191, false), CHARACTERISTICS_LOWERED);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 8191);
	ck_assert_uint_eq(take_resp(own_xid, 1, 0, 0), 0);
	/* What is below the least counts as that. */
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 4096, false), CHARACTERISTICS_LOWERED);
	ck_assert_uint_eq(take_upd(XCHAR_RBSIZ, 17, false), 0);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 0), 4096);
}
END_TEST

/* Limits */

START_TEST(the_longest_send_is_between_the_default_and_ours)
{
	static const struct {
		uint32_t told, expected, alone; /* alone: a Reply without another way */
	} rows[] = {
		{0, 4096, 4096},       {1024, 4096, 4096},      {4095, 4096, 4096},
		{4096, 4096, 4096},    {4097, 4097, 4097},      {65536, 65536, 65536},
		{65537, 65536, 65537}, {262144, 65536, 262144}, {UINT32_MAX, 65536, 262144},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		setup();
		ck_assert_uint_eq(characteristics_send_bytes(&ch, rows[i].told), rows[i].expected);
		take_upd(XCHAR_RBSIZ, rows[i].told, false);
		/* What is told so counts more than private data. */
		ck_assert_uint_eq(characteristics_send_bytes(&ch, 5000), rows[i].expected);
		ck_assert_uint_eq(characteristics_reply_bytes(&ch, 5000), rows[i].alone);
	}
	config.send_max_bytes = 1024;
	start(true);
	ck_assert_uint_eq(characteristics_send_bytes(&ch, 5000), 1024);
}
END_TEST

START_TEST(a_receive_size_counts_when_the_peer_knows_of_it)
{
	config.recv_bytes = BIG;
	start(true);
	characteristics_hello(&ch, &message);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 8192), 8192);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 65536), BIG);
	ck_assert_uint_eq(take_upd(XCHAR_BRS, XCHAR_BRS_NONE, false), 0);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), BIG);
	/* An acceptor has told it when its INIT is on its way. */
	start(false);
	ck_assert_uint_eq(take_init(1, NULL, 0, 0), 0);
	sends(XCHAR_INIT);
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), 4096);
	done();
	ck_assert_uint_eq(characteristics_recv_bytes(&ch, 0), BIG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("characteristics");
	TCase *tc = tcase_create("init");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_connector_begins_with_all_that_it_is);
	tcase_add_test(tc, an_acceptor_answers_the_first_init_alone);
	tcase_add_test(tc, an_end_without_characteristics_says_and_knows_nothing);
	tcase_add_test(tc, an_acceptor_without_an_init_sends_nothing_of_its_own);
	tcase_add_test(tc, a_connector_asks_nothing_of_a_peer_that_does_not_know);
	tcase_add_test(tc, another_init_updates_each_value);
	tcase_add_test(tc, of_a_value_that_comes_twice_the_last_counts);
	tcase_add_test(tc, a_broken_promise_is_obeyed_and_told);
	tcase_add_test(tc, what_does_not_decode_changes_nothing);
	suite_add_tcase(suite, tc);

	tc = tcase_create("asked");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, what_is_so_already_is_done_and_the_rest_rejected);
	tcase_add_test(tc, no_more_is_granted_than_is_configured);
	tcase_add_test(tc, of_a_value_that_is_wanted_twice_the_last_counts);
	tcase_add_test(tc, a_raised_size_is_done_when_all_receives_have_it);
	tcase_add_test(tc, a_raised_size_pends_until_the_old_receives_are_gone);
	tcase_add_test(tc, a_raise_without_memory_is_rejected);
	tcase_add_test(tc, a_lower_size_is_done_when_no_call_counts_on_more);
	tcase_add_test(tc, a_lower_size_pends_while_a_call_counts_on_more);
	tcase_add_test(tc, the_newest_request_takes_the_place_of_what_pends);
	tcase_add_test(tc, a_rejected_request_ends_what_pended);
	tcase_add_test(tc, ten_thousand_values_are_parted);
	tcase_add_test(tc, all_is_rejected_where_an_answer_might_be_too_long);
	tcase_add_test(tc, what_no_answer_holds_is_told);
	suite_add_tcase(suite, tc);

	tc = tcase_create("raising");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, a_raise_of_ours_is_told_when_all_receives_have_it);
	tcase_add_test(tc, a_raise_of_ours_without_memory_is_over);
	tcase_add_test(tc, a_request_takes_the_place_of_a_raise_of_ours);
	tcase_add_test(tc, a_raise_that_was_replaced_in_vain_is_given_back);
	tcase_add_test(tc, no_raise_of_ours_while_a_request_pends);
	suite_add_tcase(suite, tc);

	tc = tcase_create("asking");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, what_is_done_holds);
	tcase_add_test(tc, a_wish_that_was_not_sent_is_replaced);
	tcase_add_test(tc, nothing_is_asked_for_beyond_what_is_sent);
	tcase_add_test(tc, what_is_rejected_is_not_asked_for_again);
	tcase_add_test(tc, an_error_rejects_a_request_alone);
	tcase_add_test(tc, what_pends_is_ended_by_an_update);
	tcase_add_test(tc, a_lower_size_holds_from_the_moment_of_asking);
	tcase_add_test(tc, a_lower_size_is_not_asked_for_while_a_reply_needs_more);
	tcase_add_test(tc, calls_in_flight_matter_where_a_size_is_lowered);
	tcase_add_test(tc, a_lower_size_that_nobody_asked_for_is_obeyed_and_told);
	suite_add_tcase(suite, tc);

	tc = tcase_create("limits");
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, the_longest_send_is_between_the_default_and_ours);
	tcase_add_test(tc, a_receive_size_counts_when_the_peer_knows_of_it);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
