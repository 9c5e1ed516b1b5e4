// SPDX-License-Identifier: BSD-3-Clause
/* The device in memory: what it reports, and its clock. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/standin/memory.h"
#include "tests/standin/memory_ops.h"

/* Recursive, because a call of the interface can make another. */
pthread_mutex_t memory_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
struct memory_left memory_left;
struct memory_counts memory_counts;

static struct memory_device devices[] = {
	{.device = {.node_type = IBV_NODE_CA, .name = "memory0"}},
	{.device = {.node_type = IBV_NODE_CA, .name = "memory1"}},
};
static unsigned ndevices = 1;
static bool frees_dead; /* RDMAV_ALLOW_DISASSOC_DESTROY at the first call of libibverbs */
static pthread_cond_t clock_changed = PTHREAD_COND_INITIALIZER;
static pthread_t clock_thread;
static bool has_clock;

bool memory_is_iwarp(void)
{
	return devices[0].device.transport_type == IBV_TRANSPORT_IWARP;
}

struct memory_device *memory_device_at(unsigned i)
{
	return i < ndevices ? &devices[i] : NULL;
}

static struct memory_context *context_of(const struct ibv_context *context)
{
	return CONTAINER(context, struct memory_context, context);
}

bool memory_is_dead(const struct ibv_context *context)
{
	return context_of(context)->dead;
}

bool memory_keeps(const struct ibv_context *context)
{
	return memory_is_dead(context) && !frees_dead;
}

void memory_misuse(const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "standin: misuse: %s\n", text);
}

uint64_t memory_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void *run_clock(void *arg)
{
	pthread_mutex_lock(&memory_lock);
	for (;;) {
		uint64_t next_us = memory_qp_clock(memory_now_us());
		struct timespec when = {.tv_sec = (time_t)(next_us / 1000000),
					.tv_nsec = (long)(next_us % 1000000) * 1000};

		if (next_us)
			pthread_cond_timedwait(&clock_changed, &memory_lock, &when);
		else
			pthread_cond_wait(&clock_changed, &memory_lock);
	}
	return arg;
}

void memory_clock_kick(void)
{
	if (!has_clock)
		has_clock = !pthread_create(&clock_thread, NULL, run_clock, NULL);
	pthread_cond_signal(&clock_changed);
}

struct memory_context *memory_context_new(struct memory_device *device)
{
	struct memory_context *context = calloc(1, sizeof(*context));

	context->context = (struct ibv_context){
		.device = &device->device,
		.ops = {.alloc_mw = memory_alloc_mw,
			.dealloc_mw = memory_dealloc_mw,
			.poll_cq = memory_poll_cq,
			.req_notify_cq = memory_req_notify_cq,
			.post_send = memory_post_send,
			.post_recv = memory_post_recv},
		.async_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE),
		.num_comp_vectors = 1,
	};
	TAILQ_INIT(&context->asyncs);
	return context;
}

__attribute__((constructor)) static void make_devices(void)
{
	const char *kind = getenv("STANDIN_MEMORY"), *count = getenv("STANDIN_DEVICES");

	if (count && !strcmp(count, "2"))
		ndevices = 2;
	for (unsigned i = 0; i < ndevices; i++) {
		devices[i].device.transport_type =
			kind && !strcmp(kind, "iwarp") ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
		devices[i].context = memory_context_new(&devices[i]);
	}
}

__attribute__((destructor)) static void report(void)
{
	const struct memory_left *left = &memory_left;

	if (getenv("STANDIN_COUNTS"))
		fprintf(stderr, "standin: counts: polls %lu arms %lu events %lu\n",
			memory_counts.polls, memory_counts.arms, memory_counts.events);
	if (left->pds || left->mrs || left->mws || left->cqs || left->qps || left->channels ||
	    left->ids || left->event_channels)
		fprintf(stderr,
			"standin: left: pds %d mrs %d mws %d cqs %d qps %d channels %d ids %d "
			"event channels %d\n",
			left->pds, left->mrs, left->mws, left->cqs, left->qps, left->channels,
			left->ids, left->event_channels);
}

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = calloc(ndevices + 1, sizeof(*list));
	const char *told = getenv("RDMAV_ALLOW_DISASSOC_DESTROY");
	static bool asked;
	int n = 0;

	pthread_mutex_lock(&memory_lock);
	if (!asked)
		frees_dead = told && strcmp(told, "0") != 0;
	asked = true;
	for (unsigned i = 0; i < ndevices; i++)
		if (devices[i].context)
			list[n++] = &devices[i].device;
	pthread_mutex_unlock(&memory_lock);
	if (count)
		*count = n;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	const struct memory_context *context =
		CONTAINER(device, struct memory_device, device)->context;

	if (!context)
		errno = ENODEV;
	return context ? (struct ibv_context *)&context->context : NULL;
}

int ibv_close_device(struct ibv_context *context)
{
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	if (memory_is_dead(context))
		return EIO;
	*attr = (struct ibv_device_attr){
		/* A vendor with shared completion queues (lib/fabric/verbs/cq.h). */
		.vendor_id = 0x02c9,
		.device_cap_flags = IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_MGT_EXTENSIONS |
				    (memory_is_iwarp() ? 0 : IBV_DEVICE_MEM_WINDOW_TYPE_2B),
		.max_mr_size = UINT64_MAX,
		.max_qp = INT_MAX,
		.max_qp_wr = 32768,
		.max_sge = MEMORY_SGES,
		.max_cq = INT_MAX,
		.max_cqe = 4194303,
		.max_mr = INT_MAX,
		.max_pd = INT_MAX,
		.max_qp_rd_atom = 128,
		.max_qp_init_rd_atom = 128,
		.max_mw = memory_is_iwarp() ? 0 : INT_MAX,
		.phys_port_cnt = 1,
	};
	return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	struct ibv_port_attr *wide = (struct ibv_port_attr *)attr;

	if (memory_is_dead(context))
		return EIO;
	wide->state = IBV_PORT_ACTIVE;
	wide->max_msg_sz = 1u << 30;
	return 0;
}
