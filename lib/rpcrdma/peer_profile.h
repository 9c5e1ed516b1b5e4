/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quirks of known servers, one row each. A connection uses one row, named in the configuration or
 * detected:
 *
 *	connecting                 the named row; "auto" applies until the server is detected
 *	private data arrived       in Linux's form: "linux"; otherwise "auto" stays
 *	no private data arrived    "ganesha", which every server without private data can handle; or
 *	                           "chimera", if the server was recently detected as one (struct
 *	                           peer_cache). In a dialect without private data "auto" stays
 *	ERR_CHUNK to an RDMA_NOMSG Call, with no other possible cause: "chimera"
 *
 * Only the end that connected uses quirks. No Call is ever sent twice to detect them.
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
	/* Sends private data; without them the server assumes Receives of 1024 bytes (C4.1.1-1). */
	bool private_data;
	/* Longest Send in both directions; 0: what both ends advertise. */
	uint32_t inline_max_bytes;
	/* Longest segment to expose; 0: the limit of the device. */
	uint32_t segment_max_bytes;
	/* Longest reply or write chunk, even if the Reply can be longer; 0: no limit. */
	uint32_t chunk_max_bytes;
	/* Accepts RDMA_NOMSG Calls, whose message is a position-zero read chunk. */
	bool position_zero;
	/* Payloads that do not fit inline go in chunks, regardless of the configuration. */
	bool ddp;
	/*
	 * With ddp: file data longer than the bytes after them go in a chunk even if they fit
	 * inline. The server compares these lengths to decide whether the data are inline.
	 */
	bool data_in_chunk;
	/*
	 * Tolerates common violations: invalidating without offering it (C5.1-1), a grant of zero
	 * (A3.3-3), a written XDR pad (A-Δ5), an omitted write list (A3.7-2), a READLINK path
	 * inline although a write chunk was offered (A3.7-1).
	 */
	bool lenient;
};

/** peer_profile - Returns the row of a server. */
const struct peer_profile *peer_profile(enum peer_id id);

/*
 * Cache of what a service learned about its server, shared by its connections on all threads;
 * starts as {0}.
 *
 * A server can reject a long Call because of its content. So a rejection counts only for the client
 * that sent the Call, until the server rejects a Call of a second client; then it counts for all.
 * It does not count while the server accepts long Calls.
 */
struct peer_cache {
	/* Position-zero chunks of all clients are rejected until then, on the loops' clock, … */
	atomic_uint_fast64_t rejects_until_us;
	atomic_uint_fast64_t rejected_client; /* … of this client, a number for its address … */
	atomic_uint_fast64_t client_rejected_until_us; /* … until then */
	atomic_uint_fast64_t accepts_until_us;         /* long Calls count as accepted until then */
};

/* Lifetime of an entry: an updated server must be detected again. */
#define PEER_CACHE_US 600000000u

/** peer_cache_long_rejected - Records that the server rejected a long Call of @client. */
void peer_cache_long_rejected(struct peer_cache *memory, uint64_t client, uint64_t now_us);
/** peer_cache_long_accepted - Records that the server accepted a long Call of any client. */
void peer_cache_long_accepted(struct peer_cache *memory, uint64_t now_us);
/**
 * peer_cache_accepts_long - Returns true if the server accepted a long Call in the last
 * PEER_CACHE_US.
 */
bool peer_cache_accepts_long(struct peer_cache *memory, uint64_t now_us);
/**
 * peer_cache_rejects_long - Returns true if the server is assumed to reject long Calls of @client.
 */
bool peer_cache_rejects_long(struct peer_cache *memory, uint64_t client, uint64_t now_us);

#endif
