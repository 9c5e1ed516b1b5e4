/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What two ends may say to each other, and how: a row for each document that describes it, a column for each choice in
 * which documents differ. A connection goes by one row; an RPC by the one that it was planned with.
 *
 * Code asks columns. Only the codec of the header, this table and what settles the version of a connection compare
 * numbers of versions.
 */
#ifndef RPCRDMA_DIALECT_H
#define RPCRDMA_DIALECT_H

#include <stdint.h>

#define DIALECTS(X) X(RFC8166, "rfc8166")

enum dialect_id {
#define DIALECT_ENUM(name, text) DIALECT_##name,
	DIALECTS(DIALECT_ENUM) DIALECT_COUNT
#undef DIALECT_ENUM
};

struct dialect {
	const char *name;
	/* What stands in each of its messages. */
	uint32_t version;
};

/** dialect - the row of a document. */
const struct dialect *dialect(enum dialect_id id);

#endif
