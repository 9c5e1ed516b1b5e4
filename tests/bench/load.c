// SPDX-License-Identifier: BSD-3-Clause
/*
 * Each connection opens with a NULL. Once all are open the load makes Calls until the measuring
 * window closes. It ends when each outstanding Call has its Reply, so that every byte is checked.
 */
#include "tests/bench/load.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/bench/file_data.h"
#include "tests/bench/flow.h"
#include "tests/bench/nfs3.h"
#include "tests/lib/time_limit.h"

#define EVENTS  256
#define TICK_NS 100000000
#define OPENING 64 /* connections that open concurrently by default */
#define NS      1e9

void load_fail(struct load *load, const char *format, ...)
{
	va_list args;

	load->results.errors++;
	load->over = true;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static double cpu_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static bool in_window(const struct load *load, uint64_t now)
{
	return load->measuring && now >= load->window_ns && now < load->end_ns;
}

/* The time that counts begins a moment after this. */
static void measure(struct load *load)
{
	const struct load_options *options = &load->options;

	load->measuring = true;
	load->window_ns = now_ns() + (uint64_t)(options->discard_s * NS);
	load->end_ns = load->window_ns + (uint64_t)(options->seconds * NS);
}

void load_wait(void)
{
	int c;

	do
		c = getchar();
	while (c != EOF && c != '\n');
}

static void tell_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* The time for opening connections must not count as time for Calls. */
static void let_look(struct load *load)
{
	if (!load->options.waits)
		return;
	tell_ready();
	load_wait();
	load->heard_ns = now_ns();
}

/* ---- Calls as soon as there is a Reply ---- */

static void fill_all(struct load *load)
{
	uint64_t now = now_ns();

	for (uint32_t i = 0; i < load->flow_count && !load->over; i++) {
		for (uint32_t place = 0; place < load->options.inflight; place++)
			flow_call(&load->flows[i], place, now);
		flow_flush(&load->flows[i]);
	}
}

/* ---- Calls when they are due ---- */

static void place_put(struct load *load, uint32_t place)
{
	uint32_t all = load->flow_count * load->options.inflight;

	load->places[(load->places_first + load->places_count++) % all] = place;
}

static uint32_t place_take(struct load *load)
{
	uint32_t place = load->places[load->places_first];

	load->places_first = (load->places_first + 1) % (load->flow_count * load->options.inflight);
	load->places_count--;
	return place;
}

static void arrivals_begin(struct load *load)
{
	uint32_t all = load->flow_count * load->options.inflight;

	arrivals_init(&load->arrivals, load->options.per_s, load->options.seed, now_ns());
	load->places = calloc(all, sizeof(*load->places));
	if (!load->places)
		fail("out of memory");
	/* The first place of each connection before the second of any. */
	for (uint32_t i = 0; i < all; i++)
		place_put(load,
			  i % load->flow_count * load->options.inflight + i / load->flow_count);
}

/* Those that are due take the places that are free. */
static void arrivals_call(struct load *load)
{
	uint64_t now = now_ns(), due;

	if (now >= load->end_ns)
		return;
	if (!arrivals_come(&load->arrivals, now))
		load_fail(load, "%u Calls are due and wait: it is too much", ARRIVALS_MAX);
	while (load->places_count && !load->over && arrivals_take(&load->arrivals, &due)) {
		uint32_t place = place_take(load);
		struct flow *flow = &load->flows[place / load->options.inflight];

		flow_call(flow, place % load->options.inflight, due);
		flow_flush(flow);
	}
	if (load->arrivals.count > load->results.queued_max)
		load->results.queued_max = load->arrivals.count;
}

/* ---- what flows tell ---- */

static void take_place(struct load *load, struct flow *flow, uint32_t place, uint64_t now)
{
	uint64_t due;

	if (now >= load->end_ns)
		return;
	if (!load->places)
		flow_call(flow, place, now);
	else if (arrivals_take(&load->arrivals, &due))
		flow_call(flow, place, due);
	else
		place_put(load, (uint32_t)(flow - load->flows) * load->options.inflight + place);
}

static void count(struct load *load, struct flow *flow, uint64_t ns)
{
	load->results.ops++;
	load->results.bytes += load->options.bytes;
	flow->ops++;
	latency_add(&load->results.latency, ns);
}

void load_replied(struct load *load, struct flow *flow, uint32_t place, uint64_t due_ns,
		  uint64_t now_ns)
{
	load->results.all_ops++;
	if (in_window(load, now_ns))
		count(load, flow, now_ns - due_ns);
	take_place(load, flow, place, now_ns);
}

static void all_open(struct load *load)
{
	load->results.opening_s = (double)(now_ns() - load->begin_ns) / NS;
	if (load->options.kind == LOAD_CROWD)
		load->over = true;
	if (load->options.kind == LOAD_IDLE) {
		tell_ready();
		poll_watch(load->poll, STDIN_FILENO, EPOLLIN, load);
	}
	if (load->options.kind != LOAD_CALLS)
		return;
	let_look(load);
	measure(load);
	if (load->options.per_s > 0)
		arrivals_begin(load);
	else
		fill_all(load);
}

void load_opened(struct load *load, struct flow *flow, uint64_t ns)
{
	load->results.opened++;
	load->results.all_ops += load->options.kind != LOAD_CALLS;
	if (load->options.kind == LOAD_CONNECT) {
		if (in_window(load, load->heard_ns))
			count(load, flow, ns);
		flow->closing = true;
		return;
	}
	if (load->options.kind == LOAD_CROWD)
		count(load, flow, load->heard_ns - load->begin_ns);
	if (load->results.opened == load->flow_count)
		all_open(load);
}

/* ---- the loop ---- */

/* Opens connections, a limited number concurrently, as long as any must be opened. */
static void open_flows(struct load *load)
{
	bool all_at_once = load->options.kind == LOAD_CROWD;

	while (load->started < load->flow_count && !load->over &&
	       (all_at_once || load->started - load->results.opened < OPENING))
		flow_open(&load->flows[load->started++]);
}

static void reopen_flows(struct load *load)
{
	if (now_ns() >= load->end_ns)
		return;
	for (uint32_t i = 0; i < load->flow_count && !load->over; i++)
		if (load->flows[i].fd < 0)
			flow_open(&load->flows[i]);
}

/* No Reply for so long as it may take on this machine, which is looked at only then. */
static bool is_stalled(struct load *load, uint64_t now)
{
	double silent_s = (double)(now - load->heard_ns) / NS, slowness;

	if (silent_s <= load->options.stall_s * load->slowness)
		return false;
	slowness = time_limit_factor();
	if (slowness > load->slowness)
		load->slowness = slowness;
	return silent_s > load->options.stall_s * load->slowness;
}

static void look_at_time(struct load *load)
{
	uint64_t now = now_ns();

	if (load->outstanding && now > load->heard_ns && is_stalled(load, now)) {
		load_fail(load, "no Reply for %g s, and %u are missing", load->options.stall_s,
			  load->outstanding);
		return;
	}
	if (!load->outstanding)
		load->heard_ns = now;
	if (!load->measuring)
		return;
	if (now >= load->window_ns && load->cpu_before_s < 0)
		load->cpu_before_s = cpu_s();
	if (now < load->end_ns)
		return;
	if (!load->results.cpu_s)
		load->results.cpu_s = cpu_s() - load->cpu_before_s;
	if (!load->outstanding)
		load->over = true;
}

/* Until the next thing that is due by itself. */
static struct timespec time_left(const struct load *load)
{
	uint64_t now = now_ns(), ns = TICK_NS;

	if (load->measuring && load->cpu_before_s < 0 && load->window_ns < now + ns)
		ns = load->window_ns > now ? load->window_ns - now : 0;
	if (load->measuring && now < load->end_ns && load->end_ns < now + ns)
		ns = load->end_ns - now;
	if (load->places && now < load->end_ns && load->arrivals.next_ns < (double)(now + ns))
		ns = load->arrivals.next_ns > (double)now
			     ? (uint64_t)(load->arrivals.next_ns - (double)now)
			     : 0;
	return (struct timespec){.tv_sec = 0, .tv_nsec = (long)ns};
}

/* epoll_wait() alone knows milliseconds only. */
static int wait_for_events(struct load *load, struct epoll_event *events)
{
	struct pollfd fd = {.fd = load->poll, .events = POLLIN};
	struct timespec timeout = time_left(load);

	if (!load->places)
		return epoll_wait(load->poll, events, EVENTS,
				  (int)((timeout.tv_nsec + 999999) / 1000000));
	if (ppoll(&fd, 1, &timeout, NULL) <= 0)
		return 0;
	return epoll_wait(load->poll, events, EVENTS, 0);
}

static void turn(struct load *load)
{
	struct epoll_event events[EVENTS];
	int n;

	if (load->options.kind == LOAD_CONNECT)
		reopen_flows(load);
	else
		open_flows(load);
	if (load->places)
		arrivals_call(load);
	n = wait_for_events(load, events);
	for (int i = 0; i < n && !load->over; i++) {
		if (events[i].data.ptr == load)
			load->over = true;
		else
			flow_event(events[i].data.ptr, events[i].events);
	}
	if (!load->over)
		look_at_time(load);
}

static void load_init(struct load *load, const struct load_options *options)
{
	*load = (struct load){
		.options = *options, .cpu_before_s = -1, .slowness = 1, .random = {options->seed}};
	load->poll = poll_new();
	load->flow_count = options->kind == LOAD_CONNECT ? options->inflight : options->connections;
	if (options->kind != LOAD_CALLS)
		load->options.inflight = 1;
	nfs3_call(&load->null_call, NFS3_NULL, 0, 0);
	nfs3_reply(&load->null_reply, NFS3_NULL, NFS3_OK, 0);
	nfs3_call(&load->call, options->procedure, 0, options->bytes);
	nfs3_reply(&load->reply, options->procedure, NFS3_OK, options->bytes);
	load->flows = calloc(load->flow_count, sizeof(*load->flows));
	for (uint32_t i = 0; i < load->flow_count; i++)
		if (!load->flows || !flow_init(&load->flows[i], load))
			fail("out of memory");
}

void load_run(struct load *load, const struct load_options *options)
{
	load_init(load, options);
	if (options->kind == LOAD_CONNECT || options->kind == LOAD_CROWD)
		let_look(load);
	load->begin_ns = load->heard_ns = now_ns();
	if (options->kind == LOAD_CONNECT)
		measure(load);
	while (!load->over)
		turn(load);
	if (!load->results.mismatches)
		return;
	fprintf(stderr, "%llu Replies had bytes that are not the file's\n",
		(unsigned long long)load->results.mismatches);
}

void load_free(struct load *load)
{
	for (uint32_t i = 0; i < load->flow_count; i++)
		flow_fini(&load->flows[i]);
	free(load->flows);
	free(load->places);
	arrivals_fini(&load->arrivals);
	buf_free(&load->null_call);
	buf_free(&load->null_reply);
	buf_free(&load->call);
	buf_free(&load->reply);
	close(load->poll);
}
