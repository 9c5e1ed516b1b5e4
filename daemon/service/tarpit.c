// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/tarpit.h"

#include <errno.h>
#include <stdlib.h>

struct tarpit_conn {
	TAILQ_ENTRY(tarpit_conn) link;
	struct conn_slot *slot;
	struct accepted_conn in;
	enum leg_close why;
	uint64_t due_us;
};

static void tarpit_release(struct tarpit *tarpit, struct tarpit_conn *conn)
{
	TAILQ_REMOVE(&tarpit->list, conn, link);
	tarpit->count--;
	accepted_conn_reject(&conn->in, conn->why);
	conn_slot_free(conn->slot);
	free(conn);
}

/* Connections that leave early do not reset the timer, so it can fire with nothing due. */
static void on_timer(void *arg)
{
	struct tarpit *tarpit = arg;
	uint64_t now_us = loop_now_us(tarpit->loop);
	struct tarpit_conn *first;

	while ((first = TAILQ_FIRST(&tarpit->list)) && first->due_us <= now_us)
		tarpit_release(tarpit, first);
	if (first)
		loop_timer_set(tarpit->loop, tarpit->timer, first->due_us - now_us);
}

int tarpit_init(struct tarpit *tarpit, struct loop *loop, struct conn_limits *limits,
		void (*wake)(void *arg), void *arg)
{
	*tarpit = (struct tarpit){.loop = loop, .limits = limits};
	TAILQ_INIT(&tarpit->list);
	conn_limits_thread_init(&tarpit->thread, wake, arg);
	tarpit->timer = loop_timer_new(loop, on_timer, tarpit);
	return tarpit->timer ? 0 : -ENOMEM;
}

void tarpit_fini(struct tarpit *tarpit)
{
	struct tarpit_conn *conn;

	if (!tarpit->loop)
		return;
	while ((conn = TAILQ_FIRST(&tarpit->list)))
		tarpit_release(tarpit, conn);
	loop_timer_free(tarpit->loop, tarpit->timer);
	tarpit->timer = NULL;
}

void tarpit_add(struct tarpit *tarpit, const struct accepted_conn *in, enum leg_close why)
{
	uint64_t now_us = loop_now_us(tarpit->loop);
	struct tarpit_conn *conn = malloc(sizeof(*conn));
	bool first = TAILQ_EMPTY(&tarpit->list);

	if (conn) {
		*conn = (struct tarpit_conn){
			.in = *in, .why = why, .due_us = now_us + CONN_LIMITS_TARPIT_US};
		conn->slot = conn_limits_add_tarpit(tarpit->limits, &tarpit->thread, conn, now_us);
	}
	if (!conn || !conn->slot) {
		free(conn);
		accepted_conn_reject(in, why);
		return;
	}
	TAILQ_INSERT_TAIL(&tarpit->list, conn, link);
	tarpit->count++;
	if (first)
		loop_timer_set(tarpit->loop, tarpit->timer, CONN_LIMITS_TARPIT_US);
	tarpit_evict(tarpit);
}

void tarpit_evict(struct tarpit *tarpit)
{
	struct conn_slot *slot;

	while ((slot = conn_limits_next_evicted(tarpit->limits, &tarpit->thread)))
		tarpit_release(tarpit, slot->owner);
}
