// SPDX-License-Identifier: BSD-3-Clause
/*
 * What requester and responder ask of the upper-layer binding.
 *
 * By the requester only ever one payload a Call and one a Reply is moved: no server in the field takes more. So two are asked for,
 * to see whether there is one.
 */
#include "rpcrdma/rdma_binding.h"

#include "rpc/xdr.h"

bool rdma_moves_payloads(const struct rdma_conn *conn)
{
	return (conn->config->ddp || conn->peer->ddp) && conn->config->binding;
}

uint32_t rdma_reply_ceiling(const struct rdma_conn *conn, const struct exchange *x,
			    uint32_t limit_bytes)
{
	const struct leg_binding *binding = conn->leg->config->binding;

	return binding ? binding->reply_ceiling(binding->arg, &x->hdr, x->call.data,
						x->call.len_bytes, limit_bytes)
		       : x->reply_max_bytes;
}

static void find_result(const struct rdma_conn *conn, const struct exchange *x,
			struct call_form_ask *ask)
{
	const struct rdma_binding *binding = conn->config->binding;
	uint64_t padded;
	uint32_t bounds[2];

	if (!binding->result_bounds || binding->result_bounds(binding->arg, &x->hdr, x->call.data,
							      x->call.len_bytes, bounds, 2) != 1)
		return;
	/* Rounded up: some servers write the pad, too. */
	padded = xdr_padded_bytes(bounds[0]);
	if (!padded || padded > UINT32_MAX)
		return;
	ask->result_bytes = (uint32_t)padded;
	ask->reply_bytes = rdma_reply_ceiling(conn, x, x->reply_max_bytes);
}

static void find_payload(const struct rdma_conn *conn, const struct exchange *x,
			 struct call_form_ask *ask)
{
	const struct rdma_binding *binding = conn->config->binding;
	struct rdma_payload found[2];

	if (!binding->call_payloads || binding->call_payloads(binding->arg, &x->hdr, x->call.data,
							      x->call.len_bytes, found, 2) != 1)
		return;
	ask->payload_at = found[0].offset_bytes;
	ask->payload_bytes = found[0].len_bytes;
	ask->payload_is_data =
		conn->peer->data_apart && binding->call_writes &&
		binding->call_writes(binding->arg, &x->hdr, x->call.data, x->call.len_bytes);
}

void rdma_find_facts(const struct rdma_conn *conn, const struct exchange *x, unsigned facts,
		     struct call_form_ask *ask)
{
	if (facts & CALL_FORM_RESULT)
		find_result(conn, x, ask);
	if (facts & CALL_FORM_PAYLOAD)
		find_payload(conn, x, ask);
	ask->known |= facts;
}

void *rdma_note_new(const struct rdma_conn *conn, const struct exchange *x)
{
	const struct rdma_binding *binding = conn->config->binding;

	return binding ? binding->call_note(binding->arg, &x->hdr, x->call.data, x->call.len_bytes)
		       : NULL;
}

void rdma_note_free(const struct rdma_conn *conn, void *note)
{
	if (note)
		conn->config->binding->note_free(conn->config->binding->arg, note);
}

int rdma_reply_payloads(const struct rdma_conn *conn, const void *note, const uint8_t *reply,
			uint32_t len_bytes, struct rdma_payload *payloads, unsigned max)
{
	const struct rdma_binding *binding = conn->config->binding;

	return binding->reply_payloads(binding->arg, note, reply, len_bytes, payloads, max);
}
