// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes messages of NFSv3, v4.0 and v4.1 as a capture (daemon/tap) for tshark: the corpus and the
 * rows, on connections over IPv4 and IPv6. With an argument in addition to FILE it writes at most
 * that many bytes of each message. Prints how many Calls of each procedure it wrote, a line each:
 * "VERSION PROCEDURE COUNT".
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tap/pcap_tcp.h"
#include "rpc/xdr.h"
#include "tests/nfs/corpus.h"
#include "tests/nfs/rows.h"

#define FILE_BYTES     (64u << 20)
#define NFS_PROGRAM    100003u
#define MAX_VERSION    5u
#define MAX_PROCEDURE  22u
#define FIRST_PORT     50000u /* from here on no dissector has registered any */
#define CALLS_PER_PORT 7u

struct written {
	struct pcapng_writer out;
	struct pcap_tcp tcp;
	uint32_t kept_bytes; /* of each message at most */
	uint16_t port;
	unsigned calls; /* so far */
	uint32_t xid;
	unsigned counts[MAX_VERSION][MAX_PROCEDURE];
};

/* Longer than a segment. */
static const struct nfs_row rows_long[] = {
	{"READ", NFS_PROGRAM, 3, 6, -1, 0, "o:32 q0 1048576", "0 0 1048576 1 d:1048576", 0},
	{"WRITE", NFS_PROGRAM, 3, 7, -1, 0, "o:32 q0 300001 2 d:300001", "0 0 0 300001 2 x:8", 0},
	{"READ of 4.1", NFS_PROGRAM, 4, 1, 1, 25, "x:16 q0 70000", "0 1 d:70000", 0},
	{0},
};

static const char *const said_of_call[] = {"carried so", "and so", NULL};

/* Every other connection is one over IPv6. */
static void begin_connection(struct written *written)
{
	struct sockaddr_in v4[2] = {{.sin_family = AF_INET, .sin_port = htons(written->port)},
				    {.sin_family = AF_INET, .sin_port = htons(2049)}};
	struct sockaddr_in6 v6[2] = {{.sin6_family = AF_INET6, .sin6_port = htons(written->port)},
				     {.sin6_family = AF_INET6, .sin6_port = htons(2049)}};
	bool is_v6 = written->port % 2;

	v4[0].sin_addr.s_addr = htonl(0x0a000001);
	v4[1].sin_addr.s_addr = htonl(0x0a000002);
	inet_pton(AF_INET6, "2001:db8::1", &v6[0].sin6_addr);
	inet_pton(AF_INET6, "2001:db8::2", &v6[1].sin6_addr);
	pcap_tcp_init(&written->tcp, is_v6 ? (void *)&v6[0] : (void *)&v4[0],
		      is_v6 ? (void *)&v6[1] : (void *)&v4[1], written->port);
	pcap_tcp_open(&written->tcp, &written->out, 1000000, NULL);
	written->port++;
}

static void write_message(struct written *written, enum pcap_tcp_side from, const uint8_t *data,
			  uint32_t len)
{
	/* Messages of several captures may have one XID. */
	uint8_t *copy = malloc(len);
	struct pcap_tcp_message message = {
		.from = from,
		.at_us = 1000000 + written->out.packets,
		.data = copy,
		.len_bytes = len,
		.kept_bytes = pcap_tcp_kept_bytes(len, written->kept_bytes),
		.comments = said_of_call,
	};

	if (!copy)
		abort();
	memcpy(copy, data, len);
	be32_put(copy, written->xid);
	pcap_tcp_write_message(&written->tcp, &written->out, &message);
	free(copy);
}

static void write_pair(const struct corpus_pair *pair, void *arg)
{
	struct written *written = arg;
	uint32_t prog = be32_get(pair->call + 12), vers = be32_get(pair->call + 16);
	uint32_t proc = be32_get(pair->call + 20);

	if (prog != NFS_PROGRAM || vers >= MAX_VERSION || proc >= MAX_PROCEDURE)
		return;
	if (written->calls++ % CALLS_PER_PORT == 0) {
		if (written->calls > 1)
			pcap_tcp_close(&written->tcp, &written->out, 2000000, NULL);
		begin_connection(written);
	}
	written->xid++;
	written->counts[vers][proc]++;
	write_message(written, PCAP_TCP_CLIENT, pair->call, pair->call_bytes);
	write_message(written, PCAP_TCP_SERVER, pair->reply, pair->reply_bytes);
}

static void write_rows(struct written *written, const struct nfs_row *row)
{
	for (; row->name; row++) {
		struct row_built built;
		struct corpus_pair pair;

		/*
		 * The handles of SP4_SSV are an array (RFC 8881 section 18.35.2), of which tshark
		 * 4.0 does not know.
		 */
		if (!strcmp(row->name, "NFSv4.1 op 42"))
			continue;
		row_build(&built, row, NULL);
		pair = (struct corpus_pair){row->name, nfs_msg_bytes(built.call),
					    nfs_msg_bytes(built.reply), nfs_msg_len(built.call),
					    nfs_msg_len(built.reply)};
		write_pair(&pair, written);
		row_free(&built);
	}
}

static void tell(const struct written *written)
{
	for (unsigned v = 0; v < MAX_VERSION; v++)
		for (unsigned p = 0; p < MAX_PROCEDURE; p++)
			if (written->counts[v][p])
				printf("%u %u %u\n", v, p, written->counts[v][p]);
}

static int save(const struct written *written, const char *path)
{
	size_t len = pcapng_written_bytes(&written->out);
	FILE *file = fopen(path, "wb");

	if (!file || !len || fwrite(written->out.start, len, 1, file) != 1 || fclose(file)) {
		perror(path);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct written written = {.port = FIRST_PORT, .kept_bytes = UINT32_MAX};
	uint8_t *file = malloc(FILE_BYTES);

	if (argc < 2 || argc > 3 || !file) {
		fprintf(stderr, "usage: write_rebuilt FILE [BYTES]\n");
		return 2;
	}
	if (argc == 3)
		written.kept_bytes = (uint32_t)atoi(argv[2]);
	pcapng_writer_init(&written.out, file, FILE_BYTES);
	pcapng_begin(&written.out, "write_rebuilt", "made for tshark", "messages");
	if (corpus_each(write_pair, &written) <= 0) {
		fprintf(stderr, "write_rebuilt: no corpus\n");
		return 1;
	}
	write_rows(&written, rows_v3);
	write_rows(&written, rows_v40);
	write_rows(&written, rows_v41);
	write_rows(&written, rows_long);
	pcap_tcp_close(&written.tcp, &written.out, 2000000, NULL);
	pcapng_end(&written.out, 2000000, written.out.packets, 3, "3 were not kept");
	tell(&written);
	return save(&written, argv[1]);
}
