// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests the counting of a capture file's blocks, in any pieces, and whether the file is complete.
 */
#include "daemon/ctl/pcapng_verify.h"

#include <string.h>

#include "base/compiler.h"
#include "daemon/tap/pcapng.h"
#include "tests/lib/test.h"

#define PACKETS 3u

static uint8_t file[8192];
static size_t file_bytes;
static size_t ends[PACKETS + 3]; /* of its blocks */
static struct pcapng_verify tally;

static void setup(void)
{
	static uint8_t data[50];
	const struct iovec part = {data, sizeof(data)};
	const struct pcapng_packet packet = {
		.parts = &part, .nparts = 1, .original_bytes = sizeof(data)};
	struct pcapng_writer out;

	pcapng_writer_init(&out, file, sizeof(file));
	pcapng_begin(&out, "a test", "made here", "none");
	for (unsigned i = 0; i < PACKETS; i++) {
		ends[i] = pcapng_written_bytes(&out);
		pcapng_packet(&out, &packet);
	}
	ends[PACKETS] = pcapng_written_bytes(&out);
	pcapng_end(&out, 1, PACKETS, UINT64_C(1) << 33,
		   "nothing is missing; \xff ended; ended by a test\n");
	file_bytes = pcapng_written_bytes(&out);
	memset(&tally, 0, sizeof(tally));
}

static void add(size_t from, size_t to, size_t piece)
{
	for (size_t at = from; at < to; at += piece)
		pcapng_verify_add(&tally, file + at, piece < to - at ? piece : to - at);
}

START_TEST(a_file_is_counted_in_whatever_pieces_it_comes)
{
	static const size_t pieces[] = {1, 2, 3, 7, 8, 9, 100, sizeof(file)};

	add(0, file_bytes, pieces[_i]);
	ck_assert(pcapng_verify_is_complete(&tally));
	ck_assert_uint_eq(tally.bytes, file_bytes);
	ck_assert_uint_eq(tally.packets, PACKETS);
	ck_assert_uint_eq(tally.missed, UINT64_C(1) << 33);
	ck_assert_str_eq(tally.why, "ended by a test?");
}
END_TEST

START_TEST(less_is_not_complete)
{
	for (size_t len = 0; len < file_bytes; len++) {
		memset(&tally, 0, sizeof(tally));
		add(0, len, sizeof(file));
		ck_assert(!pcapng_verify_is_complete(&tally));
		ck_assert(!tally.broken);
	}
}
END_TEST

START_TEST(nor_is_more)
{
	add(0, file_bytes, sizeof(file));
	add(ends[0], ends[1] - 1, sizeof(file));
	ck_assert(!pcapng_verify_is_complete(&tally));
	add(ends[1] - 1, ends[1], sizeof(file));
	ck_assert(!pcapng_verify_is_complete(&tally));
	add(ends[PACKETS], file_bytes, sizeof(file));
	ck_assert(pcapng_verify_is_complete(&tally));
}
END_TEST

/*
 * A length that no block has: of its head alone, of no whole words, and of statistics that are too
 * long.
 */
START_TEST(invalid_files_are_detected)
{
	static const struct {
		size_t at;
		uint8_t byte;
	} changes[] = {{4, 0}, {4, 11}, {4, 13}};

	file[changes[_i].at] = changes[_i].byte;
	file[5] = file[6] = file[7] = 0;
	add(0, file_bytes, sizeof(file));
	ck_assert(tally.broken);
	ck_assert(!pcapng_verify_is_complete(&tally));
	ck_assert_uint_eq(tally.bytes, file_bytes);
}
END_TEST

START_TEST(statistics_that_are_too_long_are_no_statistics)
{
	file[ends[PACKETS] + 5] = 0x10;
	add(0, file_bytes, sizeof(file));
	ck_assert(tally.broken);
	ck_assert_uint_eq(tally.packets, PACKETS);
}
END_TEST

/* Whatever a byte is changed to, nothing is read that is not there. */
START_TEST(options_are_followed_no_further_than_they_go)
{
	for (size_t at = ends[PACKETS] + 8; at < file_bytes; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			file[at] ^= (uint8_t)(1u << bit);
			memset(&tally, 0, sizeof(tally));
			add(0, file_bytes, sizeof(file));
			ck_assert(pcapng_verify_is_complete(&tally));
			file[at] ^= (uint8_t)(1u << bit);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pcapng_verify");
	TCase *tcase = tcase_create("pcapng_verify");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_loop_test(tcase, a_file_is_counted_in_whatever_pieces_it_comes, 0, 8);
	tcase_add_test(tcase, less_is_not_complete);
	tcase_add_test(tcase, nor_is_more);
	tcase_add_loop_test(tcase, invalid_files_are_detected, 0, 3);
	tcase_add_test(tcase, statistics_that_are_too_long_are_no_statistics);
	tcase_add_test(tcase, options_are_followed_no_further_than_they_go);
	suite_add_tcase(suite, tcase);
	return test_main(suite);
}
