/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What servers take and send beside what the documents say: a row for each that is known, a column for each
 * quirk. A connection goes by one row, which the configuration names or the server shows.
 *
 *	connecting                 the row of the name; "auto" holds until the server has shown something
 *	it shows private data      Linux's form: "linux"; another: "auto" stays, there is nothing to allow for
 *	it shows none              "ganesha", which is what every server without takes; or "chimera", if this
 *	                           service's server has lately been found to be one (struct peer_memory). In a
 *	                           dialect whose servers all have none "auto" stays
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
	 * (A3.7-2), a path inline that a write chunk was offered for (A3.7-1).
	 */
	bool lenient;
};

/** peer_profile - the row of a server. */
const struct peer_profile *peer_profile(enum peer_id id);

/*
 * What a service found out about its server, kept over its connections on all threads; starts as {0}.
 *
 * A server may refuse a long Call for what is in it. So a refusal that one client met is remembered for that client
 * alone. It holds for all clients once another client has met one, and not while the server takes long Calls.
 */
struct peer_memory {
	/* By the loops' clock. */
	atomic_uint_fast64_t refuses_until_us; /* position-zero chunks, of all clients */
	atomic_uint_fast64_t refused_client;   /* … of this one, a number for its address … */
	atomic_uint_fast64_t refused_until_us; /* … until then */
	atomic_uint_fast64_t takes_until_us;   /* it has taken one of some client */
};

/* A server that was updated is to be found out anew. */
#define PEER_MEMORY_US 600000000u

/** peer_memory_refused - remember that the server refused a long Call of @client. */
void peer_memory_refused(struct peer_memory *memory, uint64_t client, uint64_t now_us);
/** peer_memory_took - remember that the server took a long Call, whoever sent it. */
void peer_memory_took(struct peer_memory *memory, uint64_t now_us);
/** peer_memory_takes - returns whether the server has taken a long Call in the last PEER_MEMORY_US. */
bool peer_memory_takes(struct peer_memory *memory, uint64_t now_us);
/** peer_memory_refuses - returns whether the server is taken for one that refuses the long Calls of @client. */
bool peer_memory_refuses(struct peer_memory *memory, uint64_t client, uint64_t now_us);

#endif
