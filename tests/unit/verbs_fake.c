// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/verbs_fake.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/compiler.h"

#undef ibv_query_port
#undef ibv_reg_mr

#define EVENTS 16u

struct verbs_fake fake;

/* An event channel, and what is to come from it. */
struct channel {
	struct rdma_event_channel channel;
	struct rdma_cm_event events[EVENTS];
	unsigned head, count;
};

static struct ibv_device device = {.name = "fake0"};
static struct ibv_context context, other_context; /* of two devices of a kind */
static struct ibv_comp_channel *comp_channel;     /* made last */
static struct ibv_async_event asyncs[EVENTS];
static unsigned async_head, async_count;
/* In order, of all queues; and the queues of events that no one has read. */
static struct {
	struct ibv_cq *cq;
	struct ibv_wc wc;
} completions[VERBS_FAKE_MAX];
static unsigned ncompletions;
static struct ibv_cq *cq_events[VERBS_FAKE_MAX];
static unsigned ncq_events;
static uint32_t next_key;
static bool invalidating;
static uint32_t invalidated_rkey;

static void may_block(enum verbs_fake_call call)
{
	if (fake.blocks != call)
		return;
	fake.blocked = true;
	while (sem_wait(&fake.go))
		;
	fake.blocked = false;
}

/* ---- what tests call ---- */

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw;

	fake.window_calls++;
	errno = fake.alloc_mw_errno;
	if (!errno && fake.max_windows && fake.windows >= fake.max_windows)
		errno = ENOMEM;
	if (errno)
		return NULL;
	mw = calloc(1, sizeof(*mw));
	mw->context = &context;
	mw->pd = pd;
	mw->rkey = next_key += 256;
	fake.windows++;
	return mw;
}

static int dealloc_mw(struct ibv_mw *mw)
{
	may_block(VERBS_FAKE_DEALLOC_MW);
	fake.windows--;
	free(mw);
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wcs)
{
	unsigned kept = 0;
	int n = 0;

	fake.polls++;
	if (fake.poll_errno)
		return -fake.poll_errno;
	for (unsigned i = 0; i < ncompletions; i++) {
		if (completions[i].cq == cq && n < max)
			wcs[n++] = completions[i].wc;
		else
			completions[kept++] = completions[i];
	}
	ncompletions = kept;
	return n;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	fake.arms++;
	return fake.arm_errno;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	errno = fake.post_send_errno == -1 ? EINVAL : errno;
	if (fake.post_send_errno)
		return fake.post_send_errno;
	for (; wr; wr = wr->next) {
		struct verbs_fake_send *send = &fake.sends[fake.nsends++];

		assert(fake.nsends < VERBS_FAKE_MAX);
		*send = (struct verbs_fake_send){.wr = *wr};
		if (wr->num_sge) {
			send->addr = wr->sg_list[0].addr;
			send->len_bytes = wr->sg_list[0].length;
			send->lkey = wr->sg_list[0].lkey;
		}
	}
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	errno = fake.post_recv_errno == -1 ? EINVAL : errno;
	if (fake.post_recv_errno)
		return fake.post_recv_errno;
	for (; wr; wr = wr->next) {
		unsigned at = fake.nrecvs++;

		assert(fake.nrecvs < VERBS_FAKE_MAX);
		fake.recvs[at] = *wr;
		fake.recv_bytes[at] = wr->sg_list[0].length;
		fake.recv_lkeys[at] = wr->sg_list[0].lkey;
		fake.recv_addrs[at] = wr->sg_list[0].addr;
	}
	return 0;
}

void verbs_fake_reset(enum ibv_transport_type transport, unsigned cap_flags)
{
	memset(&fake, 0, sizeof(fake));
	sem_init(&fake.go, 0, 0);
	fake.transport = device.transport_type = transport;
	fake.cap_flags = cap_flags;
	fake.initiator_depth = 4;
	fake.ndevices = 1;
	fake.vendor_id = VERBS_FAKE_VENDOR;
	fake.max_mw = 100;
	fake.max_cqe = 4096;
	fake.link_layer = transport == IBV_TRANSPORT_IWARP ? IBV_LINK_LAYER_ETHERNET
							   : IBV_LINK_LAYER_INFINIBAND;
	if (context.device) {
		close(context.async_fd);
		close(other_context.async_fd);
	}
	context = (struct ibv_context){
		.device = &device,
		.ops = {.alloc_mw = alloc_mw,
			.dealloc_mw = dealloc_mw,
			.poll_cq = poll_cq,
			.req_notify_cq = req_notify_cq,
			.post_send = post_send,
			.post_recv = post_recv},
		.async_fd = eventfd(0, EFD_NONBLOCK),
		.num_comp_vectors = 3,
	};
	other_context = context;
	other_context.async_fd = eventfd(0, EFD_NONBLOCK);
	ncompletions = ncq_events = async_head = async_count = 0;
	next_key = 0x1000;
	invalidating = false;
}

void verbs_fake_release(void)
{
	fake.blocks = VERBS_FAKE_NO_CALL;
	sem_post(&fake.go);
	while (fake.blocked)
		sched_yield();
}

static void push(struct rdma_cm_id *id, struct rdma_cm_event event)
{
	struct channel *channel = container_of(id->channel, struct channel, channel);

	assert(channel->count < EVENTS);
	channel->events[(channel->head + channel->count++) % EVENTS] = event;
	eventfd_write(channel->channel.fd, 1);
}

void verbs_fake_event(enum rdma_cm_event_type type, int status)
{
	push(fake.id, (struct rdma_cm_event){.id = fake.id,
					     .event = type,
					     .status = status,
					     .param.conn.initiator_depth = fake.initiator_depth,
					     .param.conn.private_data = fake.answer,
					     .param.conn.private_data_len = fake.answer_bytes});
}

void verbs_fake_request(void)
{
	struct rdma_cm_event event = {.id = calloc(1, sizeof(*event.id)),
				      .listen_id = fake.listener_id,
				      .event = RDMA_CM_EVENT_CONNECT_REQUEST};

	event.id->channel = fake.listener_id->channel;
	event.id->verbs = &context;
	event.id->route.addr = fake.listener_id->route.addr;
	event.param.conn.initiator_depth = fake.initiator_depth;
	event.param.conn.responder_resources = 4;
	fake.ids++;
	fake.id = fake.request_id = event.id;
	push(fake.listener_id, event);
}

void verbs_fake_done(uint64_t wr_id, enum ibv_wc_status status, uint32_t bytes)
{
	struct ibv_wc *wc = &completions[ncompletions].wc;

	assert(ncompletions < VERBS_FAKE_MAX && ncq_events < VERBS_FAKE_MAX);
	completions[ncompletions++].cq = fake.cq;
	*wc = (struct ibv_wc){.wr_id = wr_id, .status = status, .byte_len = bytes};
	if (invalidating) {
		wc->wc_flags = IBV_WC_WITH_INV;
		wc->invalidated_rkey = invalidated_rkey;
	}
	invalidating = false;
	cq_events[ncq_events++] = fake.cq;
	eventfd_write(comp_channel->fd, 1);
}

static struct ibv_context *context_of(const struct ibv_async_event *event)
{
	return event->event_type == IBV_EVENT_CQ_ERR ? event->element.cq->context
						     : event->element.qp->context;
}

void verbs_fake_async(enum ibv_event_type type)
{
	struct ibv_async_event *event = &asyncs[(async_head + async_count++) % EVENTS];

	event->event_type = type;
	if (type == IBV_EVENT_CQ_ERR)
		event->element.cq = fake.cq;
	else
		event->element.qp = fake.qp;
	eventfd_write(context_of(event)->async_fd, 1);
}

void verbs_fake_invalidating(uint32_t rkey)
{
	invalidating = true;
	invalidated_rkey = rkey;
}

/* ---- librdmacm ---- */

static int failing(int err)
{
	errno = err;
	return err ? -1 : 0;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct channel *channel = calloc(1, sizeof(*channel));

	channel->channel.fd = eventfd(0, EFD_SEMAPHORE);
	return &channel->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(container_of(channel, struct channel, channel));
}

int rdma_get_cm_event(struct rdma_event_channel *rchannel, struct rdma_cm_event **event)
{
	struct channel *channel = container_of(rchannel, struct channel, channel);
	eventfd_t count;

	if (!channel->count) {
		errno = EAGAIN;
		return -1;
	}
	eventfd_read(rchannel->fd, &count);
	*event = malloc(sizeof(**event));
	**event = channel->events[channel->head++ % EVENTS];
	channel->count--;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	free(event);
	return 0;
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
	return "an event";
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *arg,
		   enum rdma_port_space ps)
{
	*id = calloc(1, sizeof(**id));
	(*id)->channel = channel;
	(*id)->context = arg;
	fake.ids++;
	fake.id = *id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	may_block(VERBS_FAKE_DESTROY_ID);
	fake.ids--;
	free(id);
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	id->channel = channel;
	return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t len)
{
	/* A listener's comes before it listens. */
	if (name == RDMA_OPTION_ID_TOS && fake.listener_id)
		fake.tos = *(uint8_t *)value;
	else if (name == RDMA_OPTION_ID_TOS)
		fake.listen_tos = *(uint8_t *)value;
	if (name == RDMA_OPTION_ID_ACK_TIMEOUT) {
		fake.ack_timeout = *(uint8_t *)value;
		fake.ack_timeout_early = !fake.routes_resolved;
	}
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	memcpy(&id->route.addr.src_storage, addr, sizeof(struct sockaddr_in));
	memcpy(&id->route.addr.dst_storage, addr, sizeof(struct sockaddr_in));
	return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	fake.listener_id = id;
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to,
		      int timeout_ms)
{
	memcpy(&id->route.addr.dst_storage, to, sizeof(struct sockaddr_in));
	id->route.addr.src_addr.sa_family = to->sa_family;
	id->verbs = fake.other_device ? &other_context : &context;
	fake.addrs_resolved++;
	fake.resolve_ms = timeout_ms;
	if (from)
		memcpy(&fake.source, from, sizeof(fake.source));
	return failing(fake.resolve_errno);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	fake.routes_resolved++;
	fake.resolve_ms = timeout_ms;
	return 0;
}

static void keep_param(const struct rdma_conn_param *param)
{
	fake.conn = *param;
	memcpy(fake.private_data, param->private_data, param->private_data_len);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	keep_param(param);
	may_block(VERBS_FAKE_CONNECT);
	return failing(fake.connect_errno);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	may_block(VERBS_FAKE_ACCEPT);
	keep_param(param);
	return failing(fake.accept_errno);
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	fake.rejects++;
	if (len)
		memcpy(fake.rejection, data, len);
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	fake.disconnects++;
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	id->qp = ibv_create_qp(pd, attr);
	return id->qp ? 0 : -1;
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	fake.notifies++;
	return 0;
}

int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	fake.local_ece = *ece;
	return 0;
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	*ece = fake.remote_ece;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	ibv_destroy_qp(id->qp);
	id->qp = NULL;
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	attr->rnr_retry = fake.peer_rnr_retry;
	attr->max_rd_atomic = attr->max_dest_rd_atomic = 7;
	*mask = IBV_QP_STATE;
	attr->timeout = 19;
	attr->ah_attr.is_global = 1;
	if (attr->qp_state == IBV_QPS_RTR)
		*mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV | 0xe00000;
	if (attr->qp_state == IBV_QPS_RTS)
		*mask |= IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT;
	return 0;
}

int rdma_establish(struct rdma_cm_id *id)
{
	fake.establishes++;
	return failing(fake.establish_errno);
}

/* ---- libibverbs ---- */

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = calloc((size_t)fake.ndevices + 1, sizeof(*list));

	*count = fake.ndevices;
	for (int i = 0; i < fake.ndevices; i++)
		list[i] = &device;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	fake.opened++;
	return &context;
}

int ibv_close_device(struct ibv_context *ctx)
{
	fake.opened--;
	return 0;
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *attr)
{
	may_block(VERBS_FAKE_QUERY_DEVICE);
	*attr = (struct ibv_device_attr){
		.device_cap_flags = fake.cap_flags,
		.vendor_id = fake.vendor_id,
		.max_mw = fake.max_mw,
		.max_qp_wr = 1024,
		.max_cqe = fake.max_cqe,
		.max_sge = 4,
		.max_qp_rd_atom = 8,
		.max_qp_init_rd_atom = 8,
		.max_mr_size = UINT32_MAX,
	};
	return 0;
}

int ibv_query_port(struct ibv_context *ctx, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	((struct ibv_port_attr *)attr)->max_msg_sz = VERBS_FAKE_MAX_MESSAGE;
	((struct ibv_port_attr *)attr)->link_layer = fake.link_layer;
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	comp_channel = calloc(1, sizeof(*comp_channel));
	comp_channel->context = ctx;
	comp_channel->fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
	return comp_channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *arg,
			     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq;

	may_block(VERBS_FAKE_CREATE_CQ);
	if (fake.cqes_refused && (unsigned)cqe >= fake.cqes_refused) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	cq->context = ctx;
	cq->cq_context = arg;
	fake.cqs++;
	fake.cq_entries = (unsigned)cqe;
	fake.cq_vector = vector;
	if (channel)
		fake.cq = cq;
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	unsigned kept = 0;
	eventfd_t count;

	may_block(VERBS_FAKE_DESTROY_CQ);
	for (unsigned i = 0; i < ncompletions; i++)
		if (completions[i].cq != cq)
			completions[kept++] = completions[i];
	ncompletions = kept;
	kept = 0;
	for (unsigned i = 0; i < ncq_events; i++) {
		if (cq_events[i] == cq)
			eventfd_read(comp_channel->fd, &count);
		else
			cq_events[kept++] = cq_events[i];
	}
	ncq_events = kept;
	fake.cqs--;
	free(cq);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **arg)
{
	eventfd_t count;

	if (eventfd_read(channel->fd, &count))
		return -1;
	*cq = cq_events[0];
	*arg = (*cq)->cq_context;
	memmove(cq_events, cq_events + 1, --ncq_events * sizeof(*cq_events));
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *pd;

	may_block(VERBS_FAKE_ALLOC_PD);
	errno = 0;
	if (fake.no_pd)
		return NULL;
	pd = calloc(1, sizeof(*pd));
	pd->context = ctx;
	fake.pds++;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	may_block(VERBS_FAKE_DEALLOC_PD);
	fake.pds--;
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
				unsigned access)
{
	struct ibv_mr *mr;

	may_block(VERBS_FAKE_REG_MR);
	assert(len > 0);
	if (fake.register_errno) {
		errno = fake.register_errno;
		return NULL;
	}
	if (fake.refuses_relaxed && (access & IBV_ACCESS_RELAXED_ORDERING)) {
		fake.relaxed_refused++;
		errno = EOPNOTSUPP;
		return NULL;
	}
	fake.access = access;
	mr = calloc(1, sizeof(*mr));
	mr->pd = pd;
	mr->addr = addr;
	mr->length = len;
	mr->lkey = mr->rkey = next_key += 256;
	fake.regions++;
	fake.registered++;
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return ibv_reg_mr_iova2(pd, addr, len, (uintptr_t)addr, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	may_block(VERBS_FAKE_DEREG_MR);
	fake.regions--;
	free(mr);
	return 0;
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	eventfd_t count;

	if (!async_count || context_of(&asyncs[async_head % EVENTS]) != ctx)
		return -1;
	*event = asyncs[async_head++ % EVENTS];
	if (--async_count == 0)
		eventfd_read(ctx->async_fd, &count);
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	fake.asyncs_acked++;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	if (!fake.ece.vendor_id)
		return EOPNOTSUPP;
	*ece = fake.ece;
	return 0;
}

/* The device does what both do. */
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	fake.set_ece = *ece;
	fake.ece.options &= ece->options;
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	may_block(VERBS_FAKE_CREATE_QP);
	fake.inline_asked[fake.ninline++ % ARRAY_SIZE(fake.inline_asked)] =
		attr->cap.max_inline_data;
	if (fake.qps_without_memory) {
		fake.qps_without_memory--;
		errno = ENOMEM;
		return NULL;
	}
	if (fake.max_inline && attr->cap.max_inline_data > fake.max_inline) {
		errno = EINVAL;
		return NULL;
	}
	fake.qp = calloc(1, sizeof(*fake.qp));
	fake.qp->context = pd->context;
	fake.qp->qp_context = attr->qp_context;
	fake.qp->pd = pd;
	fake.qp->qp_num = 77;
	if (!fake.max_inline)
		attr->cap.max_inline_data = 64;
	fake.qp_type = attr->qp_type;
	fake.max_send_wr = attr->cap.max_send_wr;
	fake.max_recv_wr = attr->cap.max_recv_wr;
	fake.qps++;
	return fake.qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	may_block(VERBS_FAKE_DESTROY_QP);
	fake.qps--;
	free(qp);
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	may_block(VERBS_FAKE_MODIFY_QP);
	if (attr->qp_state == IBV_QPS_ERR)
		fake.qp_errors++;
	else if (fake.modify_errno)
		return fake.modify_errno;
	qp->state = attr->qp_state;
	if (mask & IBV_QP_TIMEOUT)
		fake.timeout = attr->timeout;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		fake.min_rnr_timer = attr->min_rnr_timer;
	if (mask & IBV_QP_AV)
		fake.traffic_class = attr->ah_attr.grh.traffic_class;
	if (attr->qp_state == IBV_QPS_RTR)
		fake.rtr_mask = mask;
	if (mask & IBV_QP_RNR_RETRY)
		fake.rnr_retry = attr->rnr_retry;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		fake.max_rd_atomic = attr->max_rd_atomic;
	return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	return status == IBV_WC_SUCCESS ? "success" : "failure";
}
