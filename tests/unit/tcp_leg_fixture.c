// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/tcp_leg_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/loop.h"
#include "rpc/record_mark.h"
#include "tests/lib/time_limit.h"

#define PATIENCE_S 20 /* for a state to come */
#define FIRST_XID  0xf1u

struct seen seen;
struct leg *leg;
int peer;
struct tcp_leg_config config;
struct tcp_worker worker;
static struct reserved_ports *reserved_ports;
struct tcp_stream_net sockets;
struct test_budget budget;

static struct loop *loop;
static struct buf_pool *pool;
static struct loop_ops ops; /* the loop's, except the time */
static const struct loop_ops *real_ops;
static uint64_t fake_now_us;
static struct loop_task stop_task;
static struct time_limit patience; /* restarts with each byte */
static uint8_t *record;

static void on_requested(void *arg)
{
	seen.requested++;
}

static void on_opened(void *arg)
{
	seen.opened++;
}

static void on_call(void *arg, struct exchange *x)
{
	ck_assert_uint_eq(seen.closing, 0);
	ck_assert_uint_lt(seen.ncalls, FIXTURE_MAX_SEEN);
	seen.calls[seen.ncalls++] = x;
}

static void on_reply(void *arg, struct exchange *x)
{
	ck_assert_uint_eq(seen.closing, 0);
	ck_assert_uint_lt(seen.nreplies, FIXTURE_MAX_SEEN);
	seen.replies[seen.nreplies++] = x;
}

static void on_call_ready(void *arg)
{
	seen.call_ready++;
}

static void on_closing(void *arg, enum leg_close why, const char *detail)
{
	seen.closing++;
	seen.why = why;
	seen.close_errno = leg->close_errno;
	strncpy(seen.detail, detail, sizeof(seen.detail) - 1);
}

static void on_closed(void *arg)
{
	ck_assert_uint_eq(seen.closing, 1);
	seen.closed++;
}

static void on_note(void *arg, const char *text)
{
	seen.notes++;
}

static void on_half_closed(void *arg)
{
	seen.half_closed++;
}

static const struct leg_events events = {
	.requested = on_requested,
	.opened = on_opened,
	.call = on_call,
	.reply = on_reply,
	.call_ready = on_call_ready,
	.half_closed = on_half_closed,
	.closing = on_closing,
	.closed = on_closed,
	.note = on_note,
};

static void stop(void *arg)
{
	event_loop_stop(loop);
}

/*
 * Time moves when the test says so. Timers fire in every turn, and the leg finds that it is too
 * early.
 */

static uint64_t fake_now(struct loop *unused)
{
	return fake_now_us;
}

static void set_now(struct loop_timer *timer, uint64_t delay_us)
{
	real_ops->timer_set(timer, 0);
}

void advance_us(uint64_t us)
{
	fake_now_us += us;
	settle();
}

void fixture_setup(void)
{
	seen = (struct seen){0};
	leg = NULL;
	peer = -1;
	fake_ceiling_bytes = 4096;
	loop = event_loop_new();
	real_ops = loop->ops;
	ops = *real_ops;
	ops.now_us = fake_now;
	ops.timer_set = set_now;
	loop->ops = &ops;
	fake_now_us = 1000000;
	pool = buf_pool_new(2 * FIXTURE_MAX_MESSAGE, 8u << 20);
	record = malloc(FIXTURE_MAX_MESSAGE);
	test_budget_init(&budget, loop, FIXTURE_BUDGET);
	reserved_ports = reserved_ports_new();
	tcp_stream_net_init(&sockets, loop, reserved_ports, FIXTURE_STALL_US, 30);
	ck_assert_int_eq(tcp_worker_init(&worker, &sockets.net), 0);
	loop_task_init(&stop_task, stop, NULL);
	config = (struct tcp_leg_config){
		.leg = {.loop = loop,
			.pool = pool,
			.holder = &budget.holder,
			.max_message_bytes = FIXTURE_MAX_MESSAGE,
			.stall_timeout_us = FIXTURE_STALL_US,
			.connect_timeout_us = FIXTURE_CONNECT_US,
			.events = &events},
		.worker = &worker,
	};
	time_limit_begin(&patience, PATIENCE_S);
}

void fixture_teardown(void)
{
	if (leg) {
		leg_close(leg, LEG_CLOSE_PEER);
		if (peer >= 0)
			close(peer);
		peer = -1;
		RUN_UNTIL(seen.closed);
		ck_assert_uint_eq(seen.closed, 1);
		leg_free(leg);
	}
	for (unsigned i = 0; i < seen.ncalls; i++)
		exchange_put(seen.calls[i]);
	for (unsigned i = 0; i < seen.nreplies; i++)
		exchange_put(seen.replies[i]);
	if (peer >= 0)
		close(peer);
	ck_assert_uint_eq(pool_in_use(), 0);
	ck_assert_uint_eq(budget.account.used_bytes, 0);
	test_budget_fini(&budget);
	tcp_worker_fini(&worker);
	reserved_ports_free(reserved_ports);
	buf_pool_free(pool);
	event_loop_free(loop);
	free(record);
}

void fixture_accept(void)
{
	struct stream *stream;
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	peer = fds[1];
	ck_assert_int_eq(tcp_stream_adopt(&sockets, fds[0], &stream), 0);
	ck_assert_int_eq(tcp_leg_accept(&config, stream, NULL, &leg), 0);
}

void fixture_open(void)
{
	fixture_accept();
	peer_send_call(FIRST_XID, 40, 0);
	RUN_UNTIL(seen.requested);
	leg_accept(leg);
	RUN_UNTIL(seen.ncalls == 1);
	answer_call(0, 24, 0);
	peer_expect_reply(FIRST_XID, 24, 0);
	seen.ncalls = 0;
	worker.counters = (struct tcp_leg_counters){0};
}

int fixture_listen(int backlog, struct sockaddr_storage *addr)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, len), 0);
	ck_assert_int_eq(listen(fd, backlog), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	memset(addr, 0, sizeof(*addr));
	memcpy(addr, &in, sizeof(in));
	return fd;
}

void fixture_connect(void)
{
	struct stream_target target = {.source_port = SOURCE_PORT_ANY};
	int listener = fixture_listen(1, &target.addr);

	ck_assert_int_eq(tcp_leg_connect(&config, &target, &leg), 0);
	RUN_UNTIL(seen.opened);
	peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	ck_assert_int_ge(peer, 0);
	close(listener);
}

void turn(void)
{
	if (time_limit_passed(&patience))
		ck_abort_msg("the state does not come");
	loop_defer(loop, &stop_task);
	event_loop_run(loop);
}

void settle(void)
{
	for (int i = 0; i < 50; i++)
		turn();
}

size_t pool_in_use(void)
{
	struct buf_pool_stats stats;

	buf_pool_stats_get(pool, &stats);
	return stats.in_use_bytes;
}

void put_word(uint8_t *to, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		to[i] = word >> (24 - 8 * i) & 0xff;
}

uint32_t get_word(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | from[1] << 16 | from[2] << 8 | from[3];
}

static void put_seed(uint8_t *to, size_t len, uint8_t seed)
{
	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)(seed + i * 7 + (i >> 8));
}

void put_call(uint8_t *to, uint32_t xid, uint32_t len_bytes, uint8_t seed)
{
	const uint32_t words[10] = {xid, RPC_CALL, RPC_VERSION, 100003, 3, 1};

	for (int i = 0; i < 10; i++)
		put_word(to + 4 * i, words[i]);
	put_seed(to + 40, len_bytes - 40, seed);
}

void put_reply(uint8_t *to, uint32_t xid, uint32_t len_bytes, uint8_t seed)
{
	const uint32_t words[6] = {xid, RPC_REPLY};

	for (int i = 0; i < 6; i++)
		put_word(to + 4 * i, words[i]);
	put_seed(to + 24, len_bytes - 24, seed);
}

void peer_write(const uint8_t *bytes, size_t len_bytes)
{
	while (len_bytes > 0) {
		ssize_t n = send(peer, bytes, len_bytes, MSG_NOSIGNAL);

		if (n > 0) {
			time_limit_begin(&patience, PATIENCE_S);
			bytes += n;
			len_bytes -= (size_t)n;
		} else {
			ck_assert(errno == EAGAIN);
		}
		turn();
	}
}

void peer_send_record(const uint8_t *msg, uint32_t len_bytes)
{
	uint8_t *bytes = malloc(RECORD_MARK_BYTES + len_bytes);

	record_mark_encode(bytes, len_bytes);
	memcpy(bytes + RECORD_MARK_BYTES, msg, len_bytes);
	peer_write(bytes, RECORD_MARK_BYTES + len_bytes);
	free(bytes);
}

void peer_send_call(uint32_t xid, uint32_t len_bytes, uint8_t seed)
{
	put_call(record, xid, len_bytes, seed);
	peer_send_record(record, len_bytes);
}

void peer_send_reply(uint32_t xid, uint32_t len_bytes, uint8_t seed)
{
	put_reply(record, xid, len_bytes, seed);
	peer_send_record(record, len_bytes);
}

void peer_read(uint8_t *to, size_t len_bytes)
{
	while (len_bytes > 0) {
		ssize_t n = recv(peer, to, len_bytes, 0);

		ck_assert(n > 0 || (n < 0 && errno == EAGAIN));
		if (n > 0) {
			time_limit_begin(&patience, PATIENCE_S);
			to += n;
			len_bytes -= (size_t)n;
		} else {
			turn();
		}
	}
}

const uint8_t *peer_read_record(uint32_t *len_bytes)
{
	uint8_t mark[RECORD_MARK_BYTES];

	peer_read(mark, sizeof(mark));
	ck_assert(mark[0] & 0x80);
	*len_bytes = get_word(mark) & RECORD_MAX_FRAGMENT_BYTES;
	ck_assert_uint_le(*len_bytes, FIXTURE_MAX_MESSAGE);
	peer_read(record, *len_bytes);
	return record;
}

void peer_expect_reply(uint32_t xid, uint32_t len_bytes, uint8_t seed)
{
	uint8_t *want = malloc(len_bytes);
	uint32_t len;
	const uint8_t *got = peer_read_record(&len);

	put_reply(want, xid, len_bytes, seed);
	ck_assert_uint_eq(len, len_bytes);
	ck_assert(!memcmp(got, want, len));
	free(want);
}

void peer_expect_system_err(uint32_t xid)
{
	uint32_t len;
	const uint8_t *got = peer_read_record(&len);
	struct rpc_reply_hdr hdr;

	ck_assert_int_eq(rpc_reply_decode(got, len, &hdr), RPC_OK);
	ck_assert_uint_eq(hdr.xid, xid);
	ck_assert_int_eq(hdr.stat, RPC_MSG_ACCEPTED);
	ck_assert_int_eq(hdr.accept_stat, RPC_SYSTEM_ERR);
}

bool peer_at_end(void)
{
	char byte;
	ssize_t n = recv(peer, &byte, 1, MSG_PEEK);

	return n == 0 || (n < 0 && errno != EAGAIN);
}

void expect_call(const struct exchange *x, uint32_t xid, uint32_t len_bytes, uint8_t seed)
{
	uint8_t *want = malloc(len_bytes);

	put_call(want, xid, len_bytes, seed);
	ck_assert_uint_eq(x->call_info.hdr.xid, xid);
	ck_assert_uint_eq(x->call.len_bytes, len_bytes);
	ck_assert(!memcmp(x->call.data, want, len_bytes));
	free(want);
}

void answer_call(unsigned index, uint32_t len_bytes, uint8_t seed)
{
	struct exchange *x = seen.calls[index];

	seen.calls[index] = NULL;
	ck_assert_int_eq(rpc_msg_get(pool, len_bytes, &x->reply), 0);
	put_reply(x->reply.data, x->call_info.hdr.xid, len_bytes, seed);
	leg_reply(leg, x);
}

void send_call(uint32_t xid, uint32_t len_bytes, uint8_t seed, uint32_t reply_max_bytes)
{
	struct exchange *x = exchange_new(NULL);

	ck_assert_int_eq(rpc_msg_get(pool, len_bytes, &x->call), 0);
	put_call(x->call.data, xid, len_bytes, seed);
	ck_assert_int_eq(rpc_call_decode(x->call.data, len_bytes, &x->call_info.hdr), RPC_OK);
	nfs_call_walk_whole(&x->call_info, UINT32_MAX, NULL, x->call.data, len_bytes);
	x->reply_max_bytes = reply_max_bytes;
	x->start_us = loop_now_us(loop);
	leg_call(leg, x);
}

void peer_send_fragments(const uint8_t *msg, uint32_t len, uint32_t step)
{
	uint8_t mark[RECORD_MARK_BYTES];
	unsigned empty = 0;

	for (uint32_t at = 0; at < len; at += step) {
		uint32_t n = step < len - at ? step : len - at;

		put_word(mark, 0);
		if (empty++ < RECORD_MAX_EMPTY_FRAGMENTS)
			peer_write(mark, sizeof(mark));
		put_word(mark, n);
		peer_write(mark, sizeof(mark));
		peer_write(msg + at, n);
	}
	put_word(mark, 0x80000000u);
	peer_write(mark, sizeof(mark));
}

void peer_expect_alive(void)
{
	peer_send_call(99, 50, 1);
	RUN_UNTIL(seen.ncalls);
	expect_call(seen.calls[0], 99, 50, 1);
	answer_call(0, 24, 0);
	peer_expect_reply(99, 24, 0);
	ck_assert_uint_eq(budget.account.used_bytes, 0);
	ck_assert_uint_eq(seen.closed, 0);
}
