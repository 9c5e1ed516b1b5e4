// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tests TLS streams as the daemon has them: on sockets and libevent, with handshakes on threads.
 * Many connections at once, some of which are closed at any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/job_threads.h"
#include "daemon/base/loop.h"
#include "stream/tcp_stream.h"
#include "tests/lib/test.h"
#include "tests/unit/tls_fixture.h"

#define CONNS      32u
#define DATA_BYTES 200000u

struct side {
	struct stream *stream;
	size_t sent, received;
	bool connected, over;
};

struct conn {
	struct side client, server;
	struct loop_timer *timer; /* closes it early */
};

static struct tls_dir dir;
static struct loop *loop;
static struct job_threads *threads;
static struct job_queue *queue;
static struct tls_worker worker;
static struct tls_counters counters;
static struct tls_context *contexts[2];
static struct tcp_stream_net net;
static struct conn conns[CONNS];
static unsigned left;
static uint8_t data[DATA_BYTES];

static void make_context(enum tls_role role)
{
	char path[TLS_PATH_BYTES], error[TLS_ERROR_BYTES];
	struct tls_context_config config = {.cert_file = path, .ca_file = dir.ca};

	tls_dir_make(&dir, "own.pem",
		     (struct certificate_spec){.subject = "own", .alt_names = "DNS:own.example"},
		     path);
	config.accepts = role == TLS_ROLE_SERVER;
	config.connects = !config.accepts;
	config.server_name = "own.example";
	config.verify_client = TLS_VERIFY_REQUIRED;
	ck_assert_int_eq(tls_context_new(&config, &contexts[role], error), 0);
}

static void setup(void)
{
	tls_dir_init(&dir);
	loop = event_loop_new();
	threads = job_threads_new(3);
	queue = job_queue_new(threads, loop, event_loop_post);
	ck_assert(loop && threads && queue);
	ck_assert_int_eq(tls_worker_init(&worker, loop, job_queue_runner(queue)), 0);
	make_context(TLS_ROLE_SERVER);
	make_context(TLS_ROLE_CLIENT);
	net = (struct tcp_stream_net){.loop = loop, .keepalive_s = 60};
	memset(&counters, 0, sizeof(counters));
	memset(conns, 0, sizeof(conns));
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 13 + (i >> 9));
}

static void teardown(void)
{
	job_queue_free(queue);
	ck_assert_uint_eq(worker.running, 0);
	tls_worker_fini(&worker);
	tls_context_put(contexts[0]);
	tls_context_put(contexts[1]);
	event_loop_free(loop);
	job_threads_free(threads);
	tls_dir_fini(&dir);
}

/* Streams are freed in a task, not in one of their events. */
static void finish(struct side *side, bool reset)
{
	if (side->over)
		return;
	side->over = true;
	stream_close(side->stream, reset);
	if (--left == 0)
		event_loop_stop(loop);
}

static void write_more(struct side *side)
{
	struct iovec iov = {data + side->sent, DATA_BYTES - side->sent};
	ssize_t n = side->sent < DATA_BYTES ? stream_writev(side->stream, &iov, 1) : -EAGAIN;
	bool all;

	if (n > 0)
		side->sent += (size_t)n;
	all = side->sent == DATA_BYTES;
	if (n > 0 && all)
		stream_shutdown(side->stream);
	stream_watch(side->stream, LOOP_READ | (all ? 0 : LOOP_WRITE));
}

static void read_more(struct side *side)
{
	uint8_t bytes[20000];
	struct iovec iov = {bytes, sizeof(bytes)};
	ssize_t n = stream_readv(side->stream, &iov, 1);

	if (n > 0) {
		ck_assert_uint_le(side->received + (size_t)n, DATA_BYTES);
		ck_assert_mem_eq(bytes, data + side->received, (size_t)n);
		side->received += (size_t)n;
	} else if (n != -EAGAIN) {
		finish(side, n < 0);
	}
}

static void on_ready(void *arg, unsigned events)
{
	struct side *side = arg;

	if (events & LOOP_READ)
		read_more(side);
	if (!side->over && events & LOOP_WRITE)
		write_more(side);
}

static void on_connected(void *arg, int error)
{
	struct side *side = arg;

	side->connected = !error;
	if (error)
		finish(side, true);
	else
		write_more(side);
}

static const struct stream_events side_events = {.ready = on_ready, .connected = on_connected};

static void begin_side(struct side *side, enum tls_role role, int fd)
{
	struct stream *inner;

	ck_assert_int_eq(tcp_stream_adopt(&net, fd, &inner), 0);
	ck_assert_int_eq(tls_stream_new(&worker, &counters, contexts[role], role, inner, NULL, 0,
					&side->stream),
			 0);
	stream_bind(side->stream, &side_events, side);
	left++;
}

static void begin(struct conn *conn)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
			 0);
	begin_side(&conn->client, TLS_ROLE_CLIENT, fds[0]);
	begin_side(&conn->server, TLS_ROLE_SERVER, fds[1]);
}

static void free_all(void)
{
	for (unsigned i = 0; i < CONNS; i++) {
		loop_timer_free(loop, conns[i].timer);
		stream_free(conns[i].client.stream);
		stream_free(conns[i].server.stream);
	}
}

START_TEST(many_connections_at_once)
{
	for (unsigned i = 0; i < CONNS; i++)
		begin(&conns[i]);
	event_loop_run(loop);
	for (unsigned i = 0; i < CONNS; i++) {
		ck_assert_uint_eq(conns[i].client.received, DATA_BYTES);
		ck_assert_uint_eq(conns[i].server.received, DATA_BYTES);
		ck_assert_str_eq(tls_stream_peer(conns[i].server.stream)->name, "own.example");
	}
	ck_assert_uint_eq(counters.handshakes_ok, 2 * CONNS);
	ck_assert_uint_eq(counters.truncations + counters.record_errors, 0);
	free_all();
}
END_TEST

static void close_early(void *arg)
{
	struct conn *conn = arg;
	unsigned i = (unsigned)(conn - conns);

	finish(i % 2 ? &conn->client : &conn->server, i % 3);
	/* It is freed while its work may run. */
	if (i % 2) {
		stream_free(conn->client.stream);
		conn->client.stream = NULL;
	} else {
		stream_free(conn->server.stream);
		conn->server.stream = NULL;
	}
}

START_TEST(connections_are_closed_at_any_time)
{
	for (unsigned i = 0; i < CONNS; i++) {
		begin(&conns[i]);
		conns[i].timer = loop_timer_new(loop, close_early, &conns[i]);
		loop_timer_set(loop, conns[i].timer, i * i * 40);
	}
	event_loop_run(loop);
	free_all();
}
END_TEST

/* The queue ends first, as when a service is removed in the middle of handshakes. */
START_TEST(the_threads_end_before_the_connections)
{
	for (unsigned i = 0; i < CONNS; i++)
		begin(&conns[i]);
	loop_run_tasks(loop);
	ck_assert_uint_gt(worker.running, 0);
	for (unsigned i = 0; i < CONNS; i++) {
		finish(&conns[i].client, true);
		finish(&conns[i].server, true);
	}
	free_all();
	job_queue_free(queue);
	queue = NULL;
	ck_assert_uint_eq(worker.running, 0);
	ck_assert_uint_eq(counters.handshakes_closed, 2 * CONNS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tls_threads");
	TCase *tc = tcase_create("tls_threads");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, many_connections_at_once);
	tcase_add_test(tc, connections_are_closed_at_any_time);
	tcase_add_test(tc, the_threads_end_before_the_connections);
	suite_add_tcase(suite, tc);
	return test_main(suite);
}
