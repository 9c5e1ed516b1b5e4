/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transport characteristics on the wire: what RDMA_OPTIONAL of the types 1 to 4 holds
 * (draft-dnoveck-nfsv4-rpcrdma-xcharext-00 sections 2 to 5; where its XDR is none, what it means).
 *
 * Pure: no I/O, no memory but the caller's. All that is decoded is checked at once, so that what is read out of it
 * afterwards cannot fail.
 */
#ifndef RPCRDMA_V2_XCHAR_CODEC_H
#define RPCRDMA_V2_XCHAR_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* RDMA_OPTIONAL's opttype. */
enum xchar_op { XCHAR_INIT = 1, XCHAR_REQ = 2, XCHAR_RESP = 3, XCHAR_UPD = 4 };

enum xchar_id {
	XCHAR_RBSIZ = 1,    /* uint32: each receive takes a Send of so many bytes */
	XCHAR_RQREMINV = 2, /* bool: keys may be taken away by Send with Invalidate */
	XCHAR_BRS = 3,      /* enum xchar_brs */
};
#define XCHAR_ID_MAX 3u /* of those that are known here */

/* What reverse Calls and Replies an end takes. */
enum xchar_brs { XCHAR_BRS_UNKNOWN, XCHAR_BRS_NONE, XCHAR_BRS_SZLIM, XCHAR_BRS_GENL };

#define XCHAR_RBSIZ_DEFAULT 4096u

/** xchar_size - what a receive size counts as (B3.1-5). */
static inline uint32_t xchar_size(uint32_t bytes)
{
	return bytes < XCHAR_RBSIZ_DEFAULT ? XCHAR_RBSIZ_DEFAULT : bytes;
}

/* One characteristic. */
struct xchar_value {
	uint32_t id;
	bool known;     /* the id is one of the above, and `value` is valid for it */
	uint32_t value; /* a number, 0 or 1, or an enum xchar_brs; 0 if not known */
};

/* A list of them in the bytes that came; read with xchar_next(). */
struct xchar_spec {
	const uint8_t *at;
	uint32_t left; /* values */
};

/* A subset of a list's elements in the bytes that came: read with xchar_subset_has(). */
struct xchar_subset {
	const uint8_t *words;
	uint32_t nwords;
};

enum xchar_set { XCHAR_DONE, XCHAR_REJ, XCHAR_PEND, XCHAR_SETS };

/* A decoded operation; it points into what was decoded. What its kind has not is zero. */
struct xchar_operation {
	enum xchar_op op;
	struct xchar_spec spec;               /* INIT, REQ: all; UPD: the one */
	struct xchar_subset nochg;            /* INIT: that will not change */
	struct xchar_subset sets[XCHAR_SETS]; /* RESP */
	bool pendclr;                         /* UPD: nothing is pending any more */
};

enum xchar_verdict {
	XCHAR_OK,
	XCHAR_UNKNOWN_OP, /* INVAL_OPTION (B4-2) */
	XCHAR_BAD,        /* BAD_HEADER (B2.1-2, B2.1-3, X-9) */
};

/**
 * xchar_decode - decode the optinfo of an RDMA_OPTIONAL
 * @opttype, @info, @len: of the message
 * @operation:            set on XCHAR_OK; lives as long as @info
 *
 * It takes as many steps as @info has values. Data of a known id that is too short, too long or no value of its type
 * is XCHAR_BAD (B2.1-3); that of others is not looked at (B2.1-4), nor is padding. Bytes of @info behind the
 * operation make it XCHAR_BAD. @info of an unknown operation is not looked at.
 */
enum xchar_verdict xchar_decode(uint32_t opttype, const uint8_t *info, size_t len,
				struct xchar_operation *operation) MUST_CHECK;
/** xchar_next - the next value of a list, which goes on behind it; false, and @value as it was, at its end. */
bool xchar_next(struct xchar_spec *spec, struct xchar_value *value);
/** xchar_subset_has - whether element @n, from 0, is in it (B2.1-6). */
bool xchar_subset_has(const struct xchar_subset *subset, uint32_t n);

/**
 * xchar_encode_init, _req, _upd - encode optinfo into @to
 * @room:           how many bytes may be written there
 * @values, @count: known ones, or an UPD's one
 * @nochg:          bit n: the value @n will not change; no bits but those of @values
 * @pendclr:        no request for a change of it is pending any more
 *
 * Return the length in bytes, or 0 if @room is too little: then @to may be written all the same.
 */
size_t xchar_encode_init(uint8_t *to, size_t room, const struct xchar_value *values, unsigned count,
			 uint32_t nochg) MUST_CHECK;
size_t xchar_encode_req(uint8_t *to, size_t room, const struct xchar_value *values,
			unsigned count) MUST_CHECK;
size_t xchar_encode_upd(uint8_t *to, size_t room, const struct xchar_value *value,
			bool pendclr) MUST_CHECK;
/**
 * xchar_encode_resp - the same of a RESP
 * @count:  elements of the REQ
 * @set_of: which subset an element is in; asked of all in their order, from 0, twice, and says the same both times
 * @arg:    handed to it
 *
 * Words that would be zero at the end of a subset are left out. Nothing is asked if no RESP to so many would fit.
 */
size_t xchar_encode_resp(uint8_t *to, size_t room, uint32_t count,
			 enum xchar_set (*set_of)(void *arg, uint32_t n), void *arg) MUST_CHECK;

#endif
