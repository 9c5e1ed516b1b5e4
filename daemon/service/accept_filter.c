// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/accept_filter.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/proto_sniff.h"
#include "base/sockaddr.h"
#include "fabric/iwarp/iwarp.h"

/* A connection that waits for its PROXY header. */
struct header_wait {
	TAILQ_ENTRY(header_wait) link;
	struct accept_filter *filter;
	struct accepted_conn in;
	int fd;             /* of `in` */
	struct loop_io *io; /* NULL: not watched yet */
	uint64_t since_us;
	/*
	 * PROXY LOCAL from a proxy that is not allowed to connect, for `why`. If it sends no more,
	 * it was a health check.
	 */
	bool is_local_check;
	enum leg_close why;
	size_t have_bytes; /* consumed from the stream */
	uint8_t bytes[PROXY_HEADER_MAX_BYTES];
};

struct accept_filter {
	struct loop *loop;
	const struct service_config *service;
	const struct accept_filter_events *events;
	void *arg;
	struct loop_timer *timer;        /* for the oldest */
	TAILQ_HEAD(, header_wait) queue; /* oldest first */
	unsigned count;
};

/* Returns whether the client is allowed to connect; else sets @why. */
static bool may_connect(const struct accept_filter *filter, const struct accepted_conn *in,
			enum leg_close *why)
{
	const struct service_config *service = filter->service;
	const struct sockaddr *client = (const struct sockaddr *)&in->peer;

	if (!config_allows(service, client))
		*why = LEG_CLOSE_NOT_ALLOWED;
	else if (!in->fabric && !in->protocol_unknown && service->require_privileged_port &&
		 sockaddr_port(client) >= IPPORT_RESERVED)
		*why = LEG_CLOSE_UNPRIVILEGED;
	else
		return true;
	return false;
}

static void check_client(struct accept_filter *filter, struct accepted_conn *in)
{
	enum leg_close why;

	if (may_connect(filter, in, &why))
		filter->events->admitted(filter->arg, in);
	else
		filter->events->refused(filter->arg, in, why, "");
}

/* ---- results ---- */

/* Frees the entry and returns its connection. */
static struct accepted_conn wait_free(struct header_wait *wait)
{
	struct accept_filter *filter = wait->filter;
	struct accepted_conn in = wait->in;

	if (wait->io) {
		loop_io_free(filter->loop, wait->io);
		TAILQ_REMOVE(&filter->queue, wait, link);
		filter->count--;
	}
	free(wait);
	return in;
}

/* Returns whether an event was reported. */
static bool apply_header(struct header_wait *wait, const struct proxy_header *header)
{
	struct accept_filter *filter = wait->filter;
	struct accepted_conn in;

	accepted_conn_apply_header(&wait->in, header);
	wait->is_local_check = !header->named && !may_connect(filter, &wait->in, &wait->why);
	if (wait->is_local_check)
		return false;
	in = wait_free(wait);
	check_client(filter, &in);
	return true;
}

static void wait_refuse(struct header_wait *wait, enum leg_close why, const char *detail)
{
	struct accept_filter *filter = wait->filter;
	struct accepted_conn in = wait_free(wait);

	filter->events->refused(filter->arg, &in, why, detail);
}

/* A port scanner closes without sending anything. */
static void refuse_disconnected(struct header_wait *wait, int err)
{
	if (wait->have_bytes && !wait->is_local_check)
		wait_refuse(wait, LEG_CLOSE_PROXY_HEADER,
			    proxy_header_verdict_text(PROXY_HEADER_MORE));
	else if (err)
		wait_refuse(wait, LEG_CLOSE_LOST, strerror(err));
	else
		wait_refuse(wait, LEG_CLOSE_PEER, "");
}

static void refuse_header(struct header_wait *wait, enum proxy_header_verdict verdict,
			  size_t len_bytes)
{
	char detail[LEG_DETAIL_BYTES], shown[PROTO_SNIFF_TEXT_BYTES];

	if (verdict == PROXY_HEADER_NONE)
		snprintf(detail, sizeof(detail), "%s: the first bytes are %s",
			 proxy_header_verdict_text(verdict),
			 proto_sniff_text(wait->bytes, len_bytes, shown));
	else
		snprintf(detail, sizeof(detail), "%s", proxy_header_verdict_text(verdict));
	wait_refuse(wait, LEG_CLOSE_PROXY_HEADER, detail);
}

/* ---- reading ---- */

/* Consumes the peeked bytes from the stream. */
static bool consume_peeked(struct header_wait *wait, size_t len_bytes)
{
	uint8_t *at = wait->bytes + wait->have_bytes;

	wait->have_bytes += len_bytes;
	return recv(wait->fd, at, len_bytes, MSG_DONTWAIT) == (ssize_t)len_bytes;
}

/* @len_bytes have arrived in total. Returns whether an event was reported. */
static bool parse_header(struct header_wait *wait, size_t len_bytes)
{
	struct proxy_header header;
	size_t used = len_bytes; /* of an incomplete header, all bytes belong to it */
	enum proxy_header_verdict verdict =
		proxy_header_decode(wait->bytes, len_bytes, &header, &used);

	if (verdict > PROXY_HEADER_OK)
		refuse_header(wait, verdict, len_bytes);
	else if (!consume_peeked(wait, used - wait->have_bytes))
		wait_refuse(wait, LEG_CLOSE_LOST, "");
	else
		return verdict == PROXY_HEADER_OK && apply_header(wait, &header);
	return true;
}

/*
 * Peeks at new bytes; after a header one byte is enough. `bytes` cannot be full: the decoder
 * rejects longer headers.
 */
static ssize_t peek(struct header_wait *wait)
{
	uint8_t *at = wait->is_local_check ? wait->bytes : wait->bytes + wait->have_bytes;
	size_t space_bytes = wait->is_local_check ? 1 : sizeof(wait->bytes) - wait->have_bytes;

	return recv(wait->fd, at, space_bytes, MSG_PEEK | MSG_DONTWAIT);
}

/* Returns whether an event was reported. */
static bool read_header(struct header_wait *wait)
{
	ssize_t n = peek(wait);

	if (n > 0 && !wait->is_local_check)
		return parse_header(wait, wait->have_bytes + (size_t)n);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n > 0)
		wait_refuse(wait, wait->why, "");
	else
		refuse_disconnected(wait, n < 0 ? errno : 0);
	return true;
}

static void on_io(void *arg, unsigned events)
{
	struct header_wait *wait = arg;

	if (events & LOOP_ERROR)
		wait_refuse(wait, LEG_CLOSE_RESOURCES, "cannot watch its socket");
	else
		(void)read_header(wait);
}

/* ---- waiting ---- */

static struct header_wait *oldest(const struct accept_filter *filter)
{
	return TAILQ_FIRST(&filter->queue);
}

static uint64_t age_us(const struct header_wait *wait)
{
	return loop_now_us(wait->filter->loop) - wait->since_us;
}

static void refuse_late(struct header_wait *wait)
{
	if (wait->is_local_check)
		wait_refuse(wait, wait->why, "");
	else
		wait_refuse(wait, LEG_CLOSE_PROXY_HEADER, "it did not arrive in time");
}

/* Connections that leave early do not reset the timer, so it can fire with nothing due. */
static void on_timer(void *arg)
{
	struct accept_filter *filter = arg;
	struct header_wait *first;

	while ((first = oldest(filter)) && age_us(first) >= ACCEPT_FILTER_HEADER_US)
		refuse_late(first);
	if (first)
		loop_timer_set(filter->loop, filter->timer,
			       ACCEPT_FILTER_HEADER_US - age_us(first));
}

static void wait_start(struct header_wait *wait)
{
	struct accept_filter *filter = wait->filter;

	wait->io = loop_io_new(filter->loop, wait->fd, on_io, wait);
	if (!wait->io) {
		wait_refuse(wait, LEG_CLOSE_RESOURCES, "");
		return;
	}
	if (filter->count >= ACCEPT_FILTER_MAX)
		wait_refuse(oldest(filter), LEG_CLOSE_HALF_OPEN, "");
	if (!filter->count)
		loop_timer_set(filter->loop, filter->timer, ACCEPT_FILTER_HEADER_US);
	TAILQ_INSERT_TAIL(&filter->queue, wait, link);
	filter->count++;
	loop_io_set(filter->loop, wait->io, LOOP_READ);
}

static void wait_new(struct accept_filter *filter, const struct accepted_conn *in)
{
	struct header_wait *wait = malloc(sizeof(*wait));

	if (!wait) {
		filter->events->refused(filter->arg, in, LEG_CLOSE_RESOURCES, "");
		return;
	}
	wait->filter = filter;
	wait->in = *in;
	wait->fd = in->fabric ? iwarp_incoming_socket(in->fabric) : in->fd;
	wait->io = NULL;
	wait->is_local_check = false;
	wait->since_us = loop_now_us(filter->loop);
	wait->have_bytes = 0;
	if (!read_header(wait))
		wait_start(wait);
}

/* ---- public functions ---- */

struct accept_filter *accept_filter_new(struct loop *loop, const struct service_config *service,
					const struct accept_filter_events *events, void *arg)
{
	struct accept_filter *filter = malloc(sizeof(*filter));

	if (!filter)
		return NULL;
	*filter = (struct accept_filter){
		.loop = loop, .service = service, .events = events, .arg = arg};
	TAILQ_INIT(&filter->queue);
	filter->timer = loop_timer_new(loop, on_timer, filter);
	if (filter->timer)
		return filter;
	free(filter);
	return NULL;
}

void accept_filter_free(struct accept_filter *filter)
{
	if (!filter)
		return;
	while (oldest(filter)) {
		struct accepted_conn in = wait_free(oldest(filter));

		accepted_conn_drop(&in);
	}
	loop_timer_free(filter->loop, filter->timer);
	free(filter);
}

bool accept_filter_can_accept(const struct accept_filter *filter)
{
	return filter->count < ACCEPT_FILTER_MAX ||
	       age_us(oldest(filter)) >= ACCEPT_FILTER_GRACE_US;
}

unsigned accept_filter_count(const struct accept_filter *filter)
{
	return filter ? filter->count : 0;
}

void accept_filter_add(struct accept_filter *filter, const struct accepted_conn *in)
{
	const struct sockaddr *peer = (const struct sockaddr *)&in->peer;
	struct accepted_conn own = *in;

	/* Connections through an RDMA device have no stream to carry a PROXY header. */
	if ((!in->fabric || in->fabric->ops == &iwarp_fabric_ops) &&
	    config_cidrs_contain(&filter->service->accept_proxy_from, peer))
		wait_new(filter, in);
	else
		check_client(filter, &own);
}
