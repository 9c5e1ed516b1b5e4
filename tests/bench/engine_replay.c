// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sends messages between two iWARP engines without a network, identically in each run, so that
 * costs.sh can count the cost of one.
 *
 * usage: engine_replay [PART-OF-A-NAME]
 *
 * Prints the name of each row that it replays, the number of messages in callgrind's counts, and
 * how many bytes the engines copied for them. The bytes that an engine sends in one call, as by one
 * sendmsg, reach the other engine in lots of a fixed size. It reads each lot until a read is not
 * filled, as the fabric reads its socket.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/buf_pool.h"
#include "fabric/iwarp/engine.h"
#include "tests/bench/measured.h"
#include "tests/sim/rig.h"

#define KIB           1024u
#define MAX_IN_FLIGHT 16u
#define LOT_BYTES     65483u /* what loopback makes of a segment */
#define PATH_BYTES    1448u  /* a segment on Ethernet */
#define WIRE_BYTES    (4u << 20)
#define RECV_BYTES    4096u
#define POOL_BYTES    (16u << 20)
#define WARM_ROUNDS   4u

struct row {
	const char *name;
	enum fabric_wr_op op;
	uint32_t len_bytes;
	unsigned in_flight, rounds;
	bool fpdu_64k; /* else FPDUs are as long as the segments of Ethernet */
	uint32_t lot_bytes;
};

static const struct row rows[] = {
	{"iwarp/send-150/x1", FABRIC_SEND, 150, 1, 64, true, LOT_BYTES},
	{"iwarp/send-150/x16", FABRIC_SEND, 150, 16, 8, true, LOT_BYTES},
	{"iwarp/send-150/x16/1428", FABRIC_SEND, 150, 16, 8, false, LOT_BYTES},
	{"iwarp/write-64k/x1", FABRIC_WRITE, 64 * KIB, 1, 16, true, LOT_BYTES},
	{"iwarp/write-64k/x8", FABRIC_WRITE, 64 * KIB, 8, 4, true, LOT_BYTES},
	{"iwarp/write-64k/x8/1428", FABRIC_WRITE, 64 * KIB, 8, 4, false, LOT_BYTES},
	{"iwarp/write-1m/x1", FABRIC_WRITE, 1024 * KIB, 1, 4, true, LOT_BYTES},
	{"iwarp/write-1m/x1/1428", FABRIC_WRITE, 1024 * KIB, 1, 4, false, LOT_BYTES},
	{"iwarp/write-1m/x1/late", FABRIC_WRITE, 1024 * KIB, 1, 4, true, WIRE_BYTES},
	{"iwarp/write-1m/x1/1428/late", FABRIC_WRITE, 1024 * KIB, 1, 4, false, WIRE_BYTES},
	{"iwarp/read-64k/x8", FABRIC_READ, 64 * KIB, 8, 4, true, LOT_BYTES},
	{"iwarp/read-1m/x1", FABRIC_READ, 1024 * KIB, 1, 4, true, LOT_BYTES},
	{"iwarp/read-1m/x1/1428", FABRIC_READ, 1024 * KIB, 1, 4, false, LOT_BYTES},
};

/* ---- what the engines copy ---- */

static uint64_t copied_bytes;
static bool in_engine;

void *__real_memcpy(void *to, const void *from, size_t len_bytes);
void *__real_memmove(void *to, const void *from, size_t len_bytes);
void *__wrap_memcpy(void *to, const void *from, size_t len_bytes);
void *__wrap_memmove(void *to, const void *from, size_t len_bytes);

void *__wrap_memcpy(void *to, const void *from, size_t len_bytes)
{
	if (in_engine)
		copied_bytes += len_bytes;
	return __real_memcpy(to, from, len_bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t len_bytes)
{
	if (in_engine)
		copied_bytes += len_bytes;
	return __real_memmove(to, from, len_bytes);
}

/* ---- the two of them ---- */

/* The initiator, which sends, and the responder. */
struct side {
	struct iwarp_env env;
	struct iwarp_counters counters;
	struct iwarp_engine *engine;
	struct fabric_ep_params params;
	unsigned established, received, done;
};

struct message {
	struct fabric_wr wr;
	struct side *side;
	struct buf *here, *there;
	struct fabric_key key; /* of `there` */
};

struct pair {
	const struct row *row;
	struct side ends[2];
	struct message messages[MAX_IN_FLIGHT];
};

static void on_requested(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct side *side = arg;

	RIG_ASSERT(iwarp_engine_accept(side->engine, &side->params, 0) == 0);
}

static void on_established(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	((struct side *)arg)->established++;
}

static void on_recv(void *arg, const struct fabric_recv *recv)
{
	struct side *side = arg;

	side->received++;
	iwarp_engine_recv_post(side->engine, 1, RECV_BYTES);
}

static void on_note(void *arg, const char *text)
{
	RIG_ASSERT(!"nobody has anything to note");
}

static const struct fabric_ep_events side_events = {
	.requested = on_requested,
	.established = on_established,
	.recv = on_recv,
	.note = on_note,
};

static void side_open(struct side *side, const struct row *row)
{
	const struct iwarp_config config = {
		.crc = true, .fpdu = row->fpdu_64k ? IWARP_FPDU_64K : IWARP_FPDU_MSS};
	const uint64_t seeds[4] = {1, 2, 3, 4};

	*side = (struct side){
		.params = {.ird = MAX_IN_FLIGHT,
			   .ord = MAX_IN_FLIGHT,
			   .recv_size_bytes = RECV_BYTES,
			   .recv_count = 2 * MAX_IN_FLIGHT},
	};
	side->env.pool = buf_pool_new(POOL_BYTES, POOL_BYTES);
	side->env.counters = &side->counters;
	iwarp_random_seed(&side->env.random, seeds);
	side->engine = iwarp_engine_new(&side->env, &config, &side_events, side);
	RIG_ASSERT(side->engine);
	iwarp_engine_mss(side->engine, PATH_BYTES);
}

static void side_close(struct side *side)
{
	iwarp_engine_flush(side->engine);
	iwarp_engine_free(side->engine);
	iwarp_env_fini(&side->env);
	buf_pool_free(side->env.pool);
}

/* ---- instead of a network ---- */

static uint8_t wire[WIRE_BYTES], staging[IWARP_RX_STAGING_BYTES];

/* One sendmsg; returns how much is in the wire then. */
static size_t send_some(struct side *side)
{
	const struct iovec *iov;
	unsigned niov;
	size_t len = 0;

	in_engine = true;
	niov = iwarp_engine_tx_plan(side->engine, &iov);
	in_engine = false;
	for (unsigned i = 0; i < niov; i++) {
		RIG_ASSERT(iov[i].iov_len <= sizeof(wire) - len);
		memcpy(wire + len, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	in_engine = true;
	if (len)
		iwarp_engine_tx_done(side->engine, len, 0);
	in_engine = false;
	return len;
}

/* One readv; returns how much it took. */
static size_t receive_some(struct side *side, const uint8_t *from, size_t len_bytes)
{
	struct iovec iov[IWARP_RX_MAX_IOV];
	unsigned niov;
	size_t taken = 0;

	in_engine = true;
	niov = iwarp_engine_rx_plan(side->engine, staging, iov);
	in_engine = false;
	for (unsigned i = 0; i < niov && taken < len_bytes; i++) {
		size_t len =
			iov[i].iov_len < len_bytes - taken ? iov[i].iov_len : len_bytes - taken;

		memcpy(iov[i].iov_base, from + taken, len);
		taken += len;
	}
	RIG_ASSERT(taken);
	in_engine = true;
	iwarp_engine_rx_done(side->engine, taken, 0);
	in_engine = false;
	return taken;
}

static bool move(struct pair *pair, unsigned from)
{
	size_t sent = send_some(&pair->ends[from]), at = 0;

	while (at < sent) {
		size_t lot = pair->row->lot_bytes, end = sent - at < lot ? sent : at + lot;

		while (at < end)
			at += receive_some(&pair->ends[!from], wire + at, end - at);
	}
	return sent > 0;
}

static void pump(struct pair *pair)
{
	bool more;

	do {
		more = move(pair, 0);
		more |= move(pair, 1);
	} while (more);
}

/* ---- messages ---- */

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct message *message = container_of(wr, struct message, wr);

	RIG_ASSERT(status == FABRIC_OK);
	message->side->done++;
}

static void fill(uint8_t *to, uint32_t len_bytes, unsigned seed)
{
	for (uint32_t i = 0; i < len_bytes; i++)
		to[i] = (uint8_t)(seed + i + (i >> 8) + (i >> 16));
}

static struct buf *get_buf(struct side *side, uint32_t len_bytes)
{
	struct buf *buf = buf_get(side->env.pool, len_bytes);

	RIG_ASSERT(buf);
	memset(buf->mem, 0, len_bytes);
	return buf;
}

static void send_msg_init(struct pair *pair, unsigned i)
{
	const struct row *row = pair->row;
	struct message *message = &pair->messages[i];
	bool is_read = row->op == FABRIC_READ;

	*message = (struct message){.side = &pair->ends[0]};
	message->here = get_buf(&pair->ends[0], row->len_bytes);
	message->there = get_buf(&pair->ends[1], row->len_bytes);
	fill(is_read ? message->there->mem : message->here->mem, row->len_bytes, i);
	message->wr = (struct fabric_wr){
		.op = row->op,
		.nsge = 1,
		.sge = {{.buf = message->here,
			 .addr = message->here->mem,
			 .len_bytes = row->len_bytes}},
		.done = on_done,
	};
}

static void message_fini(struct pair *pair, struct message *message)
{
	if (pair->row->op != FABRIC_SEND)
		RIG_ASSERT(!memcmp(message->here->mem, message->there->mem, pair->row->len_bytes));
	buf_put(message->here);
	buf_put(message->there);
}

/* Each message has a key of its own, as each RPC has. */
static void lend(struct pair *pair, struct message *message)
{
	struct fabric_key *key = &message->key;

	*key = (struct fabric_key){
		.buf = message->there,
		.mem = message->there->mem,
		.len_bytes = pair->row->len_bytes,
		.ready_bytes = pair->row->len_bytes,
		.rights = pair->row->op == FABRIC_READ ? FABRIC_REMOTE_READ : FABRIC_REMOTE_WRITE,
	};
	RIG_ASSERT(iwarp_engine_key_bind(pair->ends[1].engine, key) == 0);
	message->wr.rkey = key->rkey;
	message->wr.raddr = key->addr;
}

static void post(struct pair *pair, struct message *message)
{
	in_engine = true;
	if (pair->row->op != FABRIC_SEND)
		lend(pair, message);
	RIG_ASSERT(iwarp_engine_post(message->side->engine, &message->wr) == 0);
	in_engine = false;
}

static void take_back(struct pair *pair, struct message *message)
{
	in_engine = true;
	if (pair->row->op != FABRIC_SEND)
		RIG_ASSERT(iwarp_engine_key_unbind(pair->ends[1].engine, &message->key));
	in_engine = false;
}

MEASURED void replay_counted(struct pair *pair, unsigned rounds);
MEASURED void replay_row(const struct row *row);

static void run_round(struct pair *pair)
{
	for (unsigned i = 0; i < pair->row->in_flight; i++)
		post(pair, &pair->messages[i]);
	pump(pair);
	for (unsigned i = 0; i < pair->row->in_flight; i++)
		take_back(pair, &pair->messages[i]);
}

void replay_counted(struct pair *pair, unsigned rounds)
{
	while (rounds--)
		run_round(pair);
}

void replay_row(const struct row *row)
{
	struct pair pair = {.row = row};
	unsigned all = (WARM_ROUNDS + row->rounds) * row->in_flight;

	for (unsigned i = 0; i < 2; i++)
		side_open(&pair.ends[i], row);
	iwarp_engine_await_request(pair.ends[1].engine, 0);
	RIG_ASSERT(iwarp_engine_connect(pair.ends[0].engine, &pair.ends[0].params, 0) == 0);
	pump(&pair);
	RIG_ASSERT(pair.ends[0].established && pair.ends[1].established);
	for (unsigned i = 0; i < row->in_flight; i++)
		send_msg_init(&pair, i);
	for (unsigned i = 0; i < WARM_ROUNDS; i++)
		run_round(&pair);
	copied_bytes = 0;
	replay_counted(&pair, row->rounds);
	RIG_ASSERT(pair.ends[0].done == all);
	RIG_ASSERT(pair.ends[1].received == (row->op == FABRIC_SEND ? all : 0));
	printf("%s %u %llu\n", row->name, row->rounds * row->in_flight,
	       (unsigned long long)copied_bytes);
	for (unsigned i = 0; i < row->in_flight; i++)
		message_fini(&pair, &pair.messages[i]);
	for (unsigned i = 0; i < 2; i++)
		side_close(&pair.ends[i]);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (argc < 2 || strstr(rows[i].name, argv[1]))
			replay_row(&rows[i]);
	return 0;
}
