// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/bare.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/fake_loop.h"
#include "tests/lib/test.h"

static const struct sockaddr_storage address = {.ss_family = AF_INET};

static void event_add(struct bare_end *end, struct bare_event event)
{
	ck_assert_uint_lt(end->nevents, BARE_MAX_EVENTS);
	/* closed() is the last. */
	ck_assert(!end->closed);
	end->closed = event.what == BARE_CLOSED;
	end->events[end->nevents++] = event;
	if (end->hook)
		end->hook(end, &end->events[end->nevents - 1]);
}

static void on_requested(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	struct bare_end *end = arg;

	ck_assert_int_eq(fabric_ep_accept(end->ep, &end->params), 0);
}

static void on_established(void *arg, const uint8_t *private_data, size_t len_bytes)
{
	((struct bare_end *)arg)->established = true;
}

static void on_recv(void *arg, const struct fabric_recv *recv)
{
	event_add(arg, (struct bare_event){.what = BARE_RECV, .recv = *recv});
}

static void on_closed(void *arg, enum fabric_close why, const char *detail)
{
	event_add(arg, (struct bare_event){.what = BARE_CLOSED, .why = why});
}

static const struct fabric_ep_events events = {
	.requested = on_requested,
	.established = on_established,
	.recv = on_recv,
	.closed = on_closed,
};

static void on_incoming(void *arg, struct fabric_incoming *in)
{
	struct bare *bare = arg;

	ck_assert_int_eq(fabric_adopt(bare->fabric, in, &events, &bare->server, &bare->server.ep),
			 0);
}

static void end_init(struct bare *bare, struct bare_end *end)
{
	end->bare = bare;
	end->params = (struct fabric_ep_params){
		.ird = 4, .ord = 4, .recv_size_bytes = 1024, .recv_count = 8};
	end->buf = buf_get(bare->pool, BARE_BUF_BYTES);
	memset(end->buf->mem, 0, BARE_BUF_BYTES);
}

struct bare *bare_new(const struct sim_faults *faults)
{
	struct bare *bare = calloc(1, sizeof(*bare));

	bare->loop = fake_loop_new();
	bare->pool = buf_pool_new(BARE_BUF_BYTES, 8u << 20);
	bare->net = sim_net_new(bare->loop, faults);
	bare->fabric = sim_fabric_new(bare->net, bare->pool);
	ck_assert_int_eq(fabric_listen(&sim_fabric_ops, bare->net, bare->loop,
				       (const struct sockaddr *)&address, 1, on_incoming, bare,
				       &bare->listener),
			 0);
	end_init(bare, &bare->client);
	end_init(bare, &bare->server);
	return bare;
}

void bare_run(struct bare *bare, uint64_t us)
{
	fake_loop_advance(bare->loop, us);
}

void bare_connect(struct bare *bare)
{
	ck_assert_int_eq(fabric_connect(bare->fabric, (const struct sockaddr *)&address,
					&bare->client.params, &events, &bare->client,
					&bare->client.ep),
			 0);
	bare_run(bare, 1000000);
	ck_assert(bare->client.established && bare->server.established);
}

struct bare *bare_open(const struct sim_faults *faults)
{
	struct bare *bare = bare_new(faults);

	bare_connect(bare);
	return bare;
}

static void end_fini(struct bare_end *end)
{
	unsigned done[BARE_MAX_WRS] = {0};

	ck_assert(end->closed);
	for (unsigned i = 0; i < end->nevents; i++)
		if (end->events[i].what == BARE_DONE)
			done[end->events[i].which]++;
	for (unsigned i = 0; i < end->nwrs; i++)
		ck_assert_uint_eq(done[i], 1);
	for (unsigned i = 0; i < end->nkeys; i++)
		if (end->bound[i])
			ck_assert(bare_unbind(end, &end->keys[i].key));
	fabric_ep_free(end->ep);
	buf_put(end->buf);
}

void bare_free(struct bare *bare)
{
	fabric_ep_close(bare->client.ep);
	fabric_ep_close(bare->server.ep);
	bare_run(bare, 10000000);
	end_fini(&bare->client);
	end_fini(&bare->server);
	fabric_listener_free(bare->listener);
	fabric_free(bare->fabric);
	sim_net_free(bare->net);
	buf_pool_free(bare->pool);
	fake_loop_free(bare->loop);
	free(bare);
}

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct bare_wr *bwr = container_of(wr, struct bare_wr, wr);
	unsigned which = (unsigned)(bwr - bwr->end->wrs);

	event_add(bwr->end,
		  (struct bare_event){.what = BARE_DONE, .which = which, .status = status});
}

static int post(struct bare_end *end, struct fabric_wr wr)
{
	struct bare_wr *bwr = &end->wrs[end->nwrs];
	int err;

	ck_assert_uint_lt(end->nwrs, BARE_MAX_WRS);
	wr.done = on_done;
	bwr->wr = wr;
	bwr->end = end;
	err = fabric_post(end->ep, &bwr->wr);
	if (!err)
		end->nwrs++;
	return err;
}

int bare_post(struct bare_end *end, enum fabric_wr_op op, uint32_t offset, uint32_t len_bytes,
	      const struct fabric_key *remote, uint32_t remote_offset)
{
	struct fabric_wr wr = {.op = op, .nsge = 1};

	wr.sge[0] = (struct fabric_sge){end->buf, end->buf->mem + offset, len_bytes};
	if (remote) {
		wr.rkey = remote->rkey;
		wr.raddr = remote->addr + remote_offset;
	}
	return post(end, wr);
}

void bare_send_inv(struct bare_end *end, uint32_t len_bytes, uint32_t rkey)
{
	struct fabric_wr wr = {.op = FABRIC_SEND_INV, .nsge = 1, .inv_rkey = rkey};

	wr.sge[0] = (struct fabric_sge){end->buf, end->buf->mem, len_bytes};
	ck_assert_int_eq(post(end, wr), 0);
}

static void on_unbound(struct fabric_key *key)
{
	struct bare_key *bkey = container_of(key, struct bare_key, key);
	unsigned which = (unsigned)(bkey - bkey->end->keys);

	event_add(bkey->end, (struct bare_event){.what = BARE_UNBOUND, .which = which});
}

struct fabric_key *bare_lend(struct bare_end *end, uint32_t offset, uint32_t len_bytes,
			     uint32_t ready_bytes, unsigned rights)
{
	struct bare_key *bkey = &end->keys[end->nkeys];

	ck_assert_uint_lt(end->nkeys, BARE_MAX_KEYS);
	bkey->end = end;
	bkey->key = (struct fabric_key){
		.len_bytes = len_bytes,
		.ready_bytes = ready_bytes,
		.rights = rights,
		.buf = end->buf,
		.mem = end->buf->mem + offset,
		.unbound = on_unbound,
	};
	ck_assert_int_eq(fabric_key_bind(end->ep, &bkey->key), 0);
	end->bound[end->nkeys++] = true;
	return &bkey->key;
}

bool bare_unbind(struct bare_end *end, const struct fabric_key *key)
{
	struct bare_key *bkey = container_of((struct fabric_key *)key, struct bare_key, key);

	end->bound[bkey - end->keys] = false;
	return fabric_key_unbind(&bkey->key);
}

unsigned bare_count(const struct bare_end *end, enum bare_what what)
{
	unsigned n = 0;

	for (unsigned i = 0; i < end->nevents; i++)
		n += end->events[i].what == what;
	return n;
}

enum fabric_close bare_closed(const struct bare_end *end)
{
	ck_assert(end->closed);
	return end->events[end->nevents - 1].why;
}
