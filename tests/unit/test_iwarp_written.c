// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests which bytes the engine reports as written in memory that its peer can write to: from the
 * start, and completely.
 */
#include "tests/lib/test.h"
#include "tests/unit/iwarp_peer.h"

static void write_at(uint32_t at, uint32_t len_bytes)
{
	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, peer_writable.addr + at, len_bytes);
	peer_fpdu_give();
	ck_assert_int_eq(iwarp_engine_action(peer_side.engine), IWARP_CONTINUE);
}

static void expect(uint32_t written_bytes)
{
	ck_assert_uint_eq(peer_writable.written.prefix_bytes, written_bytes);
}

START_TEST(nothing_is_written_at_first)
{
	expect(0);
	ck_assert_ptr_null(peer_writable.written.ahead);
}
END_TEST

START_TEST(writes_in_order_count_as_they_come)
{
	for (uint32_t at = 0; at < LENT_BYTES; at += 50) {
		expect(at);
		write_at(at, 50);
	}
	expect(LENT_BYTES);
}
END_TEST

/* A Send behind it is delivered only then (RFC 5041 section 5.3). */
START_TEST(a_message_of_many_segments_counts_when_it_is_whole)
{
	for (uint32_t at = 0; at < LENT_BYTES; at += 100) {
		expect(0);
		peer_tagged(RDMAP_WRITE, at == LENT_BYTES - 100, peer_writable.rkey,
			    peer_writable.addr + at, 100);
		peer_fpdu_give();
	}
	expect(LENT_BYTES);
}
END_TEST

START_TEST(the_first_and_the_last_segment_may_be_empty)
{
	static const struct {
		uint32_t at, len;
	} segments[] = {{100, 0}, {100, 50}, {150, 0}, {150, 20}, {170, 0}};

	write_at(0, 100);
	for (unsigned i = 0; i < 5; i++) {
		peer_tagged(RDMAP_WRITE, i == 4, peer_writable.rkey,
			    peer_writable.addr + segments[i].at, segments[i].len);
		peer_fpdu_give();
		expect(i < 4 ? 100 : 170);
	}
}
END_TEST

START_TEST(a_message_whose_key_is_invalidated_does_not_count)
{
	peer_tagged(RDMAP_WRITE, false, peer_writable.rkey, peer_writable.addr, 100);
	peer_fpdu_give();
	ck_assert(iwarp_engine_key_unbind(peer_side.engine, &peer_writable));
	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, peer_writable.addr + 100, 0);
	peer_fpdu_give();
	expect(0);
	side_key(&peer_side, &peer_writable, peer_memory, LENT_BYTES, LENT_BYTES,
		 FABRIC_REMOTE_WRITE);
}
END_TEST

START_TEST(bytes_written_twice_count_once)
{
	for (unsigned i = 0; i < 1000; i++)
		write_at(0, 100);
	expect(100);
}
END_TEST

START_TEST(a_gap_ends_what_counts)
{
	write_at(0, 100);
	write_at(101, 400);
	expect(100);
	write_at(700, 300);
	expect(100);
	write_at(100, 1);
	expect(501);
	write_at(400, 400);
	expect(LENT_BYTES);
}
END_TEST

START_TEST(many_small_writes_in_any_order_count)
{
	for (uint32_t i = 0; i < LENT_BYTES / 8; i++)
		write_at(i * 7 % (LENT_BYTES / 8) * 8, 8);
	expect(LENT_BYTES);
}
END_TEST

START_TEST(a_write_of_nothing_counts_nothing)
{
	write_at(0, 0);
	write_at(500, 0);
	expect(0);
	ck_assert_ptr_null(peer_writable.written.ahead);
}
END_TEST

/* Its bytes may be there, but nobody can trust them. */
START_TEST(an_fpdu_that_is_not_whole_or_not_right_counts_nothing)
{
	uint8_t bytes[LENT_BYTES + 100];
	size_t len;

	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, peer_writable.addr, 400);
	len = side_fpdu(bytes, peer_ulpdu, peer_ulpdu_bytes, true);
	side_give(&peer_side, bytes, len - 1, SIZE_MAX);
	expect(0);
	bytes[len - 1] ^= 1;
	side_give(&peer_side, bytes + len - 1, 1, SIZE_MAX);
	expect(0);
	ck_assert_uint_eq(peer_side.counters.crc_bad, 1);
}
END_TEST

START_TEST(a_refused_write_counts_nothing)
{
	peer_tagged(RDMAP_WRITE, true, peer_writable.rkey, peer_writable.addr + 1, LENT_BYTES);
	peer_fpdu_give();
	ck_assert_uint_eq(peer_side.notes, 1);
	expect(0);
}
END_TEST

START_TEST(a_key_that_is_bound_again_begins_with_nothing)
{
	write_at(0, 100);
	write_at(200, 100);
	ck_assert(iwarp_engine_key_unbind(peer_side.engine, &peer_writable));
	side_key(&peer_side, &peer_writable, peer_memory, LENT_BYTES, LENT_BYTES,
		 FABRIC_REMOTE_WRITE);
	expect(0);
	write_at(100, 100);
	expect(0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_written");
	TCase *plain = tcase_create("plain"), *crc = tcase_create("crc");

	tcase_add_checked_fixture(plain, peer_setup, peer_teardown);
	tcase_add_test(plain, nothing_is_written_at_first);
	tcase_add_test(plain, writes_in_order_count_as_they_come);
	tcase_add_test(plain, a_message_of_many_segments_counts_when_it_is_whole);
	tcase_add_test(plain, the_first_and_the_last_segment_may_be_empty);
	tcase_add_test(plain, a_message_whose_key_is_invalidated_does_not_count);
	tcase_add_test(plain, bytes_written_twice_count_once);
	tcase_add_test(plain, a_gap_ends_what_counts);
	tcase_add_test(plain, many_small_writes_in_any_order_count);
	tcase_add_test(plain, a_write_of_nothing_counts_nothing);
	tcase_add_test(plain, a_refused_write_counts_nothing);
	tcase_add_test(plain, a_key_that_is_bound_again_begins_with_nothing);
	suite_add_tcase(suite, plain);
	tcase_add_checked_fixture(crc, peer_setup_crc, peer_teardown);
	tcase_add_test(crc, an_fpdu_that_is_not_whole_or_not_right_counts_nothing);
	suite_add_tcase(suite, crc);
	return test_main(suite);
}
