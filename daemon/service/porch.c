// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/porch.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/first_bytes.h"
#include "base/sockaddr.h"
#include "fabric/iwarp/iwarp.h"

/* A connection that waits for its PROXY header. */
struct arrival {
	TAILQ_ENTRY(arrival) link;
	struct porch *porch;
	struct incoming in;
	int fd;             /* of `in` */
	struct loop_io *io; /* NULL: not watched yet */
	uint64_t since_us;
	/*
	 * PROXY LOCAL from a proxy that is not allowed to connect, for `why`. If it sends no more, it was a health
	 * check.
	 */
	bool looks;
	enum leg_close why;
	size_t have_bytes; /* consumed from the stream */
	uint8_t bytes[PROXY_HEADER_MAX_BYTES];
};

struct porch {
	struct loop *loop;
	const struct service_config *service;
	const struct porch_events *events;
	void *arg;
	struct loop_timer *timer;    /* for the oldest */
	TAILQ_HEAD(, arrival) queue; /* oldest first */
	unsigned count;
};

/* Returns whether the client is allowed to connect; else sets @why. */
static bool may_connect(const struct porch *porch, const struct incoming *in, enum leg_close *why)
{
	const struct service_config *service = porch->service;
	const struct sockaddr *client = (const struct sockaddr *)&in->peer;

	if (!config_allows(service, client))
		*why = LEG_CLOSE_NOT_ALLOWED;
	else if (!in->fabric && !in->either && service->require_privileged_port &&
		 sockaddr_port(client) >= IPPORT_RESERVED)
		*why = LEG_CLOSE_UNPRIVILEGED;
	else
		return true;
	return false;
}

static void judge(struct porch *porch, struct incoming *in)
{
	enum leg_close why;

	if (may_connect(porch, in, &why))
		porch->events->admitted(porch->arg, in);
	else
		porch->events->refused(porch->arg, in, why, "");
}

/* ---- results ---- */

/* Frees the entry and returns its connection. */
static struct incoming part(struct arrival *arrival)
{
	struct porch *porch = arrival->porch;
	struct incoming in = arrival->in;

	if (arrival->io) {
		loop_io_free(porch->loop, arrival->io);
		TAILQ_REMOVE(&porch->queue, arrival, link);
		porch->count--;
	}
	free(arrival);
	return in;
}

/* Returns whether an event was reported. */
static bool name(struct arrival *arrival, const struct proxy_header *header)
{
	struct porch *porch = arrival->porch;
	struct incoming in;

	incoming_rename(&arrival->in, header);
	arrival->looks = !header->named && !may_connect(porch, &arrival->in, &arrival->why);
	if (arrival->looks)
		return false;
	in = part(arrival);
	judge(porch, &in);
	return true;
}

static void refuse(struct arrival *arrival, enum leg_close why, const char *detail)
{
	struct porch *porch = arrival->porch;
	struct incoming in = part(arrival);

	porch->events->refused(porch->arg, &in, why, detail);
}

/* A port scanner closes without sending anything. */
static void refuse_gone(struct arrival *arrival, int err)
{
	if (arrival->have_bytes && !arrival->looks)
		refuse(arrival, LEG_CLOSE_PROXY_HEADER,
		       proxy_header_verdict_text(PROXY_HEADER_MORE));
	else if (err)
		refuse(arrival, LEG_CLOSE_LOST, strerror(err));
	else
		refuse(arrival, LEG_CLOSE_PEER, "");
}

static void refuse_judged(struct arrival *arrival, enum proxy_header_verdict verdict,
			  size_t len_bytes)
{
	char detail[LEG_DETAIL_BYTES], shown[FIRST_BYTES_TEXT_BYTES];

	if (verdict == PROXY_HEADER_NONE)
		snprintf(detail, sizeof(detail), "%s: the first bytes are %s",
			 proxy_header_verdict_text(verdict),
			 first_bytes_text(arrival->bytes, len_bytes, shown));
	else
		snprintf(detail, sizeof(detail), "%s", proxy_header_verdict_text(verdict));
	refuse(arrival, LEG_CLOSE_PROXY_HEADER, detail);
}

/* ---- reading ---- */

/* Consumes the peeked bytes from the stream. */
static bool take(struct arrival *arrival, size_t len_bytes)
{
	uint8_t *at = arrival->bytes + arrival->have_bytes;

	arrival->have_bytes += len_bytes;
	return recv(arrival->fd, at, len_bytes, MSG_DONTWAIT) == (ssize_t)len_bytes;
}

/* @len_bytes have arrived in total. Returns whether an event was reported. */
static bool look(struct arrival *arrival, size_t len_bytes)
{
	struct proxy_header header;
	size_t used = len_bytes; /* of an incomplete header, all bytes belong to it */
	enum proxy_header_verdict verdict =
		proxy_header_decode(arrival->bytes, len_bytes, &header, &used);

	if (verdict > PROXY_HEADER_OK)
		refuse_judged(arrival, verdict, len_bytes);
	else if (!take(arrival, used - arrival->have_bytes))
		refuse(arrival, LEG_CLOSE_LOST, "");
	else
		return verdict == PROXY_HEADER_OK && name(arrival, &header);
	return true;
}

/* Peeks at new bytes; after a header one byte is enough. `bytes` cannot be full: the decoder rejects longer headers. */
static ssize_t peek(struct arrival *arrival)
{
	uint8_t *at = arrival->looks ? arrival->bytes : arrival->bytes + arrival->have_bytes;
	size_t room = arrival->looks ? 1 : sizeof(arrival->bytes) - arrival->have_bytes;

	return recv(arrival->fd, at, room, MSG_PEEK | MSG_DONTWAIT);
}

/* Returns whether an event was reported. */
static bool read_on(struct arrival *arrival)
{
	ssize_t n = peek(arrival);

	if (n > 0 && !arrival->looks)
		return look(arrival, arrival->have_bytes + (size_t)n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n > 0)
		refuse(arrival, arrival->why, "");
	else
		refuse_gone(arrival, n < 0 ? errno : 0);
	return true;
}

static void on_io(void *arg, unsigned events)
{
	struct arrival *arrival = arg;

	if (events & LOOP_ERROR)
		refuse(arrival, LEG_CLOSE_RESOURCES, "cannot watch its socket");
	else
		(void)read_on(arrival);
}

/* ---- waiting ---- */

static struct arrival *oldest(const struct porch *porch)
{
	return TAILQ_FIRST(&porch->queue);
}

static uint64_t age_us(const struct arrival *arrival)
{
	return loop_now_us(arrival->porch->loop) - arrival->since_us;
}

static void refuse_late(struct arrival *arrival)
{
	if (arrival->looks)
		refuse(arrival, arrival->why, "");
	else
		refuse(arrival, LEG_CLOSE_PROXY_HEADER, "it did not arrive in time");
}

/* Connections that leave early do not reset the timer, so it can fire with nothing due. */
static void on_timer(void *arg)
{
	struct porch *porch = arg;
	struct arrival *first;

	while ((first = oldest(porch)) && age_us(first) >= PORCH_TIME_US)
		refuse_late(first);
	if (first)
		loop_timer_set(porch->loop, porch->timer, PORCH_TIME_US - age_us(first));
}

static void wait_for(struct arrival *arrival)
{
	struct porch *porch = arrival->porch;

	arrival->io = loop_io_new(porch->loop, arrival->fd, on_io, arrival);
	if (!arrival->io) {
		refuse(arrival, LEG_CLOSE_RESOURCES, "");
		return;
	}
	if (porch->count >= PORCH_MAX)
		refuse(oldest(porch), LEG_CLOSE_HALF_OPEN, "");
	if (!porch->count)
		loop_timer_set(porch->loop, porch->timer, PORCH_TIME_US);
	TAILQ_INSERT_TAIL(&porch->queue, arrival, link);
	porch->count++;
	loop_io_set(porch->loop, arrival->io, LOOP_READ);
}

static void await_header(struct porch *porch, const struct incoming *in)
{
	struct arrival *arrival = malloc(sizeof(*arrival));

	if (!arrival) {
		porch->events->refused(porch->arg, in, LEG_CLOSE_RESOURCES, "");
		return;
	}
	arrival->porch = porch;
	arrival->in = *in;
	arrival->fd = in->fabric ? iwarp_incoming_socket(in->fabric) : in->fd;
	arrival->io = NULL;
	arrival->looks = false;
	arrival->since_us = loop_now_us(porch->loop);
	arrival->have_bytes = 0;
	if (!read_on(arrival))
		wait_for(arrival);
}

/* ---- public functions ---- */

struct porch *porch_new(struct loop *loop, const struct service_config *service,
			const struct porch_events *events, void *arg)
{
	struct porch *porch = malloc(sizeof(*porch));

	if (!porch)
		return NULL;
	*porch = (struct porch){.loop = loop, .service = service, .events = events, .arg = arg};
	TAILQ_INIT(&porch->queue);
	porch->timer = loop_timer_new(loop, on_timer, porch);
	if (porch->timer)
		return porch;
	free(porch);
	return NULL;
}

void porch_free(struct porch *porch)
{
	if (!porch)
		return;
	while (oldest(porch)) {
		struct incoming in = part(oldest(porch));

		incoming_drop(&in);
	}
	loop_timer_free(porch->loop, porch->timer);
	free(porch);
}

bool porch_has_room(const struct porch *porch)
{
	return porch->count < PORCH_MAX || age_us(oldest(porch)) >= PORCH_PATIENCE_US;
}

unsigned porch_count(const struct porch *porch)
{
	return porch ? porch->count : 0;
}

void porch_receive(struct porch *porch, const struct incoming *in)
{
	const struct sockaddr *peer = (const struct sockaddr *)&in->peer;
	struct incoming own = *in;

	/* Connections through an RDMA device have no stream to carry a PROXY header. */
	if ((!in->fabric || in->fabric->ops == &iwarp_fabric_ops) &&
	    config_cidrs_contain(&porch->service->accept_proxy_from, peer))
		await_header(porch, in);
	else
		judge(porch, &own);
}
