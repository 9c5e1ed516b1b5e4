// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lab/pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/loop.h"
#include "tests/lib/time_limit.h"

struct loop *loop;
struct buf_pool *pool;
struct fabric *fabric, *client_fabric;
struct sockaddr_storage listen_addr;
const char *fabric_name;
unsigned cases, failures;
struct loop_timer *wait_timer;
bool windows;
struct side client, server, *incoming_side = &server;
void (*incoming_taken)(struct fabric_incoming *in);

struct fabric_ep_params params_base = {
	.private_data = {'p', 'i', 'n', 'g'},
	.private_data_bytes = 4,
	.ird = DEPTH,
	.ord = DEPTH,
	.recv_size_bytes = RECV_BYTES,
	.recv_count = RECVS,
	.recv_max = MANY + RECVS,
};

const char *close_name(enum fabric_close why)
{
	static const char *const names[] = {
		[FABRIC_CLOSE_LOCAL] = "local",
		[FABRIC_CLOSE_PEER] = "peer closed",
		[FABRIC_CLOSE_LOST] = "lost",
		[FABRIC_CLOSE_SILENT] = "silent",
		[FABRIC_CLOSE_REFUSED] = "refused",
		[FABRIC_CLOSE_TIMEOUT] = "timeout",
		[FABRIC_CLOSE_PROTOCOL] = "protocol error",
		[FABRIC_CLOSE_TERMINATED] = "terminated",
		[FABRIC_CLOSE_RESOURCES] = "resources",
		[FABRIC_CLOSE_PROXY_HEADER] = "proxy header",
		[FABRIC_CLOSE_PORT] = "port taken",
	};
	return names[why];
}

void result(bool ok, const char *name)
{
	printf("%s %u - %s: %s\n", ok ? "ok" : "not ok", ++cases, fabric_name, name);
	if (ok)
		return;
	failures++;
	printf("# client: established %d closed %d (%s: %s) recvs %u; server: established %d closed %d "
	       "(%s: %s) recvs %u\n",
	       client.established, client.closed, close_name(client.why), client.detail,
	       client.recvs, server.established, server.closed, close_name(server.why),
	       server.detail, server.recvs);
}

/* ---- waiting ---- */

static bool (*wait_for)(void);
static struct time_limit wait_limit;
void wait_check(void *arg)
{
	if (wait_for() || time_limit_passed(&wait_limit))
		event_loop_stop(loop);
	else
		loop_timer_set(loop, wait_timer, 1000);
}

bool wait_until(bool (*condition)(void))
{
	wait_for = condition;
	time_limit_begin(&wait_limit, WAIT_S);
	loop_timer_set(loop, wait_timer, 0);
	event_loop_run(loop);
	return condition();
}

bool both_established(void)
{
	return client.established && server.established;
}

bool both_closed(void)
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
		fabric_ep_reject(side->ep, "refused", 7);
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

const struct fabric_ep_events events = {
	.requested = on_requested,
	.established = on_established,
	.recv = on_recv,
	.closed = on_closed,
	.note = on_note,
};

void on_incoming(void *arg, struct fabric_incoming *in)
{
	if (incoming_taken)
		incoming_taken(in);
	else if (fabric_adopt(fabric, in, &events, incoming_side, &incoming_side->ep))
		printf("# adopt failed\n");
}

/* ---- connections ---- */

bool connect_pair(void)
{
	memset(&client, 0, sizeof(client));
	memset(&server, 0, sizeof(server));
	client.refill = server.refill = 1;
	if (fabric_connect(client_fabric, (struct sockaddr *)&listen_addr, &params_base, &events,
			   &client, &client.ep))
		return false;
	return wait_until(both_established);
}

void close_pair(void)
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

unsigned done_ok, done_failed, done_want;
bool done_disorder;
enum fabric_status done_last;
static unsigned done_next;

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

bool all_done(void)
{
	return done_ok + done_failed >= done_want;
}

void jobs_begin(void)
{
	done_ok = done_failed = done_next = done_want = 0;
	done_disorder = false;
}

/* Posts one; the numbers must run within the jobs that are ordered with each other. */
int job_post(struct side *side, enum fabric_wr_op op, struct buf *buf, uint32_t at,
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

struct buf *pattern_buf(size_t len_bytes, unsigned seed)
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

int lend_from(struct side *side, struct fabric_key *key, struct buf *buf, uint32_t at,
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

int lend(struct fabric_key *key, struct buf *buf, uint32_t at, uint32_t len_bytes, unsigned rights)
{
	return lend_from(&server, key, buf, at, len_bytes, rights);
}

bool take_back(struct fabric_key *key)
{
	server.unbound = 0;
	return fabric_key_unbind(key) || wait_until(is_unbound);
}

bool server_recv_all(void)
{
	return server.recvs >= done_want && all_done();
}

bool client_recv_all(void)
{
	return client.recvs >= done_want && all_done();
}

bool server_got_one(void)
{
	return server.recvs > 0;
}

unsigned recvs_want;

bool server_got_those(void)
{
	return server.recvs >= recvs_want;
}

bool client_speaks(void)
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

bool server_tells(void)
{
	struct buf *word = buf_get(pool, 64);
	bool ok = client_speaks();

	memset(word->mem, 0, 4);
	jobs_begin();
	ok = ok && !job_post(&server, FABRIC_SEND, word, 0, 4, 0, 0) && wait_until(client_recv_all);
	buf_put(word);
	server.next_number = client.next_number = 0;
	return ok;
}
