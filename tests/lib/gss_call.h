/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds RPCSEC_GSS Calls (RFC 2203) whose sequence number grows with each transmission. Their
 * signatures are not valid, and no test checks them.
 */
#ifndef TESTS_LIB_GSS_CALL_H
#define TESTS_LIB_GSS_CALL_H

#include <stddef.h>
#include <stdint.h>

#define GSS_CALL_BESIDE_BYTES 160u /* largest part of a Call that is not arguments */

struct gss_call {
	uint32_t xid, prog, vers, proc;
	uint32_t gss_proc, seq, service, handle;
	const uint8_t *args; /* a multiple of four bytes */
	uint32_t args_bytes;
};

/**
 * gss_call_put - Writes a Call to @to, which must have space for its arguments and
 * GSS_CALL_BESIDE_BYTES
 *
 * The verifier, the checksum after signed arguments, and encrypted arguments follow from the
 * sequence number. Returns the length in bytes.
 */
uint32_t gss_call_put(uint8_t *to, const struct gss_call *call);

#endif
