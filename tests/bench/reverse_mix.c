// SPDX-License-Identifier: BSD-3-Clause
/*
 * Replays RPCs through two proxies in memory, identically in each run, to count instructions:
 * forward Calls at a rate, and 1,000 reverse Calls per second among them
 * (tests/bench/reverse_instructions.sh).
 *
 * usage: reverse_mix mixed|forward|reverse|neither WORK FORWARD_RATE FORWARD_CALLS
 *
 * Time advances in steps of one forward Call. When a reverse Call is due both are in flight
 * together. The other three modes leave out the Calls that they do not name, and are otherwise the
 * same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/fake_loop.h"
#include "tests/sim/chain.h"
#include "tests/sim/rig.h"

#define SECOND_US    1000000u
#define REVERSE_RATE 1000u
#define DATA_BYTES   4096u

struct mix {
	struct chain *chain;
	bool forward, reverse;
	unsigned forward_rpc, reverse_rpc;
};

static struct chain_rpc *rpc_of(const struct mix *mix, unsigned rpc)
{
	return &mix->chain->book.list[rpc];
}

static unsigned add_work(struct chain_book *book, const char *work)
{
	if (!strcmp(work, "getattr"))
		return chain_book_add_row(book, CHAIN_CLIENT, "NFSv3 1");
	if (!strcmp(work, "write"))
		return chain_book_add_sized(book, CHAIN_CLIENT, DATA_BYTES, 0);
	if (!strcmp(work, "read"))
		return chain_book_add_sized(book, CHAIN_CLIENT, 0, DATA_BYTES);
	fprintf(stderr, "reverse_mix: there is no work \"%s\"\n", work);
	exit(2);
}

/* The same RPC again and again: what the book has noted of it is forgotten each time. */
static void expect_answered(struct mix *mix, unsigned rpc)
{
	struct chain_rpc *it = rpc_of(mix, rpc);

	RIG_ASSERT(it->arrived == 1 && it->answered == 1);
	it->arrived = it->answered = 0;
}

static void step(struct mix *mix, bool reverse, unsigned step_us)
{
	struct chain *chain = mix->chain;

	reverse &= mix->reverse;
	if (mix->forward)
		chain_end_call(&chain->client, mix->forward_rpc);
	if (reverse)
		chain_end_call(&chain->server, mix->reverse_rpc);
	fake_loop_advance(chain->loop, step_us);
	if (mix->forward)
		expect_answered(mix, mix->forward_rpc);
	if (reverse)
		expect_answered(mix, mix->reverse_rpc);
}

static void open_chain(struct mix *mix, const char *work)
{
	mix->chain = chain_new(NULL);
	for (unsigned i = 0; i < 2; i++) {
		mix->chain->gates[i].config.inline_threshold_bytes = 8192;
		mix->chain->gates[i].config.reverse_timeout_s = 30;
	}
	mix->forward_rpc = add_work(&mix->chain->book, work);
	mix->reverse_rpc =
		chain_book_add_row(&mix->chain->book, CHAIN_SERVER, "NFSv4.0 callback op 4");
	chain_connect(mix->chain);
	chain_end_call(&mix->chain->client, mix->forward_rpc);
	chain_run(mix->chain, 1000);
	expect_answered(mix, mix->forward_rpc);
}

int main(int argc, char **argv)
{
	unsigned rate, calls, every;
	struct mix mix;

	if (argc != 5) {
		fputs("usage: reverse_mix mixed|forward|reverse|neither WORK FORWARD_RATE "
		      "FORWARD_CALLS\n",
		      stderr);
		return 2;
	}
	mix.forward = !strcmp(argv[1], "forward") || !strcmp(argv[1], "mixed");
	mix.reverse = !strcmp(argv[1], "reverse") || !strcmp(argv[1], "mixed");
	rate = (unsigned)strtoul(argv[3], NULL, 10);
	calls = (unsigned)strtoul(argv[4], NULL, 10);
	RIG_ASSERT(rate >= REVERSE_RATE && rate <= SECOND_US);
	every = rate / REVERSE_RATE;
	open_chain(&mix, argv[2]);
	for (unsigned i = 1; i <= calls; i++)
		step(&mix, i % every == 0, SECOND_US / rate);
	chain_end(mix.chain);
	return 0;
}
