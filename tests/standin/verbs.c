// SPDX-License-Identifier: BSD-3-Clause
/* Wraps the functions of libibverbs that the stand-in answers. */
#include <errno.h>

#include "tests/standin/completions.h"
#include "tests/standin/device.h"
#include "tests/standin/fault.h"
#include "tests/standin/libs.h"

/* Returns true if the call must fail, and sets errno then. */
static bool fails(enum standin_verb verb)
{
	int err = standin_fault_errno(verb);

	if (err)
		errno = err;
	return err;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context =
		fails(STANDIN_open_device) ? NULL : NEXT(ibv_open_device, device);

	if (context)
		standin_device_opened(context);
	return context;
}

int ibv_close_device(struct ibv_context *context)
{
	standin_device_closed(context);
	return NEXT(ibv_close_device, context);
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct standin_device *device = standin_device_of(context);
	const struct standin_profile *profile = device ? device->profile : NULL;
	int err = standin_fault_errno(STANDIN_query_device);

	if (!err)
		err = NEXT(ibv_query_device, context, attr);
	if (err || !profile)
		return err;
	attr->vendor_id = profile->vendor_id;
	attr->vendor_part_id = profile->part_id;
	attr->device_cap_flags &=
		~(unsigned)(IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2A |
			    IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS);
	attr->device_cap_flags |= profile->cap_flags;
	attr->max_mw = profile->max_mw;
	/* No more than the device behind the stand-in supports. */
	if (profile->max_sge < attr->max_sge)
		attr->max_sge = profile->max_sge;
	if (profile->max_qp_wr < attr->max_qp_wr)
		attr->max_qp_wr = profile->max_qp_wr;
	if (profile->max_cqe < attr->max_cqe)
		attr->max_cqe = profile->max_cqe;
	if (profile->max_qp_rd_atom < attr->max_qp_rd_atom)
		attr->max_qp_rd_atom = profile->max_qp_rd_atom;
	if (profile->max_qp_init_rd_atom < attr->max_qp_init_rd_atom)
		attr->max_qp_init_rd_atom = profile->max_qp_init_rd_atom;
	return 0;
}

/* For a device in memory; other devices use the context's function, see ops.c. */
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	const struct standin_device *device = standin_device_of(context);
	const struct standin_profile *profile = device ? device->profile : NULL;
	struct ibv_port_attr *wide = (struct ibv_port_attr *)attr;
	int err = standin_fault_errno(STANDIN_query_port);

	if (!err)
		err = NEXT(ibv_query_port, context, port, attr);
	if (!err && profile && profile->max_msg_bytes < wide->max_msg_sz)
		wide->max_msg_sz = profile->max_msg_bytes;
	return err;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	return fails(STANDIN_alloc_pd) ? NULL : NEXT(ibv_alloc_pd, context);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	return fails(STANDIN_reg_mr) ? NULL : NEXT(ibv_reg_mr, pd, addr, len, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
				unsigned access)
{
	return fails(STANDIN_reg_mr) ? NULL : NEXT(ibv_reg_mr_iova2, pd, addr, len, iova, access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	int err = standin_fault_errno(STANDIN_dereg_mr);

	return err ? err : NEXT(ibv_dereg_mr, mr);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel =
		fails(STANDIN_create_comp_channel) ? NULL : NEXT(ibv_create_comp_channel, context);

	if (channel)
		standin_completions_channel(channel);
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	standin_completions_channel_gone(channel);
	return NEXT(ibv_destroy_comp_channel, channel);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *arg,
			     struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq = fails(STANDIN_create_cq)
				    ? NULL
				    : NEXT(ibv_create_cq, context, cqe, arg, channel, vector);

	if (cq)
		standin_completions_cq(cq);
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	int err = standin_fault_errno(STANDIN_destroy_cq);

	if (err)
		return err;
	standin_completions_cq_gone(cq);
	return NEXT(ibv_destroy_cq, cq);
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	return standin_completions_event(channel, cq, context);
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
	count = standin_completions_ack(cq, count);
	if (count)
		NEXT(ibv_ack_cq_events, cq, count);
}

/*
 * Returns true if the profile's device refuses the queue pair; otherwise limits the inline data to
 * what it supports.
 */
static bool refused(const struct standin_profile *profile, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_cap *cap = &attr->cap;

	if ((int)cap->max_send_sge > profile->max_sge ||
	    (int)cap->max_recv_sge > profile->max_sge ||
	    (int)cap->max_send_wr > profile->max_qp_wr ||
	    (int)cap->max_recv_wr > profile->max_qp_wr)
		return true;
	if (cap->max_inline_data > profile->max_inline) {
		if (profile->inlines != STANDIN_INLINE_CLAMPED)
			return true;
		cap->max_inline_data = profile->max_inline;
	} else if (profile->inlines == STANDIN_INLINE_RETURNED) {
		cap->max_inline_data = profile->max_inline;
	}
	return false;
}

/* If the device behind the stand-in refuses the inline data, creates the queue pair without any. */
static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, unsigned most)
{
	struct ibv_qp_init_attr asked = *attr;
	struct ibv_qp *qp = NEXT(ibv_create_qp, pd, attr);

	if (!qp && asked.cap.max_inline_data) {
		*attr = asked;
		attr->cap.max_inline_data = 0;
		qp = NEXT(ibv_create_qp, pd, attr);
	}
	if (attr->cap.max_inline_data > most)
		attr->cap.max_inline_data = most;
	return qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const struct standin_device *device = standin_device_of(pd->context);
	const struct standin_profile *profile = device->profile;
	struct ibv_qp *qp;

	if (fails(STANDIN_create_qp))
		return NULL;
	if (profile && refused(profile, attr)) {
		errno = EINVAL;
		return NULL;
	}
	if (profile)
		qp = create_qp(pd, attr, profile->max_inline);
	else
		qp = NEXT(ibv_create_qp, pd, attr);
	if (qp)
		standin_qp_created(qp);
	return qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	int err = standin_fault_errno(STANDIN_destroy_qp);

	if (err)
		return err;
	standin_qp_destroyed(qp);
	return NEXT(ibv_destroy_qp, qp);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int err = standin_fault_errno(STANDIN_modify_qp);

	if (!err)
		err = NEXT(ibv_modify_qp, qp, attr, mask);
	if (!err && (mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_ERR)
		standin_qp_failed(qp->context, qp->qp_num);
	return err;
}
