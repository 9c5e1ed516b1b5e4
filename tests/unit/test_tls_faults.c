// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests TLS over bad connections: short reads and writes, delays, small buffers, cuts before each
 * step, and ends that are closed before each step.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"
#include "tests/unit/tls_fixture.h"
#include "tls/tls_stream_priv.h"

#define SEEDS      24
#define DATA_BYTES 50000u

static struct tls_rig rig;
static uint8_t data[DATA_BYTES];
static size_t written[2];

static void setup(void)
{
	tls_rig_init(&rig);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 11 + (i >> 7));
}

static void teardown(void)
{
	tls_rig_fini(&rig);
}

/* Writes what an end can; the rest follows in later calls. */
static void write_more(struct tls_end *end, size_t *done)
{
	struct iovec iov[2];
	size_t left = DATA_BYTES - *done, first = left < 100 ? left : 100;
	ssize_t n;

	if (!end->stream || !end->connected || end->error || !left)
		return;
	iov[0] = (struct iovec){data + *done, first};
	iov[1] = (struct iovec){data + *done + first, left - first};
	n = stream_writev(end->stream, iov, 2);
	if (n > 0)
		*done += (size_t)n;
	if (*done == DATA_BYTES)
		stream_shutdown(end->stream);
}

/* Handshake, data in both directions at once, new keys, and an end in order. */
static void exchange(void)
{
	memset(written, 0, sizeof(written));
	tls_rig_connect(&rig);
	for (unsigned i = 0; i < 300; i++) {
		fake_loop_advance(rig.loop, 2000);
		if (rig.client.connected && rig.client.stream)
			tls_stream_of(rig.client.stream)->max_records = 2;
		write_more(&rig.client, &written[0]);
		write_more(&rig.server, &written[1]);
	}
}

static void expect_exchanged(void)
{
	struct tls_end *ends[] = {&rig.client, &rig.server};

	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(ends[i]->error, 0);
		ck_assert_uint_eq(ends[i]->input_bytes, DATA_BYTES);
		ck_assert_mem_eq(ends[i]->input, data, DATA_BYTES);
		ck_assert_int_eq(ends[i]->last_read, 0);
		ck_assert_uint_eq(ends[i]->counters.truncations, 0);
		ck_assert_uint_eq(ends[i]->counters.record_errors, 0);
	}
	ck_assert_uint_gt(rig.server.counters.key_updates, 0);
}

START_TEST(pieces_of_any_size_and_delays)
{
	struct pair_faults faults = {
		.seed = (uint64_t)_i + 1,
		.short_reads = true,
		.short_writes = true,
		.max_delay_us = _i % 2 ? 300 : 0,
		.buffer_bytes = _i % 3 ? 65536 : 7000,
	};

	rig.client.read_bytes = _i % 4 ? 0 : 777;
	tls_rig_faults(&rig, &faults);
	exchange();
	expect_exchanged();
}
END_TEST

START_TEST(bytes_one_by_one)
{
	struct pair_faults faults = {.max_read_bytes = 1};

	tls_rig_faults(&rig, &faults);
	tls_rig_open(&rig);
	rig.server.drains = rig.client.drains = true;
	ck_assert_int_eq(tls_end_write(&rig.client, data, 2000), 0);
	tls_rig_run(&rig);
	ck_assert_uint_eq(rig.server.input_bytes, 2000);
	ck_assert_mem_eq(rig.server.input, data, 2000);
}
END_TEST

/* Each end was told: by connected(), or by what it reads. */
static void expect_told(const struct tls_end *end)
{
	bool complete = end->input_bytes == DATA_BYTES && end->last_read == 0;

	ck_assert(end->connected);
	if (end->error)
		ck_assert_int_eq(end->error, -ECONNRESET);
	else
		ck_assert(complete || end->last_read == -ECONNRESET);
	if (end->input_bytes)
		ck_assert_mem_eq(end->input, data, end->input_bytes);
}

START_TEST(a_cut_before_each_step)
{
	struct pair_faults faults = {.seed = 7, .short_reads = true, .buffer_bytes = 9000};
	unsigned steps;

	tls_rig_faults(&rig, &faults);
	exchange();
	steps = pair_net_steps(rig.net);
	ck_assert_uint_gt(steps, 50);
	for (unsigned i = 1; i <= steps; i++) {
		tls_rig_reset(&rig);
		faults.cut_at_step = i;
		tls_rig_faults(&rig, &faults);
		exchange();
		expect_told(&rig.client);
		expect_told(&rig.server);
		ck_assert_uint_eq(
			rig.client.counters.record_errors + rig.server.counters.record_errors, 0);
	}
}
END_TEST

static unsigned how;

/* Bits of how: which end, whether by a reset, and whether the work of a handshake is held. */
static void close_one(void *arg)
{
	tls_end_close(how & 1 ? &rig.server : &rig.client, how & 2);
}

START_TEST(an_end_is_closed_before_each_step)
{
	struct pair_faults faults = {
		.seed = 5, .short_reads = true, .buffer_bytes = 9000, .hook = close_one};
	unsigned steps;

	how = (unsigned)_i;
	tls_rig_faults(&rig, &faults);
	exchange();
	steps = pair_net_steps(rig.net);
	for (unsigned i = 1; i <= steps; i++) {
		struct tls_end *left = how & 1 ? &rig.client : &rig.server;

		tls_rig_reset(&rig);
		faults.hook_at_step = i;
		tls_rig_faults(&rig, &faults);
		exchange();
		ck_assert(left->connected);
		if (!left->error)
			ck_assert_int_le(left->last_read, 0);
		if (left->input_bytes)
			ck_assert_mem_eq(left->input, data, left->input_bytes);
	}
}
END_TEST

static void hold(void *arg)
{
	rig.runner.hold = true;
}

/* The other end is closed while the work of one waits. */
START_TEST(an_end_is_closed_while_work_waits)
{
	struct pair_faults faults = {.seed = 5, .hook = hold};

	for (unsigned i = 1; i <= 12; i++) {
		tls_rig_reset(&rig);
		faults.hook_at_step = i;
		tls_rig_faults(&rig, &faults);
		exchange();
		tls_end_close(_i & 1 ? &rig.server : &rig.client, _i & 2);
		fake_loop_advance(rig.loop, 1000);
		if (_i & 4)
			tls_end_close(_i & 1 ? &rig.client : &rig.server, _i & 2);
		fake_runner_release(&rig.runner);
		fake_loop_advance(rig.loop, 1000);
		ck_assert_uint_eq(rig.worker.running, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tls_faults");
	TCase *tc = tcase_create("tls_faults");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, pieces_of_any_size_and_delays, 0, SEEDS);
	tcase_add_test(tc, bytes_one_by_one);
	tcase_add_test(tc, a_cut_before_each_step);
	tcase_add_loop_test(tc, an_end_is_closed_before_each_step, 0, 4);
	tcase_add_loop_test(tc, an_end_is_closed_while_work_waits, 0, 8);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
