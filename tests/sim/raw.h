/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer, driven by the test, that sends right or wrong messages directly over the fabric. */
#ifndef TESTS_SIM_RAW_H
#define TESTS_SIM_RAW_H

#include "rpcrdma/header.h"
#include "tests/sim/rig.h"

#define RAW_MAX_RECVS 256
#define RAW_MAX_KEYS  80

struct raw_recv {
	uint8_t *data;
	uint32_t len_bytes, size_bytes;
	bool invalidated;
	uint32_t inv_rkey;
};

struct raw {
	struct rig *rig;
	struct fabric_ep *ep;
	uint64_t step_us; /* how long the loop runs after each action */
	struct fabric_ep_params params;
	bool established, closed;
	enum fabric_close why;
	uint8_t private_data[FABRIC_MAX_PRIVATE_DATA];
	size_t private_data_bytes;
	unsigned nrecvs, nread; /* Sends that arrived, and how many raw_next() has returned */
	struct raw_recv recvs[RAW_MAX_RECVS];
	unsigned nkeys;
	struct fabric_key keys[RAW_MAX_KEYS];
	struct buf *bufs[RAW_MAX_KEYS];
	unsigned posted, done;
	enum fabric_status last_status;
};

/** raw_new - Creates a peer with @pd as its private data (NULL: none), and plenty of Receives. */
struct raw *raw_new(struct rig *rig, const uint8_t *pd, size_t pd_bytes);
/** raw_connect - Connects to the server leg and runs; the leg must be open then. */
void raw_connect(struct raw *raw);
/** raw_adopt - Accepts the client leg's connection instead of the server leg. */
void raw_adopt(struct raw *raw, struct fabric_incoming *in);
/** raw_open_server - Connects the client leg to a raw peer and runs; the leg must be open then. */
struct raw *raw_open_server(struct rig *rig, const uint8_t *pd, size_t pd_bytes);
/** raw_open_client - Connects a raw peer to the server leg and runs; the leg must be open then. */
struct raw *raw_open_client(struct rig *rig, const uint8_t *pd, size_t pd_bytes);
/** raw_free - Closes, waits and frees. */
void raw_free(struct raw *raw);

/** raw_post_send - Posts bytes as a Send; raw_send() also runs the loop. */
void raw_post_send(struct raw *raw, const void *data, size_t len);
/** raw_send - Sends bytes, and runs. */
void raw_send(struct raw *raw, const void *data, size_t len);
/** raw_send_inv - The same, invalidating the peer's @rkey. */
void raw_send_inv(struct raw *raw, const void *data, size_t len, uint32_t rkey);
/** raw_send_header - Sends a header followed by a body, and runs. */
void raw_send_header(struct raw *raw, const struct rpcrdma_header *hdr, const void *body,
		     size_t len);
/** raw_write - RDMA Writes into the peer's memory, and runs; returns the status. */
enum fabric_status raw_write(struct raw *raw, const void *data, uint32_t len, uint32_t rkey,
			     uint64_t addr);
/** raw_read - RDMA Reads the peer's memory, and runs. */
enum fabric_status raw_read(struct raw *raw, void *data, uint32_t len, uint32_t rkey,
			    uint64_t addr);
/** raw_lend - Exposes @len bytes of memory to the peer, filled with @data unless NULL. */
struct fabric_key *raw_lend(struct raw *raw, const void *data, uint32_t len, unsigned rights);
/**
 * raw_lend_slowly - The same for Reads, which are answered when fabric_key_ready() says so; none of
 * it is ready yet.
 */
struct fabric_key *raw_lend_slowly(struct raw *raw, const void *data, uint32_t len);
/** raw_segment - Returns an exposed key as a segment. */
struct rpcrdma_segment raw_segment(const struct fabric_key *key);

/**
 * raw_forget - Forgets the Sends that were read, reposts their Receives, and invalidates all
 * exposed memory.
 */
void raw_forget(struct raw *raw);

/** raw_next - Returns the next Send that arrived and was not read yet, or NULL. */
const struct raw_recv *raw_next(struct raw *raw);
/** raw_next_header - Decodes the next Send, which must decode; *@body is what follows its header. */
void raw_next_header(struct raw *raw, struct rpcrdma_header *hdr, const uint8_t **body,
		     uint32_t *len_bytes);
/** raw_expect_error - Checks that the next Send is an RDMA_ERROR for @xid with @err. */
void raw_expect_error(struct raw *raw, uint32_t xid, uint32_t err);
/** raw_post_call - Posts a Call inline without chunks, and does not run the loop. */
void raw_post_call(struct raw *raw, uint32_t xid, uint32_t call_bytes, uint32_t reply_bytes);

#endif
