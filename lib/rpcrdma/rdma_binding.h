/* SPDX-License-Identifier: BSD-3-Clause */
/* All that requester and responder ask of the upper-layer binding: facts of a Call, the payloads of a Reply. */
#ifndef RPCRDMA_RDMA_BINDING_H
#define RPCRDMA_RDMA_BINDING_H

#include "leg/exchange.h"
#include "rpcrdma/call_form.h"
#include "rpcrdma/rdma_conn.h"

/** rdma_moves_payloads - whether payloads may go by RDMA: configured, or all that the server takes. */
bool rdma_moves_payloads(const struct rdma_conn *conn);
/** rdma_find_facts - fill in the @facts (CALL_FORM_*) of @x's Call, which must be whole. */
void rdma_find_facts(const struct rdma_conn *conn, const struct exchange *x, unsigned facts,
		     struct call_form_ask *ask);
/** rdma_reply_ceiling - the largest Reply that @x's Call, which must be whole, can get within the limit. */
uint32_t rdma_reply_ceiling(const struct rdma_conn *conn, const struct exchange *x,
			    uint32_t limit_bytes);

/** rdma_note_new - what it takes to find the payloads of @x's Reply; NULL if there is none to find, or no binding. */
void *rdma_note_new(const struct rdma_conn *conn, const struct exchange *x);
/** rdma_note_free - accepts NULL. */
void rdma_note_free(const struct rdma_conn *conn, void *note);
/** rdma_reply_payloads - the payloads of a whole Reply, in order; how many, at most @max, or a negative errno. */
int rdma_reply_payloads(const struct rdma_conn *conn, const void *note, const uint8_t *reply,
			uint32_t len_bytes, struct rdma_payload *payloads, unsigned max);

#endif
