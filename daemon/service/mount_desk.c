// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/mount_desk.h"

#include <stdio.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/rpcbind/port_query.h"
#include "nfs/table.h"

#define MOUNT_VERSION 3u /* of NFSv3; servers have the other versions at the same port */

/* Each done() can cancel other waits; new ones are added only from tasks. */
static void tell(void *arg)
{
	struct mount_desk *desk = arg;
	const struct mount_place place = {
		.addrs = desk->places,
		.naddrs = desk->known ? desk->naddrs : 0,
		.error = desk->error,
		.kept = desk->kept,
	};
	struct mount_wait *wait;

	while ((wait = TAILQ_FIRST(&desk->waits))) {
		TAILQ_REMOVE(&desk->waits, wait, entry);
		wait->waits = false;
		wait->done(wait->arg, &place);
	}
}

static void ask(struct mount_desk *desk);

/* The address that answered is the first; the others serve clients that cannot use it. */
static void set_places(struct mount_desk *desk, uint16_t port)
{
	size_t n = 0;

	desk->places[n++] = desk->addrs[desk->at];
	for (size_t i = 0; i < desk->naddrs; i++)
		if (i != desk->at)
			desk->places[n++] = desk->addrs[i];
	while (n--)
		sockaddr_set_port((struct sockaddr *)&desk->places[n], port);
}

static void on_done(void *arg, uint16_t port, const char *error)
{
	struct mount_desk *desk = arg;
	char text[ADDRESS_TEXT_BYTES];

	desk->query = NULL;
	if (port) {
		set_places(desk, port);
		desk->known = true;
		desk->kept = false;
		desk->known_us = loop_now_us(desk->loop);
		tell(desk);
		return;
	}
	snprintf(desk->error, sizeof(desk->error),
		 "rpcbind at %s did not return the port of MOUNT: %s",
		 address_text((const struct sockaddr *)&desk->addrs[desk->at], text), error);
	desk->at++;
	ask(desk);
}

/* Each address gets an equal share of the remaining time. */
static void ask(struct mount_desk *desk)
{
	uint64_t now_us = loop_now_us(desk->loop);

	for (; desk->at < desk->naddrs && now_us < desk->until_us; desk->at++) {
		const struct port_query_config config = {
			.loop = desk->loop,
			.rpcbind = (const struct sockaddr *)&desk->addrs[desk->at],
			.program = NFS_PROGRAM_MOUNT,
			.version = MOUNT_VERSION,
			.timeout_us = (desk->until_us - now_us) / (desk->naddrs - desk->at),
			.done = on_done,
			.arg = desk,
		};
		int rc = port_query_new(&config, &desk->query);

		if (!rc)
			return;
		snprintf(desk->error, sizeof(desk->error), "cannot query rpcbind: %s",
			 strerror(-rc));
	}
	loop_defer(desk->loop, &desk->task);
}

static bool is_known(const struct mount_desk *desk, const struct sockaddr_storage *addrs,
		     size_t naddrs)
{
	if (!desk->known || loop_now_us(desk->loop) - desk->known_us >= MOUNT_PORT_KEPT_US)
		return false;
	for (size_t i = 0; i < naddrs; i++)
		if (sockaddr_same_host((const struct sockaddr *)&desk->places[0],
				       (const struct sockaddr *)&addrs[i]))
			return true;
	return false;
}

static void begin(struct mount_desk *desk, const struct sockaddr_storage *addrs, size_t naddrs)
{
	/* The connections that waited for the last result have left. */
	loop_task_cancel(desk->loop, &desk->task);
	desk->known = false;
	desk->naddrs = naddrs < RESOLVER_MAX_ADDRS ? naddrs : RESOLVER_MAX_ADDRS;
	memmove(desk->addrs, addrs, desk->naddrs * sizeof(*addrs)); /* @addrs can be its own */
	desk->error[0] = '\0';
	desk->at = 0;
	desk->until_us = loop_now_us(desk->loop) + MOUNT_ANSWER_US;
	ask(desk);
}

void mount_desk_wait(struct mount_desk *desk, struct mount_wait *wait,
		     const struct sockaddr_storage *addrs, size_t naddrs,
		     void (*done)(void *arg, const struct mount_place *place), void *arg)
{
	bool first = TAILQ_EMPTY(&desk->waits) && !desk->query;

	*wait = (struct mount_wait){.done = done, .arg = arg, .waits = true};
	TAILQ_INSERT_TAIL(&desk->waits, wait, entry);
	if (!first)
		return; /* a query or the task is pending */
	if (is_known(desk, addrs, naddrs)) {
		desk->kept = true;
		loop_defer(desk->loop, &desk->task);
	} else {
		begin(desk, addrs, naddrs);
	}
}

void mount_desk_leave(struct mount_desk *desk, struct mount_wait *wait)
{
	if (!wait->waits)
		return;
	wait->waits = false;
	TAILQ_REMOVE(&desk->waits, wait, entry);
}

bool mount_place_is_own(const struct mount_place *place, const struct own_doors *doors)
{
	for (size_t i = 0; i < place->naddrs; i++)
		if (own_doors_take(doors, TRANSPORT_TCP, (const struct sockaddr *)&place->addrs[i]))
			return true;
	return false;
}

static bool has_place(const struct mount_desk *desk, const struct sockaddr_storage *place)
{
	for (size_t i = 0; i < desk->naddrs; i++)
		if (sockaddr_equal((const struct sockaddr *)&desk->places[i],
				   (const struct sockaddr *)place))
			return true;
	return false;
}

void mount_desk_forget(struct mount_desk *desk, const struct sockaddr_storage *place)
{
	if (desk->known && has_place(desk, place)) {
		desk->known = false;
		/* The waiting connections must not get the wrong answer. */
		if (!TAILQ_EMPTY(&desk->waits) && !desk->query)
			begin(desk, desk->addrs, desk->naddrs);
	}
}

void mount_desk_init(struct mount_desk *desk, struct loop *loop)
{
	*desk = (struct mount_desk){.loop = loop};
	TAILQ_INIT(&desk->waits);
	loop_task_init(&desk->task, tell, desk);
}

void mount_desk_fini(struct mount_desk *desk)
{
	if (!desk->loop)
		return;
	loop_task_cancel(desk->loop, &desk->task);
	port_query_free(desk->query);
}
