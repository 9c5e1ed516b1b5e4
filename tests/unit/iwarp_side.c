// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/iwarp_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/be_bytes.h"
#include "base/crc32c.h"
#include "fabric/iwarp/proto.h"
#include "tests/lib/test.h"

static uint8_t staging[IWARP_RX_STAGING_BYTES];

static void on_requested(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct iwarp_side *side = arg;

	side->requested++;
	memcpy(side->private_data, private_data, len_bytes);
	side->private_data_bytes = len_bytes;
	if (side->accept)
		ck_assert_int_eq(iwarp_engine_accept(side->engine, &side->params, side->now_us), 0);
}

static void on_established(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct iwarp_side *side = arg;

	side->established++;
	if (len_bytes)
		memcpy(side->private_data, private_data, len_bytes);
	if (private_data)
		side->private_data_bytes = len_bytes;
}

static void on_recv(void *arg, const struct fabric_recv *recv)
{
	struct iwarp_side *side = arg;
	struct side_send *send = &side->sends[side->nsends++];

	ck_assert_uint_le(side->nsends, SIDE_MAX_SENDS);
	send->len_bytes = recv->len_bytes;
	send->size_bytes = recv->size_bytes;
	send->invalidated = recv->invalidated;
	send->inv_rkey = recv->inv_rkey;
	send->bytes = malloc(recv->len_bytes + 1);
	memcpy(send->bytes, recv->data, recv->len_bytes);
	if (side->refill)
		iwarp_engine_recv_post(side->engine, 1, side->params.recv_size_bytes);
	if (side->on_recv)
		side->on_recv(side);
}

static void on_note(void *arg, const char *text)
{
	struct iwarp_side *side = arg;

	side->notes++;
	snprintf(side->note, sizeof(side->note), "%s", text);
}

static void on_rejected(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct iwarp_side *side = arg;

	side->rejected++;
	ck_assert_uint_le(len_bytes, sizeof(side->private_data));
	memcpy(side->private_data, private_data, len_bytes);
	side->private_data_bytes = len_bytes;
}

static const struct fabric_ep_events events = {
	.requested = on_requested,
	.established = on_established,
	.rejected = on_rejected,
	.recv = on_recv,
	.note = on_note,
};

void side_init(struct iwarp_side *side, const struct iwarp_config *config, uint64_t seed)
{
	uint64_t seeds[4] = {seed, 1, 2, 3};

	memset(side, 0, sizeof(*side));
	side->pool = buf_pool_new(16u << 20, 8u << 20);
	side->env.pool = side->pool;
	side->env.counters = &side->counters;
	iwarp_random_seed(&side->env.random, seeds);
	side->engine = iwarp_engine_new(&side->env, config, &events, side);
	ck_assert_ptr_nonnull(side->engine);
	side->params.ird = side->params.ord = 16;
	side->params.recv_size_bytes = 4096;
	side->params.recv_count = 8;
	side->accept = true;
	side->refill = true;
}

void side_fini(struct iwarp_side *side)
{
	iwarp_engine_flush(side->engine);
	iwarp_engine_free(side->engine);
	iwarp_env_fini(&side->env);
	for (unsigned i = 0; i < side->nsends; i++)
		free(side->sends[i].bytes);
	buf_pool_free(side->pool);
}

size_t side_take(struct iwarp_side *side, uint8_t *out, size_t size)
{
	size_t taken = 0;

	while (taken < size) {
		const struct iovec *iov;
		unsigned niov = iwarp_engine_tx_plan(side->engine, &iov);
		size_t step = 0;

		for (unsigned i = 0; i < niov && taken + step < size; i++) {
			size_t len = iov[i].iov_len;

			if (len > size - taken - step)
				len = size - taken - step;
			memcpy(out + taken + step, iov[i].iov_base, len);
			step += len;
		}
		if (!step)
			break;
		iwarp_engine_tx_done(side->engine, step, side->now_us);
		taken += step;
	}
	return taken;
}

void side_give(struct iwarp_side *side, const uint8_t *bytes, size_t len_bytes, size_t piece)
{
	while (len_bytes > 0) {
		struct iovec iov[IWARP_RX_MAX_IOV];
		unsigned niov = iwarp_engine_rx_plan(side->engine, staging, iov);
		size_t want = len_bytes < piece ? len_bytes : piece, step = 0, room = 0;

		for (unsigned i = 0; i < niov; i++)
			if ((uint8_t *)iov[i].iov_base >= staging &&
			    (uint8_t *)iov[i].iov_base < staging + sizeof(staging))
				room += iov[i].iov_len;
		if (room > sizeof(staging))
			ck_abort_msg("%zu bytes are to come into staging", room);
		for (unsigned i = 0; i < niov && step < want; i++) {
			size_t len = iov[i].iov_len < want - step ? iov[i].iov_len : want - step;

			memcpy(iov[i].iov_base, bytes + step, len);
			step += len;
		}
		/* Check writes a note of each assertion that holds, and pieces are many. */
		if (!step)
			ck_abort_msg("the engine has no place for what comes");
		iwarp_engine_rx_done(side->engine, step, side->now_us);
		bytes += step;
		len_bytes -= step;
		/* Nothing may be left there. */
		memset(staging, 0xee, step < sizeof(staging) ? step : sizeof(staging));
	}
}

static bool move(struct iwarp_side *from, struct iwarp_side *to, struct iwarp_random *random)
{
	static uint8_t wire[1u << 20];
	size_t size = sizeof(wire), piece = sizeof(wire), len;

	if (random) {
		static const size_t scales[] = {1, 30, 700, 3000, 20000, 70000, 400000, 400000};
		uint64_t r = iwarp_random_next(random);

		size = 1 + r % scales[(r >> 40) % 8];
		r = iwarp_random_next(random);
		piece = 1 + r % scales[(r >> 40) % 8];
	}
	len = side_take(from, wire, size);
	if (len)
		side_give(to, wire, len, piece);
	return len > 0;
}

void side_pump(struct iwarp_side *a, struct iwarp_side *b, uint64_t seed)
{
	uint64_t seeds[4] = {seed, 5, 6, 7};
	struct iwarp_random random;
	bool more;

	iwarp_random_seed(&random, seeds);
	do {
		more = move(a, b, seed ? &random : NULL);
		more |= move(b, a, seed ? &random : NULL);
	} while (more);
}

void side_open(struct iwarp_side *a, struct iwarp_side *b, uint64_t seed)
{
	ck_assert_int_eq(iwarp_engine_connect(a->engine, &a->params, a->now_us), 0);
	iwarp_engine_await_request(b->engine, b->now_us);
	side_pump(a, b, seed);
	ck_assert_uint_eq(a->established, 1);
	ck_assert_uint_eq(b->established, 1);
}

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct side_wr *swr = container_of(wr, struct side_wr, wr);
	struct iwarp_side *side = swr->side;

	swr->done++;
	swr->status = status;
	swr->order = ++side->done;
}

void side_wr_init(struct side_wr *swr, struct iwarp_side *side, enum fabric_wr_op op)
{
	memset(swr, 0, sizeof(*swr));
	swr->side = side;
	swr->wr.op = op;
	swr->wr.done = on_done;
}

void side_wr_add(struct side_wr *swr, struct buf *buf, uint32_t offset, uint32_t len_bytes)
{
	struct fabric_sge *sge = &swr->wr.sge[swr->wr.nsge++];

	ck_assert_uint_le(swr->wr.nsge, FABRIC_MAX_SGE);
	sge->buf = buf;
	sge->addr = buf->mem + offset;
	sge->len_bytes = len_bytes;
}

void side_post(struct iwarp_side *side, struct side_wr *swr)
{
	ck_assert_int_eq(iwarp_engine_post(side->engine, &swr->wr), 0);
}

void side_key(struct iwarp_side *side, struct fabric_key *key, struct buf *buf, uint32_t offset,
	      uint32_t len_bytes, unsigned rights)
{
	memset(key, 0, sizeof(*key));
	key->buf = buf;
	key->mem = buf->mem + offset;
	key->len_bytes = key->ready_bytes = len_bytes;
	key->rights = rights;
	ck_assert_int_eq(iwarp_engine_key_bind(side->engine, key), 0);
}

void side_fill(uint8_t *bytes, size_t len_bytes, uint64_t seed)
{
	for (size_t i = 0; i < len_bytes; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (uint8_t)(seed >> 56);
	}
}

size_t side_fpdu(uint8_t *out, const uint8_t *ulpdu, size_t len_bytes, bool crc)
{
	size_t total = MPA_LENGTH_BYTES + len_bytes;

	be16_put(out, (uint16_t)len_bytes);
	memcpy(out + MPA_LENGTH_BYTES, ulpdu, len_bytes);
	while (total % 4)
		out[total++] = 0;
	memset(out + total, 0, MPA_CRC_BYTES);
	if (crc)
		mpa_crc_store(crc32c_add(CRC32C_START, out, total), out + total);
	return total + MPA_CRC_BYTES;
}
