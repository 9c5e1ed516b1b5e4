// SPDX-License-Identifier: BSD-3-Clause
/* The region below a bound window stays until that window is bound again or freed. */
#include "tests/standin/ops.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "tests/standin/completions.h"
#include "tests/standin/device.h"
#include "tests/standin/fault.h"

struct behind {
	LIST_ENTRY(behind) entry;
	struct ibv_mw *mw;
	struct ibv_mr *mr;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, behind) behinds = LIST_HEAD_INITIALIZER(behinds);

static struct behind *behind_take(struct ibv_mw *mw)
{
	struct behind *behind;

	pthread_mutex_lock(&lock);
	LIST_FOREACH(behind, &behinds, entry)
		if (behind->mw == mw)
			break;
	if (behind)
		LIST_REMOVE(behind, entry);
	pthread_mutex_unlock(&lock);
	return behind;
}

static void behind_free(struct ibv_mw *mw)
{
	struct behind *behind = behind_take(mw);

	if (behind)
		NEXT(ibv_dereg_mr, behind->mr);
	free(behind);
}

/* Registers a region of exact bounds below the window to bind. Returns 0 or an errno. */
static int behind_make(struct ibv_send_wr *wr)
{
	struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
	struct behind *behind = calloc(1, sizeof(*behind));

	behind_free(wr->bind_mw.mw);
	*behind = (struct behind){.mw = wr->bind_mw.mw};
	behind->mr = NEXT(ibv_reg_mr, wr->bind_mw.mw->pd, (void *)(uintptr_t)info->addr,
			  info->length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	if (!behind->mr) {
		free(behind);
		return errno;
	}
	info->mr = behind->mr;
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&behinds, behind, entry);
	pthread_mutex_unlock(&lock);
	return 0;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	const struct standin_device *device = standin_device_of(pd->context);
	int err = standin_fault_errno(STANDIN_alloc_mw);

	if (!err && device->profile)
		err = device->profile->alloc_mw_errno;
	if (err) {
		errno = err;
		return NULL;
	}
	return device->ops.alloc_mw(pd, type);
}

static int dealloc_mw(struct ibv_mw *mw)
{
	const struct standin_device *device = standin_device_of(mw->context);
	struct behind *behind = behind_take(mw);
	int err = device->ops.dealloc_mw(mw);

	if (behind)
		NEXT(ibv_dereg_mr, behind->mr);
	free(behind);
	return err;
}

/* Returns the answer to a post that is not executed; 0: it is executed. */
static int instead(const struct standin_device *device, struct ibv_qp *qp, enum standin_verb verb)
{
	const struct standin_profile *profile = device->profile;
	struct standin_answer answer = standin_fault(verb);

	if (answer.kind == STANDIN_ERRNO)
		return answer.value;
	if (answer.kind == STANDIN_FULL)
		return profile ? profile->full_answer : ENOMEM;
	if (answer.kind == STANDIN_DEAD)
		return profile && profile->dead_answer ? profile->dead_answer : EINVAL;
	if (profile && profile->dead_answer && standin_qp_is_dead(qp))
		return profile->dead_answer;
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *first, struct ibv_send_wr **bad)
{
	const struct standin_device *device = standin_device_of(qp->context);
	int err = instead(device, qp, STANDIN_post_send);

	if (err) {
		*bad = first;
		return err;
	}
	for (struct ibv_send_wr *wr = first; wr && !err; wr = wr->next) {
		*bad = wr;
		if (device->rxe && wr->opcode == IBV_WR_BIND_MW)
			err = behind_make(wr);
		if (device->siw)
			wr->send_flags |= IBV_SEND_SIGNALED;
	}
	return err ? err : device->ops.post_send(qp, first, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	const struct standin_device *device = standin_device_of(qp->context);
	int err = instead(device, qp, STANDIN_post_recv);

	if (err) {
		*bad = wr;
		return err;
	}
	return device->ops.post_recv(qp, wr, bad);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	const struct standin_device *device = standin_device_of(cq->context);
	int err = standin_fault_errno(STANDIN_req_notify_cq);

	if (err)
		return err;
	standin_completions_armed(cq);
	return device->ops.req_notify_cq(cq, solicited_only);
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		      size_t len)
{
	const struct standin_device *device = standin_device_of(context);
	int err = standin_fault_errno(STANDIN_query_port);

	if (!err)
		err = device->query_port(context, port, attr, len);
	if (!err && device->profile && device->profile->max_msg_bytes < attr->max_msg_sz)
		attr->max_msg_sz = device->profile->max_msg_bytes;
	return err;
}

void standin_ops_replace(struct ibv_context *context)
{
	struct verbs_context *wide = verbs_get_ctx_op(context, query_port);

	if (wide)
		wide->query_port = query_port;
	context->ops.alloc_mw = alloc_mw;
	context->ops.dealloc_mw = dealloc_mw;
	context->ops.post_send = post_send;
	context->ops.post_recv = post_recv;
	context->ops.poll_cq = standin_completions_poll;
	context->ops.req_notify_cq = req_notify_cq;
}
