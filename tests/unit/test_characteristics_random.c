// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests transport characteristics with random events: two ends with traffic between them, and one
 * end with a peer that sends anything.
 *
 * An end of the first kind behaves as a connection does: Receives are used up in order, Calls rely
 * on space for their Replies, and Replies need space. Whatever the order of events, no Send is
 * longer than the Receive that it consumes. The number of a failed round is its seed.
 */
#include <string.h>

#include "base/compiler.h"
#include "fabric/posted_recvs.h"
#include "rpcrdma/v2/characteristics.h"
#include "tests/lib/test.h"

#define RECEIVES 48u
#define RPCS     8u
#define QUEUE                                                                                      \
	64u /* more than ever are under way: each end has RPCS Calls, as many Replies, and few others */
#define SHORT_BYTES 100u
#define SEEDS       20
#define STEPS       10000u

static uint64_t random_state;

static void seed(int number)
{
	random_state = 0x9e3779b97f4a7c15u * (uint64_t)(number + 1);
}

static uint32_t chance(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 32) % below);
}

/* Sizes of every order, often the same ones. */
static uint32_t some_size(void)
{
	uint32_t size = 1024u << chance(7);

	return chance(3) ? size : size + chance(size);
}

enum kind { OPERATION, CALL, REPLY };

struct send {
	enum kind kind;
	uint32_t bytes;
	uint32_t number; /* CALL, REPLY: of the RPC; else the XID */
	enum xchar_op op;
	uint8_t info[128];
	uint32_t info_bytes;
};

struct rpc {
	bool called, arrived;
	bool by_chunk;        /* its Reply may go so */
	uint32_t reply_bytes; /* the longest */
};

struct end {
	struct characteristics ch;
	struct posted_recvs runs;
	bool promotes; /* receives without memory change their size together */
	bool hurries;  /* asks and tells whenever it may */
	struct send queue[QUEUE];
	unsigned head, count;
	struct rpc rpcs[RPCS]; /* its own Calls */
	uint32_t posted_bytes;
	uint32_t xid;
	unsigned unheard;          /* messages without an answer since the peer was heard */
	uint32_t advertised_bytes; /* by what is on the wire */
	uint32_t wanted_bytes;     /* by the peer's REQ */
	bool resp_due, req_due;    /* a RESP by this end, and to it */
	uint32_t resp_xid;
};

static struct end ends[2];

static struct end *other(const struct end *end)
{
	return end == &ends[0] ? &ends[1] : &ends[0];
}

static void post(struct end *end, unsigned count)
{
	ck_assert_int_eq(posted_recvs_add(&end->runs, count, end->posted_bytes), 0);
}

static struct send *put(struct end *end, enum kind kind, uint32_t bytes, uint32_t number)
{
	struct send *send = &end->queue[(end->head + end->count) % QUEUE];

	ck_assert_uint_lt(end->count, QUEUE);
	end->count++;
	*send = (struct send){.kind = kind, .bytes = bytes, .number = number};
	return send;
}

/* The Receives of its end, as the message reports them. */
static void follow(struct end *end, const struct characteristics_message *message,
		   uint32_t needed_bytes)
{
	struct xchar_operation sent;
	struct xchar_value value;

	ck_assert_int_eq(xchar_decode(message->op, message->info, message->info_bytes, &sent),
			 XCHAR_OK);
	switch (message->op) {
	case XCHAR_INIT:
	case XCHAR_UPD:
		while (xchar_next(&sent.spec, &value))
			if (value.id == XCHAR_RBSIZ)
				end->advertised_bytes = value.value;
		break;
	case XCHAR_REQ:
		ck_assert(!end->req_due);
		ck_assert(xchar_next(&sent.spec, &value));
		/*
		 * One that lowers the peer's receives leaves room for the Replies that are due to
		 * it.
		 */
		if (value.value < other(end)->advertised_bytes)
			ck_assert_uint_ge(value.value, needed_bytes);
		end->req_due = true;
		break;
	case XCHAR_RESP:
		ck_assert(end->resp_due);
		ck_assert_uint_eq(message->xid, end->resp_xid);
		end->resp_due = false;
		if (xchar_subset_has(&sent.sets[XCHAR_DONE], 0))
			end->advertised_bytes = end->wanted_bytes;
		break;
	}
}

static void send_operation(struct end *end, const struct characteristics_message *message,
			   uint32_t needed_bytes)
{
	uint32_t xid = message->answers ? message->xid : ++end->xid;
	struct send *send = put(end, OPERATION, 24 + message->info_bytes, xid);

	ck_assert_uint_le(message->info_bytes, sizeof(send->info));
	memcpy(send->info, message->info, message->info_bytes);
	send->info_bytes = message->info_bytes;
	send->op = message->op;
	follow(end, message, needed_bytes);
	if (!message->answers)
		end->unheard++;
}

static struct characteristics_snapshot look_of(const struct end *end)
{
	struct characteristics_snapshot snapshot = {
		.smallest_bytes = posted_recvs_smallest(&end->runs),
		.is_allowed = !end->unheard && (end->hurries || chance(2)),
		.may_update = !end->unheard && (end->hurries || chance(2)),
	};

	for (unsigned i = 0; i < RPCS; i++) {
		const struct rpc *own = &end->rpcs[i], *theirs = &other(end)->rpcs[i];

		if (own->called && !own->by_chunk && own->reply_bytes > snapshot.counted_bytes)
			snapshot.counted_bytes = own->reply_bytes;
		if (theirs->arrived && !theirs->by_chunk &&
		    theirs->reply_bytes > snapshot.needed_bytes)
			snapshot.needed_bytes = theirs->reply_bytes;
	}
	return snapshot;
}

static void resize(struct end *end, uint32_t bytes)
{
	bool granted = bytes < end->posted_bytes || chance(8) || end->hurries;

	characteristics_resized(&end->ch, granted);
	if (!granted)
		return;
	end->posted_bytes = bytes;
	if (end->promotes)
		posted_recvs_resize(&end->runs, chance(2), bytes);
}

static void do_all(struct end *end)
{
	struct characteristics_message message;
	uint32_t bytes;

	if (look_of(end).needed_bytes > characteristics_revertible_bytes(&end->ch))
		characteristics_revert_request(&end->ch);
	for (unsigned steps = 0;; steps++) {
		struct characteristics_snapshot snapshot = look_of(end);

		ck_assert_uint_lt(steps, 8);
		switch (characteristics_next(&end->ch, &snapshot, &message, &bytes)) {
		case CHARACTERISTICS_NOTHING:
			ck_assert(!end->resp_due);
			return;
		case CHARACTERISTICS_SEND:
			send_operation(end, &message, snapshot.needed_bytes);
			characteristics_sent(&end->ch, message.answers ? message.xid : end->xid);
			break;
		case CHARACTERISTICS_RESIZE:
			resize(end, bytes);
			break;
		}
	}
}

static void take_operation(struct end *end, const struct send *send)
{
	struct xchar_operation taken;
	struct xchar_value value;
	unsigned what;

	ck_assert_int_eq(xchar_decode(send->op, send->info, send->info_bytes, &taken), XCHAR_OK);
	if (send->op == XCHAR_REQ) {
		ck_assert(xchar_next(&taken.spec, &value));
		end->resp_due = true;
		end->resp_xid = send->number;
		end->wanted_bytes = value.value;
	} else if (send->op == XCHAR_RESP) {
		ck_assert(end->req_due);
		end->req_due = false;
	}
	ck_assert_int_eq(characteristics_receive(&end->ch, send->number, send->op, send->info,
						 send->info_bytes, &what),
			 XCHAR_OK);
	/* Between two ends that keep to the rules nothing else is ever found. */
	ck_assert_uint_eq(what & ~CHARACTERISTICS_REJECTED, 0);
}

static void deliver(struct end *end)
{
	struct end *from = other(end);
	struct send *send = &from->queue[from->head];
	uint32_t room;

	if (!from->count)
		return;
	ck_assert(posted_recvs_first(&end->runs, &room));
	ck_assert_msg(send->bytes <= room, "a Send of %u bytes takes a receive of %u", send->bytes,
		      room);
	posted_recvs_consume(&end->runs);
	post(end, 1);
	end->unheard = 0;
	if (send->kind == OPERATION)
		take_operation(end, send);
	else if (send->kind == CALL)
		from->rpcs[send->number].arrived = true;
	else
		end->rpcs[send->number] = (struct rpc){.called = false};
	from->head = (from->head + 1) % QUEUE;
	from->count--;
}

static void call(struct end *end, uint32_t call_bytes, uint32_t reply_bytes)
{
	uint32_t limit = characteristics_recv_bytes(&end->ch, 4096);
	uint32_t number = chance(RPCS);
	struct rpc *rpc = &end->rpcs[number];

	if (rpc->called)
		return;
	ck_assert_uint_le(limit, end->advertised_bytes);
	*rpc = (struct rpc){.called = true, .by_chunk = reply_bytes > limit};
	rpc->reply_bytes = reply_bytes;
	if (call_bytes > characteristics_send_bytes(&end->ch, 4096))
		call_bytes = SHORT_BYTES;
	put(end, CALL, call_bytes, number);
}

static void answer(struct end *end)
{
	uint32_t number = chance(RPCS);
	struct rpc *rpc = &other(end)->rpcs[number];
	uint32_t bytes = rpc->reply_bytes;

	if (!rpc->arrived)
		return;
	if (chance(2))
		bytes = 1 + chance(bytes);
	if (bytes > characteristics_send_bytes(&end->ch, 4096)) {
		if (rpc->by_chunk)
			bytes = SHORT_BYTES;
		else
			ck_assert_uint_le(bytes, characteristics_reply_bytes(&end->ch, 4096));
	}
	/* Without a chunk it waits until what was asked for is settled (B3.1-4). */
	if (bytes > characteristics_pending_req_bytes(&end->ch))
		return;
	rpc->arrived = false;
	put(end, REPLY, bytes, number);
}

static void start(struct end *end, bool connector)
{
	struct characteristics_config config = {
		.connector = connector,
		.enabled = true,
		.recv_bytes = 4096u << chance(3),
		.receive_max_bytes = 65536,
		.send_max_bytes = 65536,
		.reverse = XCHAR_BRS_SZLIM,
	};

	*end = (struct end){.promotes = chance(2), .advertised_bytes = 4096};
	end->posted_bytes = config.recv_bytes;
	characteristics_init(&end->ch, &config);
	posted_recvs_init(&end->runs);
	post(end, RECEIVES);
}

static void step(struct end *end)
{
	switch (chance(16)) {
	case 0:
		characteristics_raise(&end->ch, some_size());
		break;
	case 1:
		characteristics_request_size(&end->ch, some_size());
		break;
	case 2:
	case 3:
	case 4:
		call(end, some_size(), some_size());
		break;
	case 5:
	case 6:
	case 7:
		answer(end);
		break;
	default:
		deliver(end);
	}
	do_all(end);
}

/* Small messages until all receives have been used, and nothing is left to wait for. */
static void come_to_rest(void)
{
	for (unsigned i = 0; i < 200 * RECEIVES; i++) {
		struct end *end = &ends[i % 2];

		end->hurries = true;
		if (i < 190 * RECEIVES)
			call(end, SHORT_BYTES, SHORT_BYTES);
		deliver(end);
		answer(end);
		do_all(end);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct end *end = &ends[i];

		ck_assert_uint_eq(end->count, 0);
		ck_assert(!end->req_due);
		for (unsigned n = 0; n < RPCS; n++)
			ck_assert(!end->rpcs[n].called);
		ck_assert_int_eq(end->ch.size_request, SIZE_REQUEST_NONE);
		ck_assert_int_eq(end->ch.receives, RECEIVES_SETTLED);
		ck_assert_uint_eq(characteristics_recv_bytes(&end->ch, 4096),
				  end->advertised_bytes);
		ck_assert_uint_eq(characteristics_send_bytes(&other(end)->ch, 4096),
				  end->advertised_bytes);
		ck_assert_uint_eq(end->ch.posted_bytes, end->advertised_bytes);
		ck_assert_uint_eq(end->posted_bytes, end->advertised_bytes);
		ck_assert_uint_ge(posted_recvs_smallest(&end->runs), end->advertised_bytes);
	}
}

START_TEST(two_ends_agree_under_traffic)
{
	struct characteristics_message hello;

	seed(_i);
	start(&ends[0], true);
	start(&ends[1], false);
	characteristics_first_init(&ends[0].ch, &hello);
	send_operation(&ends[0], &hello, 0);
	for (unsigned i = 0; i < STEPS; i++)
		step(&ends[chance(2)]);
	come_to_rest();
	for (unsigned i = 0; i < 2; i++)
		posted_recvs_fini(&ends[i].runs);
}
END_TEST

/* A peer that says anything. */

static struct characteristics ch;
static uint32_t last_xid;
static uint8_t info[512];

static size_t some_values(struct xchar_value *values)
{
	size_t count = chance(20);

	for (size_t i = 0; i < count; i++) {
		values[i] = (struct xchar_value){.id = 1 + chance(XCHAR_ID_MAX), .known = true};
		values[i].value = values[i].id == XCHAR_RBSIZ ? some_size() - 900 : chance(2);
		if (!chance(10) && values[i].id == XCHAR_RBSIZ)
			values[i].value = UINT32_MAX - chance(2);
	}
	return count;
}

static size_t some_resp(void)
{
	memset(info, 0, sizeof(info));
	for (unsigned set = 0; set < XCHAR_SETS; set++) {
		info[8 * set + 3] = 1;
		info[8 * set + 7] = (uint8_t)!chance(3);
	}
	return 24;
}

static size_t some_operation(enum xchar_op op)
{
	struct xchar_value values[20];
	unsigned count = (unsigned)some_values(values);

	switch (op) {
	case XCHAR_INIT:
		return xchar_encode_init(info, sizeof(info), values, count, chance(16));
	case XCHAR_REQ:
		return xchar_encode_req(info, sizeof(info), values, count);
	case XCHAR_RESP:
		return some_resp();
	case XCHAR_UPD:
		if (!count)
			values[0] = (struct xchar_value){XCHAR_RBSIZ, true, 8192};
		return xchar_encode_upd(info, sizeof(info), values, chance(2));
	}
	return 0;
}

/* Does all that is due; how often each kind of message went. */
static void do_for_anyone(unsigned *sent)
{
	for (unsigned steps = 0;; steps++) {
		struct characteristics_snapshot snapshot = {chance(2) ? UINT32_MAX : some_size(),
							    chance(2) ? 0 : some_size(),
							    some_size(), chance(2), chance(2)};
		struct characteristics_message message;
		enum characteristics_step step;
		uint32_t bytes;

		ck_assert_uint_lt(steps, 8);
		step = characteristics_next(&ch, &snapshot, &message, &bytes);
		if (step == CHARACTERISTICS_NOTHING)
			return;
		if (step == CHARACTERISTICS_RESIZE) {
			ck_assert_uint_ge(bytes, 4096);
			ck_assert_uint_le(bytes, 65536);
			characteristics_resized(&ch, bytes < ch.posted_bytes || chance(2));
			continue;
		}
		ck_assert_uint_gt(message.info_bytes, 0);
		ck_assert_uint_le(message.info_bytes, CHARACTERISTICS_RESP_BYTES);
		sent[message.op]++;
		characteristics_sent(&ch, message.answers ? message.xid : ++last_xid);
	}
}

START_TEST(one_end_bears_a_peer_that_says_anything)
{
	const struct characteristics_config config = {.connector = _i % 2,
						      .enabled = true,
						      .recv_bytes = 8192,
						      .receive_max_bytes = 65536,
						      .send_max_bytes = 32768};
	struct characteristics_message hello;
	unsigned sent[XCHAR_UPD + 1] = {0}, requests = 0;

	seed(_i);
	characteristics_init(&ch, &config);
	if (config.connector)
		characteristics_first_init(&ch, &hello);
	for (unsigned i = 0; i < STEPS; i++) {
		enum xchar_op op = 1 + chance(XCHAR_UPD);
		size_t len = some_operation(op);
		unsigned what;

		if (!chance(4))
			info[chance((uint32_t)len)] ^= (uint8_t)(1u << chance(8));
		if (characteristics_receive(&ch, last_xid + !chance(3), op, info, len, &what) ==
			    XCHAR_OK &&
		    op == XCHAR_REQ)
			requests++;
		do_for_anyone(sent);
		ck_assert_uint_eq(sent[XCHAR_RESP], requests);
		characteristics_raise(&ch, some_size());
		characteristics_request_size(&ch, some_size());
		do_for_anyone(sent);
		ck_assert_uint_ge(characteristics_send_bytes(&ch, 0), 4096);
		ck_assert_uint_le(characteristics_send_bytes(&ch, UINT32_MAX), 32768);
		ck_assert_uint_le(characteristics_reply_bytes(&ch, UINT32_MAX),
				  CHARACTERISTICS_REPLY_MAX_BYTES);
		ck_assert_uint_ge(characteristics_recv_bytes(&ch, 0), 4096);
		ck_assert_uint_le(characteristics_recv_bytes(&ch, UINT32_MAX), 65536);
	}
	ck_assert_uint_eq(sent[XCHAR_INIT], !config.connector);
	ck_assert_uint_gt(sent[XCHAR_REQ], 0);
	ck_assert_uint_gt(sent[XCHAR_UPD], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("characteristics_random");
	TCase *tc = tcase_create("random");

	tcase_add_loop_test(tc, two_ends_agree_under_traffic, 0, SEEDS);
	tcase_add_loop_test(tc, one_end_bears_a_peer_that_says_anything, 0, SEEDS / 10);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
