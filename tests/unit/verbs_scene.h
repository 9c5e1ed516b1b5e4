/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixture: one connection of the verbs fabric on a fake device (verbs_fake.h). Sets up and tears
 * down endpoints for tests, and records the events of the endpoint.
 */
#ifndef TESTS_UNIT_VERBS_SCENE_H
#define TESTS_UNIT_VERBS_SCENE_H

#include <netinet/in.h>

#include "fabric/fabric.h"
#include "fabric/verbs/verbs_config.h"
#include "tests/unit/verbs_fake.h"

#define IB              IBV_TRANSPORT_IB
#define IWARP           IBV_TRANSPORT_IWARP
#define WINDOWS         IBV_DEVICE_MEM_WINDOW_TYPE_2B
#define SETUP_S         5u
#define SECOND          1000000u
#define SCENE_RNR_RETRY 3u
#define SEQ(n)          ((uint64_t)(n) << 2) /* wr_id of the n-th Send or Write; a Read's is one more */

struct verbs_scene {
	struct loop *loop;
	struct buf_pool *pool;
	struct fabric *fabric;
	struct fabric_listener *listener;
	struct fabric_ep *ep;
	struct sockaddr_in addr;
	struct fabric_ep_params params;
	/* The recorded events. */
	char rejection[160];
	unsigned requested, established, rejected, ending, closed, recvs, dones, unbound;
	enum fabric_close why;
	char detail[128];
	struct fabric_recv last;
	enum fabric_status status; /* of the last done() */
	unsigned founds;           /* device capabilities, as reported */
	char found[256];           /* … last */
	unsigned keys_free;
	/* Actions of the endpoint's user. */
	unsigned refill_bytes; /* a Receive of that size for each used one */
	bool unbind_in_done;   /* every key */
	struct fabric_wr send_wr[4], read_wr;
	struct fabric_key keys[3];
	bool unbinding[3]; /* in done(): unbound() is due */
};
extern struct verbs_scene scene;
/* Configuration of endpoints that a test makes itself. */
extern const struct fabric_ep_events scene_events;

/**
 * scene_begin - Makes a fabric and a listener on a device of this kind; memory windows if
 * @cap_flags have them.
 */
void scene_begin(enum ibv_transport_type transport, unsigned cap_flags);
/** scene_begin_as - The same, with a fabric of that configuration. */
void scene_begin_as(enum ibv_transport_type transport, unsigned cap_flags,
		    const struct verbs_config *config);
/** scene_begin_blind - The same, while no descriptor can be watched yet: see fake_loop_blind(). */
void scene_begin_blind(enum ibv_transport_type transport);
/** scene_config - Returns the configuration of scene_begin(). */
struct verbs_config scene_config(void);
/** scene_end - Checks that the endpoint has closed; frees everything, and nothing must be left. */
void scene_end(void);
/** scene_event - Makes the connection manager report this, and runs the loop. */
void scene_event(enum rdma_cm_event_type type, int status);
/** scene_done - Completes a work request or Receive, and runs the loop. */
void scene_done(uint64_t wr_id, enum ibv_wc_status status, uint32_t bytes);
/**
 * scene_await - Makes @loop wait for what threads do for @fabric, unless a call blocks; before that
 * loop runs.
 */
void scene_await(struct loop *loop, struct fabric *fabric);
/** scene_run_until - Runs until a helper thread has finished and @count is 1. */
void scene_run_until(const unsigned *count);
/** scene_ask - Connects, up to the peer's answer. */
void scene_ask(void);
/** scene_answered - Makes the peer accept. */
void scene_answered(void);
/** scene_connected - Connects; the peer accepts. */
void scene_connected(void);
/** scene_accepted - Makes a peer connect and send a first message. */
void scene_accepted(void);
/** scene_ended - Makes the peer end the connection, and runs to its end. */
void scene_ended(void);
/** scene_on_done - done() of posted work: counts, and unbinds every key if the test wants that. */
void scene_on_done(struct fabric_wr *wr, enum fabric_status status);
/** scene_post - Posts the @i-th Send, from @buf. */
void scene_post(unsigned i, struct buf *buf);
/** scene_post_read - Posts a Read into @buf, and runs the loop. */
void scene_post_read(struct buf *buf);
/**
 * scene_lend_for - Exposes 100 bytes of @buf, of which @ready_bytes are filled, as the @i-th key.
 */
int scene_lend_for(unsigned i, struct buf *buf, uint32_t ready_bytes, unsigned rights);
/**
 * scene_lend - Exposes 100 bytes of @buf to be written, as the @i-th key; returns as
 * fabric_key_bind().
 */
int scene_lend(unsigned i, struct buf *buf);

#endif
