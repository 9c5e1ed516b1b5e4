// SPDX-License-Identifier: BSD-3-Clause
/*
 * Raw RPC over TCP for the end-to-end tests: actions that no conforming client or server performs.
 */
#include "tests/e2e/rpc_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct scenario {
	const char *name;
	int (*run)(const struct ports *ports, int argc, char **argv);
} scenarios[] = {
	{"retransmit", scenario_retransmit},
	{"replay", scenario_replay},
	{"returning", scenario_returning},
	{"garbage", scenario_garbage},
	{"bad-server", scenario_bad_server},
	{"flow", scenario_flow},
	{"both-ways", scenario_both_ways},
	{"large", scenario_large},
	{"steady", scenario_steady},
	{"neighbour", scenario_neighbour},
	{"hostile", scenario_hostile},
	{"ask", scenario_ask},
	{"doors", scenario_doors},
	{"steps", scenario_steps},
	{"outage", scenario_outage},
	{"serve-badly", scenario_serve_badly},
	{"reverse", scenario_reverse},
	{"recall", scenario_recall},
	{"half-closed", scenario_half_closed},
	{"one-client", scenario_one_client},
	{"lying", scenario_lying},
	{"copies", scenario_copies},
};

static int usage(void)
{
	fprintf(stderr,
		"usage: rpc_peer FRONT BACK MOUNT UPSTREAM SCENARIO [ARGUMENT...]\nscenarios:");
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		fprintf(stderr, " %s", scenarios[i].name);
	fputc('\n', stderr);
	return 2;
}

static uint16_t port(const char *text)
{
	return (uint16_t)strtoul(text, NULL, 10);
}

int main(int argc, char **argv)
{
	struct ports ports;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 6)
		return usage();
	ports = (struct ports){
		.front = port(argv[1]),
		.back = port(argv[2]),
		.mount = port(argv[3]),
		.upstream = port(argv[4]),
	};
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (!strcmp(argv[5], scenarios[i].name))
			return scenarios[i].run(&ports, argc - 6, argv + 6);
	return usage();
}
