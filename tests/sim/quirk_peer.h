/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: the client leg with servers that have quirks, and what it remembers of them. */
#ifndef TESTS_SIM_QUIRK_PEER_H
#define TESTS_SIM_QUIRK_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "rpcrdma/peer_profile.h"
#include "tests/sim/server_peer.h"

/* The private data of a proxy. */
extern const uint8_t pd_ours[8];

/* The configuration of the leg that open_peer() opens; setup_peer() resets it. */
extern struct peer_cache peer_memory;
extern uint64_t peer_client; /* whose connection it is, for peer_memory */
extern bool peer_ddp;
extern enum dialect_id peer_version_one;

/** setup_peer - Forgets all servers and sets the defaults. */
void setup_peer(void);
/** teardown_peer - Ends everything and checks that nothing leaked. */
void teardown_peer(void);
/** open_peer - Opens the client leg, with @id configured, and a server with that private data. */
void open_peer(enum peer_id id, const uint8_t *pd);
/** expect_peer - Checks which server the leg takes it for. */
void expect_peer(const char *name);
/** refuse - Answers the Call with ERR_CHUNK. */
void refuse(uint32_t xid);
/** expect_not_sendable - Checks that a Call of this length ends without a Send; the client gets SYSTEM_ERR. */
void expect_not_sendable(uint32_t call_bytes);

#endif
