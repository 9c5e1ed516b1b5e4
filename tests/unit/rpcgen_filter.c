// SPDX-License-Identifier: BSD-3-Clause
/*
 * Decodes bytes for tests in other languages with rpcgen's code for the XDR of the documents.
 *
 * Each line of standard input is the name of a type and bytes in hexadecimal. Each output line is
 * "no" if the bytes do not decode; otherwise it is the bytes to which the value encodes, in
 * hexadecimal, and the value. These bytes can be fewer than the input, because bytes after the
 * value are ignored.
 */
#include "tests/unit/rpcgen_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEND_BYTES (1 << 18)

static char line[2 * SEND_BYTES + 64];
static char words[8 * SEND_BYTES];
static size_t words_len;

void say_number(unsigned long long number)
{
	words_len +=
		(size_t)snprintf(words + words_len, sizeof(words) - words_len, " %llu", number);
	if (words_len >= sizeof(words))
		abort();
}

static void put_hex(FILE *to, const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fprintf(to, "%02x", bytes[i]);
}

void say_bytes(const void *bytes, size_t len)
{
	const unsigned char *from = bytes;

	say_number(len);
	if (words_len + 2 * len + 2 > sizeof(words))
		abort();
	if (len)
		words[words_len++] = ' ';
	for (size_t i = 0; i < len; i++)
		words_len += (size_t)snprintf(words + words_len, 3, "%02x", from[i]);
}

/* Returns how many bytes the value encodes to, or 0. */
static size_t encode(xdrproc_t xdr, void *value, unsigned char *to)
{
	size_t len = 0;
	XDR xdrs;

	xdrmem_create(&xdrs, (char *)to, SEND_BYTES, XDR_ENCODE);
	if (xdr(&xdrs, value))
		len = xdr_getpos(&xdrs);
	xdr_destroy(&xdrs);
	return len;
}

static bool decode(xdrproc_t xdr, const void *bytes, size_t len, void *value)
{
	unsigned char *copy = malloc(len + 1);
	bool decoded;
	XDR xdrs;

	if (!copy)
		abort();
	if (len)
		memcpy(copy, bytes, len);
	xdrmem_create(&xdrs, (char *)copy, (u_int)len, XDR_DECODE);
	decoded = xdr(&xdrs, value);
	xdr_destroy(&xdrs);
	free(copy);
	return decoded;
}

bool rpcgen_same(xdrproc_t xdr, const void *bytes, size_t len, void *value)
{
	static unsigned char again[SEND_BYTES];

	return decode(xdr, bytes, len, value) && encode(xdr, value, again) == len &&
	       memcmp(bytes, again, len) == 0;
}

static const struct rpcgen_type *find_type(const char *name)
{
	static const struct rpcgen_type *const tables[] = {
		rpcgen_v1_types,
		rpcgen_v2_types,
		rpcgen_xchar_types,
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (const struct rpcgen_type *type = tables[i]; type->name; type++) {
			if (strcmp(type->name, name) == 0)
				return type;
		}
	}
	fprintf(stderr, "rpcgen_filter: no type %s\n", name);
	exit(2);
}

static size_t read_hex(const char *hex, unsigned char *to)
{
	size_t len = strlen(hex) / 2;
	unsigned byte;

	for (size_t i = 0; i < len; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			exit(2);
		to[i] = (unsigned char)byte;
	}
	return len;
}

static void answer(const struct rpcgen_type *type, const unsigned char *bytes, size_t len)
{
	static unsigned char again[SEND_BYTES];
	void *value = calloc(1, type->size_bytes);

	if (!value)
		abort();
	words_len = 0;
	if (decode(type->xdr, bytes, len, value) && type->show(value)) {
		put_hex(stdout, again, encode(type->xdr, value, again));
		printf("%.*s\n", (int)words_len, words);
	} else {
		puts("no");
	}
	fflush(stdout);
	xdr_free(type->xdr, value);
	free(value);
}

int main(void)
{
	static unsigned char bytes[SEND_BYTES];

	while (fgets(line, sizeof(line), stdin)) {
		char *hex = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (!hex) {
			fprintf(stderr, "rpcgen_filter: no bytes: %s\n", line);
			return 2;
		}
		*hex++ = '\0';
		answer(find_type(line), bytes, read_hex(hex, bytes));
	}
	return 0;
}
