// SPDX-License-Identifier: BSD-3-Clause
/* The iwarp fabric over TCP on loopback: two endpoints and a listener on one loop. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/loop.h"
#include "fabric/iwarp/iwarp.h"
#include "tests/lib/test.h"

#define BIG_BYTES (1u << 20)

static struct loop *loop;
static struct pool *pool;
static struct fabric *fabric;
static struct fabric_listener *listener;
static struct sockaddr_storage address;
static struct loop_timer *watchdog;

struct end {
	struct fabric_ep *ep;
	struct fabric_ep_params params;
	unsigned requested, established, closed, recvs;
	enum fabric_close why;
	char detail[200], note[200];
	uint8_t private_data[FABRIC_MAX_PRIVATE_DATA];
	size_t private_data_bytes;
	uint8_t recv[4096];
	struct fabric_recv last;
	void (*step)(struct end *end); /* at each event */
	bool reject;
};

static struct end client, server;
static unsigned done_count;
static bool failed;

static void on_requested(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct end *end = arg;

	end->requested++;
	memcpy(end->private_data, private_data, len_bytes);
	end->private_data_bytes = len_bytes;
	if (end->reject)
		fabric_ep_reject(end->ep);
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

static void on_closed(void *arg, enum fabric_close why, const char *detail)
{
	struct end *end = arg;

	end->closed++;
	end->why = why;
	snprintf(end->detail, sizeof(end->detail), "%s", detail);
	if ((!client.ep || client.closed) && (!server.ep || server.closed))
		event_loop_stop(loop);
}

static void on_note(void *arg, const char *text)
{
	struct end *end = arg;

	snprintf(end->note, sizeof(end->note), "%s", text);
}

static const struct fabric_ep_events events = {
	.requested = on_requested,
	.established = on_established,
	.recv = on_recv,
	.closed = on_closed,
	.note = on_note,
};

static const struct fabric_ep_events *incoming_events;

static void on_incoming(void *arg, struct fabric_incoming *in)
{
	ck_assert_int_eq(fabric_adopt(fabric, in, incoming_events, &server, &server.ep), 0);
}

static void on_watchdog(void *arg)
{
	failed = true;
	event_loop_stop(loop);
}

static void end_init(struct end *end)
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
	struct iwarp_config config = {0};
	int err;

	if (family == AF_INET)
		inet_pton(family, host, &((struct sockaddr_in *)&addr)->sin_addr);
	else
		inet_pton(family, host, &((struct sockaddr_in6 *)&addr)->sin6_addr);
	err = fabric_listen(&iwarp_fabric_ops, &config, loop, (struct sockaddr *)&addr, 16,
			    on_incoming, NULL, &listener);
	ck_assert_int_eq(err, 0);
	fabric_listener_addr(listener, &address);
}

static void start(bool crc, bool fpdu_64k, const char *host, int family)
{
	struct iwarp_config config = {
		.crc = crc, .fpdu_64k = fpdu_64k, .setup_timeout_us = 20000000};

	loop = event_loop_new();
	pool = pool_new(16u << 20);
	fabric = iwarp_fabric_new(loop, pool, &config);
	ck_assert_ptr_nonnull(fabric);
	listen_on(host, family);
	end_init(&client);
	end_init(&server);
	incoming_events = &events;
	done_count = 0;
	failed = false;
	watchdog = loop_timer_new(loop, on_watchdog, NULL);
	loop_timer_set(loop, watchdog, 50000000);
}

static void connect_client(void)
{
	ck_assert_int_eq(fabric_connect(fabric, (struct sockaddr *)&address, &client.params,
					&events, &client, &client.ep),
			 0);
}

static void stop(void)
{
	ck_assert(!failed);
	fabric_listener_free(listener);
	loop_timer_free(loop, watchdog);
	fabric_ep_free(client.ep);
	fabric_ep_free(server.ep);
	client.ep = server.ep = NULL;
	fabric_free(fabric);
	pool_free(pool);
	event_loop_free(loop);
}

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	ck_assert_int_eq(status, FABRIC_OK);
	done_count++;
}

/*
 * The scenario: the client lends memory both ways and says so; the server reads one and writes the
 * other, then says so and takes the key back.
 */
static struct buf *source, *target, *mirror;
static struct fabric_key source_key, target_key;
static struct fabric_wr hello, read_wr, write_wr, bye;

struct offer {
	uint32_t source_rkey, target_rkey;
	uint64_t source_addr, target_addr;
};

static void wr_set(struct fabric_wr *wr, enum fabric_wr_op op, struct buf *buf, uint32_t len_bytes)
{
	memset(wr, 0, sizeof(*wr));
	wr->op = op;
	wr->nsge = 1;
	wr->sge[0].buf = buf;
	wr->sge[0].addr = buf->mem;
	wr->sge[0].len_bytes = len_bytes;
	wr->done = on_done;
}

static void client_step(struct end *end)
{
	struct offer *offer;

	if (end->recvs) {
		ck_assert(end->last.invalidated);
		ck_assert_uint_eq(end->last.inv_rkey, target_key.rkey);
		ck_assert(fabric_key_unbind(&source_key));
		ck_assert(fabric_key_unbind(&target_key));
		fabric_ep_close(end->ep);
		return;
	}
	source_key = (struct fabric_key){.buf = source,
					 .mem = source->mem,
					 .len_bytes = BIG_BYTES,
					 .ready_bytes = BIG_BYTES,
					 .rights = FABRIC_REMOTE_READ};
	target_key = (struct fabric_key){.buf = target,
					 .mem = target->mem,
					 .len_bytes = BIG_BYTES,
					 .ready_bytes = BIG_BYTES,
					 .rights = FABRIC_REMOTE_WRITE};
	ck_assert_int_eq(fabric_key_bind(end->ep, &source_key), 0);
	ck_assert_int_eq(fabric_key_bind(end->ep, &target_key), 0);
	wr_set(&hello, FABRIC_SEND, mirror, sizeof(*offer));
	offer = (struct offer *)mirror->mem;
	offer->source_rkey = source_key.rkey;
	offer->source_addr = source_key.addr;
	offer->target_rkey = target_key.rkey;
	offer->target_addr = target_key.addr;
	ck_assert_int_eq(fabric_post(end->ep, &hello), 0);
}

static void on_read_done(struct fabric_wr *wr, enum fabric_status status)
{
	const struct offer *offer = (const struct offer *)server.recv;

	on_done(wr, status);
	wr_set(&write_wr, FABRIC_WRITE, mirror, BIG_BYTES);
	write_wr.rkey = offer->target_rkey;
	write_wr.raddr = offer->target_addr;
	ck_assert_int_eq(fabric_post(server.ep, &write_wr), 0);
	wr_set(&bye, FABRIC_SEND_INV, mirror, 100);
	bye.inv_rkey = offer->target_rkey;
	ck_assert_int_eq(fabric_post(server.ep, &bye), 0);
}

static void server_step(struct end *end)
{
	const struct offer *offer = (const struct offer *)end->recv;

	if (!end->recvs)
		return;
	wr_set(&read_wr, FABRIC_READ, mirror, BIG_BYTES);
	read_wr.rkey = offer->source_rkey;
	read_wr.raddr = offer->source_addr;
	read_wr.done = on_read_done;
	ck_assert_int_eq(fabric_post(end->ep, &read_wr), 0);
}

static const struct {
	bool crc, fpdu_64k;
	const char *host;
	int family;
} ways[] = {
	{true, true, "127.0.0.1", AF_INET},
	{true, false, "::1", AF_INET6},
	{false, true, "::1", AF_INET6},
	{false, false, "127.0.0.1", AF_INET},
};

START_TEST(a_connection_sends_writes_reads_and_closes_in_good_order)
{
	struct iwarp_counters *counters;

	start(ways[_i].crc, ways[_i].fpdu_64k, ways[_i].host, ways[_i].family);
	source = buf_get(pool, BIG_BYTES);
	target = buf_get(pool, BIG_BYTES);
	mirror = buf_get(pool, BIG_BYTES);
	for (unsigned i = 0; i < BIG_BYTES; i++)
		source->mem[i] = (uint8_t)(i * 7 + i / 251);
	memcpy(client.params.private_data, "client", 6);
	client.params.private_data_bytes = 6;
	memcpy(server.params.private_data, "server!", 7);
	server.params.private_data_bytes = 7;
	client.step = client_step;
	server.step = server_step;
	connect_client();
	event_loop_run(loop);
	ck_assert_uint_eq(client.private_data_bytes, 7);
	ck_assert_mem_eq(client.private_data, "server!", 7);
	ck_assert_mem_eq(server.private_data, "client", 6);
	ck_assert_uint_eq(done_count, 4);
	ck_assert_mem_eq(target->mem, source->mem, BIG_BYTES);
	ck_assert_int_eq(client.why, FABRIC_CLOSE_LOCAL);
	ck_assert_int_eq(server.why, FABRIC_CLOSE_PEER);
	counters = fabric->counters;
	ck_assert_uint_eq(counters->fpdus_sent, counters->fpdus_received);
	ck_assert_uint_eq(counters->crc_checked, ways[_i].crc ? counters->fpdus_received : 0);
	ck_assert_uint_eq(counters->bytes_sent, counters->bytes_received);
	/* Only what shares a read with a header: HACKING.md, the path of a byte. */
	ck_assert_uint_le(counters->payload_bytes_copied, 2 * 16384);
	buf_put(source);
	buf_put(target);
	buf_put(mirror);
	stop();
}
END_TEST

/* A plain TCP peer, which does what it is told and nothing by itself. */
static int raw_connect(void)
{
	int fd = socket(address.ss_family, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static int raw_listen(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	return fd;
}

START_TEST(a_rejected_client_is_refused)
{
	start(true, true, "127.0.0.1", AF_INET);
	server.reject = true;
	connect_client();
	event_loop_run(loop);
	ck_assert_uint_eq(client.established, 0);
	ck_assert_int_eq(client.why, FABRIC_CLOSE_REFUSED);
	ck_assert_int_eq(server.why, FABRIC_CLOSE_LOCAL);
	stop();
}
END_TEST

START_TEST(a_port_without_listener_is_refused)
{
	int fd;

	start(true, true, "127.0.0.1", AF_INET);
	fd = raw_listen();
	close(fd);
	connect_client();
	event_loop_run(loop);
	ck_assert_int_eq(client.why, FABRIC_CLOSE_REFUSED);
	ck_assert_uint_eq(client.closed, 1);
	stop();
}
END_TEST

START_TEST(a_peer_that_never_answers_is_given_up)
{
	int fd;

	start(true, true, "127.0.0.1", AF_INET);
	fabric_free(fabric);
	fabric = iwarp_fabric_new(loop, pool, &(struct iwarp_config){.setup_timeout_us = 20000});
	fd = _i ? raw_connect() : raw_listen();
	if (!_i)
		connect_client();
	event_loop_run(loop);
	ck_assert_int_eq(_i ? server.why : client.why, FABRIC_CLOSE_TIMEOUT);
	close(fd);
	stop();
}
END_TEST

START_TEST(garbage_ends_only_its_own_connection)
{
	static const char garbage[] = "GET / HTTP/1.1\r\n\r\n";
	int fd;

	start(true, true, "127.0.0.1", AF_INET);
	fd = raw_connect();
	ck_assert_int_eq(write(fd, garbage, sizeof(garbage)), (ssize_t)sizeof(garbage));
	event_loop_run(loop);
	ck_assert_int_eq(server.why, FABRIC_CLOSE_PROTOCOL);
	close(fd);
	end_init(&server);
	server.reject = true;
	connect_client();
	event_loop_run(loop);
	ck_assert_int_eq(client.why, FABRIC_CLOSE_REFUSED);
	stop();
}
END_TEST

START_TEST(a_reset_is_a_lost_connection)
{
	struct linger linger = {.l_onoff = 1};
	int fd;

	start(true, true, "127.0.0.1", AF_INET);
	fd = raw_connect();
	ck_assert_int_eq(write(fd, "MPA", 3), 3);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(fd);
	event_loop_run(loop);
	ck_assert_int_eq(server.why, FABRIC_CLOSE_LOST);
	stop();
}
END_TEST

START_TEST(closing_while_connecting_closes)
{
	start(true, true, "127.0.0.1", AF_INET);
	connect_client();
	fabric_ep_close(client.ep);
	fabric_ep_close(client.ep);
	ck_assert_uint_eq(client.closed, 0);
	event_loop_run(loop);
	ck_assert_int_eq(client.why, FABRIC_CLOSE_LOCAL);
	ck_assert_uint_eq(client.closed, 1);
	stop();
}
END_TEST

START_TEST(an_address_of_no_family_is_an_error)
{
	struct sockaddr_storage addr = {.ss_family = AF_UNIX};
	struct fabric_listener *none;
	struct fabric_ep *ep;

	start(true, true, "127.0.0.1", AF_INET);
	ck_assert_int_eq(fabric_connect(fabric, (struct sockaddr *)&addr, &client.params, &events,
					&client, &ep),
			 -EAFNOSUPPORT);
	ck_assert_int_eq(fabric_listen(&iwarp_fabric_ops, &(struct iwarp_config){0}, loop,
				       (struct sockaddr *)&addr, 1, on_incoming, NULL, &none),
			 -EAFNOSUPPORT);
	ck_assert_int_eq(fabric_listen(&iwarp_fabric_ops, &(struct iwarp_config){0}, loop,
				       (struct sockaddr *)&address, 1, on_incoming, NULL, &none),
			 -EADDRINUSE);
	stop();
}
END_TEST

static void unpause(void *arg)
{
	ck_assert_uint_eq(server.requested, 0);
	fabric_listener_pause(listener, false);
}

START_TEST(a_paused_listener_takes_nobody_until_it_goes_on)
{
	struct loop_timer *timer;

	start(true, true, "::1", AF_INET6);
	timer = loop_timer_new(loop, unpause, NULL);
	fabric_listener_pause(listener, true);
	server.reject = true;
	connect_client();
	loop_timer_set(loop, timer, 10000);
	event_loop_run(loop);
	ck_assert_uint_eq(server.requested, 1);
	loop_timer_free(loop, timer);
	stop();
}
END_TEST

/* As many descriptors as are open now, or @limit of them; returns what the limit was. */
static rlim_t descriptors_limit(rlim_t limit)
{
	struct rlimit rlimit;
	rlim_t old;

	getrlimit(RLIMIT_NOFILE, &rlimit);
	old = rlimit.rlim_cur;
	if (!limit) {
		int next = dup(0);

		ck_assert_int_ge(next, 0);
		close(next);
		limit = (rlim_t)next;
	}
	rlimit.rlim_cur = limit;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &rlimit), 0);
	return old;
}

static rlim_t descriptors;

static void more_descriptors(void *arg)
{
	ck_assert_uint_eq(server.requested, 0);
	descriptors_limit(descriptors);
}

START_TEST(running_out_of_descriptors_only_delays_accepting)
{
	struct loop_timer *timer;

	start(true, true, "127.0.0.1", AF_INET);
	server.reject = true;
	timer = loop_timer_new(loop, more_descriptors, NULL);
	loop_timer_set(loop, timer, 10000);
	connect_client();
	descriptors = descriptors_limit(0);
	event_loop_run(loop);
	ck_assert_uint_eq(server.requested, 1);
	ck_assert_int_eq(client.why, FABRIC_CLOSE_REFUSED);
	loop_timer_free(loop, timer);
	stop();
}
END_TEST

static void on_incoming_drop(void *arg, struct fabric_incoming *in)
{
	ck_assert_int_eq(in->peer.ss_family, AF_INET);
	ck_assert_int_eq(in->local.ss_family, AF_INET);
	fabric_incoming_drop(in);
	server.closed = 1;
}

START_TEST(a_connection_that_nobody_wants_is_closed)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	start(true, true, "127.0.0.1", AF_INET);
	fabric_listener_free(listener);
	ck_assert_int_eq(fabric_listen(&iwarp_fabric_ops, &(struct iwarp_config){0}, loop,
				       (struct sockaddr *)&addr, 1, on_incoming_drop, NULL,
				       &listener),
			 0);
	fabric_listener_addr(listener, &address);
	connect_client();
	event_loop_run(loop);
	ck_assert_uint_eq(client.established, 0);
	ck_assert_uint_eq(client.closed, 1);
	stop();
}
END_TEST

START_TEST(addresses_and_depths_are_told)
{
	struct fabric_ep_info info;

	start(true, true, "127.0.0.1", AF_INET);
	connect_client();
	fabric_ep_info(client.ep, &info);
	ck_assert_str_eq(info.fabric, "iwarp");
	ck_assert(info.per_rpc_keys);
	ck_assert_uint_eq(info.max_sge, FABRIC_MAX_SGE);
	ck_assert_int_eq(((struct sockaddr_in *)&info.peer)->sin_port,
			 ((struct sockaddr_in *)&address)->sin_port);
	fabric_ep_close(client.ep);
	event_loop_run(loop);
	stop();
}
END_TEST

/* What the acceptor sees of where the client came from. */
static struct sockaddr_storage seen;

static void on_requested_seen(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct fabric_ep_info info;

	fabric_ep_info(server.ep, &info);
	seen = info.peer;
	fabric_ep_reject(server.ep);
}

static struct sockaddr_in loopback(uint8_t last, uint16_t port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + last),
				    .sin_port = htons(port)};
}

static void connect_from(struct sockaddr_in from)
{
	end_init(&client);
	end_init(&server);
	memcpy(&client.params.source, &from, sizeof(from));
	memset(&seen, 0, sizeof(seen));
	connect_client();
	event_loop_run(loop);
	ck_assert_uint_eq(server.closed, 1);
}

START_TEST(a_connection_comes_from_the_address_and_port_asked_for)
{
	static struct fabric_ep_events seen_events;
	const struct sockaddr_in *got = (const struct sockaddr_in *)&seen;
	uint16_t port;

	start(true, true, "127.0.0.1", AF_INET);
	seen_events = events;
	seen_events.requested = on_requested_seen;
	incoming_events = &seen_events;
	connect_from(loopback(7, 0));
	ck_assert_uint_eq(got->sin_addr.s_addr, loopback(7, 0).sin_addr.s_addr);
	ck_assert_uint_ne(got->sin_port, 0);
	/* The port that was free a moment ago, from another address. */
	port = ntohs(got->sin_port);
	connect_from(loopback(8, port));
	ck_assert_uint_eq(got->sin_addr.s_addr, loopback(8, 0).sin_addr.s_addr);
	ck_assert_uint_eq(got->sin_port, htons(port));
	/* An address of any interface, with a port. */
	connect_from((struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)});
	ck_assert_uint_eq(got->sin_port, htons(port));
	stop();
}
END_TEST

START_TEST(a_source_that_cannot_be_had_is_an_error_at_once)
{
	struct sockaddr_in foreign = loopback(1, 0);
	struct fabric_ep *ep;

	start(true, true, "127.0.0.1", AF_INET);
	foreign.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1, of no host */
	memcpy(&client.params.source, &foreign, sizeof(foreign));
	ck_assert_int_eq(fabric_connect(fabric, (struct sockaddr *)&address, &client.params,
					&events, &client, &ep),
			 -EADDRNOTAVAIL);
	client.params.source.ss_family = AF_INET6;
	ck_assert_int_eq(fabric_connect(fabric, (struct sockaddr *)&address, &client.params,
					&events, &client, &ep),
			 -EAFNOSUPPORT);
	/* What listens there has it. */
	memcpy(&client.params.source, &address, sizeof(address));
	ck_assert_int_eq(fabric_connect(fabric, (struct sockaddr *)&address, &client.params,
					&events, &client, &ep),
			 -EADDRINUSE);
	stop();
}
END_TEST

/* Both ends push more than the sockets hold, as fast as it goes, then close with all of it posted. */
#define FLOOD 64u
static struct fabric_wr flood[2][FLOOD];
static struct fabric_key flood_key[2];
static unsigned flooded;

static void flood_post(struct end *end, unsigned which)
{
	for (unsigned i = 0; i < FLOOD; i++) {
		struct fabric_wr *wr = &flood[which][i];

		wr_set(wr, FABRIC_WRITE, source, BIG_BYTES);
		wr->rkey = flood_key[1 - which].rkey;
		wr->raddr = flood_key[1 - which].addr;
		ck_assert_int_eq(fabric_post(end->ep, wr), 0);
	}
	wr_set(which ? &bye : &hello, FABRIC_SEND, mirror, 8);
	ck_assert_int_eq(fabric_post(end->ep, which ? &bye : &hello), 0);
}

static void flood_step(struct end *end)
{
	unsigned which = end == &server;

	if (end->recvs == 1) {
		if (++flooded == 2)
			fabric_ep_close(client.ep);
		return;
	}
	flood_key[which] = (struct fabric_key){.buf = target,
					       .mem = target->mem,
					       .len_bytes = BIG_BYTES,
					       .ready_bytes = BIG_BYTES,
					       .rights = FABRIC_REMOTE_WRITE};
	ck_assert_int_eq(fabric_key_bind(end->ep, &flood_key[which]), 0);
	if (client.established && server.established) {
		flood_post(&client, 0);
		flood_post(&server, 1);
	}
}

/* The client's memory fills bit by bit while the server reads it. */
static struct loop_timer *filling;

static void on_filling(void *arg)
{
	uint32_t ready = source_key.ready_bytes, step = 70001;

	if (step > BIG_BYTES - ready)
		step = BIG_BYTES - ready;
	memset(source->mem + ready, 0x5b, step);
	fabric_key_ready(&source_key, ready + step);
	if (ready + step < BIG_BYTES)
		loop_timer_set(loop, filling, 500);
}

static void filling_step(struct end *end)
{
	struct offer *offer = (struct offer *)target->mem;

	if (end->recvs) {
		ck_assert(fabric_key_unbind(&source_key));
		fabric_ep_close(end->ep);
		return;
	}
	source_key = (struct fabric_key){.buf = source,
					 .mem = source->mem,
					 .len_bytes = BIG_BYTES,
					 .rights = FABRIC_REMOTE_READ};
	ck_assert_int_eq(fabric_key_bind(end->ep, &source_key), 0);
	offer->source_rkey = source_key.rkey;
	offer->source_addr = source_key.addr;
	wr_set(&hello, FABRIC_SEND, target, sizeof(*offer));
	ck_assert_int_eq(fabric_post(end->ep, &hello), 0);
	loop_timer_set(loop, filling, 500);
}

static void on_filled(struct fabric_wr *wr, enum fabric_status status)
{
	on_done(wr, status);
	ck_assert_uint_eq(source_key.ready_bytes, BIG_BYTES);
	/* Nobody hears of a peer that is there. */
	ck_assert_int_eq(fabric_ep_probe(server.ep), 0);
	ck_assert_int_eq(fabric_ep_probe(client.ep), -EOPNOTSUPP);
	wr_set(&bye, FABRIC_SEND, mirror, 8);
	ck_assert_int_eq(fabric_post(server.ep, &bye), 0);
}

static void reading_step(struct end *end)
{
	const struct offer *offer = (const struct offer *)end->recv;

	if (!end->recvs)
		return;
	wr_set(&read_wr, FABRIC_READ, mirror, BIG_BYTES);
	read_wr.rkey = offer->source_rkey;
	read_wr.raddr = offer->source_addr;
	read_wr.done = on_filled;
	ck_assert_int_eq(fabric_post(end->ep, &read_wr), 0);
}

START_TEST(a_read_goes_on_as_its_memory_fills)
{
	struct iwarp_counters *counters;
	struct fabric_ep_info info;

	start(true, _i, "127.0.0.1", AF_INET);
	source = buf_get(pool, BIG_BYTES);
	target = buf_get(pool, BIG_BYTES);
	mirror = buf_get(pool, BIG_BYTES);
	memset(mirror->mem, 0, BIG_BYTES);
	filling = loop_timer_new(loop, on_filling, NULL);
	client.step = filling_step;
	server.step = reading_step;
	connect_client();
	fabric_ep_info(client.ep, &info);
	ck_assert(info.late_reads && info.sends_invalidate);
	event_loop_run(loop);
	ck_assert_uint_eq(done_count, 3);
	ck_assert_mem_eq(mirror->mem, source->mem, BIG_BYTES);
	ck_assert_int_eq(client.why, FABRIC_CLOSE_LOCAL);
	counters = fabric->counters;
	ck_assert_uint_eq(counters->read_responses_late, 1);
	ck_assert_uint_eq(counters->probes_sent, 1);
	loop_timer_free(loop, filling);
	buf_put(source);
	buf_put(target);
	buf_put(mirror);
	stop();
}
END_TEST

/* Calls of a dying endpoint, from inside its callbacks. */
static struct fabric_key dying_keys[3];
static unsigned dying_calls, dying_unbound;

static void on_dying_unbound(struct fabric_key *key)
{
	dying_unbound++;
}

static struct fabric_key dying_key(void)
{
	return (struct fabric_key){.buf = source,
				   .mem = source->mem,
				   .len_bytes = 8,
				   .ready_bytes = 8,
				   .rights = FABRIC_REMOTE_READ,
				   .unbound = on_dying_unbound};
}

static void call_everything(void)
{
	static struct fabric_wr more;
	struct fabric_key key = dying_key();

	wr_set(&more, FABRIC_SEND, source, 8);
	ck_assert_int_eq(fabric_post(client.ep, &more), -ENOTCONN);
	ck_assert_int_eq(fabric_key_bind(client.ep, &key), -ENOTCONN);
	ck_assert_int_eq(fabric_ep_probe(client.ep), -ENOTCONN);
	fabric_recv_post(client.ep, 1, 100);
	fabric_key_ready(&dying_keys[0], 8);
	fabric_ep_close(client.ep);
	if (dying_calls < 2)
		(void)!fabric_key_unbind(&dying_keys[dying_calls]);
	dying_calls++;
}

static void on_dying_done(struct fabric_wr *wr, enum fabric_status status)
{
	done_count++;
	if (status == FABRIC_FLUSHED)
		call_everything();
}

static void on_dying_closed(void *arg, enum fabric_close why, const char *detail)
{
	ck_assert_uint_eq(dying_calls, 3);
	call_everything();
	ck_assert(fabric_key_unbind(&dying_keys[2]));
	on_closed(arg, why, detail);
}

static void dying_step(struct end *end)
{
	static struct fabric_wr wrs[3];

	for (unsigned i = 0; i < 3; i++) {
		dying_keys[i] = dying_key();
		ck_assert_int_eq(fabric_key_bind(end->ep, &dying_keys[i]), 0);
		wr_set(&wrs[i], FABRIC_READ, target, 8);
		wrs[i].done = on_dying_done;
		ck_assert_int_eq(fabric_post(end->ep, &wrs[i]), 0);
	}
	/* No Read is sent any more. */
	fabric_ep_close(end->ep);
}

START_TEST(everything_may_be_called_inside_the_callbacks_of_a_dying_endpoint)
{
	static struct fabric_ep_events dying_events;

	start(true, true, "127.0.0.1", AF_INET);
	dying_events = events;
	dying_events.closed = on_dying_closed;
	source = buf_get(pool, BIG_BYTES);
	target = buf_get(pool, BIG_BYTES);
	client.step = dying_step;
	ck_assert_int_eq(fabric_connect(fabric, (struct sockaddr *)&address, &client.params,
					&dying_events, &client, &client.ep),
			 0);
	event_loop_run(loop);
	ck_assert_uint_eq(done_count, 3);
	ck_assert_uint_eq(dying_calls, 4);
	ck_assert_uint_eq(dying_unbound, 0);
	buf_put(source);
	buf_put(target);
	stop();
}
END_TEST

static void on_closed_flood(void *arg, enum fabric_close why, const char *detail)
{
	ck_assert(fabric_key_unbind(&flood_key[arg == &server]));
	on_closed(arg, why, detail);
}

START_TEST(both_ends_may_send_more_than_the_sockets_hold)
{
	static struct fabric_ep_events flood_events;
	struct iwarp_counters *counters;

	start(true, _i, "127.0.0.1", AF_INET);
	flood_events = events;
	flood_events.closed = on_closed_flood;
	source = buf_get(pool, BIG_BYTES);
	target = buf_get(pool, BIG_BYTES);
	mirror = buf_get(pool, BIG_BYTES);
	memset(source->mem, 0x3d, BIG_BYTES);
	flooded = 0;
	client.step = flood_step;
	server.step = flood_step;
	incoming_events = &flood_events;
	ck_assert_int_eq(fabric_connect(fabric, (struct sockaddr *)&address, &client.params,
					&flood_events, &client, &client.ep),
			 0);
	event_loop_run(loop);
	ck_assert_uint_eq(flooded, 2);
	ck_assert_uint_eq(done_count, 2 * FLOOD + 2);
	counters = fabric->counters;
	ck_assert_uint_eq(counters->write_bytes_received, (uint64_t)2 * FLOOD * BIG_BYTES);
	/* A connection where long Writes are likely copies the start of each at most. */
	ck_assert_uint_le(counters->payload_bytes_copied, (uint64_t)2 * FLOOD * 16384);
	ck_assert_mem_eq(target->mem, source->mem, BIG_BYTES);
	buf_put(source);
	buf_put(target);
	buf_put(mirror);
	stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("iwarp_socket");
	TCase *tc = tcase_create("loopback");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_connection_sends_writes_reads_and_closes_in_good_order, 0,
			    ARRAY_SIZE(ways));
	tcase_add_test(tc, a_rejected_client_is_refused);
	tcase_add_test(tc, a_port_without_listener_is_refused);
	tcase_add_loop_test(tc, a_peer_that_never_answers_is_given_up, 0, 2);
	tcase_add_test(tc, garbage_ends_only_its_own_connection);
	tcase_add_test(tc, a_reset_is_a_lost_connection);
	tcase_add_test(tc, closing_while_connecting_closes);
	tcase_add_test(tc, an_address_of_no_family_is_an_error);
	tcase_add_test(tc, a_paused_listener_takes_nobody_until_it_goes_on);
	tcase_add_test(tc, running_out_of_descriptors_only_delays_accepting);
	tcase_add_test(tc, a_connection_that_nobody_wants_is_closed);
	tcase_add_test(tc, addresses_and_depths_are_told);
	tcase_add_test(tc, a_connection_comes_from_the_address_and_port_asked_for);
	tcase_add_test(tc, a_source_that_cannot_be_had_is_an_error_at_once);
	tcase_add_loop_test(tc, a_read_goes_on_as_its_memory_fills, 0, 2);
	tcase_add_test(tc, everything_may_be_called_inside_the_callbacks_of_a_dying_endpoint);
	tcase_add_loop_test(tc, both_ends_may_send_more_than_the_sockets_hold, 0, 2);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
