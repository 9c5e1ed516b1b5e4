// SPDX-License-Identifier: BSD-3-Clause
/* Enhanced connection establishment. A library without it answers EOPNOTSUPP, which leaves everything as the standard has it. */
#include "fabric/verbs/ece.h"

#include <errno.h>

/* An end of another vendor means that this one uses no options. */
static struct ibv_ece common(const struct ibv_ece *own, const struct ibv_ece *peers)
{
	struct ibv_ece ece = {.vendor_id = own->vendor_id};

	if (peers->vendor_id == own->vendor_id)
		ece.options = peers->options;
	return ece;
}

static void accept_offer(struct verbs_ep *ep)
{
	struct ibv_ece offer = {0}, ece;

	if (rdma_get_remote_ece(ep->id, &offer) || !offer.vendor_id)
		return;
	ece = common(&ep->ece, &offer);
	if (!ibv_set_ece(ep->made_qp, &ece) && !ibv_query_ece(ep->made_qp, &ece))
		ep->ece.options = ece.options;
	else
		ep->ece.options = 0;
}

void verbs_ece_created(struct verbs_ep *ep)
{
	if (ibv_query_ece(ep->made_qp, &ep->ece) || !ep->ece.vendor_id) {
		ep->ece = (struct ibv_ece){0};
		return;
	}
	if (!ep->connector)
		accept_offer(ep);
	(void)rdma_set_local_ece(ep->id, &ep->ece);
}

int verbs_ece_agreed(struct verbs_ep *ep)
{
	struct ibv_ece answer = {0}, ece;
	int err;

	if (!ep->connector || !ep->ece.vendor_id || rdma_get_remote_ece(ep->id, &answer))
		return 0;
	if (answer.vendor_id && answer.vendor_id != ep->ece.vendor_id)
		return -EPROTO;
	ece = common(&ep->ece, &answer);
	err = verbs_errno(ibv_set_ece(ep->made_qp, &ece));
	return err == -EOPNOTSUPP ? 0 : err;
}
