/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A REQ of the peer's: what is wanted, and the RESP to it (draft-dnoveck-nfsv4-rpcrdma-xcharext-00 sections 4.2 and
 * 4.3). Pure.
 *
 * Of each id that is known the last value counts (B2.1-5), and there is one verdict for all of them; unknown ids are
 * rejected. Nothing of it points into the message that it came in.
 */
#ifndef RPCRDMA_V2_CHARACTERISTICS_REQUEST_H
#define RPCRDMA_V2_CHARACTERISTICS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "rpcrdma/v2/xchar_codec.h"

/* The longest RESP: behind the 24 bytes of RDMA_OPTIONAL it fits what every peer takes (E2.3-1). */
#define CHARACTERISTICS_RESP_BYTES 4072u
/* Values with a known id in one REQ; of one that has more all values are rejected (B3-2). */
#define CHARACTERISTICS_KNOWN_MAX 16u

struct characteristics_request {
	uint32_t xid;
	uint32_t count; /* values */
	unsigned known; /* those with a known id, in their order; 0: all are rejected */
	struct {
		uint32_t element, id;
	} elements[CHARACTERISTICS_KNOWN_MAX];
	/* By id. */
	bool wanted[XCHAR_ID_MAX + 1];
	uint32_t value[XCHAR_ID_MAX + 1];
	enum xchar_set verdict[XCHAR_ID_MAX + 1];
};

/**
 * characteristics_request_take - a REQ with @spec came; everything in it is rejected so far
 *
 * If the RESP might be too long for the verdicts, everything stays so: `known` is 0. Returns false if it would be too
 * long even then.
 */
bool characteristics_request_take(struct characteristics_request *request, uint32_t xid,
				  struct xchar_spec *spec) MUST_CHECK;
/** characteristics_request_resp - encode the RESP into @to. Returns its length, or 0 if @room is too little. */
size_t characteristics_request_resp(struct characteristics_request *request, uint8_t *to,
				    size_t room) MUST_CHECK;

#endif
