// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/characteristics_fixture.h"

#include <string.h>

#include "base/compiler.h"
#include "tests/lib/test.h"

struct characteristics ch;
struct characteristics_snapshot snapshot;
struct characteristics_config config;
struct characteristics_message message; /* of the last step */
struct xchar_operation sent;            /* the same, decoded */
uint32_t resize_bytes;                  /* of the last step */
uint32_t own_xid;                       /* of the last message that has no other */
uint8_t info[300000];

void start(bool connector)
{
	config.connector = connector;
	characteristics_init(&ch, &config);
}

void setup(void)
{
	config = (struct characteristics_config){
		.enabled = true,
		.recv_bytes = 4096,
		.receive_max_bytes = 65536,
		.send_max_bytes = 65536,
		.invalidate = true,
		.reverse = XCHAR_BRS_SZLIM,
	};
	snapshot = (struct characteristics_snapshot){
		.smallest_bytes = UINT32_MAX, .is_allowed = true, .may_update = true};
	own_xid = 1000;
	start(false);
}

/* What comes. */

unsigned take(enum xchar_op op, uint32_t xid, size_t len)
{
	unsigned what = ~0u;

	ck_assert_uint_ne(len, 0);
	ck_assert_int_eq(characteristics_receive(&ch, xid, op, info, len, &what), XCHAR_OK);
	return what;
}

unsigned take_init(uint32_t xid, const struct xchar_value *values, unsigned count, uint32_t nochg)
{
	return take(XCHAR_INIT, xid, xchar_encode_init(info, sizeof(info), values, count, nochg));
}

unsigned take_req(uint32_t xid, const struct xchar_value *values, unsigned count)
{
	return take(XCHAR_REQ, xid, xchar_encode_req(info, sizeof(info), values, count));
}

unsigned take_req_size(uint32_t xid, uint32_t bytes)
{
	const struct xchar_value size = {XCHAR_RBSIZ, true, bytes};

	return take_req(xid, &size, 1);
}

unsigned take_upd(uint32_t id, uint32_t value, bool pendclr)
{
	const struct xchar_value values = {id, true, value};

	return take(XCHAR_UPD, 55, xchar_encode_upd(info, sizeof(info), &values, pendclr));
}

/* A RESP whose subsets have one word each. */
unsigned take_resp(uint32_t xid, uint8_t done, uint8_t rej, uint8_t pend)
{
	const uint8_t words[] = {0, 0, 0, 1,   0, 0, 0, done, 0, 0, 0, 1,
				 0, 0, 0, rej, 0, 0, 0, 1,    0, 0, 0, pend};

	memcpy(info, words, sizeof(words));
	return take(XCHAR_RESP, xid, sizeof(words));
}

/* What is due. */

/* What does not matter of the look changes nothing. */
enum characteristics_step next(void)
{
	struct characteristics_snapshot seen = snapshot;
	enum characteristics_step step;

	if (snapshot.counted_bytes <= characteristics_counted_limit(&ch))
		seen.counted_bytes = 0;
	if (snapshot.needed_bytes <= characteristics_needed_limit(&ch))
		seen.needed_bytes = 0;
	step = characteristics_next(&ch, &seen, &message, &resize_bytes);
	ck_assert_int_eq(characteristics_next(&ch, &snapshot, &message, &resize_bytes), step);
	return step;
}

void nothing(void)
{
	ck_assert_int_eq(next(), CHARACTERISTICS_NOTHING);
}

/* A message, decoded; asked for twice, since a step stays due until it is done. */
void sends(enum xchar_op op)
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

void done(void)
{
	characteristics_sent(&ch, message.answers ? message.xid : own_xid);
}

/* Receives of another size, which are all there at once unless a test says otherwise. */
void resizes(uint32_t bytes, bool granted)
{
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(next(), CHARACTERISTICS_RESIZE);
		ck_assert_uint_eq(resize_bytes, bytes);
	}
	characteristics_resized(&ch, granted);
	ck_assert_int_eq(ch.posted_bytes == bytes, granted);
}

/* A RESP to the REQ @xid whose element @n is in @set alone. */
void responds(uint32_t xid, uint32_t n, enum xchar_set set)
{
	sends(XCHAR_RESP);
	ck_assert(message.answers);
	ck_assert_uint_eq(message.xid, xid);
	for (unsigned i = 0; i < XCHAR_SETS; i++)
		ck_assert_int_eq(xchar_subset_has(&sent.sets[i], n), i == set);
}

void tells(uint32_t bytes, bool pendclr)
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

void asks(uint32_t bytes)
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
void holds_all(const struct xchar_operation *init, uint32_t recv_bytes)
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
void greeted(uint32_t recv_bytes)
{
	const struct xchar_value size = {XCHAR_RBSIZ, true, recv_bytes};

	ck_assert_uint_eq(take_init(7, &size, recv_bytes ? 1 : 0, 0), 0);
	sends(XCHAR_INIT);
	done();
	nothing();
}

/* The same whose receives were raised to @bytes. */
void raised(uint32_t bytes)
{
	greeted(BIG);
	ck_assert_uint_eq(take_req_size(8, bytes), 0);
	resizes(bytes, true);
	responds(8, 0, XCHAR_DONE);
	done();
	nothing();
	snapshot.smallest_bytes = bytes;
}
