/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture of the tests of streams: ends that record their events, on a loop of the test. */
#ifndef TESTS_UNIT_STREAM_FIXTURE_H
#define TESTS_UNIT_STREAM_FIXTURE_H

#include "stream/socket.h"
#include "tests/lib/fake_loop.h"
#include "tests/lib/stream_pair.h"
#include "tests/lib/test.h"

#define FIXTURE_STALL_US 60000000u

struct end {
	struct stream *stream;
	unsigned events; /* of ready(), since end_watch() */
	unsigned told;   /* how often ready() was said */
	unsigned connected;
	int error;            /* of the last connected() */
	bool close_in_events; /* by the first event */
};

extern struct loop *loop;
extern struct ports *ports;
extern struct socket_net sockets;
extern struct pair_net *pairs;
extern struct end ends[2];

/** stream_setup, stream_teardown - for each test; teardown ends what is open. */
void stream_setup(void);
void stream_teardown(void);
/** end_bind - have @end told of @stream's events. */
void end_bind(struct end *end, struct stream *stream);
/** end_close - close and free it. */
void end_close(struct end *end, bool reset);
/** socket_listen - a listening socket on the loopback; sets @addr. */
int socket_listen(int backlog, struct sockaddr_storage *addr);
/** make_sockets, make_pair - ends[0] and ends[1], connected. */
void make_sockets(void);
void make_pair(void);

/** end_watch - watch until the next ready(), which is the last unless it is asked again. */
void end_watch(struct end *end, unsigned events);
/** await - run the loop until @end is ready for what it watches. */
void await(struct end *end, unsigned events);
/** is_lost - whether it is told LOOP_LOST, watching for nothing else. */
bool is_lost(struct end *end);
/** await_outcome - run the loop until connected(). */
void await_outcome(struct end *end);
/** settle - run the loop as long as anything on its way could take. */
void settle(void);

/** end_write, end_read - one call, of contiguous bytes. */
ssize_t end_write(struct end *end, const void *bytes, size_t len_bytes);
ssize_t end_read(struct end *end, void *bytes, size_t len_bytes);
/** end_send - write all of it, as there is room. */
void end_send(struct end *end, const void *bytes, size_t len_bytes);
/** end_expect - read exactly these bytes, as they come. */
void end_expect(struct end *end, const void *bytes, size_t len_bytes);
/** end_expect_result - wait, and read @want: 0, or a negative errno. */
void end_expect_result(struct end *end, ssize_t want);

#endif
