// SPDX-License-Identifier: BSD-3-Clause
#include "tests/sim/raw.h"

#include <stdlib.h>
#include <string.h>

#include "rpc/xdr.h"

struct raw_wr {
	struct fabric_wr wr;
	struct raw *raw;
	struct buf *buf;
	void *to; /* where what was read goes */
};

static void on_requested(void *arg, const uint8_t *pd, size_t len)
{
	struct raw *raw = arg;

	memcpy(raw->private_data, pd, len);
	raw->private_data_bytes = len;
	RIG_ASSERT(fabric_ep_accept(raw->ep, &raw->params) == 0);
}

static void on_established(void *arg, const uint8_t *pd, size_t len)
{
	struct raw *raw = arg;

	raw->established = true;
	if (len) {
		memcpy(raw->private_data, pd, len);
		raw->private_data_bytes = len;
	}
}

static void on_recv(void *arg, const struct fabric_recv *recv)
{
	struct raw *raw = arg;
	struct raw_recv *slot = &raw->recvs[raw->nrecvs++];

	RIG_ASSERT(raw->nrecvs <= RAW_MAX_RECVS);
	slot->data = malloc(recv->len_bytes + 1);
	memcpy(slot->data, recv->data, recv->len_bytes);
	slot->len_bytes = recv->len_bytes;
	slot->size_bytes = recv->size_bytes;
	slot->invalidated = recv->invalidated;
	slot->inv_rkey = recv->inv_rkey;
}

static void on_closed(void *arg, enum fabric_close why, const char *detail)
{
	struct raw *raw = arg;

	raw->closed = true;
	raw->why = why;
}

static const struct fabric_ep_events raw_events = {
	.requested = on_requested,
	.established = on_established,
	.recv = on_recv,
	.closed = on_closed,
};

struct raw *raw_new(struct rig *rig, const uint8_t *pd, size_t pd_bytes)
{
	struct raw *raw = calloc(1, sizeof(*raw));

	raw->rig = rig;
	raw->step_us = 1000;
	raw->params = (struct fabric_ep_params){
		.ird = 16, .ord = 16, .recv_size_bytes = 8192, .recv_count = RAW_MAX_RECVS};
	if (pd)
		memcpy(raw->params.private_data, pd, pd_bytes);
	raw->params.private_data_bytes = pd_bytes;
	return raw;
}

void raw_connect(struct raw *raw)
{
	RIG_ASSERT(fabric_connect(raw->rig->fabric, (const struct sockaddr *)&rig_addr,
				  &raw->params, &raw_events, raw, &raw->ep) == 0);
	rig_run(raw->rig);
}

void raw_adopt(struct raw *raw, struct fabric_incoming *in)
{
	RIG_ASSERT(fabric_adopt(raw->rig->fabric, in, &raw_events, raw, &raw->ep) == 0);
}

struct raw *raw_open_server(struct rig *rig, const uint8_t *pd, size_t pd_bytes)
{
	struct raw *raw = raw_new(rig, pd, pd_bytes);

	rig->raw_server = raw;
	rig_connect(rig);
	rig_run(rig);
	RIG_ASSERT(rig->client.opened == 1);
	return raw;
}

struct raw *raw_open_client(struct rig *rig, const uint8_t *pd, size_t pd_bytes)
{
	struct raw *raw = raw_new(rig, pd, pd_bytes);

	raw_connect(raw);
	RIG_ASSERT(rig->server.opened == 1);
	return raw;
}

void raw_free(struct raw *raw)
{
	fabric_ep_close(raw->ep);
	rig_run(raw->rig);
	RIG_ASSERT(raw->closed);
	for (unsigned i = 0; i < raw->nkeys; i++) {
		RIG_ASSERT(fabric_key_unbind(&raw->keys[i]));
		buf_put(raw->bufs[i]);
	}
	for (unsigned i = 0; i < raw->nrecvs; i++)
		free(raw->recvs[i].data);
	RIG_ASSERT(raw->posted == raw->done);
	fabric_ep_free(raw->ep);
	free(raw);
}

static void on_done(struct fabric_wr *wr, enum fabric_status status)
{
	struct raw_wr *rw = container_of(wr, struct raw_wr, wr);

	rw->raw->done++;
	rw->raw->last_status = status;
	if (rw->to && status == FABRIC_OK)
		memcpy(rw->to, rw->buf->mem, wr->sge[0].len_bytes);
	buf_put(rw->buf);
	free(rw);
}

static struct raw_wr *wr_new(struct raw *raw, enum fabric_wr_op op, const void *data, size_t len)
{
	struct raw_wr *rw = calloc(1, sizeof(*rw));

	rw->raw = raw;
	rw->buf = buf_get(raw->rig->pool, len + 1);
	if (data)
		memcpy(rw->buf->mem, data, len);
	rw->wr.op = op;
	rw->wr.nsge = 1;
	rw->wr.sge[0] = (struct fabric_sge){rw->buf, rw->buf->mem, (uint32_t)len};
	rw->wr.done = on_done;
	return rw;
}

static void post(struct raw *raw, struct raw_wr *rw)
{
	if (fabric_post(raw->ep, &rw->wr)) {
		buf_put(rw->buf);
		free(rw);
		return;
	}
	raw->posted++;
}

void raw_post_send(struct raw *raw, const void *data, size_t len)
{
	post(raw, wr_new(raw, FABRIC_SEND, data, len));
}

void raw_send(struct raw *raw, const void *data, size_t len)
{
	raw_post_send(raw, data, len);
	rig_run_for(raw->rig, raw->step_us);
}

void raw_send_inv(struct raw *raw, const void *data, size_t len, uint32_t rkey)
{
	struct raw_wr *rw = wr_new(raw, FABRIC_SEND_INV, data, len);

	rw->wr.inv_rkey = rkey;
	post(raw, rw);
	rig_run_for(raw->rig, raw->step_us);
}

void raw_send_header(struct raw *raw, const struct rpcrdma_header *hdr, const void *body,
		     size_t len)
{
	struct rpcrdma_header known = *hdr;
	struct xdr_writer vers;
	uint8_t bytes[16384];
	size_t n;

	n = rpcrdma_header_encode(&known, bytes, sizeof(bytes));
	if (!n) {
		/* What its version has not, or a version that there is not, has the form of the first. */
		known.vers = RPCRDMA_VERSION_ONE;
		n = rpcrdma_header_encode(&known, bytes, sizeof(bytes));
	}
	RIG_ASSERT(n > 0);
	RIG_ASSERT(n + len <= sizeof(bytes));
	xdr_writer_init(&vers, bytes + sizeof(uint32_t), sizeof(uint32_t));
	xdr_put_u32(&vers, hdr->vers);
	if (len)
		memcpy(bytes + n, body, len);
	raw_send(raw, bytes, n + len);
}

static enum fabric_status access_peer(struct raw *raw, struct raw_wr *rw, uint32_t rkey,
				      uint64_t addr)
{
	rw->wr.rkey = rkey;
	rw->wr.raddr = addr;
	raw->last_status = FABRIC_FLUSHED;
	post(raw, rw);
	rig_run_for(raw->rig, raw->step_us);
	return raw->last_status;
}

enum fabric_status raw_write(struct raw *raw, const void *data, uint32_t len, uint32_t rkey,
			     uint64_t addr)
{
	return access_peer(raw, wr_new(raw, FABRIC_WRITE, data, len), rkey, addr);
}

enum fabric_status raw_read(struct raw *raw, void *data, uint32_t len, uint32_t rkey, uint64_t addr)
{
	struct raw_wr *rw = wr_new(raw, FABRIC_READ, NULL, len);

	rw->to = data;
	return access_peer(raw, rw, rkey, addr);
}

static void on_unbound(struct fabric_key *key)
{
}

static struct fabric_key *lend(struct raw *raw, const void *data, uint32_t len,
			       uint32_t ready_bytes, unsigned rights)
{
	struct fabric_key *key = &raw->keys[raw->nkeys];
	struct buf *buf = buf_get(raw->rig->pool, len);

	RIG_ASSERT(raw->nkeys < RAW_MAX_KEYS);
	raw->bufs[raw->nkeys++] = buf;
	if (data)
		memcpy(buf->mem, data, len);
	else
		memset(buf->mem, 0xee, len);
	*key = (struct fabric_key){.len_bytes = len,
				   .ready_bytes = ready_bytes,
				   .rights = rights,
				   .buf = buf,
				   .mem = buf->mem,
				   .unbound = on_unbound};
	RIG_ASSERT(fabric_key_bind(raw->ep, key) == 0);
	return key;
}

struct fabric_key *raw_lend(struct raw *raw, const void *data, uint32_t len, unsigned rights)
{
	return lend(raw, data, len, len, rights);
}

struct fabric_key *raw_lend_slowly(struct raw *raw, const void *data, uint32_t len)
{
	return lend(raw, data, len, 0, FABRIC_REMOTE_READ);
}

struct rpcrdma_segment raw_segment(const struct fabric_key *key)
{
	return (struct rpcrdma_segment){key->rkey, key->len_bytes, key->addr};
}

void raw_forget(struct raw *raw)
{
	RIG_ASSERT(raw->nread == raw->nrecvs);
	for (unsigned i = 0; i < raw->nkeys; i++) {
		RIG_ASSERT(fabric_key_unbind(&raw->keys[i]));
		buf_put(raw->bufs[i]);
	}
	for (unsigned i = 0; i < raw->nrecvs; i++)
		free(raw->recvs[i].data);
	fabric_recv_post(raw->ep, raw->nrecvs, raw->params.recv_size_bytes);
	raw->nkeys = raw->nrecvs = raw->nread = 0;
}

const struct raw_recv *raw_next(struct raw *raw)
{
	return raw->nread < raw->nrecvs ? &raw->recvs[raw->nread++] : NULL;
}

void raw_next_header(struct raw *raw, struct rpcrdma_header *hdr, const uint8_t **body,
		     uint32_t *len_bytes)
{
	const struct raw_recv *recv = raw_next(raw);

	RIG_ASSERT(recv);
	RIG_ASSERT(rpcrdma_header_decode(recv->data, recv->len_bytes, hdr) == RPCRDMA_OK);
	*body = recv->data + hdr->body_offset;
	*len_bytes = recv->len_bytes - hdr->body_offset;
}

void raw_expect_error(struct raw *raw, uint32_t xid, uint32_t err)
{
	struct rpcrdma_header hdr;
	const uint8_t *body;
	uint32_t len;

	raw_next_header(raw, &hdr, &body, &len);
	RIG_ASSERT(hdr.proc == RPCRDMA_ERROR);
	RIG_ASSERT(hdr.xid == xid);
	RIG_ASSERT(hdr.error == err);
	RIG_ASSERT(hdr.credit >= 1);
}

void raw_post_call(struct raw *raw, uint32_t xid, uint32_t call_bytes, uint32_t reply_bytes)
{
	struct rpcrdma_header hdr;
	uint8_t bytes[8192];
	size_t n;

	rpcrdma_header_init(&hdr, xid, RPCRDMA_VERSION_ONE, 32, RPCRDMA_MSG);
	n = rpcrdma_header_encode(&hdr, bytes, sizeof(bytes));
	rig_fill_call(bytes + n, call_bytes, xid, reply_bytes);
	raw_post_send(raw, bytes, n + call_bytes);
}
