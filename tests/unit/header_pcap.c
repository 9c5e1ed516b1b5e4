// SPDX-License-Identifier: BSD-3-Clause
/*
 * Encodes the golden transport headers and writes them as Sends over RoCEv2 into a capture file.
 * Prints, a line for each, what tshark must decode, in the order of header_tshark.sh.
 *
 * Usage: header_pcap FILE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"
#include "tests/lib/hex.h"
#include "tests/unit/header_goldens.h"

#define ETH_BYTES   14
#define IP_BYTES    20
#define UDP_BYTES   8
#define BTH_BYTES   12
#define ICRC_BYTES  4
#define FRAME_BYTES 2048
#define ROCE_PORT   4791

static void put_u16(struct xdr_writer *writer, uint16_t value)
{
	uint8_t *to = xdr_reserve(writer, sizeof(value));

	if (to) {
		to[0] = (uint8_t)(value >> 8);
		to[1] = (uint8_t)value;
	}
}

static void put_zeros(struct xdr_writer *writer, size_t len_bytes)
{
	uint8_t *to = xdr_reserve(writer, len_bytes);

	if (to)
		memset(to, 0, len_bytes);
}

/* Ethernet, IPv4, UDP and the base transport header of "RC SEND only". */
static size_t frame_send(uint8_t *frame, const uint8_t *send, size_t len)
{
	size_t pad = xdr_padded_bytes(len) - len;
	size_t udp_bytes = UDP_BYTES + BTH_BYTES + len + pad + ICRC_BYTES;
	struct xdr_writer writer;

	xdr_writer_init(&writer, frame, FRAME_BYTES);
	put_zeros(&writer, 12);
	put_u16(&writer, 0x0800);

	put_u16(&writer, 0x4500);
	put_u16(&writer, (uint16_t)(IP_BYTES + udp_bytes));
	put_u16(&writer, 0);
	put_u16(&writer, 0x4000);
	put_u16(&writer, 64 << 8 | 17);
	put_u16(&writer, 0);
	xdr_put_u32(&writer, 0x0a000001);
	xdr_put_u32(&writer, 0x0a000002);

	put_u16(&writer, 49152);
	put_u16(&writer, ROCE_PORT);
	put_u16(&writer, (uint16_t)udp_bytes);
	put_u16(&writer, 0);

	put_u16(&writer, (uint16_t)(0x0400 | pad << 4));
	put_u16(&writer, 0xffff);
	xdr_put_u32(&writer, 0x11);
	xdr_put_u32(&writer, 0x80000000);
	xdr_put_fixed(&writer, send, (uint32_t)len);
	put_zeros(&writer, ICRC_BYTES);
	return xdr_written_bytes(&writer);
}

static void write_words(FILE *file, const uint32_t *words, size_t count)
{
	if (fwrite(words, sizeof(*words), count, file) != count)
		abort();
}

static void write_frame(FILE *file, const uint8_t *frame, size_t len)
{
	const uint32_t record[] = {0, 0, (uint32_t)len, (uint32_t)len};

	write_words(file, record, ARRAY_SIZE(record));
	if (fwrite(frame, 1, len, file) != len)
		abort();
}

/* Calls @print for each segment in the order of the wire, commas between. */
static void print_segments(const struct rpcrdma_header *hdr,
			   void (*print)(const struct rpcrdma_segment *seg))
{
	const char *comma = "";

	for (unsigned i = 0; i < hdr->nreads; i++, comma = ",") {
		fputs(comma, stdout);
		print(&hdr->reads[i].seg);
	}
	for (unsigned i = 0; i < hdr->nsegments; i++, comma = ",") {
		fputs(comma, stdout);
		print(&hdr->segments[i]);
	}
	putchar(';');
}

static void print_handle(const struct rpcrdma_segment *seg)
{
	printf("0x%08" PRIx32, seg->handle);
}

static void print_length(const struct rpcrdma_segment *seg)
{
	printf("%" PRIu32, seg->len_bytes);
}

static void print_offset(const struct rpcrdma_segment *seg)
{
	printf("0x%016" PRIx64, seg->offset);
}

static void print_expected(const struct rpcrdma_header *hdr)
{
	bool lists = hdr->proc <= RPCRDMA_MSGP;

	printf("0x%08" PRIx32 ";%" PRIu32 ";%" PRIu32 ";%u;", hdr->xid, hdr->vers, hdr->credit,
	       hdr->proc);
	if (lists)
		printf("%u;%u;%d;", hdr->nreads, hdr->nwrites, hdr->has_reply_chunk);
	else
		printf(";;;");
	for (unsigned i = 0; i < hdr->nreads; i++)
		printf("%s%" PRIu32, i ? "," : "", hdr->reads[i].position);
	putchar(';');
	print_segments(hdr, print_handle);
	print_segments(hdr, print_length);
	print_segments(hdr, print_offset);
	if (hdr->proc == RPCRDMA_MSGP)
		printf("%" PRIu32 ";%" PRIu32 ";", hdr->align, hdr->thresh);
	else
		printf(";;");
	if (hdr->proc == RPCRDMA_ERROR)
		printf("%" PRIu32, hdr->error);
	if (hdr->proc == RPCRDMA_ERROR && hdr->error == RPCRDMA_ERR_VERS)
		printf(";%" PRIu32 ";%" PRIu32 "\n", hdr->vers_low, hdr->vers_high);
	else
		printf(";;\n");
}

int main(int argc, char **argv)
{
	/* Magic, version 2.4, microseconds, Ethernet. */
	const uint32_t file_header[] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1};
	static struct rpcrdma_header hdr;
	FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;

	if (!file) {
		fprintf(stderr, "usage: header_pcap FILE\n");
		return 2;
	}
	write_words(file, file_header, ARRAY_SIZE(file_header));
	for (size_t i = 0; i < GOLDEN_COUNT; i++) {
		uint8_t send[GOLDEN_MAX_BYTES], frame[FRAME_BYTES];
		size_t len;

		goldens[i].say(&hdr);
		/* tshark knows version one only. */
		if (hdr.vers != RPCRDMA_VERSION_ONE)
			continue;
		len = rpcrdma_header_encode(&hdr, send, sizeof(send));
		len += hex_bytes(goldens[i].body, send + len, sizeof(send) - len);
		write_frame(file, frame, frame_send(frame, send, len));
		print_expected(&hdr);
	}
	return fclose(file) ? 1 : 0;
}
