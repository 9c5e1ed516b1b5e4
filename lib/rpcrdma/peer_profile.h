/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What servers take and send beside what the documents say: a row for each that is known, a column for each
 * quirk. A connection goes by one row, which the configuration names or the server shows.
 *
 *	connecting                 the row of the name; "auto" holds until the server has shown something
 *	it shows private data      Linux's form: "linux"; another: "auto" stays, there is nothing to allow for
 *	it shows none              "ganesha", which is what every server without takes; or "chimera", if this
 *	                           service's server has lately been found to be one
 *	it refuses, with ERR_CHUNK, an RDMA_NOMSG Call that has nothing else that it could mean: "chimera"
 *
 * Only the end that connected has one. No Call is ever sent twice to find out.
 */
#ifndef RPCRDMA_PEER_PROFILE_H
#define RPCRDMA_PEER_PROFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define PEER_PROFILES(X)                                                                           \
	X(AUTO, "auto")                                                                            \
	X(LINUX, "linux")                                                                          \
	X(GANESHA, "ganesha")                                                                      \
	X(CHIMERA, "chimera")                                                                      \
	X(SOLARIS, "solaris")                                                                      \
	X(STRICT, "strict")

enum peer_id {
#define PEER_ENUM(name, text) PEER_##name,
	PEER_PROFILES(PEER_ENUM) PEER_COUNT
#undef PEER_ENUM
};

struct peer_profile {
	const char *name;
	/* Private data is sent; without, the server takes our receives for 1024 bytes (C4.1.1-1). */
	bool private_data;
	/* Longest Send, either way; 0: what both ends tell. */
	uint32_t inline_max_bytes;
	/* Longest segment to lend; 0: what the device can. */
	uint32_t segment_max_bytes;
	/* Longest reply or write chunk to offer, though the Reply could need more; 0: what it could need. */
	uint32_t landing_max_bytes;
	/* Takes an RDMA_NOMSG Call, whose message is a position-zero read chunk. */
	bool position_zero;
	/* Payloads that do not fit inline go in chunks of their own, whatever the configuration says. */
	bool ddp;
	/*
	 * With ddp: what is written to a file goes in a chunk of its own even where it fits inline, if it is longer
	 * than what follows it: by that alone the server tells whether it is inline.
	 */
	bool data_apart;
	/*
	 * Is forgiven what the documents forbid and implementations do: invalidating without having offered
	 * to (C5.1-1), a grant of zero (A3.3-3), a written XDR pad (A-Δ5), a write list that is not returned
	 * (A3.7-2).
	 */
	bool lenient;
};

/** peer_profile - the row of a server. */
const struct peer_profile *peer_profile(enum peer_id id);

/* What a service found out about its server, kept over its connections on all threads; starts as {0}. */
struct peer_memory {
	atomic_uint_fast64_t refuses_until_us; /* position-zero chunks; by the loops' clock */
};

/* A server that was updated is to be found out anew. */
#define PEER_MEMORY_US 600000000u

#endif
