/* SPDX-License-Identifier: BSD-3-Clause */
/* Two endpoints of the sim fabric without an owner, to test the fabric itself from both ends. */
#ifndef TESTS_SIM_BARE_H
#define TESTS_SIM_BARE_H

#include "tests/lib/sim/sim.h"

#define BARE_MAX_EVENTS 512
#define BARE_MAX_WRS    64
#define BARE_MAX_KEYS   16
#define BARE_BUF_BYTES  65536u

struct bare;
struct bare_end;

enum bare_what { BARE_DONE, BARE_UNBOUND, BARE_RECV, BARE_CLOSED };

/* The callbacks, in order. */
struct bare_event {
	enum bare_what what;
	unsigned which;            /* DONE, UNBOUND: index of the work request or key */
	enum fabric_status status; /* DONE */
	enum fabric_close why;     /* CLOSED */
	struct fabric_recv recv;   /* RECV; its data are gone */
};

struct bare_wr {
	struct fabric_wr wr;
	struct bare_end *end;
};

struct bare_key {
	struct fabric_key key;
	struct bare_end *end;
};

struct bare_end {
	struct bare *bare;
	struct fabric_ep *ep;
	struct fabric_ep_params params;
	bool established, closed;
	unsigned nevents, nwrs, nkeys;
	struct bare_event events[BARE_MAX_EVENTS];
	struct bare_wr wrs[BARE_MAX_WRS];
	struct bare_key keys[BARE_MAX_KEYS];
	bool bound[BARE_MAX_KEYS]; /* not unbound by its owner yet */
	struct buf *buf;           /* BARE_BUF_BYTES to send from, expose and Read into */
	void (*hook)(struct bare_end *end,
		     const struct bare_event *event); /* at each; may be NULL */
};

struct bare {
	struct loop *loop;
	struct buf_pool *pool;
	struct sim_net *net;
	struct fabric *fabric;
	struct fabric_listener *listener;
	struct bare_end client, server;
};

/**
 * bare_new - Creates two ends with eight Receives of 1024 bytes and four Reads each way, not
 * connected.
 */
struct bare *bare_new(const struct sim_faults *faults);
/** bare_connect - Connects them and runs; both must be established then. */
void bare_connect(struct bare *bare);
/** bare_open - Calls bare_new() and bare_connect(). */
struct bare *bare_open(const struct sim_faults *faults);
/** bare_run - Runs the loop for @us. */
void bare_run(struct bare *bare, uint64_t us);
/** bare_free - Closes what is open, checks that every event occurred once, and frees all. */
void bare_free(struct bare *bare);

/**
 * bare_post - Posts @op from or into the end's buffer at @offset; returns fabric_post()'s result.
 */
int bare_post(struct bare_end *end, enum fabric_wr_op op, uint32_t offset, uint32_t len_bytes,
	      const struct fabric_key *remote, uint32_t remote_offset);
/** bare_send_inv - Posts a Send of @len_bytes that invalidates @rkey. */
void bare_send_inv(struct bare_end *end, uint32_t len_bytes, uint32_t rkey);
/**
 * bare_lend - Exposes @len_bytes of the end's buffer at @offset, of which @ready_bytes are ready.
 */
struct fabric_key *bare_lend(struct bare_end *end, uint32_t offset, uint32_t len_bytes,
			     uint32_t ready_bytes, unsigned rights);
/** bare_unbind - Unbinds a key of bare_lend(); returns fabric_key_unbind()'s result. */
bool bare_unbind(struct bare_end *end, const struct fabric_key *key);
/** bare_count - Returns how many events of a kind an end has seen. */
unsigned bare_count(const struct bare_end *end, enum bare_what what);
/** bare_closed - Returns its closed() event, which must have occurred. */
enum fabric_close bare_closed(const struct bare_end *end);

#endif
