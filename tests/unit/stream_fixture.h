/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture of the tests of streams: ends that record their events, on a loop of the test. */
#ifndef TESTS_UNIT_STREAM_FIXTURE_H
#define TESTS_UNIT_STREAM_FIXTURE_H

#include "stream/tcp_stream.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/stream_pair.h"
#include "tests/lib/test.h"

#define FIXTURE_STALL_US 60000000u

struct end {
	struct stream *stream;
	unsigned events; /* of ready(), since end_watch() */
	unsigned told;   /* how often ready() was called */
	unsigned connected;
	int error;            /* of the last connected() */
	bool close_in_events; /* by the first event */
};

extern struct loop *loop;
extern struct reserved_ports *reserved_ports;
extern struct tcp_stream_net sockets;
extern struct pair_net *pairs;
extern struct end ends[2];

/** stream_setup, stream_teardown - for each test; teardown ends what is open. */
void stream_setup(void);
void stream_teardown(void);
/** end_bind - Connects @end to @stream's events. */
void end_bind(struct end *end, struct stream *stream);
/** end_close - Closes and frees it. */
void end_close(struct end *end, bool reset);
/** socket_listen - Returns a listening socket on the loopback; sets @addr. */
int socket_listen(int backlog, struct sockaddr_storage *addr);
/** make_sockets, make_pair - Make ends[0] and ends[1], connected. */
void make_sockets(void);
void make_pair(void);

/** end_watch - Watches until the next ready(), which is the last unless it is called again. */
void end_watch(struct end *end, unsigned events);
/** await - Runs the loop until @end is ready for what it watches. */
void await(struct end *end, unsigned events);
/** is_lost - Returns whether it gets LOOP_LOST while it watches nothing else. */
bool is_lost(struct end *end);
/** await_outcome - Runs the loop until connected(). */
void await_outcome(struct end *end);
/** settle - Runs the loop as long as pending events could take. */
void settle(void);

/** end_write, end_read - Make one call, of contiguous bytes. */
ssize_t end_write(struct end *end, const void *bytes, size_t len_bytes);
ssize_t end_read(struct end *end, void *bytes, size_t len_bytes);
/** end_send - Writes all of it, as space permits. */
void end_send(struct end *end, const void *bytes, size_t len_bytes);
/** end_expect - Reads exactly these bytes, as they arrive. */
void end_expect(struct end *end, const void *bytes, size_t len_bytes);
/** end_expect_result - Waits, and reads @want: 0, or a negative errno. */
void end_expect_result(struct end *end, ssize_t want);

#endif
