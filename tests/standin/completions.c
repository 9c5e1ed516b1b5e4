// SPDX-License-Identifier: BSD-3-Clause
/*
 * Each queue has a list of delayed completions. A poll first reads all completions of the device,
 * then returns those that are due.
 */
#define _GNU_SOURCE
#include "tests/standin/completions.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/standin/device.h"
#include "tests/standin/fault.h"

#define BATCH 16

struct held {
	TAILQ_ENTRY(held) entry;
	struct ibv_wc wc;
	uint64_t due_us;
	bool passable; /* later receives may pass it */
};

struct known_cq {
	LIST_ENTRY(known_cq) entry;
	struct ibv_cq *cq;
	bool armed;
	unsigned own_events; /* events of the timer, not acknowledged yet */
	TAILQ_HEAD(held_list, held) held;
};

struct known_channel {
	LIST_ENTRY(known_channel) entry;
	struct ibv_comp_channel *channel;
	int device_fd, timer_fd;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, known_cq) cqs = LIST_HEAD_INITIALIZER(cqs);
static LIST_HEAD(, known_channel) channels = LIST_HEAD_INITIALIZER(channels);

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static struct known_cq *find_cq(const struct ibv_cq *cq)
{
	struct known_cq *known;

	LIST_FOREACH(known, &cqs, entry)
		if (known->cq == cq)
			return known;
	return NULL;
}

static struct known_channel *find_channel(const struct ibv_comp_channel *channel)
{
	struct known_channel *known;

	LIST_FOREACH(known, &channels, entry)
		if (known->channel == channel)
			return known;
	return NULL;
}

/* ---- the content of completions ---- */

static bool is_recv(const struct ibv_wc *wc)
{
	return wc->opcode & IBV_WC_RECV;
}

/* Only these fields are valid in a completion with an error. */
static void keep_what_holds(struct ibv_wc *wc)
{
	struct ibv_wc kept = *wc;

	memset(wc, 0xa5, sizeof(*wc));
	wc->wr_id = kept.wr_id;
	wc->status = kept.status;
	wc->vendor_err = kept.vendor_err;
	wc->qp_num = kept.qp_num;
}

static void fail(const struct standin_device *device, struct ibv_wc *wc, int status)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp *qp = standin_qp_cut(device->context, wc->qp_num);

	wc->status = (enum ibv_wc_status)status;
	if (qp)
		NEXT(ibv_modify_qp, qp, &attr, IBV_QP_STATE);
}

/* Adjusts a completion to what the profile's device would report. */
static void conn_tick(const struct standin_device *device, struct ibv_wc *wc)
{
	if (device->rxe && (wc->wc_flags & IBV_WC_IP_CSUM_OK))
		wc->wc_flags = IBV_WC_WITH_INV;
	/* After a completion that a fault gave an error, none succeeds. */
	if (wc->status == IBV_WC_SUCCESS && standin_qp_is_cut(device->context, wc->qp_num))
		wc->status = IBV_WC_WR_FLUSH_ERR;
	if (wc->status == IBV_WC_SUCCESS)
		return;
	standin_qp_failed(device->context, wc->qp_num);
	if (device->profile)
		keep_what_holds(wc);
}

/* ---- delaying completions ---- */

/* Sets the channel's timer to the next due completion of its armed queues. */
static void set_timer(const struct ibv_comp_channel *channel)
{
	const struct known_channel *known = channel ? find_channel(channel) : NULL;
	struct itimerspec when = {.it_value = {0}};
	const struct known_cq *cq;
	uint64_t next_us = UINT64_MAX;

	if (!known)
		return;
	LIST_FOREACH(cq, &cqs, entry) {
		const struct held *first = TAILQ_FIRST(&cq->held);

		if (cq->cq->channel == channel && cq->armed && first && first->due_us < next_us)
			next_us = first->due_us;
	}
	if (next_us != UINT64_MAX)
		when.it_value = (struct timespec){.tv_sec = (time_t)(next_us / 1000000),
						  .tv_nsec = (long)(next_us % 1000000) * 1000};
	timerfd_settime(known->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void hold(struct known_cq *known, const struct ibv_wc *wc, int ms, bool passable)
{
	const struct held *last = TAILQ_LAST(&known->held, held_list);
	struct held *held = calloc(1, sizeof(*held));

	held->wc = *wc;
	held->due_us = now_us() + (uint64_t)ms * 1000;
	if (last && last->due_us > held->due_us)
		held->due_us = last->due_us;
	held->passable = passable;
	TAILQ_INSERT_TAIL(&known->held, held, entry);
}

static bool may_pass(const struct known_cq *known, const struct ibv_wc *wc)
{
	const struct held *held;

	TAILQ_FOREACH(held, &known->held, entry)
		if (!held->passable || !is_recv(wc))
			return false;
	return true;
}

/* Returns true if the completion is delayed. */
static bool is_held(const struct standin_device *device, struct known_cq *known, struct ibv_wc *wc)
{
	struct standin_answer answer = {0};
	bool recv = is_recv(wc);

	if (wc->status == IBV_WC_SUCCESS)
		answer = standin_fault(STANDIN_completion);
	if (answer.kind == STANDIN_STATUS)
		fail(device, wc, answer.value);
	conn_tick(device, wc);
	if (answer.kind == STANDIN_HOLD)
		hold(known, wc, answer.value, false);
	else if (answer.kind == STANDIN_SWAP && !recv)
		hold(known, wc, answer.value, true);
	else if (!may_pass(known, wc))
		hold(known, wc, 0, !recv && TAILQ_FIRST(&known->held)->passable);
	else
		return false;
	return true;
}

static int take_due(struct known_cq *known, int max, struct ibv_wc *wcs)
{
	uint64_t now = now_us();
	struct held *held;
	int n = 0;

	while (n < max && (held = TAILQ_FIRST(&known->held)) && held->due_us <= now) {
		TAILQ_REMOVE(&known->held, held, entry);
		wcs[n++] = held->wc;
		free(held);
	}
	return n;
}

static int poll_through(const struct standin_device *device, struct known_cq *known, int max,
			struct ibv_wc *wcs)
{
	int n = take_due(known, max, wcs), got = 1;
	struct ibv_wc wc;

	while (n < max && got > 0) {
		got = device->ops.poll_cq(known->cq, 1, &wc);
		if (got > 0 && !is_held(device, known, &wc))
			wcs[n++] = wc;
	}
	set_timer(known->cq->channel);
	return n ? n : got;
}

/* As libmlx5 when it cannot find the queue pair: the completion is consumed anyway. */
static int poll_or_lose(const struct standin_device *device, struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n = device->ops.poll_cq(cq, 1, wc);
	int err = n == 1 ? standin_fault_errno(STANDIN_poll_cq) : 0;

	return err ? -err : n;
}

int standin_completions_poll(struct ibv_cq *cq, int max, struct ibv_wc *wcs)
{
	const struct standin_device *device = standin_device_of(cq->context);
	struct known_cq *known;
	int n;

	if (standin_faults_of(STANDIN_poll_cq)) {
		n = poll_or_lose(device, cq, wcs);
		if (n == 1)
			conn_tick(device, wcs);
		return n;
	}
	if (standin_faults_of(STANDIN_completion)) {
		pthread_mutex_lock(&lock);
		known = find_cq(cq);
		n = poll_through(device, known, max, wcs);
		pthread_mutex_unlock(&lock);
		return n;
	}
	n = device->ops.poll_cq(cq, max, wcs);
	for (int i = 0; i < n; i++)
		conn_tick(device, &wcs[i]);
	return n;
}

/* ---- queues ---- */

void standin_completions_armed(struct ibv_cq *cq)
{
	struct known_cq *known;

	if (!standin_faults_of(STANDIN_completion))
		return;
	pthread_mutex_lock(&lock);
	known = find_cq(cq);
	known->armed = true;
	set_timer(cq->channel);
	pthread_mutex_unlock(&lock);
}

void standin_completions_cq(struct ibv_cq *cq)
{
	struct known_cq *known = calloc(1, sizeof(*known));

	known->cq = cq;
	TAILQ_INIT(&known->held);
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&cqs, known, entry);
	pthread_mutex_unlock(&lock);
}

void standin_completions_cq_gone(struct ibv_cq *cq)
{
	struct known_cq *known;
	struct held *held;

	pthread_mutex_lock(&lock);
	known = find_cq(cq);
	LIST_REMOVE(known, entry);
	set_timer(cq->channel);
	pthread_mutex_unlock(&lock);
	while ((held = TAILQ_FIRST(&known->held))) {
		TAILQ_REMOVE(&known->held, held, entry);
		free(held);
	}
	free(known);
}

unsigned standin_completions_ack(struct ibv_cq *cq, unsigned count)
{
	struct known_cq *known;
	unsigned own = 0;

	pthread_mutex_lock(&lock);
	known = find_cq(cq);
	if (known) {
		own = known->own_events < count ? known->own_events : count;
		known->own_events -= own;
	}
	pthread_mutex_unlock(&lock);
	return count - own;
}

/* ---- channels ---- */

void standin_completions_channel(struct ibv_comp_channel *channel)
{
	struct known_channel *known;
	struct epoll_event readable = {.events = EPOLLIN};
	int both;

	if (!standin_faults_of(STANDIN_completion))
		return;
	known = calloc(1, sizeof(*known));
	known->channel = channel;
	known->device_fd = channel->fd;
	known->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	both = epoll_create1(EPOLL_CLOEXEC);
	fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
	epoll_ctl(both, EPOLL_CTL_ADD, channel->fd, &readable);
	epoll_ctl(both, EPOLL_CTL_ADD, known->timer_fd, &readable);
	channel->fd = both;
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&channels, known, entry);
	pthread_mutex_unlock(&lock);
}

void standin_completions_channel_gone(struct ibv_comp_channel *channel)
{
	struct known_channel *known;

	pthread_mutex_lock(&lock);
	known = find_channel(channel);
	if (known)
		LIST_REMOVE(known, entry);
	pthread_mutex_unlock(&lock);
	if (!known)
		return;
	close(channel->fd);
	close(known->timer_fd);
	channel->fd = known->device_fd;
	free(known);
}

/* Returns true and sets @cq if an event of the timer is due. */
static bool own_event(struct known_channel *channel, struct ibv_cq **cq, void **context)
{
	uint64_t times, now = now_us();
	struct known_cq *known;

	if (read(channel->timer_fd, &times, sizeof(times)) < 0)
		return false;
	LIST_FOREACH(known, &cqs, entry) {
		const struct held *first = TAILQ_FIRST(&known->held);

		if (known->cq->channel == channel->channel && known->armed && first &&
		    first->due_us <= now)
			break;
	}
	if (known) {
		known->armed = false;
		known->own_events++;
		*cq = known->cq;
		*context = known->cq->cq_context;
	}
	set_timer(channel->channel);
	return known;
}

int standin_completions_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	struct known_channel *known;
	struct known_cq *queue;
	int both = channel->fd;
	bool own;
	int err;

	pthread_mutex_lock(&lock);
	known = find_channel(channel);
	own = known && own_event(known, cq, context);
	pthread_mutex_unlock(&lock);
	if (own)
		return 0;
	if (known)
		channel->fd = known->device_fd;
	err = NEXT(ibv_get_cq_event, channel, cq, context);
	channel->fd = both;
	pthread_mutex_lock(&lock);
	queue = err ? NULL : find_cq(*cq);
	if (queue)
		queue->armed = false;
	pthread_mutex_unlock(&lock);
	return err;
}
