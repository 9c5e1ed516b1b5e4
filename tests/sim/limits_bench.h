/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: a service with a connection limit, whose clients and servers are stubs. */
#ifndef TESTS_SIM_LIMITS_BENCH_H
#define TESTS_SIM_LIMITS_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sim/bridge_bench.h"

extern struct bench *bench;
extern uint32_t xid; /* of the last Call */

/** start - Starts the service. */
void start(unsigned max_connections, enum transport listens_on);
/** teardown - Ends it, and checks that nothing leaked. */
void teardown(void);
/** expect - Checks how many clients the limits count, by kind. */
void expect(unsigned half_open, unsigned active, unsigned held);
/** is_tcp - Returns whether clients come over TCP. */
bool is_tcp(void);
/** ask - Makes the bridge connect to the server: over TCP by a Call, over RDMA by the connection request. */
void ask(struct stub *client);
/** request - Calls ask() and waits for the attempt. */
void request(struct stub *client);
/** server_of - Returns the leg to the server of this client; NULL: none. */
struct stub *server_of(const struct stub *client);
/** open_client - Returns an accepted client, whose server is connected. */
struct stub *open_client(void);
/** give_call - Delivers a Call of the client. */
void give_call(struct stub *client);
/** end - Ends the client, and its server unless that is NULL. */
void end(struct stub *client, struct stub *server);

#endif
