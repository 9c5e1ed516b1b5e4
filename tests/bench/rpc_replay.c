// SPDX-License-Identifier: BSD-3-Clause
/*
 * Replays RPCs through proxies in memory, identically in each run, to count the cost of one
 * (tests/bench/costs.sh): client and server on streams that are read in pieces of a fixed size,
 * RDMA on the sim fabric, the clock moved by the program.
 *
 * usage: rpc_replay [PART-OF-A-NAME]
 *
 * Prints the name of each row that it replays, and the number of RPCs in callgrind's counts. With n
 * in flight the client sends n Calls together, and the next n when all of them are answered.
 */
#include <stdio.h>
#include <string.h>

#include "tests/bench/measured.h"
#include "tests/lib/fake_loop.h"
#include "tests/sim/chain.h"
#include "tests/sim/rig.h"

#define KIB          1024u
#define STEP_MS      1u
#define WARM_ROUNDS  2u
#define BUFFER_BYTES (8u << 20) /* of a stream: for all that is in flight */
#define LONG_READ    65483u     /* what loopback makes of a segment */
#define SHORT_READ   1448u      /* what Ethernet does */

/* No data is a GETATTR. */
struct row {
	const char *name;
	unsigned gates, in_flight, rounds;
	uint32_t written_bytes, read_bytes; /* of data, by each RPC */
	uint32_t piece_bytes;               /* that one read takes of a stream */
};

static const struct row rows[] = {
	{"chain/getattr/x1", 2, 1, 64, 0, 0, LONG_READ},
	{"chain/getattr/x16", 2, 16, 8, 0, 0, LONG_READ},
	{"chain/read-4k/x1", 2, 1, 64, 0, 4 * KIB, LONG_READ},
	{"chain/read-4k/x16", 2, 16, 8, 0, 4 * KIB, LONG_READ},
	{"chain/read-64k/x1", 2, 1, 16, 0, 64 * KIB, LONG_READ},
	{"chain/read-64k/x8", 2, 8, 8, 0, 64 * KIB, LONG_READ},
	{"chain/read-64k/x8/1448", 2, 8, 4, 0, 64 * KIB, SHORT_READ},
	{"chain/read-1m/x1", 2, 1, 4, 0, 1024 * KIB, LONG_READ},
	{"chain/read-1m/x4", 2, 4, 2, 0, 1024 * KIB, LONG_READ},
	{"chain/read-1m/x1/1448", 2, 1, 2, 0, 1024 * KIB, SHORT_READ},
	{"chain/write-4k/x1", 2, 1, 64, 4 * KIB, 0, LONG_READ},
	{"chain/write-4k/x16", 2, 16, 8, 4 * KIB, 0, LONG_READ},
	{"chain/write-64k/x1", 2, 1, 16, 64 * KIB, 0, LONG_READ},
	{"chain/write-64k/x8", 2, 8, 8, 64 * KIB, 0, LONG_READ},
	{"chain/write-64k/x8/1448", 2, 8, 4, 64 * KIB, 0, SHORT_READ},
	{"chain/write-1m/x1", 2, 1, 4, 1024 * KIB, 0, LONG_READ},
	{"chain/write-1m/x4", 2, 4, 2, 1024 * KIB, 0, LONG_READ},
	{"chain/write-1m/x1/1448", 2, 1, 2, 1024 * KIB, 0, SHORT_READ},
	{"tcp/getattr/x1", 1, 1, 64, 0, 0, LONG_READ},
	{"tcp/getattr/x16", 1, 16, 8, 0, 0, LONG_READ},
	{"tcp/read-4k/x16", 1, 16, 8, 0, 4 * KIB, LONG_READ},
	{"tcp/read-64k/x8", 1, 8, 8, 0, 64 * KIB, LONG_READ},
	{"tcp/read-64k/x8/1448", 1, 8, 4, 0, 64 * KIB, SHORT_READ},
	{"tcp/read-1m/x1", 1, 1, 4, 0, 1024 * KIB, LONG_READ},
	{"tcp/read-1m/x4", 1, 4, 2, 0, 1024 * KIB, LONG_READ},
	{"tcp/write-4k/x16", 1, 16, 8, 4 * KIB, 0, LONG_READ},
	{"tcp/write-64k/x8", 1, 8, 8, 64 * KIB, 0, LONG_READ},
	{"tcp/write-64k/x8/1448", 1, 8, 4, 64 * KIB, 0, SHORT_READ},
	{"tcp/write-1m/x1", 1, 1, 4, 1024 * KIB, 0, LONG_READ},
	{"tcp/write-1m/x4", 1, 4, 2, 1024 * KIB, 0, LONG_READ},
};

/* The same RPCs again and again: what the book has noted of them is forgotten each time. */
static void expect_answered(struct chain *chain)
{
	for (unsigned i = 0; i < chain->book.count; i++) {
		struct chain_rpc *rpc = &chain->book.list[i];

		RIG_ASSERT(rpc->arrived == 1 && rpc->answered == 1);
		rpc->arrived = rpc->answered = 0;
	}
}

MEASURED void replay_counted(struct chain *chain, unsigned rounds);
MEASURED void replay_row(const struct row *row);

static void run_round(struct chain *chain)
{
	for (unsigned i = 0; i < chain->book.count; i++)
		chain_end_call(&chain->client, i);
	chain_run(chain, STEP_MS);
	expect_answered(chain);
}

void replay_counted(struct chain *chain, unsigned rounds)
{
	while (rounds--)
		run_round(chain);
}

static void add_rpc(struct chain *chain, const struct row *row)
{
	if (row->written_bytes || row->read_bytes)
		(void)chain_book_add_sized(&chain->book, CHAIN_CLIENT, row->written_bytes,
					   row->read_bytes);
	else
		(void)chain_book_add_row(&chain->book, CHAIN_CLIENT, "NFSv3 1");
}

void replay_row(const struct row *row)
{
	const struct pair_faults pieces = {.buffer_bytes = BUFFER_BYTES,
					   .max_read_bytes = row->piece_bytes};
	const struct chain_params params = {
		.gates = row->gates, .ddp = true, .client = pieces, .server = pieces};
	struct chain *chain = chain_new(&params);

	for (unsigned i = 0; i < row->in_flight; i++)
		add_rpc(chain, row);
	chain_connect(chain);
	for (unsigned i = 0; i < WARM_ROUNDS; i++)
		run_round(chain);
	replay_counted(chain, row->rounds);
	chain_end(chain);
	printf("%s %u\n", row->name, row->rounds * row->in_flight);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (argc < 2 || strstr(rows[i].name, argv[1]))
			replay_row(&rows[i]);
	return 0;
}
