// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/iwarp_ends.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/test.h"
#include "tests/lib/time_limit.h"

#define PATIENCE_S 50 /* for a test to come to its end */

struct ends ends;
static struct time_limit patience;

static void on_requested(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct end *end = arg;

	end->requested++;
	memcpy(end->private_data, private_data, len_bytes);
	end->private_data_bytes = len_bytes;
	if (end->reject)
		fabric_ep_reject(end->ep, "refused", 7);
	else
		ck_assert_int_eq(fabric_ep_accept(end->ep, &end->params), 0);
}

static void on_established(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct end *end = arg;

	end->established++;
	if (private_data) {
		memcpy(end->private_data, private_data, len_bytes);
		end->private_data_bytes = len_bytes;
	}
	if (end->step)
		end->step(end);
}

static void on_recv(void *arg, const struct fabric_recv *recv)
{
	struct end *end = arg;

	end->recvs++;
	end->last = *recv;
	memcpy(end->recv, recv->data, recv->len_bytes);
	fabric_recv_post(end->ep, 1, end->params.recv_size_bytes);
	if (end->step)
		end->step(end);
}

void ends_on_closed(void *arg, enum fabric_close why, const char *detail)
{
	struct end *end = arg;

	end->closed++;
	end->why = why;
	snprintf(end->detail, sizeof(end->detail), "%s", detail);
	if ((!ends.client.ep || ends.client.closed) && (!ends.server.ep || ends.server.closed))
		event_loop_stop(ends.loop);
}

static void on_note(void *arg, const char *text)
{
	struct end *end = arg;

	snprintf(end->note, sizeof(end->note), "%s", text);
}

static void on_rejected(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct end *end = arg;

	end->rejected++;
	memcpy(end->private_data, private_data, len_bytes);
	end->private_data_bytes = len_bytes;
}

const struct fabric_ep_events ends_events = {
	.requested = on_requested,
	.established = on_established,
	.rejected = on_rejected,
	.recv = on_recv,
	.closed = ends_on_closed,
	.note = on_note,
};

void ends_on_incoming(void *arg, struct fabric_incoming *in)
{
	ck_assert_int_eq(
		fabric_adopt(ends.fabric, in, ends.incoming_events, &ends.server, &ends.server.ep),
		0);
}

static void watch(void)
{
	loop_timer_set(ends.loop, ends.watchdog, (uint64_t)time_limit_left_ms(&patience) * 1000);
}

static void on_watchdog(void *arg)
{
	if (!time_limit_passed(&patience)) {
		watch();
		return;
	}
	ends.failed = true;
	event_loop_stop(ends.loop);
}

void ends_init(struct end *end)
{
	fabric_ep_free(end->ep);
	memset(end, 0, sizeof(*end));
	end->params.ird = end->params.ord = 16;
	end->params.recv_size_bytes = 4096;
	end->params.recv_count = 4;
}

static void listen_on(const char *host, int family)
{
	struct sockaddr_storage addr = {.ss_family = (sa_family_t)family};
	struct iwarp_config config = {.fpdu = IWARP_FPDU_MSS};
	int err;

	if (family == AF_INET)
		inet_pton(family, host, &((struct sockaddr_in *)&addr)->sin_addr);
	else
		inet_pton(family, host, &((struct sockaddr_in6 *)&addr)->sin6_addr);
	err = fabric_listen(&iwarp_fabric_ops, &config, ends.loop, (struct sockaddr *)&addr, 16,
			    ends_on_incoming, NULL, &ends.listener);
	ck_assert_int_eq(err, 0);
	fabric_listener_addr(ends.listener, &ends.address);
}

void ends_start(bool crc, enum iwarp_fpdu fpdu, const char *host, int family)
{
	struct iwarp_config config = {.crc = crc, .fpdu = fpdu, .setup_timeout_us = 20000000};

	ends.loop = event_loop_new();
	ends.pool = buf_pool_new(16u << 20, 8u << 20);
	ends.fabric = iwarp_fabric_new(ends.loop, ends.pool, &config);
	ck_assert_ptr_nonnull(ends.fabric);
	listen_on(host, family);
	ends_init(&ends.client);
	ends_init(&ends.server);
	ends.incoming_events = &ends_events;
	ends.done = 0;
	ends.failed = false;
	ends.watchdog = loop_timer_new(ends.loop, on_watchdog, NULL);
	time_limit_begin(&patience, PATIENCE_S);
	watch();
}

void ends_connect(void)
{
	ck_assert_int_eq(fabric_connect(ends.fabric, (struct sockaddr *)&ends.address,
					&ends.client.params, &ends_events, &ends.client,
					&ends.client.ep),
			 0);
}

void ends_stop(void)
{
	ck_assert(!ends.failed);
	fabric_listener_free(ends.listener);
	loop_timer_free(ends.loop, ends.watchdog);
	fabric_ep_free(ends.client.ep);
	fabric_ep_free(ends.server.ep);
	ends.client.ep = ends.server.ep = NULL;
	fabric_free(ends.fabric);
	buf_pool_free(ends.pool);
	event_loop_free(ends.loop);
}
