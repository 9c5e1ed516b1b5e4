/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes and encodes transport characteristics: the content of RDMA_OPTIONAL of types 1 to 4
 * (draft-dnoveck-nfsv4-rpcrdma-xcharext-00 sections 2 to 5; where its XDR is invalid, the evident
 * meaning).
 *
 * Pure: no I/O, no memory but the caller's. The decoder checks everything, so reading its results
 * cannot fail.
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
	XCHAR_RBSIZ = 1,    /* uint32: size of each Receive in bytes */
	XCHAR_RQREMINV = 2, /* bool: Send with Invalidate can invalidate keys */
	XCHAR_BRS = 3,      /* enum xchar_brs */
};
#define XCHAR_ID_MAX 3u /* largest known id */

/* Which reverse Calls and Replies an end accepts. */
enum xchar_brs { XCHAR_BRS_UNKNOWN, XCHAR_BRS_NONE, XCHAR_BRS_SZLIM, XCHAR_BRS_GENL };

#define XCHAR_RBSIZ_DEFAULT 4096u

/** xchar_size - Returns the effective value of a receive size (B3.1-5). */
static inline uint32_t xchar_size(uint32_t bytes)
{
	return bytes < XCHAR_RBSIZ_DEFAULT ? XCHAR_RBSIZ_DEFAULT : bytes;
}

/* One characteristic. */
struct xchar_value {
	uint32_t id;
	bool known;     /* the id is known, and `value` is valid */
	uint32_t value; /* a number, 0 or 1, or an enum xchar_brs; 0 if not known */
};

/* A list of values inside the received bytes; read it with xchar_next(). */
struct xchar_spec {
	const uint8_t *at;
	uint32_t left; /* values */
};

/* A subset of a list's elements inside the received bytes; read it with xchar_subset_has(). */
struct xchar_subset {
	const uint8_t *words;
	uint32_t nwords;
};

enum xchar_set { XCHAR_DONE, XCHAR_REJ, XCHAR_PEND, XCHAR_SETS };

/*
 * A decoded operation; it points into the decoded bytes. Members that its kind does not have are
 * zero.
 */
struct xchar_operation {
	enum xchar_op op;
	struct xchar_spec spec;               /* INIT, REQ: all; UPD: the one */
	struct xchar_subset nochg;            /* INIT: values that will not change */
	struct xchar_subset sets[XCHAR_SETS]; /* RESP */
	bool pendclr;                         /* UPD: ends the pending request */
};

enum xchar_verdict {
	XCHAR_OK,
	XCHAR_UNKNOWN_OP, /* INVAL_OPTION (B4-2) */
	XCHAR_BAD,        /* BAD_HEADER (B2.1-2, B2.1-3, X-9) */
};

/**
 * xchar_decode - Decodes the optinfo of an RDMA_OPTIONAL.
 * @opttype, @info, @len: of the message
 * @operation:            set on XCHAR_OK; valid as long as @info
 *
 * A wrong length or an invalid value of a known id is XCHAR_BAD (B2.1-3), and so are bytes after
 * the operation. Data of unknown ids (B2.1-4), padding, and the @info of an unknown operation are
 * not checked.
 */
enum xchar_verdict xchar_decode(uint32_t opttype, const uint8_t *info, size_t len,
				struct xchar_operation *operation) MUST_CHECK;
/**
 * xchar_next - Reads the next value and advances the list; at its end returns false and leaves
 * @value unchanged.
 */
bool xchar_next(struct xchar_spec *spec, struct xchar_value *value);
/** xchar_subset_has - Returns true if element @n, from 0, is in the subset (B2.1-6). */
bool xchar_subset_has(const struct xchar_subset *subset, uint32_t n);

/**
 * xchar_encode_init, _req, _upd - Encode optinfo into @to.
 * @capacity:           size of @to in bytes
 * @values, @count: known values, or the one value of an UPD
 * @nochg:          bit n: value n will not change; only bits of @values
 * @pendclr:        no request to change the value is pending any more
 *
 * Return the length in bytes, or 0 if @capacity is too small; @to can then be partly written.
 */
size_t xchar_encode_init(uint8_t *to, size_t capacity, const struct xchar_value *values,
			 unsigned count, uint32_t nochg) MUST_CHECK;
size_t xchar_encode_req(uint8_t *to, size_t capacity, const struct xchar_value *values,
			unsigned count) MUST_CHECK;
size_t xchar_encode_upd(uint8_t *to, size_t capacity, const struct xchar_value *value,
			bool pendclr) MUST_CHECK;
/**
 * xchar_encode_resp - Encodes a RESP in the same way.
 * @count:  elements of the REQ
 * @set_of: returns the subset of an element; called for all in order, from 0, twice
 * @arg:    passed to it
 *
 * Omits words at the end of a subset that would be zero. Does not call @set_of if no such RESP
 * would fit.
 */
size_t xchar_encode_resp(uint8_t *to, size_t capacity, uint32_t count,
			 enum xchar_set (*set_of)(void *arg, uint32_t n), void *arg) MUST_CHECK;

#endif
