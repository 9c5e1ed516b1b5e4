// SPDX-License-Identifier: BSD-3-Clause
/*
 * The iwarp fabric over TCP on loopback: what goes over a connection, and what may be called on the
 * way.
 */
#include <errno.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/unit/iwarp_ends.h"

#define BIG_BYTES     (1u << 20)
#define STAGING_BYTES (256u << 10)

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	ck_assert_int_eq(status, FABRIC_OK);
	ends.done++;
}

/*
 * The scenario: the client lends memory both ways and says so; the server reads one and writes the
 * other, then says so and takes the key back.
 */
static struct buf *source, *target, *mirror;
static struct fabric_key source_key, target_key;
static struct fabric_wr hello, read_wr, write_wr, bye;

struct offer {
	uint32_t source_rkey, target_rkey;
	uint64_t source_addr, target_addr;
};

static void wr_set(struct fabric_wr *wr, enum fabric_wr_op op, struct buf *buf, uint32_t len_bytes)
{
	memset(wr, 0, sizeof(*wr));
	wr->op = op;
	wr->nsge = 1;
	wr->sge[0].buf = buf;
	wr->sge[0].addr = buf->mem;
	wr->sge[0].len_bytes = len_bytes;
	wr->done = on_done;
}

static void client_step(struct end *end)
{
	struct offer *offer;

	if (end->recvs) {
		ck_assert(end->last.invalidated);
		ck_assert_uint_eq(end->last.inv_rkey, target_key.rkey);
		ck_assert(fabric_key_unbind(&source_key));
		ck_assert(fabric_key_unbind(&target_key));
		fabric_ep_close(end->ep);
		return;
	}
	source_key = (struct fabric_key){.buf = source,
					 .mem = source->mem,
					 .len_bytes = BIG_BYTES,
					 .ready_bytes = BIG_BYTES,
					 .rights = FABRIC_REMOTE_READ};
	target_key = (struct fabric_key){.buf = target,
					 .mem = target->mem,
					 .len_bytes = BIG_BYTES,
					 .ready_bytes = BIG_BYTES,
					 .rights = FABRIC_REMOTE_WRITE};
	ck_assert_int_eq(fabric_key_bind(end->ep, &source_key), 0);
	ck_assert_int_eq(fabric_key_bind(end->ep, &target_key), 0);
	wr_set(&hello, FABRIC_SEND, mirror, sizeof(*offer));
	offer = (struct offer *)mirror->mem;
	offer->source_rkey = source_key.rkey;
	offer->source_addr = source_key.addr;
	offer->target_rkey = target_key.rkey;
	offer->target_addr = target_key.addr;
	ck_assert_int_eq(fabric_post(end->ep, &hello), 0);
}

static void on_read_done(struct fabric_wr *wr, enum fabric_status status)
{
	const struct offer *offer = (const struct offer *)ends.server.recv;

	on_done(wr, status);
	wr_set(&write_wr, FABRIC_WRITE, mirror, BIG_BYTES);
	write_wr.rkey = offer->target_rkey;
	write_wr.raddr = offer->target_addr;
	ck_assert_int_eq(fabric_post(ends.server.ep, &write_wr), 0);
	wr_set(&bye, FABRIC_SEND_INV, mirror, 100);
	bye.inv_rkey = offer->target_rkey;
	ck_assert_int_eq(fabric_post(ends.server.ep, &bye), 0);
}

static void server_step(struct end *end)
{
	const struct offer *offer = (const struct offer *)end->recv;

	if (!end->recvs)
		return;
	wr_set(&read_wr, FABRIC_READ, mirror, BIG_BYTES);
	read_wr.rkey = offer->source_rkey;
	read_wr.raddr = offer->source_addr;
	read_wr.done = on_read_done;
	ck_assert_int_eq(fabric_post(end->ep, &read_wr), 0);
}

static const struct {
	bool crc;
	enum iwarp_fpdu fpdu;
	const char *host;
	int family;
} ways[] = {
	{true, IWARP_FPDU_64K, "127.0.0.1", AF_INET}, {true, IWARP_FPDU_MSS, "::1", AF_INET6},
	{false, IWARP_FPDU_64K, "::1", AF_INET6},     {false, IWARP_FPDU_MSS, "127.0.0.1", AF_INET},
	{true, IWARP_FPDU_AUTO, "::1", AF_INET6},
};

START_TEST(a_connection_sends_writes_reads_and_closes_in_good_order)
{
	struct iwarp_counters *counters;

	ends_start(ways[_i].crc, ways[_i].fpdu, ways[_i].host, ways[_i].family);
	source = buf_get(ends.pool, BIG_BYTES);
	target = buf_get(ends.pool, BIG_BYTES);
	mirror = buf_get(ends.pool, BIG_BYTES);
	for (unsigned i = 0; i < BIG_BYTES; i++)
		source->mem[i] = (uint8_t)(i * 7 + i / 251);
	memcpy(ends.client.params.private_data, "client", 6);
	ends.client.params.private_data_bytes = 6;
	memcpy(ends.server.params.private_data, "server!", 7);
	ends.server.params.private_data_bytes = 7;
	ends.client.step = client_step;
	ends.server.step = server_step;
	ends_connect();
	event_loop_run(ends.loop);
	ck_assert_uint_eq(ends.client.private_data_bytes, 7);
	ck_assert_mem_eq(ends.client.private_data, "server!", 7);
	ck_assert_mem_eq(ends.server.private_data, "client", 6);
	ck_assert_uint_eq(ends.done, 4);
	ck_assert_mem_eq(target->mem, source->mem, BIG_BYTES);
	ck_assert_int_eq(ends.client.why, FABRIC_CLOSE_LOCAL);
	ck_assert_int_eq(ends.server.why, FABRIC_CLOSE_PEER);
	counters = ends.fabric->counters;
	ck_assert_uint_eq(counters->fpdus_sent, counters->fpdus_received);
	ck_assert_uint_eq(counters->crc_checked, ways[_i].crc ? counters->fpdus_received : 0);
	ck_assert_uint_eq(counters->bytes_sent, counters->bytes_received);
	/*
	 * Only what shares a read with a header, and once each way a read in which FPDUs grow:
	 * doc/internals/data-path.md, Copies.
	 */
	ck_assert_uint_le(counters->payload_bytes_copied, 2 * (16384 + STAGING_BYTES));
	buf_put(source);
	buf_put(target);
	buf_put(mirror);
	ends_stop();
}
END_TEST

/*
 * Both ends push more than the sockets hold, as fast as it goes, then close with all of it posted.
 */
#define FLOOD 64u
static struct fabric_wr flood[2][FLOOD];
static struct fabric_key flood_key[2];
static unsigned flooded;

static void flood_post(struct end *end, unsigned which)
{
	for (unsigned i = 0; i < FLOOD; i++) {
		struct fabric_wr *wr = &flood[which][i];

		wr_set(wr, FABRIC_WRITE, source, BIG_BYTES);
		wr->rkey = flood_key[1 - which].rkey;
		wr->raddr = flood_key[1 - which].addr;
		ck_assert_int_eq(fabric_post(end->ep, wr), 0);
	}
	wr_set(which ? &bye : &hello, FABRIC_SEND, mirror, 8);
	ck_assert_int_eq(fabric_post(end->ep, which ? &bye : &hello), 0);
}

static void flood_step(struct end *end)
{
	unsigned which = end == &ends.server;

	if (end->recvs == 1) {
		if (++flooded == 2)
			fabric_ep_close(ends.client.ep);
		return;
	}
	flood_key[which] = (struct fabric_key){.buf = target,
					       .mem = target->mem,
					       .len_bytes = BIG_BYTES,
					       .ready_bytes = BIG_BYTES,
					       .rights = FABRIC_REMOTE_WRITE};
	ck_assert_int_eq(fabric_key_bind(end->ep, &flood_key[which]), 0);
	if (ends.client.established && ends.server.established) {
		flood_post(&ends.client, 0);
		flood_post(&ends.server, 1);
	}
}

static void on_closed_flood(void *arg, enum fabric_close why, const char *detail)
{
	ck_assert(fabric_key_unbind(&flood_key[arg == &ends.server]));
	ends_on_closed(arg, why, detail);
}

START_TEST(both_ends_may_send_more_than_the_sockets_hold)
{
	static struct fabric_ep_events flood_events;
	struct iwarp_counters *counters;

	ends_start(true, _i ? IWARP_FPDU_64K : IWARP_FPDU_MSS, "127.0.0.1", AF_INET);
	flood_events = ends_events;
	flood_events.closed = on_closed_flood;
	source = buf_get(ends.pool, BIG_BYTES);
	target = buf_get(ends.pool, BIG_BYTES);
	mirror = buf_get(ends.pool, BIG_BYTES);
	memset(source->mem, 0x3d, BIG_BYTES);
	flooded = 0;
	ends.client.step = flood_step;
	ends.server.step = flood_step;
	ends.incoming_events = &flood_events;
	ck_assert_int_eq(fabric_connect(ends.fabric, (struct sockaddr *)&ends.address,
					&ends.client.params, &flood_events, &ends.client,
					&ends.client.ep),
			 0);
	event_loop_run(ends.loop);
	ck_assert_uint_eq(flooded, 2);
	ck_assert_uint_eq(ends.done, 2 * FLOOD + 2);
	counters = ends.fabric->counters;
	ck_assert_uint_eq(counters->write_bytes_received, (uint64_t)2 * FLOOD * BIG_BYTES);
	/*
	 * A connection where long Writes are likely copies the start of each at most, and where
	 * FPDUs grow a read.
	 */
	ck_assert_uint_le(counters->payload_bytes_copied,
			  (uint64_t)2 * (FLOOD * 16384 + 2 * STAGING_BYTES));
	ck_assert_mem_eq(target->mem, source->mem, BIG_BYTES);
	buf_put(source);
	buf_put(target);
	buf_put(mirror);
	ends_stop();
}
END_TEST

/* The client's memory fills bit by bit while the server reads it. */
static struct loop_timer *filling;

static void on_filling(void *arg)
{
	uint32_t ready = source_key.ready_bytes, step = 70001;

	if (step > BIG_BYTES - ready)
		step = BIG_BYTES - ready;
	memset(source->mem + ready, 0x5b, step);
	fabric_key_ready(&source_key, ready + step);
	if (ready + step < BIG_BYTES)
		loop_timer_set(ends.loop, filling, 500);
}

static void filling_step(struct end *end)
{
	struct offer *offer = (struct offer *)target->mem;

	if (end->recvs) {
		ck_assert(fabric_key_unbind(&source_key));
		fabric_ep_close(end->ep);
		return;
	}
	source_key = (struct fabric_key){.buf = source,
					 .mem = source->mem,
					 .len_bytes = BIG_BYTES,
					 .rights = FABRIC_REMOTE_READ};
	ck_assert_int_eq(fabric_key_bind(end->ep, &source_key), 0);
	offer->source_rkey = source_key.rkey;
	offer->source_addr = source_key.addr;
	wr_set(&hello, FABRIC_SEND, target, sizeof(*offer));
	ck_assert_int_eq(fabric_post(end->ep, &hello), 0);
	loop_timer_set(ends.loop, filling, 500);
}

static void on_filled(struct fabric_wr *wr, enum fabric_status status)
{
	on_done(wr, status);
	ck_assert_uint_eq(source_key.ready_bytes, BIG_BYTES);
	/* Nobody hears of a peer that is there. */
	ck_assert_int_eq(fabric_ep_keepalive(ends.server.ep), 0);
	ck_assert_int_eq(fabric_ep_keepalive(ends.client.ep), -EOPNOTSUPP);
	wr_set(&bye, FABRIC_SEND, mirror, 8);
	ck_assert_int_eq(fabric_post(ends.server.ep, &bye), 0);
}

static void reading_step(struct end *end)
{
	const struct offer *offer = (const struct offer *)end->recv;

	if (!end->recvs)
		return;
	wr_set(&read_wr, FABRIC_READ, mirror, BIG_BYTES);
	read_wr.rkey = offer->source_rkey;
	read_wr.raddr = offer->source_addr;
	read_wr.done = on_filled;
	ck_assert_int_eq(fabric_post(end->ep, &read_wr), 0);
}

START_TEST(a_read_goes_on_as_its_memory_fills)
{
	struct iwarp_counters *counters;
	struct fabric_ep_info info;

	ends_start(true, _i ? IWARP_FPDU_64K : IWARP_FPDU_MSS, "127.0.0.1", AF_INET);
	source = buf_get(ends.pool, BIG_BYTES);
	target = buf_get(ends.pool, BIG_BYTES);
	mirror = buf_get(ends.pool, BIG_BYTES);
	memset(mirror->mem, 0, BIG_BYTES);
	filling = loop_timer_new(ends.loop, on_filling, NULL);
	ends.client.step = filling_step;
	ends.server.step = reading_step;
	ends_connect();
	fabric_ep_info(ends.client.ep, &info);
	ck_assert(info.deferred_reads && info.sends_invalidate);
	event_loop_run(ends.loop);
	ck_assert_uint_eq(ends.done, 3);
	ck_assert_mem_eq(mirror->mem, source->mem, BIG_BYTES);
	ck_assert_int_eq(ends.client.why, FABRIC_CLOSE_LOCAL);
	counters = ends.fabric->counters;
	ck_assert_uint_eq(counters->read_responses_late, 1);
	ck_assert_uint_eq(counters->probes_sent, 1);
	loop_timer_free(ends.loop, filling);
	buf_put(source);
	buf_put(target);
	buf_put(mirror);
	ends_stop();
}
END_TEST

/* Calls of a dying endpoint, from inside its callbacks. */
static struct fabric_key dying_keys[3];
static unsigned dying_calls, dying_unbound;

static void on_dying_unbound(struct fabric_key *key)
{
	dying_unbound++;
}

static struct fabric_key dying_key(void)
{
	return (struct fabric_key){.buf = source,
				   .mem = source->mem,
				   .len_bytes = 8,
				   .ready_bytes = 8,
				   .rights = FABRIC_REMOTE_READ,
				   .unbound = on_dying_unbound};
}

static void call_everything(void)
{
	static struct fabric_wr more;
	struct fabric_key key = dying_key();

	wr_set(&more, FABRIC_SEND, source, 8);
	ck_assert_int_eq(fabric_post(ends.client.ep, &more), -ENOTCONN);
	ck_assert_int_eq(fabric_key_bind(ends.client.ep, &key), -ENOTCONN);
	ck_assert_int_eq(fabric_ep_keepalive(ends.client.ep), -ENOTCONN);
	fabric_recv_post(ends.client.ep, 1, 100);
	fabric_key_ready(&dying_keys[0], 8);
	fabric_ep_close(ends.client.ep);
	if (dying_calls < 2)
		(void)!fabric_key_unbind(&dying_keys[dying_calls]);
	dying_calls++;
}

static void on_dying_done(struct fabric_wr *wr, enum fabric_status status)
{
	ends.done++;
	if (status == FABRIC_FLUSHED)
		call_everything();
}

static void on_dying_closed(void *arg, enum fabric_close why, const char *detail)
{
	ck_assert_uint_eq(dying_calls, 3);
	call_everything();
	ck_assert(fabric_key_unbind(&dying_keys[2]));
	ends_on_closed(arg, why, detail);
}

static void dying_step(struct end *end)
{
	static struct fabric_wr wrs[3];

	for (unsigned i = 0; i < 3; i++) {
		dying_keys[i] = dying_key();
		ck_assert_int_eq(fabric_key_bind(end->ep, &dying_keys[i]), 0);
		wr_set(&wrs[i], FABRIC_READ, target, 8);
		wrs[i].done = on_dying_done;
		ck_assert_int_eq(fabric_post(end->ep, &wrs[i]), 0);
	}
	/* No Read is sent any more. */
	fabric_ep_close(end->ep);
}

START_TEST(everything_may_be_called_inside_the_callbacks_of_a_dying_endpoint)
{
	static struct fabric_ep_events dying_events;

	ends_start(true, IWARP_FPDU_64K, "127.0.0.1", AF_INET);
	dying_events = ends_events;
	dying_events.closed = on_dying_closed;
	source = buf_get(ends.pool, BIG_BYTES);
	target = buf_get(ends.pool, BIG_BYTES);
	ends.client.step = dying_step;
	ck_assert_int_eq(fabric_connect(ends.fabric, (struct sockaddr *)&ends.address,
					&ends.client.params, &dying_events, &ends.client,
					&ends.client.ep),
			 0);
	event_loop_run(ends.loop);
	ck_assert_uint_eq(ends.done, 3);
	ck_assert_uint_eq(dying_calls, 4);
	ck_assert_uint_eq(dying_unbound, 0);
	buf_put(source);
	buf_put(target);
	ends_stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_traffic");
	TCase *tc = tcase_create("loopback");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_connection_sends_writes_reads_and_closes_in_good_order, 0,
			    ARRAY_SIZE(ways));
	tcase_add_loop_test(tc, a_read_goes_on_as_its_memory_fills, 0, 2);
	tcase_add_test(tc, everything_may_be_called_inside_the_callbacks_of_a_dying_endpoint);
	tcase_add_loop_test(tc, both_ends_may_send_more_than_the_sockets_hold, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
