// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/stream_pair.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/compiler.h"
#include "base/loop.h"

/* What happens to the ends of pairs, one step at a time, in the order of time */
struct pair_end;

typedef void pair_step(struct pair_end *end, uint32_t value);

TAILQ_HEAD(pair_event_list, pair_event);

struct pair_steps {
	struct loop *loop;
	struct loop_timer *timer;
	struct pair_event_list events; /* by time, then as they came */
	unsigned count;                /* of the steps that were made */
	uint64_t random;
	void (*before)(void *arg, unsigned step); /* each step, from 1 */
	void *arg;
};

struct pair_event {
	TAILQ_ENTRY(pair_event) entry;
	uint64_t due_us;
	pair_step *run;
	struct pair_end *end;
	uint32_t value;
};

/* xorshift64* */
static uint64_t pair_random(struct pair_steps *steps)
{
	steps->random ^= steps->random >> 12;
	steps->random ^= steps->random << 25;
	steps->random ^= steps->random >> 27;
	return steps->random * 2685821657736338717u;
}

static void arm(struct pair_steps *steps)
{
	struct pair_event *first = TAILQ_FIRST(&steps->events);
	uint64_t now_us = loop_now_us(steps->loop);

	if (!first)
		loop_timer_clear(steps->loop, steps->timer);
	else
		loop_timer_set(steps->loop, steps->timer,
			       first->due_us > now_us ? first->due_us - now_us : 0);
}

static void on_timer(void *arg)
{
	struct pair_steps *steps = arg;
	struct pair_event *event;

	steps->before(steps->arg, ++steps->count);
	/* What was due may have been cancelled in there. */
	event = TAILQ_FIRST(&steps->events);
	if (event && event->due_us <= loop_now_us(steps->loop)) {
		TAILQ_REMOVE(&steps->events, event, entry);
		event->run(event->end, event->value);
		free(event);
	}
	arm(steps);
}

/** pair_steps_init - nothing is to happen; @seed is that of pair_random(). Returns 0 or -ENOMEM. */
static int pair_steps_init(struct pair_steps *steps, struct loop *loop, uint64_t seed,
			   void (*before)(void *arg, unsigned step), void *arg)
{
	*steps = (struct pair_steps){
		.loop = loop,
		.random = seed * 2862933555777941757u + 3037000493u,
		.before = before,
		.arg = arg,
	};
	TAILQ_INIT(&steps->events);
	steps->timer = loop_timer_new(loop, on_timer, steps);
	return steps->timer ? 0 : -ENOMEM;
}

/** pair_steps_fini - nothing may be left to happen. */
static void pair_steps_fini(struct pair_steps *steps)
{
	assert(TAILQ_EMPTY(&steps->events));
	loop_timer_free(steps->loop, steps->timer);
}

/** pair_steps_add - at @due_us, after all that is due by then, @run is called. */
static void pair_steps_add(struct pair_steps *steps, uint64_t due_us, pair_step *run,
			   struct pair_end *end, uint32_t value)
{
	struct pair_event *event = malloc(sizeof(*event)), *at;

	assert(event);
	*event = (struct pair_event){.due_us = due_us, .run = run, .end = end, .value = value};
	at = TAILQ_LAST(&steps->events, pair_event_list);
	while (at && at->due_us > due_us)
		at = TAILQ_PREV(at, pair_event_list, entry);
	if (at)
		TAILQ_INSERT_AFTER(&steps->events, at, event, entry);
	else
		TAILQ_INSERT_HEAD(&steps->events, event, entry);
	arm(steps);
}

/** pair_steps_cancel - nothing of what was to happen to @end does. */
static void pair_steps_cancel(struct pair_steps *steps, const struct pair_end *end)
{
	struct pair_event *event, *next;

	for (event = TAILQ_FIRST(&steps->events); event; event = next) {
		next = TAILQ_NEXT(event, entry);
		if (event->end != end)
			continue;
		TAILQ_REMOVE(&steps->events, event, entry);
		free(event);
	}
	arm(steps);
}

/* A ring of the bytes that were sent to an end of a pair and are not read */
struct pair_ring {
	uint8_t *bytes;
	uint32_t size, start, filled;
};

/** pair_ring_init - an empty ring of @size bytes. Returns 0 or -ENOMEM. */
static int pair_ring_init(struct pair_ring *ring, uint32_t size)
{
	*ring = (struct pair_ring){.bytes = malloc(size), .size = size};
	return ring->bytes ? 0 : -ENOMEM;
}

/** pair_ring_fini - free it. */
static void pair_ring_fini(struct pair_ring *ring)
{
	free(ring->bytes);
	ring->bytes = NULL;
}

/** pair_ring_read - take out @bytes, at most as many as are filled. */
static void pair_ring_read(struct pair_ring *ring, uint8_t *to, uint32_t bytes)
{
	uint32_t first = ring->size - ring->start;

	if (first > bytes)
		first = bytes;
	memcpy(to, ring->bytes + ring->start, first);
	memcpy(to + first, ring->bytes, bytes - first);
	ring->start = (ring->start + bytes) % ring->size;
	ring->filled -= bytes;
}

/** pair_ring_write - put in @bytes, for which there must be room. */
static void pair_ring_write(struct pair_ring *ring, const uint8_t *from, uint32_t bytes)
{
	uint32_t at = (ring->start + ring->filled) % ring->size, first = ring->size - at;

	if (first > bytes)
		first = bytes;
	memcpy(ring->bytes + at, from, first);
	memcpy(ring->bytes, from + first, bytes - first);
	ring->filled += bytes;
}

#define FIRST_PORT 40000u

struct pair_end {
	struct stream stream;
	TAILQ_ENTRY(pair_end) entry;
	struct pair_net *net;
	struct pair_end *peer; /* NULL: none yet, or freed */
	struct sockaddr_storage local, remote;
	bool offered;           /* somebody owns it */
	bool connecting;        /* connected() has not been said */
	bool closed;            /* by its owner */
	bool sent_end, got_end; /* of what this end sends, and its peer */
	bool broken;
	unsigned watched;
	bool lost_said, end_said;
	bool ready_due;        /* a step that calls ready() is scheduled */
	uint64_t last_due_us;  /* events here arrive in order */
	struct pair_ring ring; /* bytes sent here and not read */
	uint32_t arrived;      /* the filled bytes that can be read */
};

struct pair_net {
	struct stream_net streams;
	struct loop *loop;
	struct pair_steps steps;
	struct pair_faults faults;
	struct pair_server server;
	TAILQ_HEAD(, pair_end) ends;
	uint16_t next_port;
	bool blind;
};

static struct pair_end *end_of(struct stream *stream)
{
	return container_of(stream, struct pair_end, stream);
}

/* It reaches @end after everything that was sent there before. */
static void send_to(struct pair_end *end, pair_step *run, uint32_t value)
{
	struct pair_net *net = end->net;
	uint64_t due_us = loop_now_us(net->loop);

	if (net->faults.max_delay_us)
		due_us += pair_random(&net->steps) % (net->faults.max_delay_us + 1);
	if (due_us < end->last_due_us)
		due_us = end->last_due_us;
	end->last_due_us = due_us;
	pair_steps_add(&net->steps, due_us, run, end, value);
}

static uint32_t room(const struct pair_end *end)
{
	return end->ring.size - end->ring.filled;
}

static unsigned op_ended(const struct stream *stream)
{
	const struct pair_end *end = container_of(stream, const struct pair_end, stream);
	bool lost = end->broken || (end->sent_end && end->got_end);

	return (lost ? LOOP_LOST : 0) | (end->got_end ? LOOP_END : 0);
}

static unsigned ready_for(const struct pair_end *end)
{
	bool gone = end->broken || !end->peer || end->peer->closed;
	unsigned said = (end->lost_said ? LOOP_LOST : 0) | (end->end_said ? LOOP_END : 0);
	unsigned events = op_ended(&end->stream) & ~said;

	if (end->arrived || end->got_end || end->broken)
		events |= LOOP_READ;
	if (gone || room(end->peer))
		events |= LOOP_WRITE;
	return events & end->watched;
}

static void announce(struct pair_end *end);

static void say_ready(struct pair_end *end, uint32_t value)
{
	unsigned events;

	end->ready_due = false;
	events = ready_for(end);
	end->lost_said |= (events & LOOP_LOST) != 0;
	end->end_said |= (events & LOOP_END) != 0;
	if (events)
		end->stream.events->ready(end->stream.arg, events);
	announce(end);
}

/* Sees to it that ready() is said if it holds. */
static void announce(struct pair_end *end)
{
	if (end->closed || end->connecting || end->ready_due || !ready_for(end))
		return;
	end->ready_due = true;
	pair_steps_add(&end->net->steps, loop_now_us(end->net->loop), say_ready, end, 0);
}

static void bytes_arrive(struct pair_end *end, uint32_t bytes)
{
	end->arrived += bytes;
	announce(end);
}

static void end_arrives(struct pair_end *end, uint32_t value)
{
	end->got_end = true;
	announce(end);
}

static void reset_arrives(struct pair_end *end, uint32_t value)
{
	end->broken = true;
	end->ring.filled = end->arrived = 0;
	end->ready_due = false;
	pair_steps_cancel(&end->net->steps, end);
	announce(end);
}

static void outcome_arrives(struct pair_end *end, uint32_t error)
{
	end->connecting = false;
	end->stream.events->connected(end->stream.arg, -(int)error);
	announce(end);
}

static void offer(struct pair_end *end, uint32_t value)
{
	const struct pair_server *server = &end->net->server;

	end->offered = true;
	server->accepted(server->arg, &end->stream);
}

/* The operations */

/* How much of @possible one call takes. */
static uint32_t share(struct pair_net *net, uint32_t possible, bool short_ones, uint32_t most)
{
	if (most && possible > most)
		possible = most;
	return short_ones ? 1 + (uint32_t)(pair_random(&net->steps) % possible) : possible;
}

static ssize_t op_readv(struct stream *stream, const struct iovec *iov, int niov)
{
	struct pair_end *end = end_of(stream);
	const struct pair_faults *faults = &end->net->faults;
	uint32_t left, done = 0;

	if (end->closed || end->broken)
		return end->closed ? -EBADF : -ECONNRESET;
	if (!end->arrived)
		return end->got_end ? 0 : -EAGAIN;
	left = share(end->net, end->arrived, faults->short_reads, faults->max_read_bytes);
	for (int i = 0; i < niov && left > 0; i++) {
		uint32_t n = iov[i].iov_len < left ? (uint32_t)iov[i].iov_len : left;

		pair_ring_read(&end->ring, iov[i].iov_base, n);
		end->arrived -= n;
		done += n;
		left -= n;
	}
	if (end->peer)
		announce(end->peer);
	return done;
}

static size_t total(const struct iovec *iov, int niov)
{
	size_t bytes = 0;

	for (int i = 0; i < niov; i++)
		bytes += iov[i].iov_len;
	return bytes;
}

static ssize_t op_writev(struct stream *stream, const struct iovec *iov, int niov)
{
	struct pair_end *end = end_of(stream), *peer = end->peer;
	const struct pair_faults *faults = &end->net->faults;
	size_t asked = total(iov, niov);
	uint32_t left, done = 0;

	if (end->closed || end->broken || end->sent_end)
		return end->broken ? -ECONNRESET : -EPIPE;
	if (!asked)
		return 0;
	if (!peer || peer->closed) {
		send_to(end, reset_arrives, 0);
		return (ssize_t)asked;
	}
	if (!room(peer))
		return -EAGAIN;
	left = room(peer) < asked ? room(peer) : (uint32_t)asked;
	left = share(end->net, left, faults->short_writes, faults->max_write_bytes);
	for (int i = 0; i < niov && left > 0; i++) {
		uint32_t n = iov[i].iov_len < left ? (uint32_t)iov[i].iov_len : left;

		pair_ring_write(&peer->ring, iov[i].iov_base, n);
		done += n;
		left -= n;
	}
	send_to(peer, bytes_arrive, done);
	return done;
}

static int op_peek(struct stream *stream)
{
	const struct pair_end *end = end_of(stream);

	if (end->broken)
		return -ECONNRESET;
	if (end->arrived)
		return 1;
	return end->got_end ? 0 : -EAGAIN;
}

static int op_shutdown(struct stream *stream)
{
	struct pair_end *end = end_of(stream);

	if (end->broken)
		return -ENOTCONN;
	if (!end->sent_end && end->peer && !end->peer->closed)
		send_to(end->peer, end_arrives, 0);
	end->sent_end = true;
	return 0;
}

static void say_blind(struct pair_end *end, uint32_t value)
{
	end->stream.events->ready(end->stream.arg, LOOP_ERROR);
}

static void op_watch(struct stream *stream, unsigned events)
{
	struct pair_end *end = end_of(stream);

	end->watched = end->net->blind ? 0 : events;
	if (!(events & LOOP_LOST))
		end->lost_said = false;
	if (end->watched != events)
		pair_steps_add(&end->net->steps, loop_now_us(end->net->loop), say_blind, end, 0);
	announce(end);
}

static uint64_t op_untaken_bytes(const struct stream *stream)
{
	const struct pair_end *end = container_of(stream, const struct pair_end, stream);

	return end->peer ? end->peer->ring.filled : 0;
}

/* The bytes in the ring are in transit. */
static uint64_t op_unsent_bytes(const struct stream *stream)
{
	return 0;
}

static void op_addrs(const struct stream *stream, struct sockaddr_storage *local,
		     struct sockaddr_storage *peer)
{
	const struct pair_end *end = container_of(stream, const struct pair_end, stream);

	*local = end->local;
	if (peer)
		*peer = end->remote;
}

static void end_free(struct pair_end *end)
{
	pair_steps_cancel(&end->net->steps, end);
	if (end->peer)
		end->peer->peer = NULL;
	TAILQ_REMOVE(&end->net->ends, end, entry);
	pair_ring_fini(&end->ring);
	free(end);
}

static void op_close(struct stream *stream, bool reset)
{
	struct pair_end *end = end_of(stream), *peer = end->peer;
	bool unread = end->ring.filled > 0;

	if (end->closed)
		return;
	end->closed = true;
	pair_steps_cancel(&end->net->steps, end);
	if (peer && !peer->offered)
		end_free(peer);
	else if (!peer || peer->closed || end->broken)
		return;
	else if (reset || unread)
		send_to(peer, reset_arrives, 0);
	else if (!end->sent_end)
		send_to(peer, end_arrives, 0);
}

static void op_free(struct stream *stream)
{
	struct pair_end *end = end_of(stream);

	assert(end->closed);
	end_free(end);
}

static const struct stream_ops pair_ops = {
	.readv = op_readv,
	.writev = op_writev,
	.peek = op_peek,
	.shutdown = op_shutdown,
	.watch = op_watch,
	.ended = op_ended,
	.unacked_bytes = op_untaken_bytes,
	.unsent_bytes = op_unsent_bytes,
	.addrs = op_addrs,
	.close = op_close,
	.free = op_free,
};

/* Making them */

static struct pair_end *end_new(struct pair_net *net)
{
	struct pair_end *end = calloc(1, sizeof(*end));

	if (!end)
		return NULL;
	if (pair_ring_init(&end->ring, net->faults.buffer_bytes)) {
		free(end);
		return NULL;
	}
	end->stream.ops = &pair_ops;
	end->net = net;
	end->offered = true;
	TAILQ_INSERT_TAIL(&net->ends, end, entry);
	return end;
}

static void set_local(struct pair_net *net, struct sockaddr_storage *addr,
		      const struct stream_sources *sources, uint16_t port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	if (sources->count)
		*addr = sources->list[sources->first];
	else
		*in = (struct sockaddr_in){.sin_family = AF_INET,
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	/* The port stands at the same place in both families. */
	in->sin_port = htons(port ? port : net->next_port++);
}

static void join(struct pair_end *a, struct pair_end *b)
{
	a->peer = b;
	b->peer = a;
	a->remote = b->local;
	b->remote = a->local;
}

int pair_new(struct pair_net *net, struct stream *ends[2])
{
	static const struct stream_sources any;
	struct pair_end *a = end_new(net), *b = a ? end_new(net) : NULL;

	if (!b) {
		if (a)
			end_free(a);
		return -ENOMEM;
	}
	set_local(net, &a->local, &any, 0);
	set_local(net, &b->local, &any, 0);
	join(a, b);
	ends[0] = &a->stream;
	ends[1] = &b->stream;
	return 0;
}

static int pair_connect(struct stream_net *base, const struct stream_target *target,
			struct stream **out)
{
	struct pair_net *net = container_of(base, struct pair_net, streams);
	const struct pair_server *server = &net->server;
	enum pair_answer answer = server->asked ? server->asked(server->arg, target) : PAIR_REFUSE;
	struct pair_end *end = end_new(net), *far;

	if (!end)
		return -ENOMEM;
	set_local(net, &end->local, &target->sources, target->preferred_port);
	end->connecting = true;
	*out = &end->stream;
	if (answer == PAIR_REFUSE)
		send_to(end, outcome_arrives, ECONNREFUSED);
	if (answer != PAIR_ACCEPT)
		return 0;
	far = end_new(net);
	if (!far) {
		end_free(end);
		return -ENOMEM;
	}
	far->local = target->addr;
	far->offered = false;
	join(end, far);
	send_to(far, offer, 0);
	send_to(end, outcome_arrives, 0);
	return 0;
}

static void before_step(void *arg, unsigned step)
{
	struct pair_net *net = arg;

	if (step == net->faults.cut_at_step)
		pair_net_cut(net);
	if (step == net->faults.hook_at_step)
		net->faults.hook(net->faults.hook_arg);
}

struct pair_net *pair_net_new(struct loop *loop, const struct pair_faults *faults)
{
	struct pair_net *net = calloc(1, sizeof(*net));

	if (!net)
		return NULL;
	if (faults)
		net->faults = *faults;
	if (!net->faults.buffer_bytes)
		net->faults.buffer_bytes = PAIR_BUFFER_BYTES;
	net->streams.connect = pair_connect;
	net->loop = loop;
	net->next_port = FIRST_PORT;
	TAILQ_INIT(&net->ends);
	if (pair_steps_init(&net->steps, loop, net->faults.seed, before_step, net)) {
		free(net);
		return NULL;
	}
	return net;
}

void pair_net_free(struct pair_net *net)
{
	if (!net)
		return;
	assert(TAILQ_EMPTY(&net->ends));
	pair_steps_fini(&net->steps);
	free(net);
}

void pair_net_serve(struct pair_net *net, const struct pair_server *server)
{
	net->server = *server;
}

struct stream_net *pair_net_streams(struct pair_net *net)
{
	return &net->streams;
}

unsigned pair_net_steps(const struct pair_net *net)
{
	return net->steps.count;
}

void pair_net_blind(struct pair_net *net, bool blind)
{
	net->blind = blind;
}

void pair_net_cut(struct pair_net *net)
{
	struct pair_end *end;

	TAILQ_FOREACH(end, &net->ends, entry) {
		if (end->closed)
			continue;
		reset_arrives(end, 0);
		if (end->connecting)
			send_to(end, outcome_arrives, ECONNRESET);
	}
}
