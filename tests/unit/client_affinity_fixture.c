// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/client_affinity_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

struct loop *loop;
struct client_affinity *clients;
bool post_fails;
unsigned asked_in_turn, most_asked_in_turn;

static void on_superseded(void *arg)
{
	((struct guest *)arg)->superseded++;
}

static void on_resumed(void *arg)
{
	((struct guest *)arg)->resumed++;
}

static void on_hear_end(void *arg)
{
	struct guest *guest = arg;

	guest->asked++;
	if (++asked_in_turn > most_asked_in_turn)
		most_asked_in_turn = asked_in_turn;
	if (guest->hears)
		loop_defer(loop, guest->hears);
}

static int post(struct loop *to, void (*fn)(void *arg), void *arg)
{
	asked_in_turn = 0;
	return post_fails ? -ENOMEM : fake_loop_post(to, fn, arg);
}

struct sockaddr_storage in4(const char *addr, uint16_t port)
{
	struct sockaddr_storage storage = {0};
	struct sockaddr_in *sin = (struct sockaddr_in *)&storage;

	sin->sin_family = AF_INET;
	sin->sin_port = htons(port);
	ck_assert_int_eq(inet_pton(AF_INET, addr, &sin->sin_addr), 1);
	return storage;
}

void enter_between(struct guest *guest, const struct client_endpoints *ends)
{
	const struct client_owner owner = {loop,       post,  on_superseded,
					   on_resumed, guest, on_hear_end};

	*guest = (struct guest){0};
	ck_assert_int_eq(client_affinity_add(clients, ends, &owner, &guest->client), 0);
}

void enter(struct guest *guest, const char *addr, uint16_t port, const void *fabric)
{
	const struct client_endpoints ends = {
		.peer = in4(addr, port), .local = in4("10.9.9.9", 2049), .fabric = fabric};

	enter_between(guest, &ends);
}

enum affinity_result seek(struct guest *guest, const struct call_fingerprint *first, uint16_t *port)
{
	struct source_affinity pin = {0};
	enum affinity_result found =
		client_affinity_find(guest->client, first, loop_now_us(loop), &pin);

	*port = pin.port;
	guest->source = pin.source;
	return found;
}

enum affinity_result seek_on(struct guest *guest, const struct call_fingerprint *first,
			     uint16_t *port)
{
	enum affinity_result found = seek(guest, first, port);

	if (found != AFFINITY_WAIT)
		return found;
	fake_loop_run(loop);
	return seek(guest, first, port);
}

void leave(struct guest *guest, uint16_t port)
{
	client_affinity_release(guest->client,
				&(struct source_affinity){.port = port, .source = guest->source},
				loop_now_us(loop));
	guest->client = NULL;
}

struct call_fingerprint call(uint32_t xid)
{
	return (struct call_fingerprint){.xid = xid, .len_bytes = 100, .crc = xid * 7};
}

void pass(const char *addr, uint16_t client_port, uint16_t port, uint32_t xid, bool answered)
{
	struct call_fingerprint mark = call(xid);
	struct guest guest;

	mark.answered = answered;
	enter(&guest, addr, client_port, NULL);
	client_affinity_closing(guest.client, &mark, xid ? 1 : 0);
	leave(&guest, port);
}

enum affinity_result ask(const char *addr, uint16_t client_port, uint32_t xid, uint16_t *port)
{
	struct call_fingerprint first = call(xid);
	enum affinity_result found;
	struct guest guest;

	enter(&guest, addr, client_port, NULL);
	found = seek_on(&guest, xid ? &first : NULL, port);
	leave(&guest, 0);
	return found;
}

void clients_setup(void)
{
	loop = fake_loop_new();
	post_fails = false;
	asked_in_turn = most_asked_in_turn = 0;
	clients = client_affinity_new(PINS_MAX);
	ck_assert_ptr_nonnull(clients);
}

void clients_teardown(void)
{
	fake_loop_run(loop);
	client_affinity_free(clients);
	fake_loop_free(loop);
}
