// SPDX-License-Identifier: BSD-3-Clause
/* Tests capture files, byte by byte. */
#include "daemon/tap/pcapng.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "tests/lib/hex.h"
#include "tests/lib/test.h"

#define ROOM 4096u

static const char *const two_comments[] = {"first", "2", NULL};

/* What is written, and how it looks. */
static void write_begin(struct pcapng_writer *writer)
{
	pcapng_begin(writer, "proxy", "why", "if");
}

static void write_packet(struct pcapng_writer *writer)
{
	static uint8_t bytes[] = {0x45, 1, 2, 3, 4};
	const struct iovec parts[] = {{bytes, 2}, {NULL, 0}, {bytes + 2, 3}};

	pcapng_packet(writer, &(struct pcapng_packet){.at_us = UINT64_C(0x123456789abcd),
						      .parts = parts,
						      .nparts = ARRAY_SIZE(parts),
						      .original_bytes = 259});
}

static void write_commented(struct pcapng_writer *writer)
{
	static uint8_t bytes[] = {0x45, 1, 2, 3};
	const struct iovec parts[] = {{bytes, sizeof(bytes)}};

	pcapng_packet(writer, &(struct pcapng_packet){.at_us = 1,
						      .parts = parts,
						      .nparts = ARRAY_SIZE(parts),
						      .original_bytes = 4,
						      .comments = two_comments});
}

static void write_end(struct pcapng_writer *writer)
{
	pcapng_end(writer, UINT64_C(0x100000002), 7, UINT64_C(0x300000000), "all");
}

static const struct {
	void (*write)(struct pcapng_writer *writer);
	const char *bytes;
} blocks[] = {
	{write_begin, "0a0d0d0a 34000000 4d3c2b1a 0100 0000 ffffffff ffffffff"
		      "0100 0300 77687900 0400 0500 70726f78 79000000 0000 0000 34000000"
		      "01000000 20000000 6500 0000 00000000 0200 0200 69660000 0000 0000 20000000"},
	{write_packet, "06000000 28000000 00000000 45230100 cdab8967 05000000 03010000"
		       "4501020304 000000 28000000"},
	{write_commented, "06000000 3c000000 00000000 00000000 01000000 04000000 04000000"
			  "45010203 0100 0500 66697273 74000000 0100 0100 32000000 0000 0000"
			  "3c000000"},
	{write_end, "05000000 3c000000 00000000 01000000 02000000 0100 0300 616c6c00"
		    "0400 0800 0700000000000000 0500 0800 0000000003000000 0000 0000 3c000000"},
};

START_TEST(each_block_has_these_bytes)
{
	uint8_t expected[ROOM], found[ROOM];
	struct pcapng_writer writer;
	size_t len = hex_bytes(blocks[_i].bytes, expected, sizeof(expected));

	pcapng_writer_init(&writer, found, sizeof(found));
	blocks[_i].write(&writer);
	ck_assert_uint_eq(pcapng_written_bytes(&writer), len);
	ck_assert_mem_eq(found, expected, len);
}
END_TEST

START_TEST(a_message_that_does_not_fit_is_reported)
{
	uint8_t expected[ROOM];
	struct pcapng_writer writer;
	size_t len = hex_bytes(blocks[_i].bytes, expected, sizeof(expected));

	for (size_t room = 0; room < len; room++) {
		uint8_t *to = malloc(room ? room : 1);

		ck_assert_ptr_nonnull(to);
		pcapng_writer_init(&writer, to, room);
		blocks[_i].write(&writer);
		ck_assert_uint_eq(pcapng_written_bytes(&writer), 0);
		free(to);
	}
}
END_TEST

START_TEST(nothing_follows_a_message_that_did_not_fit)
{
	struct pcapng_writer writer;
	uint8_t to[60];

	pcapng_writer_init(&writer, to, sizeof(to));
	write_begin(&writer);
	write_packet(&writer);
	ck_assert(writer.failed);
	ck_assert_uint_eq(pcapng_written_bytes(&writer), 0);
}
END_TEST

START_TEST(a_long_comment_is_cut)
{
	static char comment[3 * PCAPNG_TEXT_BYTES];
	const char *const comments[] = {comment, comment, NULL};
	const struct pcapng_packet packet = {.original_bytes = 0, .comments = comments};
	uint8_t to[PCAPNG_PACKET_BYTES + 2 * PCAPNG_COMMENT_BYTES];
	struct pcapng_writer writer;

	memset(comment, 'x', sizeof(comment) - 1);
	pcapng_writer_init(&writer, to, sizeof(to));
	pcapng_packet(&writer, &packet);
	ck_assert_uint_gt(pcapng_written_bytes(&writer), 2 * PCAPNG_TEXT_BYTES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pcapng");
	TCase *tcase = tcase_create("pcapng");

	tcase_add_loop_test(tcase, each_block_has_these_bytes, 0, ARRAY_SIZE(blocks));
	tcase_add_loop_test(tcase, a_message_that_does_not_fit_is_reported, 0, ARRAY_SIZE(blocks));
	tcase_add_test(tcase, nothing_follows_a_message_that_did_not_fit);
	tcase_add_test(tcase, a_long_comment_is_cut);
	suite_add_tcase(suite, tcase);
	return test_main(suite);
}
