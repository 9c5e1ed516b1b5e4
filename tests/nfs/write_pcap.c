// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes the Call and the Reply of every row, of many COMPOUNDs and of the corpus as TCP streams
 * into a capture file, for comparison with Wireshark. Prints what this library finds in each frame:
 *
 *	FRAME call|reply OFFSET:LENGTH ... NAME
 *
 * Offsets count from the start of the frame.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nfs/compounds.h"
#include "tests/nfs/corpus.h"
#include "tests/nfs/look.h"
#include "tests/nfs/rows.h"

#define IP_BYTES      20u
#define TCP_BYTES     20u
#define MARK_BYTES    4u
#define SEGMENT_BYTES 60000u
#define HEAD_BYTES    (IP_BYTES + TCP_BYTES + MARK_BYTES)
#define NFS_PORT      2049
#define LINKTYPE_RAW  101
#define COMPOUNDS     500u

static FILE *out;
static unsigned frames;

static void put(const void *data, size_t len)
{
	if (len && fwrite(data, len, 1, out) != 1)
		abort();
}

static void put_host32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void open_pcap(const char *path)
{
	const uint16_t version[2] = {2, 4};

	out = fopen(path, "wb");
	if (!out) {
		perror(path);
		exit(1);
	}
	put_host32(0xa1b2c3d4);
	put(version, sizeof(version));
	put_host32(0);
	put_host32(0);
	put_host32(65535);
	put_host32(LINKTYPE_RAW);
}

/* One way of a TCP connection between 10.0.0.1 (the client) and 10.0.0.2. */
struct flow {
	uint16_t from_port, to_port;
	uint8_t from_host, to_host;
	uint32_t seq, ack;
};

static void put_segment(struct flow *flow, const uint8_t *data, uint32_t len)
{
	uint8_t head[IP_BYTES + TCP_BYTES] = {0x45, 0};
	uint8_t *tcp = head + IP_BYTES;
	uint32_t total = sizeof(head) + len;

	frames++;
	head[2] = (uint8_t)(total >> 8);
	head[3] = (uint8_t)total;
	head[8] = 64;
	head[9] = 6;
	memcpy(head + 12, (uint8_t[]){10, 0, 0, flow->from_host, 10, 0, 0, flow->to_host}, 8);
	tcp[0] = (uint8_t)(flow->from_port >> 8);
	tcp[1] = (uint8_t)flow->from_port;
	tcp[2] = (uint8_t)(flow->to_port >> 8);
	tcp[3] = (uint8_t)flow->to_port;
	be32_put(tcp + 4, flow->seq);
	be32_put(tcp + 8, flow->ack);
	tcp[12] = 0x50;
	tcp[13] = 0x18;
	tcp[14] = 0xff;
	tcp[15] = 0xff;
	flow->seq += len;
	put_host32(1000 + frames);
	put_host32(0);
	put_host32(total);
	put_host32(total);
	put(head, sizeof(head));
	put(data, len);
}

/* A record in as many segments as it takes. */
static void put_record(struct flow *flow, const uint8_t *msg, uint32_t len)
{
	uint32_t total = len + MARK_BYTES;
	uint8_t *record = malloc(total);

	if (!record)
		abort();
	be32_put(record, len | 0x80000000u);
	memcpy(record + MARK_BYTES, msg, len);
	for (uint32_t at = 0; at < total; at += SEGMENT_BYTES)
		put_segment(flow, record + at,
			    total - at < SEGMENT_BYTES ? total - at : SEGMENT_BYTES);
	free(record);
}

static void tell(const char *name, const char *what, int count, const struct rpc_payload *found)
{
	printf("%u %s", frames, what);
	for (int i = 0; i < count; i++)
		if (found[i].len_bytes)
			printf(" %u:%u", HEAD_BYTES + found[i].offset_bytes, found[i].len_bytes);
	printf(" %s\n", name);
}

/*
 * A connection that carries one Call and its Reply; @arg is the client's port, a new one each time.
 */
static void write_pair(const struct corpus_pair *pair, void *arg)
{
	uint16_t port = (*(uint16_t *)arg)++;
	struct flow there = {port, NFS_PORT, 1, 2, 1, 1}, back = {NFS_PORT, port, 2, 1, 1, 1};
	struct rpc_payload found[SPEC_MAX_ITEMS];
	const struct look look = {pair->call, pair->call_bytes, UINT32_MAX, NULL};
	struct spec_items items;
	struct call_info call_info;
	int count;

	put_record(&there, pair->call, pair->call_bytes);
	count = look_payloads(&look, &call_info, &items);
	tell(pair->name, "call", count, items.list);
	back.ack = there.seq;
	put_record(&back, pair->reply, pair->reply_bytes);
	count = nfs_reply_ddp_items(&call_info, pair->reply, pair->reply_bytes, found,
				    SPEC_MAX_ITEMS);
	tell(pair->name, "reply", count, found);
}

/* Frees what was built. */
static void write_built(const char *name, struct row_built *built, uint16_t *port)
{
	const struct corpus_pair pair = {name, nfs_msg_bytes(built->call),
					 nfs_msg_bytes(built->reply), nfs_msg_len(built->call),
					 nfs_msg_len(built->reply)};

	write_pair(&pair, port);
	row_free(built);
}

static void write_row(const struct nfs_row *row, uint16_t *port)
{
	struct row_built built;

	row_build(&built, row, NULL);
	write_built(row->name, &built, port);
}

static void write_compound(uint32_t seed, uint16_t *port)
{
	struct row_built built;
	char name[40];

	compound_build(&built, seed, true);
	snprintf(name, sizeof(name), "COMPOUND %u", seed);
	/* Offsets in a frame mean nothing when a Reply takes several. */
	if (nfs_msg_len(built.reply) + MARK_BYTES <= SEGMENT_BYTES)
		write_built(name, &built, port);
	else
		row_free(&built);
}

int main(int argc, char **argv)
{
	uint16_t port = 50000; /* no port that a dissector has registered */

	if (argc != 2) {
		fprintf(stderr, "usage: write_pcap FILE\n");
		return 2;
	}
	open_pcap(argv[1]);
	for (unsigned i = 0; row_lists[i]; i++)
		for (const struct nfs_row *row = row_lists[i]; row->name; row++)
			write_row(row, &port);
	for (uint32_t seed = 0; seed < COMPOUNDS; seed++)
		write_compound(seed, &port);
	if (corpus_each(write_pair, &port) <= 0) {
		fprintf(stderr, "write_pcap: no corpus\n");
		return 1;
	}
	return fclose(out) ? 1 : 0;
}
