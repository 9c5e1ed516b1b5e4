// SPDX-License-Identifier: BSD-3-Clause
/*
 * fabric_pair FABRIC ADDRESS: what fabric.h promises, between two endpoints of one real fabric, in TAP.
 *
 * FABRIC is iwarp or verbs; ADDRESS is a local address that the fabric's device serves. It needs no test
 * framework, so that a laboratory's guest can run what was built outside.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/loop.h"
#include "fabric/iwarp/iwarp.h"
#include "fabric/verbs/verbs.h"

#define RECV_BYTES 4096u
#define RECVS      64u
#define MANY       600u
#define BULK_BYTES (1u << 20)
#define WAIT_US    20000000u
#define DEPTH      4u

static struct loop *loop;
static struct pool *pool;
static struct fabric *fabric;
static struct fabric_listener *listener;
static struct sockaddr_storage listen_addr;
static const char *fabric_name;
static unsigned cases, failures;

struct side {
	struct fabric_ep *ep;
	bool requested, established, closed, refuse;
	enum fabric_close why;
	char detail[128];
	uint8_t private_data[FABRIC_MAX_PRIVATE_DATA];
	size_t private_data_bytes;
	unsigned recvs;
	uint64_t recv_bytes;
	uint32_t next_number; /* Sends carry numbers, checked for order */
	bool out_of_order;
	struct fabric_recv last;
	void (*on_recv)(const struct fabric_recv *recv);
	unsigned refill; /* receives to post again for each one used */
	unsigned unbound;
};

static struct side client, server;
static struct fabric_ep_params params_base = {
	.private_data = {'p', 'i', 'n', 'g'},
	.private_data_bytes = 4,
	.ird = DEPTH,
	.ord = DEPTH,
	.recv_size_bytes = RECV_BYTES,
	.recv_count = RECVS,
	.recv_max = MANY + RECVS,
};

static void result(bool ok, const char *name)
{
	printf("%s %u - %s: %s\n", ok ? "ok" : "not ok", ++cases, fabric_name, name);
	if (ok)
		return;
	failures++;
	printf("# client: established %d closed %d (%s: %s) recvs %u; server: established %d closed %d "
	       "(%s: %s) recvs %u\n",
	       client.established, client.closed, fabric_close_name(client.why), client.detail,
	       client.recvs, server.established, server.closed, fabric_close_name(server.why),
	       server.detail, server.recvs);
}

/* ---- waiting ---- */

static bool (*wait_for)(void);
static uint64_t wait_end_us;
static struct loop_timer *wait_timer;

static void wait_check(void *arg)
{
	if (wait_for() || loop_now_us(loop) > wait_end_us)
		event_loop_stop(loop);
	else
		loop_timer_set(loop, wait_timer, 1000);
}

static bool wait_until(bool (*condition)(void))
{
	wait_for = condition;
	wait_end_us = loop_now_us(loop) + WAIT_US;
	loop_timer_set(loop, wait_timer, 0);
	event_loop_run(loop);
	return condition();
}

static bool both_established(void)
{
	return client.established && server.established;
}

static bool both_closed(void)
{
	return (!client.ep || client.closed) && (!server.ep || server.closed);
}

/* ---- events ---- */

static void on_requested(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct side *side = arg;
	struct fabric_ep_params params = params_base;

	side->requested = true;
	memcpy(side->private_data, private_data, len_bytes);
	side->private_data_bytes = len_bytes;
	if (side->refuse) {
		fabric_ep_reject(side->ep);
		return;
	}
	memcpy(params.private_data, "pong", 4);
	if (fabric_ep_accept(side->ep, &params))
		printf("# accept failed\n");
}

static void on_established(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct side *side = arg;

	side->established = true;
	if (side == &client) {
		memcpy(side->private_data, private_data, len_bytes);
		side->private_data_bytes = len_bytes;
	}
}

static void on_recv(void *arg, const struct fabric_recv *recv)
{
	struct side *side = arg;
	uint32_t number;

	side->recvs++;
	side->recv_bytes += recv->len_bytes;
	side->last = *recv;
	if (recv->len_bytes >= 4) {
		memcpy(&number, recv->data, 4);
		if (number != side->next_number++)
			side->out_of_order = true;
	}
	if (side->on_recv)
		side->on_recv(recv);
	fabric_recv_post(side->ep, side->refill, RECV_BYTES);
}

static void on_closed(void *arg, enum fabric_close why, const char *detail)
{
	struct side *side = arg;

	side->closed = true;
	side->why = why;
	snprintf(side->detail, sizeof(side->detail), "%s", detail);
}

static void on_note(void *arg, const char *text)
{
	printf("# note: %s\n", text);
}

static const struct fabric_ep_events events = {
	.requested = on_requested,
	.established = on_established,
	.recv = on_recv,
	.closed = on_closed,
	.note = on_note,
};

static void on_incoming(void *arg, struct fabric_incoming *in)
{
	if (fabric_adopt(fabric, in, &events, &server, &server.ep))
		printf("# adopt failed\n");
}

/* ---- connections ---- */

static bool connect_pair(void)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	client.refill = server.refill = 1;
	if (fabric_connect(fabric, (struct sockaddr *)&listen_addr, &params_base, &events, &client,
			   &client.ep))
		return false;
	return wait_until(both_established);
}

static void close_pair(void)
{
	if (client.ep)
		fabric_ep_close(client.ep);
	if (!wait_until(both_closed))
		printf("# not closed in time\n");
	fabric_ep_free(client.ep);
	fabric_ep_free(server.ep);
	client.ep = server.ep = NULL;
}

/* ---- work requests ---- */

struct job {
	struct fabric_wr wr;
	unsigned number;
};

static unsigned done_ok, done_failed, done_next;
static bool done_disorder;
static enum fabric_status done_last;
static unsigned done_want;

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct job *job = container_of(wr, struct job, wr);

	if (job->number != done_next++)
		done_disorder = true;
	if (status == FABRIC_OK)
		done_ok++;
	else
		done_failed++;
	done_last = status;
	free(job);
}

static bool all_done(void)
{
	return done_ok + done_failed >= done_want;
}

static void jobs_begin(void)
{
	done_ok = done_failed = done_next = done_want = 0;
	done_disorder = false;
}

/* Posts one; the numbers must run within the jobs that are ordered with each other. */
static int job_post(struct side *side, enum fabric_wr_op op, struct buf *buf, uint32_t at,
		    uint32_t len_bytes, uint32_t rkey, uint64_t raddr)
{
	struct job *job = calloc(1, sizeof(*job));
	int err;

	job->number = done_want++;
	job->wr.op = op;
	job->wr.nsge = 1;
	job->wr.sge[0] = (struct fabric_sge){buf, buf->mem + at, len_bytes};
	job->wr.rkey = job->wr.inv_rkey = rkey;
	job->wr.raddr = raddr;
	job->wr.done = on_done;
	err = fabric_post(side->ep, &job->wr);
	if (err) {
		done_want--;
		free(job);
	}
	return err;
}

static struct buf *pattern_buf(size_t len_bytes, unsigned seed)
{
	struct buf *buf = buf_get(pool, len_bytes);

	for (size_t i = 0; i < len_bytes; i++)
		buf->mem[i] = (uint8_t)(i * 31 + i / 251 + seed);
	return buf;
}

static void on_unbound(struct fabric_key *key)
{
	server.unbound++;
}

static bool is_unbound(void)
{
	return server.unbound > 0;
}

static int lend_from(struct side *side, struct fabric_key *key, struct buf *buf, uint32_t at,
		     uint32_t len_bytes, unsigned rights)
{
	memset(key, 0, sizeof(*key));
	key->buf = buf;
	key->mem = buf->mem + at;
	key->len_bytes = key->ready_bytes = len_bytes;
	key->rights = rights;
	key->unbound = on_unbound;
	return fabric_key_bind(side->ep, key);
}

static int lend(struct fabric_key *key, struct buf *buf, uint32_t at, uint32_t len_bytes,
		unsigned rights)
{
	return lend_from(&server, key, buf, at, len_bytes, rights);
}

static bool take_back(struct fabric_key *key)
{
	server.unbound = 0;
	return fabric_key_unbind(key) || wait_until(is_unbound);
}

static bool server_recv_all(void)
{
	return server.recvs >= done_want && all_done();
}

static bool client_recv_all(void)
{
	return client.recvs >= done_want && all_done();
}

static bool server_got_one(void)
{
	return server.recvs > 0;
}

static unsigned recvs_want;

static bool server_got_those(void)
{
	return server.recvs >= recvs_want;
}

static bool client_speaks(void)
{
	struct buf *word = buf_get(pool, 64);
	bool ok;

	memset(word->mem, 0, 4);
	jobs_begin();
	ok = !job_post(&client, FABRIC_SEND, word, 0, 4, 0, 0) && wait_until(server_recv_all);
	buf_put(word);
	server.recvs = 0;
	return ok;
}

/* ---- cases ---- */

static void case_connect(void)
{
	struct fabric_ep_info info;
	bool up = connect_pair();

	result(up, "connects");
	if (!up)
		return;
	result(server.private_data_bytes >= 4 && !memcmp(server.private_data, "ping", 4) &&
		       client.private_data_bytes >= 4 && !memcmp(client.private_data, "pong", 4),
	       "passes private data both ways");
	fabric_ep_info(client.ep, &info);
	printf("# client ird %u ord %u, keys per RPC %d, invalidates %d, gather %u\n", info.ird,
	       info.ord, info.per_rpc_keys, info.sends_invalidate, info.max_sge);
	result(!info.late_reads || strcmp(fabric_name, "verbs"),
	       "does not say that a device answers Reads late");
	result(info.ord <= DEPTH && info.ord > 0, "agrees on read depths");
	close_pair();
	result(client.closed && client.why == FABRIC_CLOSE_LOCAL && server.closed &&
		       server.why == FABRIC_CLOSE_PEER,
	       "closes in good order");
}

static void case_reject(void)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	server.refuse = true;
	if (fabric_connect(fabric, (struct sockaddr *)&listen_addr, &params_base, &events, &client,
			   &client.ep))
		return;
	result(wait_until(both_closed) && client.why == FABRIC_CLOSE_REFUSED && !client.established,
	       "tells a rejected connection");
	close_pair();
}

static void case_refused(void)
{
	struct sockaddr_storage addr = listen_addr;
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;
	int err;

	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	in->sin_port = htons(9); /* nobody listens; the port stands at the same place for IPv6 */
	err = fabric_connect(fabric, (struct sockaddr *)&addr, &params_base, &events, &client,
			     &client.ep);
	result(err || (wait_until(both_closed) && !client.established),
	       "tells a port where nobody listens");
	if (!err)
		close_pair();
}

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
	/* What was posted before a close is sent. */
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

static struct buf *landing;
static struct buf *expected;
static bool landed;

static void check_landing(const struct fabric_recv *recv)
{
	landed = !memcmp(landing->mem, expected->mem, BULK_BYTES);
}

static void case_write(void)
{
	struct fabric_key key;
	struct buf *from = pattern_buf(BULK_BYTES, 7);
	uint32_t zero = 0;

	landing = buf_get(pool, BULK_BYTES);
	expected = from;
	landed = false;
	memset(landing->mem, 0, BULK_BYTES);
	if (!connect_pair())
		return result(false, "connects");
	if (lend(&key, landing, 0, BULK_BYTES, FABRIC_REMOTE_WRITE))
		return result(false, "binds a key");
	/* Over iWARP the acceptor waits for the first message of the other end. */
	if (!client_speaks())
		result(false, "sends a first message");
	server.on_recv = check_landing;
	/* The key travels in a Send of the server's, which tests that it is good by then. */
	struct buf *word = buf_get(pool, 64);
	memcpy(word->mem, &zero, 4);
	jobs_begin();
	if (job_post(&server, FABRIC_SEND, word, 0, 64, 0, 0) || !wait_until(client_recv_all))
		result(false, "sends the key");
	server.recvs = 0;
	jobs_begin();
	for (unsigned i = 0; i < 4; i++)
		if (job_post(&client, FABRIC_WRITE, from, i * (BULK_BYTES / 4), BULK_BYTES / 4,
			     key.rkey, key.addr + i * (BULK_BYTES / 4)))
			printf("# post failed\n");
	if (job_post(&client, FABRIC_SEND, word, 0, 64, 0, 0))
		printf("# post failed\n");
	result(wait_until(server_got_one) && wait_until(all_done) && landed && done_failed == 0 &&
		       !done_disorder,
	       "places Writes before the Send behind them");
	result(take_back(&key), "takes a key back");
	/* Gone is gone: the connection ends, the memory stays. */
	memset(landing->mem, 0, BULK_BYTES);
	jobs_begin();
	if (job_post(&client, FABRIC_WRITE, from, 0, BULK_BYTES / 4, key.rkey, key.addr))
		printf("# post failed\n");
	result(wait_until(both_closed) && landing->mem[0] == 0 && landing->mem[1] == 0 &&
		       !memcmp(landing->mem, landing->mem + 1, BULK_BYTES - 1),
	       "ends a connection whose peer uses a dead key");
	close_pair();
	buf_put(word);
	buf_put(landing);
	buf_put(from);
}

static void case_bounds(void)
{
	struct fabric_key key;
	struct buf *from = pattern_buf(8192, 9);

	landing = buf_get(pool, 8192);
	memset(landing->mem, 0, 8192);
	if (!connect_pair())
		return result(false, "connects");
	if (lend(&key, landing, 1000, 2000, FABRIC_REMOTE_WRITE))
		return result(false, "binds a key");
	jobs_begin();
	if (job_post(&client, FABRIC_WRITE, from, 0, 2000, key.rkey, key.addr) ||
	    job_post(&client, FABRIC_WRITE, from, 0, 16, key.rkey, key.addr + 1990))
		printf("# post failed\n");
	wait_until(both_closed);
	result(both_closed() && !memcmp(landing->mem + 1000, from->mem, 1990) &&
		       landing->mem[999] == 0 && landing->mem[3000] == 0,
	       "holds a key's bounds to the byte");
	result(take_back(&key), "takes back a key of a dead connection");
	close_pair();

	buf_put(landing);
	buf_put(from);
}

/* What the key does not allow ends the connection; @op tries it. */
static void case_rights(enum fabric_wr_op op, unsigned rights, const char *name)
{
	struct fabric_key key;
	struct fabric_ep_info info;
	struct buf *from = pattern_buf(8192, 9);

	landing = buf_get(pool, 8192);
	if (!connect_pair())
		return result(false, "connects");
	fabric_ep_info(server.ep, &info);
	if (lend(&key, landing, 0, 4096, rights)) {
		result(false, "binds a key");
	} else if (op == FABRIC_READ && !strcmp(fabric_name, "verbs") && !info.per_rpc_keys) {
		printf("ok %u - %s: %s # SKIP siw answers a Read of any region\n", ++cases,
		       fabric_name, name);
		result(take_back(&key), "takes a key back");
	} else {
		jobs_begin();
		if (job_post(&client, op, from, 0, 64, key.rkey, key.addr))
			printf("# post failed\n");
		wait_until(both_closed);
		result(both_closed() && all_done(), name);
		result(take_back(&key), "takes a key back after closed()");
	}
	close_pair();
	buf_put(landing);
	buf_put(from);
}

static void case_reads(void)
{
	const uint32_t part = BULK_BYTES / 32;
	struct fabric_key key;
	struct buf *from = pattern_buf(BULK_BYTES, 11), *to = buf_get(pool, BULK_BYTES);

	if (!connect_pair())
		return result(false, "connects");
	if (lend(&key, from, 0, BULK_BYTES, FABRIC_REMOTE_READ))
		return result(false, "binds a key");
	jobs_begin();
	for (unsigned i = 0; i < 32; i++)
		if (job_post(&client, FABRIC_READ, to, i * part, part, key.rkey,
			     key.addr + i * part))
			printf("# post failed\n");
	result(wait_until(all_done) && done_ok == 32 && !done_disorder &&
		       !memcmp(to->mem, from->mem, BULK_BYTES),
	       "reads more at once than the peer's depth");
	/* Reads under way when the connection is cut complete all the same. */
	jobs_begin();
	for (unsigned i = 0; i < 32; i++)
		if (job_post(&client, FABRIC_READ, to, i * part, part, key.rkey,
			     key.addr + i * part))
			printf("# post failed\n");
	fabric_ep_close(server.ep);
	wait_until(both_closed);
	result(both_closed() && all_done() && !done_disorder,
	       "completes every Read of a cut connection");
	result(take_back(&key), "takes back a key that was being read");
	close_pair();
	buf_put(from);
	buf_put(to);
}

/* siw does it to a region too, but does not tell; where keys are regions, nobody is asked to do it. */
static void case_invalidate(void)
{
	struct fabric_key key;
	struct fabric_ep_info info;
	struct buf *word = pattern_buf(64, 0);
	uint32_t number = 0;

	if (!connect_pair())
		return result(false, "connects");
	fabric_ep_info(server.ep, &info);
	landing = buf_get(pool, 4096);
	if (!client_speaks())
		result(false, "sends a first message");
	server.next_number = 0;
	/* Many times, so that windows are used again. */
	for (number = 0; number < 50; number++) {
		if (lend(&key, landing, 0, 4096, FABRIC_REMOTE_WRITE))
			break;
		jobs_begin();
		memcpy(word->mem, &number, 4);
		/* The peer learns of the key by a Send; only then it may use it. */
		client.recvs = 0;
		if (job_post(&server, FABRIC_SEND, word, 0, 64, 0, 0) ||
		    !wait_until(client_recv_all))
			break;
		jobs_begin();
		server.recvs = 0;
		if (job_post(&client, FABRIC_SEND_INV, word, 0, 64, key.rkey, 0) ||
		    !wait_until(server_recv_all) ||
		    (info.per_rpc_keys &&
		     (!server.last.invalidated || server.last.inv_rkey != key.rkey)) ||
		    !take_back(&key))
			break;
	}
	result(number == 50 && !server.out_of_order, "invalidates remotely, again and again");
	close_pair();
	buf_put(landing);
	buf_put(word);
}

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

	params_base.recv_count = 2;
	expected = from;
	sized_intact = true;
	memset(sized_got, 0, sizeof(sized_got));
	if (!connect_pair())
		return result(false, "connects");
	server.refill = 0;
	server.on_recv = check_sized;
	for (unsigned i = 0; i < ARRAY_SIZE(sized_posts); i++)
		fabric_recv_post(server.ep, 1, sized_posts[i]);
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

static in_port_t port_of(const struct sockaddr_storage *addr)
{
	/* It stands at the same place for IPv6. */
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

static void case_source(void)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&params_base.source;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&params_base.source;
	struct fabric_ep_info ours, theirs;

	params_base.source = listen_addr;
	in->sin_port = htons(31789);
	if (connect_pair()) {
		fabric_ep_info(client.ep, &ours);
		fabric_ep_info(server.ep, &theirs);
		result(port_of(&ours.local) == 31789 && port_of(&theirs.peer) == 31789,
		       "comes from the address and port that it is told to");
		close_pair();
	} else {
		result(false, "connects from a given address");
		close_pair();
	}
	/* 192.0.2.1 and 2001:db8::1: of nobody. */
	in->sin_port = 0;
	if (listen_addr.ss_family == AF_INET)
		in->sin_addr.s_addr = htonl(0xc0000201);
	else
		in6->sin6_addr = (struct in6_addr){{{0x20, 0x01, 0x0d, 0xb8, [15] = 1}}};
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	result(fabric_connect(fabric, (struct sockaddr *)&listen_addr, &params_base, &events,
			      &client, &client.ep) ||
		       (wait_until(both_closed) && !client.established),
	       "does not come from an address that is not this host's");
	close_pair();
	memset(&params_base.source, 0, sizeof(params_base.source));
}

static uint64_t wait_till_us;

static bool it_is_time(void)
{
	return loop_now_us(loop) >= wait_till_us;
}

static void wait_a_while(uint64_t us)
{
	wait_till_us = loop_now_us(loop) + us;
	wait_until(it_is_time);
}

static uint64_t probes(void)
{
	return ((const struct verbs_counters *)fabric->counters)->probes;
}

/* A probe that was not answered would stand in the way of the next. */
static bool answers_probes(struct side *side)
{
	uint64_t before = probes();

	for (unsigned i = 1; i <= 5; i++) {
		if (fabric_ep_probe(side->ep) || fabric_ep_probe(side->ep) ||
		    probes() != before + i)
			return false;
		wait_a_while(300000);
	}
	return !side->closed;
}

static void case_probe(void)
{
	const uint32_t part = BULK_BYTES / 32;
	struct fabric_key key;
	struct buf *from = pattern_buf(BULK_BYTES, 13), *to = buf_get(pool, BULK_BYTES);
	int err;

	if (!connect_pair() || !client_speaks())
		return result(false, "connects");
	err = fabric_ep_probe(client.ep);
	wait_a_while(300000);
	if (err)
		result(err == -EOPNOTSUPP, "says that a connector's probe would not tell");
	else
		result(answers_probes(&client), "answers a connector's probes");
	result(answers_probes(&server), "answers an acceptor's probes");
	if (lend_from(&client, &key, from, 0, BULK_BYTES, FABRIC_REMOTE_READ))
		return result(false, "binds a key");
	/* The key goes along with a Send, so that it is good. */
	if (!client_speaks())
		result(false, "sends the key");
	wait_a_while(300000);
	jobs_begin();
	if (fabric_ep_probe(server.ep))
		printf("# no probe\n");
	for (unsigned i = 0; i < 32; i++)
		if (job_post(&server, FABRIC_READ, to, i * part, part, key.rkey,
			     key.addr + i * part) ||
		    fabric_ep_probe(server.ep))
			printf("# post failed\n");
	result(wait_until(all_done) && done_ok == 32 && !done_disorder &&
		       !memcmp(to->mem, from->mem, BULK_BYTES),
	       "probes before and among Reads, more than the peer's depth");
	result(take_back(&key) && client_speaks() && !client.closed && !server.closed,
	       "goes on after its probes");
	close_pair();
	/* One that is under way when the connection ends. */
	if (!connect_pair() || !client_speaks())
		return result(false, "connects");
	err = fabric_ep_probe(server.ep);
	close_pair();
	result(!err && client.closed && server.closed, "ends a connection that is being probed");
	buf_put(from);
	buf_put(to);
}

static bool parse_addr(const char *text, struct sockaddr_storage *addr)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1)
		addr->ss_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1)
		addr->ss_family = AF_INET6;
	return addr->ss_family != AF_UNSPEC;
}

static int make_fabric(const char *name, const struct sockaddr_storage *addr)
{
	static struct verbs_config verbs = {.setup_timeout_us = 5000000};
	static struct iwarp_config iwarp = {
		.crc = true, .fpdu_64k = true, .setup_timeout_us = 5000000};
	const struct fabric_ops *ops;
	void *config;

	if (!strcmp(name, "verbs")) {
		fabric = verbs_fabric_new(loop, pool, &verbs);
		ops = &verbs_fabric_ops;
		config = &verbs;
	} else {
		fabric = iwarp_fabric_new(loop, pool, &iwarp);
		ops = &iwarp_fabric_ops;
		config = &iwarp;
	}
	if (!fabric)
		return -1;
	return fabric_listen(ops, config, loop, (const struct sockaddr *)addr, 16, on_incoming,
			     NULL, &listener);
}

int main(int argc, char **argv)
{
	struct sockaddr_storage addr;
	struct pool_stats stats;
	int err;

	if (argc != 3 || !parse_addr(argv[2], &addr)) {
		fprintf(stderr, "usage: fabric_pair iwarp|verbs ADDRESS\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	loop = event_loop_new();
	pool = pool_new(BULK_BYTES, 8u << 20);
	wait_timer = loop_timer_new(loop, wait_check, NULL);
	fabric_name = argv[1];
	err = make_fabric(argv[1], &addr);
	if (err) {
		printf("1..0 # SKIP no %s at %s: %s\n", argv[1], argv[2], strerror(-err));
		return 0;
	}
	fabric_listener_addr(listener, &listen_addr);
	case_connect();
	case_reject();
	case_refused();
	case_sends();
	case_many();
	case_write();
	case_bounds();
	case_rights(FABRIC_WRITE, FABRIC_REMOTE_READ, "refuses a Write to a key for reading");
	case_rights(FABRIC_READ, FABRIC_REMOTE_WRITE, "refuses a Read of a key for writing");
	case_reads();
	case_invalidate();
	case_recv_sizes();
	case_source();
	if (!strcmp(fabric_name, "verbs"))
		case_probe();
	fabric_listener_free(listener);
	for (unsigned i = 0; fabric->ops->counters_table[i].name; i++)
		printf("# %s %llu\n", fabric->ops->counters_table[i].name,
		       (unsigned long long)((uint64_t *)fabric->counters)[i]);
	fabric_free(fabric);
	pool_stats_get(pool, &stats);
	result(stats.in_use_bytes == 0, "gives every buffer back");
	printf("1..%u\n", cases);
	loop_timer_free(loop, wait_timer);
	pool_free(pool);
	event_loop_free(loop);
	return failures != 0;
}
