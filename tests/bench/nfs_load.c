// SPDX-License-Identifier: BSD-3-Clause
/*
 * A load generator for nfs_serve, or for a proxy in front of it: many connections, Calls either as
 * soon as there is a Reply or at a rate. It verifies every byte, and prints the results as one line
 * of JSON.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/bench/file_data.h"
#include "tests/bench/flow.h"
#include "tests/bench/load.h"
#include "tests/bench/nfs3.h"

#define BYTES_MAX  (16u << 20)
#define PLACES_MAX (1u << 24)

static const struct {
	const char *name;
	enum load_kind kind;
	uint32_t procedure;
	bool sized;
} works[] = {
	{"null", LOAD_CALLS, NFS3_NULL, false},      {"getattr", LOAD_CALLS, NFS3_GETATTR, false},
	{"read", LOAD_CALLS, NFS3_READ, true},       {"write", LOAD_CALLS, NFS3_WRITE, true},
	{"commit", LOAD_CALLS, NFS3_COMMIT, false},  {"idle", LOAD_IDLE, NFS3_NULL, false},
	{"connect", LOAD_CONNECT, NFS3_NULL, false}, {"crowd", LOAD_CROWD, NFS3_NULL, false},
};

static _Noreturn void usage(int status)
{
	fputs("usage: nfs_load -w WORK [OPTION...] ADDR PORT\n"
	      "works:\n"
	      "  null, getattr, commit, read:BYTES, write:BYTES\n"
	      "  idle        connections that make one Call each and stay open until standard input ends\n"
	      "  crowd       connections that open together and make one Call each\n"
	      "  connect     connect, make one Call, close, repeatedly\n"
	      "options:\n"
	      "  -n COUNT    Calls in flight on each connection; with connect, concurrent connections (1)\n"
	      "  -k COUNT    connections (1)\n"
	      "  -t SECONDS  the measured time (2)\n"
	      "  -d MS       delay before the measured time (300)\n"
	      "  -r RATE     Calls per second, due at random times, independent of Replies\n"
	      "  -s SEED     seed of due times and offsets (1)\n"
	      "  -W SECONDS  time without a Reply before the run fails (10), on an idle machine\n"
	      "  -x EVERY    one of EVERY WRITEs has a wrong byte, to test the checks of the server\n"
	      "  -b HOST     connects from ports below 1024, of 127.0.0.HOST and the following addresses\n"
	      "  -g          waits for the measuring script: prints `ready` before the work begins, starts after\n"
	      "              a line on standard input, keeps the connections until standard input ends\n",
	      status ? stderr : stdout);
	exit(status);
}

static double number(const char *text, double least, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= least && value <= most))
		fail("%s is not between %g and %g", text, least, most);
	return value;
}

static void choose_work(struct load_options *options, const char *name)
{
	size_t len = strcspn(name, ":");

	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		if (strlen(works[i].name) != len || strncmp(works[i].name, name, len) != 0 ||
		    works[i].sized != (name[len] == ':'))
			continue;
		options->kind = works[i].kind;
		options->procedure = works[i].procedure;
		if (works[i].sized)
			options->bytes = (uint32_t)number(name + len + 1, 1, BYTES_MAX);
		return;
	}
	fail("there is no work %s", name);
}

static void set_option(struct load_options *options, int option)
{
	switch (option) {
	case 'w':
		choose_work(options, optarg);
		break;
	case 'n':
		options->inflight = (uint32_t)number(optarg, 1, 65536);
		break;
	case 'k':
		options->connections = (uint32_t)number(optarg, 1, 1000000);
		break;
	case 't':
		options->seconds = number(optarg, 0.001, 1e6);
		break;
	case 'd':
		options->discard_s = number(optarg, 0, 1e6) / 1e3;
		break;
	case 'r':
		options->per_s = number(optarg, 0.1, 1e8);
		break;
	case 's':
		options->seed = (uint64_t)number(optarg, 0, 1e15);
		break;
	case 'W':
		options->stall_s = number(optarg, 0.1, 1e6);
		break;
	case 'x':
		options->spoil_every = (uint32_t)number(optarg, 1, 1e9);
		break;
	case 'b':
		sockets_come_from((unsigned)number(optarg, 1, 254));
		break;
	case 'g':
		options->waits = true;
		break;
	default:
		usage(option == 'h' ? 0 : 2);
	}
}

static double per_s(double count, double seconds)
{
	return seconds > 0 ? count / seconds : 0;
}

/* How long the operations of the window took, or with a crowd: all of them. */
static double counted_s(const struct load *load)
{
	return load->measuring ? load->options.seconds : load->results.opening_s;
}

static void print_latency(const struct latency *latency)
{
	static const struct {
		const char *name;
		double fraction;
	} told[] = {
		{"p50_us", 0.5},    {"p90_us", 0.9}, {"p99_us", 0.99},
		{"p999_us", 0.999}, {"max_us", 1},
	};

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		printf("\"%s\": %.1f, ", told[i].name,
		       (double)latency_ns(latency, told[i].fraction) / 1e3);
}

static void print_results(const struct load *load, const char *work)
{
	const struct load_options *options = &load->options;
	const struct load_results *results = &load->results;
	uint64_t least = UINT64_MAX, most = 0;
	double seconds = counted_s(load);

	for (uint32_t i = 0; i < load->flow_count; i++) {
		uint64_t ops = load->flows[i].ops;

		least = ops < least ? ops : least;
		most = ops > most ? ops : most;
	}
	printf("{\"work\": \"%s\", \"inflight\": %u, \"connections\": %u, \"rate\": %.1f, ", work,
	       options->inflight, load->flow_count, options->per_s);
	printf("\"ops\": %llu, \"all_ops\": %llu, \"seconds\": %.6f, \"ops_per_s\": %.1f, "
	       "\"bytes_per_s\": %.0f, ",
	       (unsigned long long)results->ops, (unsigned long long)results->all_ops, seconds,
	       per_s((double)results->ops, seconds), per_s((double)results->bytes, seconds));
	print_latency(&results->latency);
	printf("\"least_ops\": %llu, \"most_ops\": %llu, \"queued_max\": %u, \"opened\": %llu, "
	       "\"connect_per_s\": %.1f, ",
	       (unsigned long long)least, (unsigned long long)most, results->queued_max,
	       (unsigned long long)results->opened,
	       options->kind == LOAD_CONNECT ? per_s((double)results->ops, seconds)
					     : per_s((double)results->opened, results->opening_s));
	printf("\"cpu_s\": %.6f, \"mismatches\": %llu, \"errors\": %llu}\n", results->cpu_s,
	       (unsigned long long)results->mismatches, (unsigned long long)results->errors);
}

int main(int argc, char **argv)
{
	struct load_options options = {.inflight = 1,
				       .connections = 1,
				       .seconds = 2,
				       .discard_s = 0.3,
				       .stall_s = 10,
				       .seed = 1};
	static struct load load;
	const char *work = NULL;
	int option;

	while ((option = getopt(argc, argv, "w:n:k:t:d:r:s:W:x:b:gh")) != -1) {
		set_option(&options, option);
		if (option == 'w')
			work = optarg;
	}
	if (!work || optind != argc - 2)
		usage(2);
	if ((uint64_t)options.inflight * options.connections > PLACES_MAX)
		fail("%u Calls on each of %u connections are too many", options.inflight,
		     options.connections);
	options.server = address_parse(argv[optind], argv[optind + 1]);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_TIMERSLACK, 1);
	files_unlimited();
	file_data_init();
	load_run(&load, &options);
	print_results(&load, work);
	fflush(stdout);
	if (options.waits)
		load_wait();
	option = load.results.mismatches || load.results.errors;
	load_free(&load);
	return option;
}
