// SPDX-License-Identifier: BSD-3-Clause
/* Queue pairs of the device in memory: executes work in order, as far as both ends are ready. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/standin/memory.h"

#define RNR_US       655360u /* between two attempts of a Send that finds no receive */
#define TRANSPORT_US 400000u /* until a peer that has gone is detected */
#define ECE_VENDOR   0x4d454du
#define ECE_OPTIONS  3u

static LIST_HEAD(, memory_qp) qps = LIST_HEAD_INITIALIZER(qps);
static uint32_t next_number = 0x11;

static struct memory_qp *qp_of(struct ibv_qp *qp)
{
	return CONTAINER(qp, struct memory_qp, qp);
}

static struct memory_cq *cq_of(struct ibv_cq *cq)
{
	return CONTAINER(cq, struct memory_cq, cq);
}

struct memory_qp *memory_qp_find(uint32_t qp_num)
{
	struct memory_qp *qp;

	LIST_FOREACH(qp, &qps, entry)
		if (qp->qp.qp_num == qp_num)
			return qp;
	return NULL;
}

void memory_qp_join(struct memory_qp *one, struct memory_qp *other)
{
	one->peer = other;
	other->peer = one;
}

/* ---- completions ---- */

static enum ibv_wc_opcode opcode_of(const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_BIND_MW:
		return IBV_WC_BIND_MW;
	case IBV_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	default:
		return IBV_WC_SEND;
	}
}

static void send_done(struct memory_qp *qp, enum ibv_wc_status status)
{
	struct memory_send *send = TAILQ_FIRST(&qp->sends);
	struct memory_cqe cqe = {.wc = {.wr_id = send->wr.wr_id,
					.status = status,
					.opcode = opcode_of(&send->wr),
					.qp_num = qp->qp.qp_num},
				 .qp = qp};

	TAILQ_REMOVE(&qp->sends, send, entry);
	qp->wait_end_us = 0;
	qp->unsignalled++;
	if (status != IBV_WC_SUCCESS || (send->wr.send_flags & IBV_SEND_SIGNALED)) {
		cqe.frees = qp->unsignalled;
		qp->unsignalled = 0;
		memory_complete(cq_of(qp->qp.send_cq), &cqe);
	}
	free(send->inlined);
	free(send);
}

static void recv_done(struct memory_qp *qp, enum ibv_wc_status status, uint32_t bytes,
		      uint32_t *inv)
{
	struct memory_recv *recv = TAILQ_FIRST(&qp->recvs);
	struct memory_cqe cqe = {.wc = {.wr_id = recv->wr.wr_id,
					.status = status,
					.opcode = IBV_WC_RECV,
					.byte_len = bytes,
					.qp_num = qp->qp.qp_num},
				 .qp = qp,
				 .frees = 1,
				 .recv = true};

	if (inv) {
		cqe.wc.wc_flags = IBV_WC_WITH_INV;
		cqe.wc.invalidated_rkey = *inv;
	}
	TAILQ_REMOVE(&qp->recvs, recv, entry);
	memory_complete(cq_of(qp->qp.recv_cq), &cqe);
	free(recv);
}

static void flush(struct memory_qp *qp)
{
	while (!TAILQ_EMPTY(&qp->sends))
		send_done(qp, IBV_WC_WR_FLUSH_ERR);
	while (!TAILQ_EMPTY(&qp->recvs))
		recv_done(qp, IBV_WC_WR_FLUSH_ERR, 0, NULL);
}

static void fail(struct memory_qp *qp)
{
	if (qp->qp.state == IBV_QPS_ERR)
		return;
	qp->qp.state = IBV_QPS_ERR;
	flush(qp);
	if (qp->id)
		memory_cm_qp_failed(qp->id);
}

/* ---- executing work requests ---- */

static uint64_t length_of(const struct memory_send *send)
{
	uint64_t len = 0;

	for (int i = 0; i < send->wr.num_sge; i++)
		len += send->sges[i].length;
	return len;
}

/* Copies the data of the work request to @to; returns false if access is denied. */
static bool gather(const struct memory_qp *qp, const struct memory_send *send, uint8_t *to)
{
	if (send->inlined) {
		memcpy(to, send->inlined, length_of(send));
		return true;
	}
	for (int i = 0; i < send->wr.num_sge; i++) {
		const struct ibv_sge *sge = &send->sges[i];
		const uint8_t *from = sge->length ? memory_local(qp, sge, 0) : NULL;

		if (sge->length && !from)
			return false;
		if (sge->length)
			memmove(to, from, sge->length);
		to += sge->length;
	}
	return true;
}

static bool scatter(const struct memory_qp *qp, const struct ibv_sge *sges, int n, int access,
		    const uint8_t *from, uint64_t len)
{
	for (int i = 0; i < n && len; i++) {
		uint64_t part = sges[i].length < len ? sges[i].length : len;
		uint8_t *to = memory_local(qp, &sges[i], access);

		if (!to)
			return false;
		memmove(to, from, part);
		from += part;
		len -= part;
	}
	return true;
}

/*
 * The peer refuses the access: both ends go to the error state. An iWARP device has sent a Write
 * long before it is notified of that.
 */
static void refused(struct memory_qp *qp, enum ibv_wc_status status, bool tells)
{
	struct memory_qp *peer = qp->peer;
	bool write = TAILQ_FIRST(&qp->sends)->wr.opcode == IBV_WR_RDMA_WRITE;

	send_done(qp, memory_is_iwarp() && write ? IBV_WC_SUCCESS : status);
	if (tells && peer->qp.state != IBV_QPS_ERR)
		memory_async(peer, IBV_EVENT_QP_ACCESS_ERR);
	fail(peer);
	fail(qp);
}

static void failed_here(struct memory_qp *qp, enum ibv_wc_status status)
{
	send_done(qp, status);
	fail(qp);
}

static void carry_write(struct memory_qp *qp, const struct memory_send *send)
{
	uint64_t len = length_of(send);
	uint8_t *to = memory_remote(qp->peer, send->wr.wr.rdma.rkey, send->wr.wr.rdma.remote_addr,
				    len, IBV_ACCESS_REMOTE_WRITE);

	if (len && !to)
		refused(qp, IBV_WC_REM_ACCESS_ERR, true);
	else if (len && !gather(qp, send, to))
		failed_here(qp, IBV_WC_LOC_PROT_ERR);
	else
		send_done(qp, IBV_WC_SUCCESS);
}

static void carry_read(struct memory_qp *qp, const struct memory_send *send)
{
	int sink = IBV_ACCESS_LOCAL_WRITE | (memory_is_iwarp() ? IBV_ACCESS_REMOTE_WRITE : 0);
	uint64_t len = length_of(send);
	const uint8_t *from =
		memory_remote(qp->peer, send->wr.wr.rdma.rkey, send->wr.wr.rdma.remote_addr, len,
			      IBV_ACCESS_REMOTE_READ);

	if (len && !from)
		refused(qp, IBV_WC_REM_ACCESS_ERR, true);
	else if (!scatter(qp, send->sges, send->wr.num_sge, sink, from, len))
		failed_here(qp, IBV_WC_LOC_PROT_ERR);
	else
		send_done(qp, IBV_WC_SUCCESS);
}

static uint64_t room_of(const struct memory_recv *recv)
{
	uint64_t room = 0;

	for (int i = 0; i < recv->wr.num_sge; i++)
		room += recv->sges[i].length;
	return room;
}

static void carry_send(struct memory_qp *qp, const struct memory_send *send)
{
	struct memory_qp *peer = qp->peer;
	const struct memory_recv *recv = TAILQ_FIRST(&peer->recvs);
	bool invalidates = send->wr.opcode == IBV_WR_SEND_WITH_INV;
	uint32_t key = send->wr.invalidate_rkey;
	uint64_t len = length_of(send);
	uint8_t *bytes;

	if (len > room_of(recv)) {
		recv_done(peer, IBV_WC_LOC_LEN_ERR, 0, NULL);
		refused(qp, IBV_WC_REM_INV_REQ_ERR, false);
		return;
	}
	bytes = malloc(len + 1);
	if (!gather(qp, send, bytes)) {
		failed_here(qp, IBV_WC_LOC_PROT_ERR);
	} else if (invalidates && !memory_invalidate(peer, key)) {
		refused(qp, IBV_WC_REM_ACCESS_ERR, true);
	} else if (!scatter(peer, recv->sges, recv->wr.num_sge, IBV_ACCESS_LOCAL_WRITE, bytes,
			    len)) {
		recv_done(peer, IBV_WC_LOC_PROT_ERR, 0, NULL);
		refused(qp, IBV_WC_REM_OP_ERR, false);
	} else {
		recv_done(peer, IBV_WC_SUCCESS, (uint32_t)len, invalidates ? &key : NULL);
		send_done(qp, IBV_WC_SUCCESS);
	}
	free(bytes);
}

/* Executes a work request that involves only this device; returns false for others. */
static bool carry_local(struct memory_qp *qp, const struct memory_send *send)
{
	enum ibv_wc_status status;

	if (send->wr.opcode == IBV_WR_BIND_MW)
		status = memory_bind(qp, &send->wr);
	else if (send->wr.opcode == IBV_WR_LOCAL_INV)
		status = memory_invalidate(qp, send->wr.invalidate_rkey) ? IBV_WC_SUCCESS
									 : IBV_WC_LOC_QP_OP_ERR;
	else
		return false;
	if (status == IBV_WC_SUCCESS)
		send_done(qp, status);
	else
		failed_here(qp, status);
	return true;
}

static void wait(struct memory_qp *qp, uint64_t us, bool rnr)
{
	if (qp->wait_end_us)
		return;
	qp->wait_end_us = memory_now_us() + us;
	qp->wait_rnr = rnr;
	memory_clock_kick();
}

/* Returns true if the peer accepts work now; if it never will, a timeout is started. */
static bool reaches_peer(struct memory_qp *qp)
{
	if (qp->lost || (qp->peer && qp->peer->qp.state == IBV_QPS_ERR)) {
		wait(qp, TRANSPORT_US, false);
		return false;
	}
	return qp->peer && qp->peer->qp.state >= IBV_QPS_RTR;
}

/* Returns true if the peer has a receive for the Send; otherwise handles its absence. */
static bool finds_recv(struct memory_qp *qp)
{
	if (!TAILQ_EMPTY(&qp->peer->recvs))
		return true;
	if (memory_is_iwarp())
		refused(qp, IBV_WC_REM_OP_ERR, false);
	else if (!qp->rnr_retry)
		failed_here(qp, IBV_WC_RNR_RETRY_EXC_ERR);
	else if (qp->rnr_retry < 7)
		wait(qp, (uint64_t)qp->rnr_retry * RNR_US, true);
	return false;
}

static void run(struct memory_qp *qp)
{
	const struct memory_send *send;

	if (memory_is_dead(qp->qp.context))
		return;
	while (qp->qp.state == IBV_QPS_RTS && (send = TAILQ_FIRST(&qp->sends))) {
		if (carry_local(qp, send))
			continue;
		if (!reaches_peer(qp))
			break;
		if (send->wr.opcode == IBV_WR_RDMA_WRITE)
			carry_write(qp, send);
		else if (send->wr.opcode == IBV_WR_RDMA_READ)
			carry_read(qp, send);
		else if (finds_recv(qp))
			carry_send(qp, send);
		else
			break;
	}
}

uint64_t memory_qp_clock(uint64_t now_us)
{
	uint64_t next_us = 0;
	struct memory_qp *qp;

	LIST_FOREACH(qp, &qps, entry) {
		if (qp->wait_end_us && qp->wait_end_us <= now_us && !TAILQ_EMPTY(&qp->sends))
			failed_here(qp,
				    qp->wait_rnr ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_RETRY_EXC_ERR);
		if (qp->wait_end_us && (!next_us || qp->wait_end_us < next_us))
			next_us = qp->wait_end_us;
	}
	return next_us;
}

/* ---- posting ---- */

static int post_one(struct memory_qp *qp, const struct ibv_send_wr *wr)
{
	struct memory_send *send;
	uint64_t len;

	if (wr->num_sge > (int)qp->cap.max_send_sge || qp->qp.state < IBV_QPS_RTS)
		return EINVAL;
	if (qp->sq_used == qp->cap.max_send_wr)
		return ENOMEM;
	send = calloc(1, sizeof(*send));
	send->wr = *wr;
	if (wr->num_sge)
		memcpy(send->sges, wr->sg_list, (size_t)wr->num_sge * sizeof(*wr->sg_list));
	len = length_of(send);
	if ((wr->send_flags & IBV_SEND_INLINE) && len > qp->cap.max_inline_data) {
		free(send);
		return ENOMEM;
	}
	if (wr->send_flags & IBV_SEND_INLINE) {
		uint8_t *to = send->inlined = malloc(len + 1);

		for (int i = 0; i < wr->num_sge; i++) {
			memcpy(to, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
			to += wr->sg_list[i].length;
		}
	}
	qp->sq_used++;
	TAILQ_INSERT_TAIL(&qp->sends, send, entry);
	return 0;
}

int memory_post_send(struct ibv_qp *iqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct memory_qp *qp = qp_of(iqp);
	int err = 0;

	pthread_mutex_lock(&memory_lock);
	for (; wr && !err; wr = err ? wr : wr->next) {
		*bad = wr;
		err = post_one(qp, wr);
	}
	run(qp);
	if (qp->qp.state == IBV_QPS_ERR)
		flush(qp);
	pthread_mutex_unlock(&memory_lock);
	return err;
}

int memory_post_recv(struct ibv_qp *iqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct memory_qp *qp = qp_of(iqp);
	int err = 0;

	pthread_mutex_lock(&memory_lock);
	for (; wr && !err; wr = wr->next) {
		struct memory_recv *recv;

		*bad = wr;
		if (wr->num_sge > (int)qp->cap.max_recv_sge)
			err = EINVAL;
		else if (qp->rq_used == qp->cap.max_recv_wr)
			err = ENOMEM;
		if (err)
			break;
		recv = calloc(1, sizeof(*recv));
		recv->wr = *wr;
		memcpy(recv->sges, wr->sg_list, (size_t)wr->num_sge * sizeof(*wr->sg_list));
		qp->rq_used++;
		TAILQ_INSERT_TAIL(&qp->recvs, recv, entry);
	}
	if (qp->qp.state == IBV_QPS_ERR)
		flush(qp);
	else if (qp->peer)
		run(qp->peer);
	pthread_mutex_unlock(&memory_lock);
	return err;
}

/* ---- queue pairs ---- */

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct memory_qp *qp;

	if (memory_is_dead(pd->context)) {
		errno = EIO;
		return NULL;
	}
	qp = calloc(1, sizeof(*qp));
	TAILQ_INIT(&qp->sends);
	TAILQ_INIT(&qp->recvs);
	if (attr->cap.max_send_sge > MEMORY_SGES || attr->cap.max_recv_sge > MEMORY_SGES) {
		free(qp);
		errno = EINVAL;
		return NULL;
	}
	pthread_mutex_lock(&memory_lock);
	qp->cap = attr->cap;
	qp->qp = (struct ibv_qp){.context = pd->context,
				 .qp_context = attr->qp_context,
				 .pd = pd,
				 .send_cq = attr->send_cq,
				 .recv_cq = attr->recv_cq,
				 .qp_num = next_number++,
				 .state = IBV_QPS_RESET,
				 .qp_type = attr->qp_type};
	cq_of(attr->send_cq)->qps++;
	cq_of(attr->recv_cq)->qps++;
	CONTAINER(pd, struct memory_pd, pd)->users++;
	qp->ece_options = ECE_OPTIONS;
	LIST_INSERT_HEAD(&qps, qp, entry);
	memory_left.qps++;
	pthread_mutex_unlock(&memory_lock);
	return &qp->qp;
}

int ibv_destroy_qp(struct ibv_qp *iqp)
{
	struct memory_qp *qp = qp_of(iqp);

	if (memory_keeps(qp->qp.context))
		return EIO;
	pthread_mutex_lock(&memory_lock);
	memory_async_forget(qp);
	if (qp->asyncs)
		memory_misuse("a queue pair is destroyed with %u events not acknowledged",
			      qp->asyncs);
	qp->qp.state = IBV_QPS_ERR;
	flush(qp);
	memory_cq_forget(cq_of(qp->qp.send_cq), qp);
	memory_cq_forget(cq_of(qp->qp.recv_cq), qp);
	memory_unbind_all(qp);
	if (qp->peer) {
		qp->peer->peer = NULL;
		qp->peer->lost = true;
		run(qp->peer);
	}
	cq_of(qp->qp.send_cq)->qps--;
	cq_of(qp->qp.recv_cq)->qps--;
	CONTAINER(qp->qp.pd, struct memory_pd, pd)->users--;
	LIST_REMOVE(qp, entry);
	memory_left.qps--;
	pthread_mutex_unlock(&memory_lock);
	free(qp);
	return 0;
}

void memory_qp_set(struct memory_qp *qp, enum ibv_qp_state state)
{
	if (state == IBV_QPS_ERR) {
		fail(qp);
		return;
	}
	qp->qp.state = state;
	run(qp);
	if (qp->peer)
		run(qp->peer);
}

int ibv_modify_qp(struct ibv_qp *iqp, struct ibv_qp_attr *attr, int mask)
{
	struct memory_qp *qp = qp_of(iqp);

	if (memory_is_dead(iqp->context))
		return EIO;
	pthread_mutex_lock(&memory_lock);
	if (mask & IBV_QP_RNR_RETRY)
		qp->rnr_retry = attr->rnr_retry;
	if (mask & IBV_QP_STATE)
		memory_qp_set(qp, attr->qp_state);
	pthread_mutex_unlock(&memory_lock);
	return 0;
}

/* Not available over iWARP. */
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	if (memory_is_iwarp())
		return EOPNOTSUPP;
	*ece = (struct ibv_ece){.vendor_id = ECE_VENDOR, .options = qp_of(qp)->ece_options};
	return 0;
}

int ibv_set_ece(struct ibv_qp *iqp, struct ibv_ece *ece)
{
	struct memory_qp *qp = qp_of(iqp);

	if (memory_is_iwarp())
		return EOPNOTSUPP;
	if (ece->vendor_id != ECE_VENDOR || qp->qp.state > IBV_QPS_INIT) {
		memory_misuse("options of vendor %x are set in state %d", ece->vendor_id,
			      qp->qp.state);
		return EINVAL;
	}
	qp->ece_options = ece->options & ECE_OPTIONS;
	return 0;
}
