// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/stream_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/time_limit.h"

#define PATIENCE_S 20  /* for a packet of this host */
#define SETTLE     200 /* turns of the loop in which nothing is expected */
#define TURN_US    1000

struct loop *loop;
struct reserved_ports *reserved_ports;
struct tcp_stream_net sockets;
struct pair_net *pairs;
struct end ends[2];

static void turn(void)
{
	fake_loop_advance(loop, TURN_US);
}

void settle(void)
{
	for (int i = 0; i < SETTLE; i++)
		turn();
}

static void close_now(struct end *end)
{
	stream_close(end->stream, false);
	end->close_in_events = false;
}

static void on_ready(void *arg, unsigned events)
{
	struct end *end = arg;

	end->events |= events;
	end->told++;
	if (end->close_in_events)
		close_now(end);
	else
		stream_watch(end->stream, 0);
}

static void on_connected(void *arg, int error)
{
	struct end *end = arg;

	end->connected++;
	end->error = error;
	if (end->close_in_events)
		close_now(end);
}

static const struct stream_events end_events = {.ready = on_ready, .connected = on_connected};

void stream_setup(void)
{
	memset(ends, 0, sizeof(ends));
	loop = fake_loop_new();
	reserved_ports = reserved_ports_new();
	ck_assert_ptr_nonnull(reserved_ports);
	tcp_stream_net_init(&sockets, loop, reserved_ports, FIXTURE_STALL_US, 30);
	pairs = pair_net_new(loop, NULL);
	ck_assert_ptr_nonnull(pairs);
}

void stream_teardown(void)
{
	for (int i = 0; i < 2; i++)
		if (ends[i].stream)
			end_close(&ends[i], false);
	fake_loop_run(loop);
	reserved_ports_free(reserved_ports);
	pair_net_free(pairs);
	fake_loop_free(loop);
}

void end_bind(struct end *end, struct stream *stream)
{
	*end = (struct end){.stream = stream};
	stream_bind(stream, &end_events, end);
}

void end_close(struct end *end, bool reset)
{
	stream_close(end->stream, reset);
	stream_free(end->stream);
	end->stream = NULL;
}

int socket_listen(int backlog, struct sockaddr_storage *addr)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	ck_assert_int_ge(fd, 0);
	tcp_stream_tune_listener(fd, FIXTURE_STALL_US, 30);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, len), 0);
	ck_assert_int_eq(listen(fd, backlog), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, &in, sizeof(in));
	return fd;
}

void make_sockets(void)
{
	struct sockaddr_storage addr;
	int listener = socket_listen(1, &addr);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct stream *stream;

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(struct sockaddr_in)), 0);
	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(tcp_stream_adopt(&sockets, fd, &stream), 0);
	end_bind(&ends[0], stream);
	fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	ck_assert_int_eq(tcp_stream_adopt(&sockets, fd, &stream), 0);
	end_bind(&ends[1], stream);
	close(listener);
}

void make_pair(void)
{
	struct stream *streams[2];

	ck_assert_int_eq(pair_new(pairs, streams), 0);
	end_bind(&ends[0], streams[0]);
	end_bind(&ends[1], streams[1]);
}

void end_watch(struct end *end, unsigned events)
{
	end->events = 0;
	stream_watch(end->stream, events);
}

static void turn_until(const unsigned *count)
{
	struct time_limit limit;

	time_limit_begin(&limit, PATIENCE_S);
	while (!*count) {
		if (time_limit_passed(&limit))
			ck_abort_msg("nothing comes");
		turn();
	}
}

void await(struct end *end, unsigned events)
{
	end_watch(end, events);
	turn_until(&end->events);
	ck_assert_uint_eq(end->events & ~events, 0);
}

bool is_lost(struct end *end)
{
	end_watch(end, LOOP_LOST);
	settle();
	ck_assert_uint_eq(end->events & ~LOOP_LOST, 0);
	stream_watch(end->stream, 0);
	return end->events;
}

void await_outcome(struct end *end)
{
	turn_until(&end->connected);
}

ssize_t end_write(struct end *end, const void *bytes, size_t len_bytes)
{
	struct iovec iov = {(void *)bytes, len_bytes};

	return stream_writev(end->stream, &iov, 1);
}

ssize_t end_read(struct end *end, void *bytes, size_t len_bytes)
{
	struct iovec iov = {bytes, len_bytes};

	return stream_readv(end->stream, &iov, 1);
}

void end_send(struct end *end, const void *bytes, size_t len_bytes)
{
	const uint8_t *from = bytes;

	while (len_bytes > 0) {
		ssize_t n = end_write(end, from, len_bytes);

		if (n == -EAGAIN) {
			await(end, LOOP_WRITE);
			continue;
		}
		ck_assert_int_gt(n, 0);
		from += n;
		len_bytes -= (size_t)n;
	}
}

void end_expect(struct end *end, const void *bytes, size_t len_bytes)
{
	uint8_t *got = malloc(len_bytes);
	size_t have = 0;

	while (have < len_bytes) {
		ssize_t n = end_read(end, got + have, len_bytes - have);

		if (n == -EAGAIN) {
			await(end, LOOP_READ);
			continue;
		}
		ck_assert_int_gt(n, 0);
		have += (size_t)n;
	}
	ck_assert(!memcmp(got, bytes, len_bytes));
	free(got);
}

void end_expect_result(struct end *end, ssize_t want)
{
	char byte;

	await(end, LOOP_READ);
	ck_assert_int_eq(end_read(end, &byte, 1), want);
}
