// SPDX-License-Identifier: BSD-3-Clause
/* Cases of fabric_pair: Sends and Receives. */
#include "tests/lab/pair.h"

#include <stdio.h>
#include <string.h>

static void case_sends(void)
{
	static const uint32_t sizes[] = {4,    5,    64,   127,  128,  129,
					 1000, 1024, 4093, 4094, 4095, 4096};
	struct buf *bufs[ARRAY_SIZE(sizes)];
	uint64_t sum = 0;

	if (!connect_pair())
		return result(false, "connects");
	jobs_begin();
	for (uint32_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		bufs[i] = pattern_buf(RECV_BYTES, i);
		memcpy(bufs[i]->mem, &i, 4);
		sum += sizes[i];
		if (job_post(&client, FABRIC_SEND, bufs[i], 0, sizes[i], 0, 0))
			printf("# post failed\n");
	}
	result(wait_until(server_recv_all) && done_failed == 0 && server.recv_bytes == sum &&
		       !server.out_of_order && !done_disorder,
	       "delivers Sends of every size in order");
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
		buf_put(bufs[i]);
	close_pair();
}

static void case_many(void)
{
	struct buf *buf;

	if (!connect_pair())
		return result(false, "connects");
	fabric_recv_post(server.ep, MANY, RECV_BYTES);
	if (!server_tells())
		printf("# nothing is told\n");
	jobs_begin();
	buf = buf_get(pool, MANY * 256);
	for (uint32_t i = 0; i < MANY; i++) {
		memcpy(buf->mem + i * 256, &i, 4);
		if (job_post(&client, FABRIC_SEND, buf, i * 256, i % 2 ? 200 : 32, 0, 0))
			printf("# post failed\n");
	}
	result(wait_until(server_recv_all) && done_ok == MANY && !server.out_of_order &&
		       !done_disorder,
	       "waits rather than overruns the send queue");
	/* Sends posted before a close are sent. */
	server.recvs = 0;
	server.next_number = 0;
	jobs_begin();
	for (uint32_t i = 0; i < 300; i++)
		if (job_post(&client, FABRIC_SEND, buf, i * 256, 200, 0, 0))
			printf("# post failed\n");
	close_pair();
	result(done_ok == 300 && server.recvs == 300 && !server.out_of_order,
	       "sends what was posted before it closes");
	buf_put(buf);
}

static struct buf *expected;
static const uint32_t sized_posts[] = {100, 8000, 64, 64, RECV_BYTES};
static uint32_t sized_got[2 + ARRAY_SIZE(sized_posts)];
static bool sized_intact;

static void check_sized(const struct fabric_recv *recv)
{
	if (server.recvs <= ARRAY_SIZE(sized_got))
		sized_got[server.recvs - 1] = recv->size_bytes;
	if (memcmp(recv->data, expected->mem, recv->len_bytes))
		sized_intact = false;
}

/* Two receives from the start, then others; each Send fills the one that is due to the last byte. */
static void case_recv_sizes(void)
{
	struct buf *from = pattern_buf(8192, 0);
	bool in_order = true;

	/* One is for what the client says first. */
	params_base.recv_count = 3;
	expected = from;
	sized_intact = true;
	memset(sized_got, 0, sizeof(sized_got));
	if (!connect_pair())
		return result(false, "connects");
	server.refill = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(sized_posts); i++)
		fabric_recv_post(server.ep, 1, sized_posts[i]);
	if (!server_tells())
		printf("# nothing is told\n");
	server.on_recv = check_sized;
	jobs_begin();
	for (unsigned i = 0; i < ARRAY_SIZE(sized_got); i++)
		if (job_post(&client, FABRIC_SEND, from, 0, i < 2 ? RECV_BYTES : sized_posts[i - 2],
			     0, 0))
			printf("# post failed\n");
	if (!wait_until(server_recv_all))
		in_order = false;
	for (unsigned i = 0; i < ARRAY_SIZE(sized_got); i++)
		in_order = in_order && sized_got[i] == (i < 2 ? RECV_BYTES : sized_posts[i - 2]);
	result(in_order && sized_intact && done_failed == 0,
	       "uses receives of several sizes in the order of posting");
	/* The buffers of the first ones are used again, whatever size is asked for now. */
	fabric_recv_post(server.ep, 1, 8000);
	fabric_recv_post(server.ep, 1, 64);
	recvs_want = server.recvs + 1;
	if (job_post(&client, FABRIC_SEND, from, 0, 8000, 0, 0) || !wait_until(server_got_those))
		printf("# the long one did not come\n");
	if (job_post(&client, FABRIC_SEND, from, 0, 65, 0, 0))
		printf("# post failed\n");
	result(wait_until(both_closed) && server.recvs == recvs_want && sized_intact &&
		       server.why != FABRIC_CLOSE_LOCAL,
	       "ends a connection whose Send is longer than the receive that is due");
	printf("# server: %s, client: %s\n", server.detail, client.detail);
	close_pair();
	params_base.recv_count = RECVS;
	buf_put(from);
}

/* A peer that sends more than there are receives for: InfiniBand and RoCE refuse the Send, iWARP ends the connection. */
static void case_no_receive(void)
{
	struct buf *from = pattern_buf(RECV_BYTES, 3);

	params_base.recv_count = 1;
	if (!connect_pair())
		return result(false, "connects");
	server.refill = 0;
	jobs_begin();
	for (unsigned i = 0; i < 2; i++)
		if (job_post(&client, FABRIC_SEND, from, 0, 64, 0, 0))
			printf("# post failed\n");
	result(wait_until(both_closed) && all_done() && server.recvs == 1,
	       "ends a connection whose Send finds no receive");
	printf("# client: %s, server: %s\n", client.detail, server.detail);
	if (refuses_sends())
		result(strstr(client.detail, "had no receive for a Send") != NULL,
		       "says that a Send found no receive");
	close_pair();
	params_base.recv_count = RECVS;
	buf_put(from);
}

static uint64_t late_at_us;

static bool it_is_late(void)
{
	return loop_now_us(loop) >= late_at_us;
}

/*
 * The server's fabric asks for no second try: those are the client's own, and without end, since the server asks for less than a
 * millisecond between two.
 */
static void case_late_receive(void)
{
	struct buf *from = pattern_buf(RECV_BYTES, 3);

	params_base.recv_count = 1;
	client_fabric = another_fabric(loop, pool, 7);
	if (!client_fabric || !connect_pair())
		return result(false, "connects");
	server.refill = 0;
	jobs_begin();
	for (unsigned i = 0; i < 2; i++)
		if (job_post(&client, FABRIC_SEND, from, 0, 64, 0, 0))
			printf("# post failed\n");
	/* Longer than any number of tries takes. rxe lets its time limit for an acknowledgement run meanwhile: half a second. */
	late_at_us = loop_now_us(loop) + 100000;
	wait_until(it_is_late);
	fabric_recv_post(server.ep, 1, RECV_BYTES);
	result(wait_until(server_recv_all) && done_failed == 0,
	       "tries a Send again as often as it is told to, until there is a receive");
	close_pair();
	fabric_free(client_fabric);
	client_fabric = fabric;
	params_base.recv_count = RECVS;
	buf_put(from);
}

void pair_sends(void)
{
	case_sends();
	case_many();
	case_recv_sizes();
	case_no_receive();
	if (refuses_sends())
		case_late_receive();
}
