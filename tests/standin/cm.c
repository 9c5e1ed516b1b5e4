// SPDX-License-Identifier: BSD-3-Clause
/* Wraps the functions of librdmacm into which faults are injected. */
#include <errno.h>

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

struct rdma_event_channel *rdma_create_event_channel(void)
{
	return fails(STANDIN_create_event_channel) ? NULL : NEXT(rdma_create_event_channel);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	return fails(STANDIN_create_id) ? -1 : NEXT(rdma_create_id, channel, id, context, ps);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	return fails(STANDIN_destroy_id) ? -1 : NEXT(rdma_destroy_id, id);
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	return fails(STANDIN_migrate_id) ? -1 : NEXT(rdma_migrate_id, id, channel);
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	return fails(STANDIN_bind_addr) ? -1 : NEXT(rdma_bind_addr, id, addr);
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	return fails(STANDIN_listen) ? -1 : NEXT(rdma_listen, id, backlog);
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to,
		      int timeout_ms)
{
	return fails(STANDIN_resolve_addr) ? -1 : NEXT(rdma_resolve_addr, id, from, to, timeout_ms);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	return fails(STANDIN_resolve_route) ? -1 : NEXT(rdma_resolve_route, id, timeout_ms);
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	return fails(STANDIN_init_qp_attr) ? -1 : NEXT(rdma_init_qp_attr, id, attr, mask);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return fails(STANDIN_connect) ? -1 : NEXT(rdma_connect, id, param);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	return fails(STANDIN_accept) ? -1 : NEXT(rdma_accept, id, param);
}

int rdma_establish(struct rdma_cm_id *id)
{
	return fails(STANDIN_establish) ? -1 : NEXT(rdma_establish, id);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	return fails(STANDIN_disconnect) ? -1 : NEXT(rdma_disconnect, id);
}
