// SPDX-License-Identifier: BSD-3-Clause
/*
 * judge [-k] [-b] [-d] [-c PROGRAM] [-a ADDRESS] [-i ADDRESS] [-w ORDERED] CAPTURE
 *
 * Judges every TCP connection of a capture that carries RPC-over-RDMA on iWARP, or RPC. Prints
 * violations, then counts as one line of NAME=NUMBER each, and exits with 1 after any violation.
 * -k: connections can end with unanswered Calls, because a process was killed. -b: the capture can
 * have ended before the work did. -d: RDMA_MSGP, RDMA_DONE and read chunks in Replies, which RFC
 * 8166 reserves, are allowed as in
 *     draft-ietf-nfsv4-rpcrdma-03.
 * -a, -i: the acceptor, or the initiator, of iWARP connections with this address is siw of Linux
 * 6.1 or 6.12, whose wrong
 *     CRCs are reported as remarks (excuse.h).
 * -c: the program of the Connection Configuration Protocol, if it is not 100417. -w: writes the
 * judged streams, in order, for tshark; without those that it cannot read.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/judge/capture.h"
#include "tests/judge/judge.h"
#include "tests/judge/ordered.h"
#include "tests/judge/trial.h"

#define CONFIG_PROGRAM 100417u /* assigned in RFC 5666 */

static void packet(void *ctx, const uint8_t *ip, size_t len, uint64_t at_us)
{
	tcp_packet(ctx, ip, len, at_us);
}

static void tell(const char *name, uint64_t value)
{
	printf("%s=%llu\n", name, (unsigned long long)value);
}

static void tell_all(const struct judge *judge, const struct capture_info *info)
{
	tell("packets", info->packets);
	tell("iwarp_connections", judge->iwarp_conns);
	tell("tcp_connections", judge->tcp_conns);
	tell("other_connections", judge->other_conns);
	tell("cut_connections", judge->cut_conns);
	tell("fpdus", judge->all.fpdus);
	tell("crcs", judge->all.crcs);
	tell("crc_faults", judge->crc_faults);
	tell("sends", judge->sends);
	tell("version_two_sends", judge->sends_of_two);
	tell("optionals", judge->optionals);
	tell("padded", judge->padded);
	tell("dones", judge->dones);
	tell("writes", judge->writes);
	tell("reads", judge->reads);
	tell("reads_most", judge->reads_most);
	tell("calls", judge->all.calls);
	tell("backward_calls", judge->backward_calls);
	tell("open_calls", judge->all.open_calls);
	tell("replies", judge->all.replies);
	tell("errors", judge->all.errors);
	tell("configs", judge->all.configs);
	tell("calls_most", judge->calls_most);
	tell("grant_most", judge->grant_most);
	tell("unread_connections", judge->unread.conns);
	tell("unread_crcs", judge->unread.crcs);
	tell("unread_calls", judge->unread.calls);
	tell("unread_open_calls", judge->unread.open_calls);
	tell("unread_replies", judge->unread.replies);
	tell("unread_errors", judge->unread.errors);
	tell("unread_configs", judge->unread.configs);
	tell("violations", judge->violations);
}

/* The file as a whole: nothing may be lost, and something must be there. */
static unsigned file_faults(const struct judge *judge, const struct capture_info *info)
{
	unsigned faults = 0;

	/* What was behind its end counts as lost too; whoever made a bounded capture knows which it was. */
	if (info->dropped && !judge->bounded) {
		faults++;
		printf("the capture lost %llu packets\n", (unsigned long long)info->dropped);
	}
	if (info->cut) {
		faults++;
		printf("the capture cut %llu packets short\n", (unsigned long long)info->cut);
	}
	if (info->foreign) {
		faults++;
		printf("%llu packets are of an unknown link layer\n",
		       (unsigned long long)info->foreign);
	}
	if (!judge->all.calls) {
		faults++;
		printf("the capture has no Call\n");
	}
	return faults;
}

static int judge_file(struct judge *judge, const char *path)
{
	struct tcp tcp = {.data = trial_data, .ctx = judge};
	struct capture_info info;
	int err = capture_read(path, packet, &tcp, &info);

	for (struct tcp_conn *conn = tcp.conns; conn; conn = conn->next)
		trial_excuse(conn);
	for (struct tcp_conn *conn = tcp.conns; conn; conn = conn->next)
		trial_end(judge, conn);
	excuse_calls_fini(&judge->excused);
	tcp_free(&tcp);
	if (err) {
		printf("%s: %s\n", path, strerror(-err));
		judge->violations++;
	}
	judge->violations += file_faults(judge, &info);
	tell_all(judge, &info);
	return judge->violations ? 1 : 0;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: judge [-k] [-b] [-d] [-c PROGRAM] [-a ADDRESS] [-i ADDRESS] [-w ORDERED] "
		"CAPTURE\n");
	return 2;
}

static bool take_address(uint32_t *address)
{
	struct in_addr addr;

	if (inet_pton(AF_INET, optarg, &addr) != 1)
		return false;
	*address = ntohl(addr.s_addr);
	return true;
}

static bool take_option(struct judge *judge, int option)
{
	switch (option) {
	case 'k':
		judge->cuts_allowed = true;
		return true;
	case 'b':
		judge->bounded = true;
		return true;
	case 'd':
		judge->draft03 = true;
		return true;
	case 'a':
		return take_address(&judge->siw.acceptor);
	case 'i':
		return take_address(&judge->siw.initiator);
	case 'c':
		judge->config_program = (uint32_t)strtoul(optarg, NULL, 0);
		return true;
	case 'w':
		judge->ordered = ordered_open(optarg);
		if (!judge->ordered)
			printf("%s: %s\n", optarg, strerror(errno));
		return judge->ordered;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	struct judge judge = {.config_program = CONFIG_PROGRAM};
	int option, status;

	while ((option = getopt(argc, argv, "kbdc:a:i:w:")) != -1) {
		if (!take_option(&judge, option))
			return usage();
	}
	if (optind + 1 != argc)
		return usage();
	status = judge_file(&judge, argv[optind]);
	if (judge.ordered && ordered_close(judge.ordered)) {
		printf("the ordered streams cannot be written\n");
		status = 2;
	}
	return status;
}
