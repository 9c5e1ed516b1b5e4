/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: an engine with its owner, and two of them connected without a network. */
#ifndef TESTS_UNIT_IWARP_SIDE_H
#define TESTS_UNIT_IWARP_SIDE_H

#include "fabric/iwarp/engine.h"

#define SIDE_MAX_SENDS 4096

struct side_send {
	uint32_t len_bytes, size_bytes;
	bool invalidated;
	uint32_t inv_rkey;
	uint8_t *bytes;
};

/* A work request that records its completion. */
struct side_wr {
	struct fabric_wr wr;
	struct iwarp_side *side;
	unsigned done; /* how often */
	enum fabric_status status;
	unsigned order; /* among all that completed on its side */
};

struct iwarp_side {
	struct iwarp_env env;
	struct iwarp_counters counters;
	struct buf_pool *pool;
	struct iwarp_engine *engine;
	struct fabric_ep_params params; /* for connect and accept */
	bool accept;                    /* accept immediately when asked */
	bool refill;                    /* post a receive for each one used */
	uint64_t now_us;

	unsigned requested, established, rejected;
	uint8_t private_data[512];
	size_t private_data_bytes;
	struct side_send sends[SIDE_MAX_SENDS];
	unsigned nsends;
	unsigned notes;
	char note[256];
	unsigned done;
	void (*on_recv)(struct iwarp_side *side); /* may be NULL */
};

/**
 * side_init - Creates an engine with its own pool; params with IRD and ORD 16 and eight Receives of
 * 4096.
 */
void side_init(struct iwarp_side *side, const struct iwarp_config *config, uint64_t seed);
/** side_fini - Flushes and frees everything. */
void side_fini(struct iwarp_side *side);
/** side_take - Returns what the engine wants to send, up to @size, and reports it as sent. */
size_t side_take(struct iwarp_side *side, uint8_t *out, size_t size);
/** side_give - Passes @len_bytes to the engine, at most @piece at a time. */
void side_give(struct iwarp_side *side, const uint8_t *bytes, size_t len_bytes, size_t piece);
/**
 * side_pump - Moves bytes both ways until none is left; 0: as much together as possible, else
 * seeded pieces.
 */
void side_pump(struct iwarp_side *a, struct iwarp_side *b, uint64_t seed);
/** side_open - Connects @a to @b and completes the exchange. */
void side_open(struct iwarp_side *a, struct iwarp_side *b, uint64_t seed);

/** side_wr_init - Prepares it; the caller fills the memory that it points to. */
void side_wr_init(struct side_wr *swr, struct iwarp_side *side, enum fabric_wr_op op);
/** side_wr_add - Adds one more piece of memory. */
void side_wr_add(struct side_wr *swr, struct buf *buf, uint32_t offset, uint32_t len_bytes);
/** side_post - Posts it, which must succeed. */
void side_post(struct iwarp_side *side, struct side_wr *swr);
/** side_key - Exposes @len_bytes of @buf from @offset. */
void side_key(struct iwarp_side *side, struct fabric_key *key, struct buf *buf, uint32_t offset,
	      uint32_t len_bytes, unsigned rights);
/** side_fill - Fills with a pattern that depends on @seed. */
void side_fill(uint8_t *bytes, size_t len_bytes, uint64_t seed);

/** side_fpdu - Wraps a ULPDU with length, padding and CRC (zeros without); returns the length. */
size_t side_fpdu(uint8_t *out, const uint8_t *ulpdu, size_t len_bytes, bool crc);

#endif
