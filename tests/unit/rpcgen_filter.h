/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints a value that rpcgen's code decoded as a line of words: numbers in decimal, opaque data in
 * hexadecimal.
 */
#ifndef TESTS_UNIT_RPCGEN_FILTER_H
#define TESTS_UNIT_RPCGEN_FILTER_H

#include <rpc/rpc.h>
#include <stdbool.h>

/**
 * struct rpcgen_type - something that can be decoded
 * @show: puts what was decoded into the line; false where the document forbids what its XDR lets pass
 */
struct rpcgen_type {
	const char *name;
	xdrproc_t xdr;
	size_t size_bytes;
	bool (*show)(const void *value);
};

/* Each ends with one that has no name. */
extern const struct rpcgen_type rpcgen_v1_types[];
extern const struct rpcgen_type rpcgen_v2_types[];
extern const struct rpcgen_type rpcgen_xchar_types[];

/** say_number - Appends one word to the line */
void say_number(unsigned long long number);

/** say_bytes - Appends the length of bytes and, if there are any, the bytes */
void say_bytes(const void *bytes, size_t len);

/**
 * rpcgen_same - whether bytes are what their own value encodes to, with nothing behind it
 * @value: takes what they decode to; the caller zeroed it and gives it to xdr_free()
 */
bool rpcgen_same(xdrproc_t xdr, const void *bytes, size_t len, void *value);

#endif
