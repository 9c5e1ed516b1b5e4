// SPDX-License-Identifier: BSD-3-Clause
/*
 * A task destroys an endpoint (ep_destroy.c): first the queue pair, so that the device can no
 * longer use its buffers and keys; then it completes every work request, finishes every unbind, and
 * calls closed().
 *
 * Over iWARP some calls block on a single connection: siw connects its TCP socket inside
 * rdma_connect(), and a connection must not be destroyed before the kernel's iWARP manager has
 * finished its set-up. These calls run on their own threads. While a thread works for an endpoint,
 * only that thread uses the id and the queues.
 */
#include "fabric/verbs/verbs_ep.h"

#include <stdarg.h>
#include <stdio.h>

#define CLOSE_DRAIN_US 2000000u  /* to send posted work, and then to disconnect */
#define FLUSH_US       200000u   /* from flushed work to the event with its cause */
#define CM_ABORT_US    15000000u /* for the end of an iWARP set-up; Linux aborts it after 10 s */

STATE_TABLE(verbs_ep_states, VERBS_EP_STATES);

static struct loop *loop_of(const struct verbs_ep *ep)
{
	return ep->ep.fabric->loop;
}

void verbs_ep_set(struct verbs_ep *ep, enum verbs_ep_state state)
{
	ep->state = state_next(&verbs_ep_states, ep->state, state);
}

enum verbs_cm_end verbs_cm_end(enum verbs_ep_state state, bool iwarp)
{
	switch (state) {
	case VERBS_ADOPTED:
	case VERBS_REQUESTED:
	case VERBS_ACCEPTING:
		return VERBS_CM_END_REJECT;
	case VERBS_CONNECTING:
		return iwarp ? VERBS_CM_END_WAIT : VERBS_CM_END_SILENT;
	case VERBS_ACCEPTED:
		return iwarp ? VERBS_CM_END_WAIT : VERBS_CM_END_DISCONNECT;
	case VERBS_OPEN:
	case VERBS_FLUSHED:
	case VERBS_DRAINING:
	case VERBS_DISCONNECTING:
		return VERBS_CM_END_DISCONNECT;
	default:
		return VERBS_CM_END_SILENT;
	}
}

/* Schedules the destruction, after any thread that still uses the id. */
static void destroy_schedule(struct verbs_ep *ep)
{
	if (ep->offloaded) {
		verbs_ep_set(ep, VERBS_THREAD_WAIT);
		return;
	}
	verbs_ep_set(ep, VERBS_DESTROY_PENDING);
	loop_defer(loop_of(ep), &ep->step_task);
}

/* The kernel's iWARP manager forbids to disconnect or destroy a connection during its set-up. */
static void cm_wait_start(struct verbs_ep *ep)
{
	verbs_ep_set(ep, VERBS_CM_ABORT);
	loop_timer_set(loop_of(ep), ep->timer, CM_ABORT_US);
}

int verbs_ep_disconnect(struct verbs_ep *ep)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (ep->qp && !ep->id->qp)
		(void)ibv_modify_qp(ep->qp, &attr, IBV_QP_STATE);
	return rdma_disconnect(ep->id) ? -errno : 0;
}

void verbs_ep_cm_finish(struct verbs_ep *ep)
{
	if (ep->cm_end == VERBS_CM_END_REJECT)
		(void)rdma_reject(ep->id, ep->rejection, (uint8_t)ep->rejection_bytes);
	else if (ep->cm_end == VERBS_CM_END_DISCONNECT)
		(void)verbs_ep_disconnect(ep);
}

static void cm_end_start(struct verbs_ep *ep, enum verbs_cm_end cm_end)
{
	loop_timer_clear(loop_of(ep), ep->timer);
	if (cm_end == VERBS_CM_END_WAIT) {
		cm_wait_start(ep);
		return;
	}
	ep->cm_end = cm_end;
	destroy_schedule(ep);
}

/* Sets the close reason; returns false if it is already set. */
static bool PRINTF_LIKE(3, 0)
	close_decide(struct verbs_ep *ep, enum fabric_close why, const char *fmt, va_list args)
{
	if (verbs_state_over(ep->state))
		return false;
	ep->why = why;
	vsnprintf(ep->detail, sizeof(ep->detail), fmt, args);
	return true;
}

void verbs_ep_fail(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
{
	bool closing = ep->state == VERBS_DRAINING || ep->state == VERBS_DISCONNECTING, decided;
	va_list args;

	va_start(args, fmt);
	decided = close_decide(ep, closing ? FABRIC_CLOSE_LOCAL : why, fmt, args);
	va_end(args);
	if (!decided)
		return;
	/* Before the destruction, which can take any time on the device. */
	ep->is_ending = ep->opened && !ep->closed_here;
	if (ep->is_ending)
		loop_defer(loop_of(ep), &ep->ending_task);
	cm_end_start(ep, verbs_cm_end(ep->state, ep->device && ep->device->iwarp));
}

void verbs_ep_device_lost(struct verbs_ep *ep, const char *what)
{
	if (verbs_state_over(ep->state))
		return;
	verbs_ep_counters(ep)->device_removals++;
	verbs_ep_fail(ep, FABRIC_CLOSE_LOST, "%s", what);
}

void verbs_ep_cm_gone(struct verbs_ep *ep, enum fabric_close why, const char *fmt, ...)
{
	bool decided;
	va_list args;

	va_start(args, fmt);
	decided = close_decide(ep, why, fmt, args);
	va_end(args);
	if (decided)
		cm_end_start(ep, VERBS_CM_END_SILENT);
}

void verbs_ep_cm_done(struct verbs_ep *ep)
{
	loop_timer_clear(loop_of(ep), ep->timer);
	destroy_schedule(ep);
}

bool verbs_ep_thread_done(struct verbs_ep *ep)
{
	if (ep->state != VERBS_THREAD_WAIT)
		return false;
	destroy_schedule(ep);
	return true;
}

void verbs_ep_timer(void *arg)
{
	struct verbs_ep *ep = arg;

	switch (ep->state) {
	case VERBS_RESOLVING:
	case VERBS_OPENING:
	case VERBS_CONNECTING:
	case VERBS_ACCEPTED:
		verbs_ep_fail(ep, FABRIC_CLOSE_TIMEOUT, "the peer does not answer");
		break;
	case VERBS_DRAINING:
	case VERBS_DISCONNECTING:
		verbs_ep_fail(ep, FABRIC_CLOSE_LOCAL, "the peer did not acknowledge all data");
		break;
	case VERBS_FLUSHED:
		verbs_ep_fail(ep, FABRIC_CLOSE_LOST, "the queue pair failed");
		break;
	case VERBS_CM_ABORT:
		ep->destroy_offloaded = true;
		verbs_ep_cm_done(ep);
		break;
	default:
		break;
	}
}

void verbs_ep_received(struct verbs_ep *ep)
{
	ep->recv_seen = true;
	if (ep->state == VERBS_ACCEPTED && !ep->device->iwarp)
		(void)rdma_notify(ep->id, IBV_EVENT_COMM_EST);
}

void verbs_ep_established(struct verbs_ep *ep, const void *private_data, size_t len_bytes)
{
	if (ep->state != VERBS_CONNECTING && ep->state != VERBS_ACCEPTED)
		return;
	verbs_ep_set(ep, VERBS_OPEN);
	ep->opened = true;
	loop_timer_clear(loop_of(ep), ep->timer);
	verbs_copy_addr(&ep->local, rdma_get_local_addr(ep->id));
	verbs_ep_counters(ep)->connections_opened++;
	ep->ep.events->established(ep->ep.arg, private_data, len_bytes);
	/* Sends may have arrived before this event. */
	loop_defer(loop_of(ep), &ep->early_task);
}

void verbs_ep_flushed(struct verbs_ep *ep)
{
	if (ep->state != VERBS_OPEN)
		return;
	verbs_ep_set(ep, VERBS_FLUSHED);
	loop_timer_set(loop_of(ep), ep->timer, FLUSH_US);
}

void verbs_check_disconnect(struct fabric_ep *base)
{
	struct verbs_ep *ep = verbs_ep_of(base);

	if (!verbs_state_over(ep->state))
		loop_defer(loop_of(ep), &verbs_fabric_of(base->fabric)->channel_task);
	if (ep->state == VERBS_FLUSHED)
		verbs_ep_timer(ep);
}

void verbs_ep_drain(struct verbs_ep *ep)
{
	verbs_ep_set(ep, VERBS_DRAINING);
	loop_timer_set(loop_of(ep), ep->timer, CLOSE_DRAIN_US);
}

static void disconnect_done(struct verbs_ep *ep, int result)
{
	if (!verbs_ep_thread_done(ep) && result)
		verbs_ep_fail(ep, FABRIC_CLOSE_LOCAL, "closed here");
}

void verbs_ep_drained(struct verbs_ep *ep)
{
	if (ep->state != VERBS_DRAINING || !TAILQ_EMPTY(&ep->sends) ||
	    !TAILQ_EMPTY(&ep->wait_sends))
		return;
	/* The thread's call must finish first; then this function is called again. */
	if (ep->offloaded)
		return;
	verbs_ep_set(ep, VERBS_DISCONNECTING);
	verbs_ep_command(ep, verbs_ep_disconnect, disconnect_done);
}

/* ---- calls on other threads ---- */

static void offload_run(struct verbs_command *command)
{
	struct verbs_ep *ep = container_of(command, struct verbs_ep, command);

	ep->offload_result = ep->offload_fn(ep);
}

static void done(struct verbs_command *command)
{
	struct verbs_ep *ep = container_of(command, struct verbs_ep, command);

	ep->offloaded = false;
	ep->offload_done_fn(ep, ep->offload_result);
}

static void offload_begin(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
			  void (*back)(struct verbs_ep *ep, int result))
{
	assert(!ep->offloaded);
	ep->offloaded = true;
	ep->offload_fn = fn;
	ep->offload_done_fn = back;
}

void verbs_ep_command(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		      void (*back)(struct verbs_ep *ep, int result))
{
	offload_begin(ep, fn, back);
	verbs_command_post(&ep->device->commands, &ep->command, offload_run, done);
}

/*
 * Each offload thread joins the previous one, and verbs_offload_fini() the last one, so that the
 * process does not exit while one is terminating.
 */
static void *offload_main(void *arg)
{
	struct verbs_ep *ep = arg;
	struct verbs_fabric *fabric = verbs_fabric_of(ep->ep.fabric);
	bool has_before;
	pthread_t before;

	offload_run(&ep->command);
	pthread_mutex_lock(&fabric->offload_lock);
	has_before = fabric->offload_has_ended;
	before = fabric->offload_ended;
	fabric->offload_has_ended = true;
	fabric->offload_ended = pthread_self();
	verbs_command_done(&fabric->back, &ep->command);
	pthread_mutex_unlock(&fabric->offload_lock);
	if (has_before)
		pthread_join(before, NULL);
	return NULL;
}

void verbs_ep_offload(struct verbs_ep *ep, int (*fn)(struct verbs_ep *ep),
		      void (*back)(struct verbs_ep *ep, int result))
{
	struct verbs_done_queue *done_queue = &verbs_fabric_of(ep->ep.fabric)->back;
	pthread_t thread;

	offload_begin(ep, fn, back);
	done_queue->out++;
	ep->command.done = done;
	if (!verbs_thread_start(&thread, offload_main, ep))
		return;
	/* Without a thread the call blocks the worker. */
	offload_run(&ep->command);
	verbs_command_done(done_queue, &ep->command);
}

void verbs_offload_fini(struct verbs_fabric *fabric)
{
	bool has_ended;
	pthread_t ended;

	/* The last endpoint's thread may still hold the lock. */
	pthread_mutex_lock(&fabric->offload_lock);
	has_ended = fabric->offload_has_ended;
	ended = fabric->offload_ended;
	pthread_mutex_unlock(&fabric->offload_lock);
	if (has_ended)
		pthread_join(ended, NULL);
	pthread_mutex_destroy(&fabric->offload_lock);
}
