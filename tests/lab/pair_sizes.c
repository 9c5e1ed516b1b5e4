// SPDX-License-Identifier: BSD-3-Clause
/* Cases of fabric_pair: the Receives of two legs of version two grow and shrink under traffic. */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "rpcrdma/rdma_leg_priv.h"
#include "tests/lab/pair.h"
#include "tests/lab/pair_legs.h"

#define CALLS_A_CHANGE 8u    /* at least: posted Receives are used, too */
#define CALLS_LOWERING 1000u /* then both ends pause, and the lower size is agreed on */

static unsigned changes; /* to be made */
static uint32_t wanted;
static uint32_t longest_send_bytes; /* of the client; restarts each minute */
static unsigned answered_before;
static unsigned pauses; /* size changes for which the traffic had to pause */

/* ---- sizes ---- */

static struct rdma_conn *conn_of(const struct leg_end *end)
{
	return &rdma_leg_of(end->leg)->conn;
}

static struct characteristics *characteristics_of(const struct leg_end *end)
{
	struct optional_msgs *options = rdma_leg_of(end->leg)->options;

	return options ? &options->ch : NULL;
}

/*
 * As an end does it by itself: for Calls the client asks, for Replies it has larger receives; less
 * is asked for.
 */
static void drive(struct leg_end *end)
{
	struct characteristics *ch = characteristics_of(end);
	bool raises = wanted > LEGS_FIRST;

	if (end == &legs.client && raises)
		characteristics_raise(ch, wanted);
	if ((end == &legs.client || !raises) && characteristics_peer_size(ch) != wanted)
		characteristics_request_size(ch, wanted);
	optional_msgs_run(rdma_leg_of(end->leg)->options);
}

/*
 * A REQ that withdrew a lower size can still be in transit when the lower size is advertised: it
 * raises the Receives again.
 */
static bool has_size(const struct leg_end *end)
{
	const struct characteristics *ch = characteristics_of(end);

	return characteristics_peer_size(ch) == wanted && !characteristics_pending(ch);
}

static bool have_sizes(void)
{
	return has_size(&legs.client) && has_size(&legs.server);
}

/*
 * Which request for a lower size no Call crosses is a matter of chance, and in a slow guest it
 * takes thousands of Calls: after CALLS_LOWERING of them no more are made.
 */
static void pause_traffic(void)
{
	if (!legs.load || legs.client.answered - answered_before < CALLS_LOWERING)
		return;
	pauses++;
	legs.load = 0;
	legs.both_ways = false;
}

static void resume_traffic(void)
{
	legs.both_ways = true;
	legs_set_load(LEGS_CREDITS);
}

static bool sizes_changed(void)
{
	if (legs_lost())
		return true;
	if (longest_send_bytes < conn_of(&legs.client)->longest_send_bytes)
		longest_send_bytes = conn_of(&legs.client)->longest_send_bytes;
	drive(&legs.client);
	drive(&legs.server);
	if (wanted == LEGS_FIRST)
		pause_traffic();
	return have_sizes() && legs.client.answered - answered_before >= CALLS_A_CHANGE;
}

static bool change_to(uint32_t bytes)
{
	wanted = bytes;
	answered_before = legs.client.answered;
	resume_traffic();
	return wait_until(sizes_changed) && !legs_lost();
}

/* Returns how many times both were raised and lowered. */
static unsigned change_often(void)
{
	unsigned n = 0;

	while (n < changes && change_to(LEGS_RAISED) && change_to(LEGS_FIRST))
		n++;
	return n;
}

/* ---- what must not be ---- */

/* Sends that were refused since there was no receive, of all devices; 0 where none counts them. */
static unsigned long long refused_sends(void)
{
	unsigned long long sum = 0, count;
	glob_t files;

	if (glob("/sys/class/infiniband/*/ports/1/hw_counters/*rnr_err", 0, NULL, &files))
		return 0;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		FILE *file = fopen(files.gl_pathv[i], "r");

		if (file && fscanf(file, "%llu", &count) == 1)
			sum += count;
		if (file)
			fclose(file);
	}
	globfree(&files);
	return sum;
}

static bool no_errors(const struct leg_end *end)
{
	const struct rdma_leg_counters *counters = &end->counters;

	return !counters->err_chunk_sent && !counters->err_chunk_received &&
	       !counters->replies_too_big && !counters->bad_replies &&
	       !counters->unmatched_replies && !counters->characteristics_wrong &&
	       !counters->recv_lowered_unasked && !counters->reverse_refused &&
	       !counters->recv_raises_refused;
}

/* ---- memory ---- */

static bool posted_large(void)
{
	return posted_recvs_largest(&conn_of(&legs.client)->recvs) > LEGS_FIRST ||
	       posted_recvs_largest(&conn_of(&legs.server)->recvs) > LEGS_FIRST;
}

static unsigned calls_wanted;

static bool calls_answered(void)
{
	return legs_lost() || legs.client.answered >= calls_wanted;
}

/* What both ends may come to post with the first size; over iwarp receives have no memory. */
static size_t receives_bytes(void)
{
	size_t count = 0;

	if (strcmp(fabric_name, "verbs"))
		return 0;
	count += conn_of(&legs.client)->grant.max + conn_of(&legs.client)->window.asked;
	count += conn_of(&legs.server)->grant.max + conn_of(&legs.server)->window.asked;
	return (count + (size_t)2 * RDMA_RECV_RESERVE) * buf_pool_class_bytes(LEGS_FIRST);
}

/* An RPC's own memory is free when its last Send is done, which may be after its Reply has come. */
static bool memory_is_back(void)
{
	struct buf_pool_stats stats;

	/*
	 * A lower size that a Call crossed is asked for again: the daemon does so after a minute.
	 */
	drive(&legs.client);
	drive(&legs.server);
	buf_pool_stats_get(pool, &stats);
	return !posted_large() && stats.in_use_bytes <= receives_bytes() &&
	       !legs.client.budget.account.used_bytes && !legs.server.budget.account.used_bytes;
}

/*
 * Raised and lowered once more; then as many small Calls as the end that has more of them has
 * receives.
 */
static bool memory_comes_back(void)
{
	unsigned here, there, most;
	struct buf_pool_stats stats;
	bool back;

	if (!change_to(LEGS_RAISED) || !change_to(LEGS_FIRST) || !legs_quiet())
		return false;
	here = conn_of(&legs.client)->recvs_posted;
	there = conn_of(&legs.server)->recvs_posted;
	most = here > there ? here : there;
	legs.small = true;
	for (unsigned i = 0; i < most; i++) {
		calls_wanted = legs.client.answered + 1;
		legs_set_load(1);
		legs.load = 0;
		if (!wait_until(calls_answered) || legs_lost())
			return false;
	}
	back = wait_until(memory_is_back);
	buf_pool_stats_get(pool, &stats);
	printf("# %u small Calls: %zu bytes of buffers in use, of the budgets %zu and %zu\n", most,
	       stats.in_use_bytes, legs.client.budget.account.used_bytes,
	       legs.server.budget.account.used_bytes);
	return back;
}

/* ---- the cases ---- */

static void says(bool ok, const char *ddp, const char *what)
{
	char name[128];

	snprintf(name, sizeof(name), "%s, %s", what, ddp);
	result(ok, name);
	if (!ok)
		printf("# client's leg: %s (%s); server's: %s (%s); %u and %u Calls, %u and %u faults\n",
		       leg_close_name(legs.client.why), legs.client.detail,
		       leg_close_name(legs.server.why), legs.server.detail, legs.client.answered,
		       legs.server.answered, legs.client.faults, legs.server.faults);
}

static void with(bool with_ddp)
{
	const char *ddp = with_ddp ? "with DDP" : "without DDP";
	unsigned long long refused = refused_sends();
	uint64_t start_us = loop_now_us(loop);
	unsigned changed;
	bool open = legs_open(with_ddp);

	says(open && characteristics_of(&legs.client) && characteristics_of(&legs.server), ddp,
	     "opens legs of version two");
	if (!open)
		return;
	/* The sizes are driven here, and not by what the traffic wants. */
	conn_of(&legs.client)->sizes = NULL;
	longest_send_bytes = pauses = 0;
	changed = change_often();
	printf("# %u times in %llu ms, %u pauses: %u Calls with %llu bytes of data, %u the other way\n",
	       changes, (unsigned long long)(loop_now_us(loop) - start_us) / 1000, pauses,
	       legs.client.answered, (unsigned long long)legs.data_bytes, legs.server.answered);
	says(changed == changes && legs.client.counters.recv_raises >= changes &&
		     legs.server.counters.recv_raises >= changes,
	     ddp, "raises and lowers receives under load, each time");
	says(!legs_lost() && longest_send_bytes > 2 * LEGS_FIRST, ddp,
	     "sends longer Sends meanwhile");
	says(!legs_lost() && memory_comes_back(), ddp,
	     "gives larger receives' memory back after as many small Calls");
	says(!legs_lost() && !legs.client.wrong && !legs.server.wrong && !legs.client.faults &&
		     !legs.server.faults && legs.server.answered >= changes,
	     ddp, "delivers every byte, both ways");
	says(no_errors(&legs.client) && no_errors(&legs.server), ddp, "has no error to tell");
	says(refused_sends() == refused, ddp, "finds a receive for each Send");
	says(legs_close(), ddp, "leaves nothing of the legs");
}

void pair_sizes(unsigned times)
{
	changes = times;
	with(false);
	with(true);
}
