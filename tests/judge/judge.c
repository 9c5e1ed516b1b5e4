// SPDX-License-Identifier: BSD-3-Clause
/*
 * judge [-k] [-b] [-w ORDERED] CAPTURE
 *
 * Judges every TCP connection of a capture that carries RPC-over-RDMA on iWARP, or RPC: says what must not be, then
 * what there is in one line of NAME=NUMBER each, and exits with 1 if anything must not be. -k: connections may end
 * with Calls unanswered, since somebody was killed. -b: the capture may have ended before the work did.
 * -w: the judged streams, in order, for tshark.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/judge/capture.h"
#include "tests/judge/judge.h"

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
	tell("fpdus", judge->fpdus);
	tell("crcs", judge->crcs);
	tell("sends", judge->sends);
	tell("writes", judge->writes);
	tell("reads", judge->reads);
	tell("reads_most", judge->reads_most);
	tell("calls", judge->calls);
	tell("backward_calls", judge->backward_calls);
	tell("open_calls", judge->open_calls);
	tell("replies", judge->replies);
	tell("errors", judge->errors);
	tell("calls_most", judge->calls_most);
	tell("grant_most", judge->grant_most);
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
	if (!judge->calls) {
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
		trial_end(judge, conn);
	tcp_free(&tcp);
	if (err) {
		printf("%s: %s\n", path, strerror(-err));
		judge->violations++;
	}
	judge->violations += file_faults(judge, &info);
	tell_all(judge, &info);
	return judge->violations ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct judge judge = {0};
	int option, status;

	while ((option = getopt(argc, argv, "kbw:")) != -1) {
		switch (option) {
		case 'k':
			judge.cuts_allowed = true;
			break;
		case 'b':
			judge.bounded = true;
			break;
		case 'w':
			judge.ordered = capture_create(optarg);
			if (!judge.ordered) {
				printf("%s: %s\n", optarg, strerror(errno));
				return 2;
			}
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: judge [-k] [-b] [-w ORDERED] CAPTURE\n");
		return 2;
	}
	status = judge_file(&judge, argv[optind]);
	if (judge.ordered &&
	    (fflush(judge.ordered) || ferror(judge.ordered) || fclose(judge.ordered))) {
		printf("the ordered streams cannot be written\n");
		status = 2;
	}
	return status;
}
