// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests clients on several threads: they reconnect to other workers and close each other's
 * connections, and no port has two users.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "daemon/base/loop.h"
#include "daemon/service/client_affinity.h"
#include "tests/lib/test.h"

#define WORKERS   4u
#define GUESTS    8u /* of a worker at once */
#define ROUNDS    10000u
#define ADDRESSES 3u
#define PORTS     12u /* of an address */
#define CALLS     6u

struct worker;

struct guest {
	struct worker *worker;
	struct affinity_client *client;
	struct loop_task task;
	bool waits, ends;
	unsigned asked;
	uint16_t port;
};

struct worker {
	pthread_t thread;
	struct loop *loop;
	uint32_t seed;
	struct guest guests[GUESTS];
	unsigned begun, running, back, waited;
};

static struct client_affinity *clients;
static atomic_uint next_port;
static atomic_bool is_held[65536];

static uint32_t next_random(struct worker *worker, uint32_t n)
{
	worker->seed = worker->seed * 1664525u + 1013904223u;
	return (worker->seed >> 8) % n;
}

static uint64_t now_us(const struct guest *guest)
{
	return loop_now_us(guest->worker->loop);
}

static struct call_fingerprint any_call(struct worker *worker)
{
	return (struct call_fingerprint){.xid = next_random(worker, CALLS),
					 .answered = next_random(worker, 3) == 0};
}

static void leave(struct guest *guest)
{
	if (guest->port)
		atomic_store(&is_held[guest->port], false);
	client_affinity_release(guest->client, &(struct source_affinity){.port = guest->port},
				now_us(guest));
	guest->client = NULL;
	guest->port = 0;
}

/* One that waits is in no task. */
static void on_superseded(void *arg)
{
	struct guest *guest = arg;

	guest->ends = true;
	if (guest->waits)
		loop_defer(guest->worker->loop, &guest->task);
	guest->waits = false;
}

static void on_resumed(void *arg)
{
	struct guest *guest = arg;

	if (guest->waits)
		loop_defer(guest->worker->loop, &guest->task);
	guest->waits = false;
}

/* It is in the table, and stays there while it is asked. */
static void on_hear_end(void *arg)
{
	struct guest *guest = arg;

	ck_assert_ptr_nonnull(guest->client);
	guest->asked++;
}

static void enter(struct guest *guest)
{
	struct worker *worker = guest->worker;
	const struct client_owner owner = {worker->loop, event_loop_post, on_superseded,
					   on_resumed,   guest,           on_hear_end};
	struct client_endpoints ends = {0};
	struct sockaddr_in *peer = (struct sockaddr_in *)&ends.peer;

	peer->sin_family = AF_INET;
	peer->sin_addr.s_addr = htonl(0x0a000001 + next_random(worker, ADDRESSES));
	peer->sin_port = htons((uint16_t)(1 + next_random(worker, PORTS)));
	guest->ends = false;
	ck_assert_int_eq(client_affinity_add(clients, &ends, &owner, &guest->client), 0);
}

static void seek(struct guest *guest)
{
	struct worker *worker = guest->worker;
	struct call_fingerprint first = any_call(worker);
	struct source_affinity pin = {0};

	if (next_random(worker, 8) == 0)
		client_affinity_stop_waiting(guest->client);
	switch (client_affinity_find(guest->client, next_random(worker, 4) ? &first : NULL,
				     now_us(guest), &pin)) {
	case AFFINITY_WAIT:
		guest->waits = true;
		worker->waited++;
		return;
	case AFFINITY_NEEDS_CALL:
		break;
	case AFFINITY_NEW:
		guest->port = (uint16_t)atomic_fetch_add(&next_port, 1);
		ck_assert(!atomic_exchange(&is_held[guest->port], true));
		break;
	case AFFINITY_RETURNING:
		guest->port = pin.port;
		ck_assert(!atomic_exchange(&is_held[guest->port], true));
		worker->back++;
		break;
	}
	loop_defer(worker->loop, &guest->task);
}

static void be_connected(struct guest *guest)
{
	struct worker *worker = guest->worker;
	struct call_fingerprint marks[3] = {any_call(worker), any_call(worker), any_call(worker)};

	switch (next_random(worker, guest->ends ? 2 : 6)) {
	case 0:
		client_affinity_closing(guest->client, marks, 3);
		/* Fall through. */
	case 1:
		leave(guest);
		break;
	case 2:
		client_affinity_half_closed(guest->client, marks, 3);
		break;
	default:
		break;
	}
	loop_defer(worker->loop, &guest->task);
}

static void on_task(void *arg)
{
	struct guest *guest = arg;
	struct worker *worker = guest->worker;

	if (guest->client && (guest->port || guest->ends)) {
		be_connected(guest);
	} else if (guest->client) {
		seek(guest);
	} else if (worker->begun++ < ROUNDS) {
		enter(guest);
		loop_defer(worker->loop, &guest->task);
	} else if (--worker->running == 0) {
		event_loop_stop(worker->loop);
	}
}

static void *run(void *arg)
{
	struct worker *worker = arg;

	worker->running = GUESTS;
	for (unsigned i = 0; i < GUESTS; i++)
		loop_defer(worker->loop, &worker->guests[i].task);
	event_loop_run(worker->loop);
	return NULL;
}

START_TEST(no_port_is_used_twice_and_no_client_waits_forever)
{
	struct worker *workers = calloc(WORKERS, sizeof(*workers));
	unsigned back = 0, waited = 0, asked = 0;

	ck_assert(workers);
	clients = client_affinity_new(20);
	atomic_store(&next_port, 1);
	for (unsigned w = 0; w < WORKERS; w++) {
		workers[w].loop = event_loop_new();
		workers[w].seed = w + 1;
		for (unsigned i = 0; i < GUESTS; i++) {
			workers[w].guests[i].worker = &workers[w];
			loop_task_init(&workers[w].guests[i].task, on_task, &workers[w].guests[i]);
		}
	}
	for (unsigned w = 0; w < WORKERS; w++)
		ck_assert_int_eq(pthread_create(&workers[w].thread, NULL, run, &workers[w]), 0);
	for (unsigned w = 0; w < WORKERS; w++)
		pthread_join(workers[w].thread, NULL);
	for (unsigned w = 0; w < WORKERS; w++) {
		event_loop_free(workers[w].loop);
		back += workers[w].back;
		waited += workers[w].waited;
		for (unsigned i = 0; i < GUESTS; i++)
			asked += workers[w].guests[i].asked;
	}
	ck_assert_uint_lt(atomic_load(&next_port), 65536);
	ck_assert_uint_gt(back, ROUNDS / 10);
	ck_assert_uint_gt(waited, ROUNDS / 100);
	ck_assert_uint_gt(asked, ROUNDS / 100);
	client_affinity_free(clients);
	free(workers);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clients_threads");
	TCase *tc = tcase_create("clients_threads");

	tcase_add_test(tc, no_port_is_used_twice_and_no_client_waits_forever);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
