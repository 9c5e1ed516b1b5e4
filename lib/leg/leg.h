/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A leg: one connection of ONC RPC to one peer, over TCP or RDMA.
 *
 * A leg takes Calls to its peer and Replies to its peer's Calls; it gives up what the peer sends. Both
 * directions always work: a Call may come from either end. A bridge (daemon/bridge/bridge.h) owns two
 * legs and hands exchanges from one to the other; neither leg knows the other or what kind it is.
 *
 * Rules:
 *  - Nothing is called back from inside a call into the leg, except note().
 *  - The leg that gives call() up is the exchange's origin and has put a reference into the hands of the
 *    callee, who passes it to the other leg's call() or ends it with this leg's reply().
 *  - The origin keeps a second reference of its own until it has answered or closed.
 *  - reply() carries the target's reference to the callee, who passes it to the origin leg's reply(),
 *    which consumes it.
 *  - With config.partial a message may be given up before all of it is here (struct rpc_msg). The leg
 *    that gives it up calls more() each time it has grown, the last time when it is complete; the callee
 *    passes that on by the other leg's more(). A record of several fragments, and a Reply that lands by
 *    DDP, are given up complete in any case. Legs take messages that still come whether or not they give
 *    up any.
 *  - A message that still comes when its leg says closing() never becomes complete. The other leg then
 *    ends its own connection without completing it: TCP by a reset, the requester and the responder by
 *    disconnecting before a Read of it is answered or a Send of it is posted.
 *  - closing() comes once, as soon as it is decided that the connection ends, whoever decided it; no
 *    call(), reply() or more() comes after it. After closed() the leg calls nothing any more, holds no
 *    exchange, and waits for leg_free().
 */
#ifndef LEG_LEG_H
#define LEG_LEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/account.h"
#include "base/compiler.h"
#include "base/counter.h"
#include "base/loop.h"
#include "leg/exchange.h"

/* How long the end of a leg that is closed for LEG_CLOSE_SHUTDOWN may take, whatever its peer does. */
#define LEG_STOP_US 5000000u

/* The one reason for which a leg closed: in the log, the counters and the control socket. */
#define LEG_CLOSE_REASONS(X)                                                                       \
	X(LOCAL, "closed here")                                                                    \
	X(PEER, "peer closed")                                                                     \
	X(LOST, "connection reset or lost")                                                        \
	X(SILENT, "peer does not answer")                                                          \
	X(REFUSED, "refused by the peer")                                                          \
	X(UNREACHABLE, "unreachable")                                                              \
	X(NO_ADDRESS, "no address")                                                                \
	X(OWN_UPSTREAM, "the server would be this daemon")                                         \
	X(NO_SERVER, "no server takes new connections")                                            \
	X(NO_MOUNT, "no port of MOUNT is to be had")                                               \
	X(TAKEN_DOWN, "its server was taken down")                                                 \
	X(TIMEOUT, "set-up timed out")                                                             \
	X(RECORD_TOO_BIG, "record far over max_message_bytes")                                     \
	X(RECORD_STALLED, "record not finished in time")                                           \
	X(REPLY_STALLED, "replies not taken in time")                                              \
	X(CALL_STALLED, "Calls not taken in time")                                                 \
	X(XID_REUSED, "XID in flight used for another Call")                                       \
	X(RETRANSMITTED, "Call sent again and again")                                              \
	X(NOT_RPC, "not an RPC message")                                                           \
	X(PROXY_HEADER, "PROXY header missing, wrong or not taken")                                \
	X(UNPRIVILEGED, "source port is not privileged")                                           \
	X(NOT_ALLOWED, "address is not allowed")                                                   \
	X(TOO_MANY, "max_connections reached")                                                     \
	X(PER_CLIENT, "max_connections_per_client reached")                                        \
	X(HALF_OPEN, "too many connections without a Call")                                        \
	X(MADE_ROOM, "without a Call, and others needed its place")                                \
	X(NO_CALL, "no Call in time")                                                              \
	X(HALF_CLOSED, "half-closed by its client, and others needed its place")                   \
	X(HALF_CLOSED_TIMEOUT, "half-closed by its client, and not answered in time")              \
	X(PROTOCOL, "peer broke the RDMA protocol")                                                \
	X(TERMINATED, "peer terminated the RDMA connection")                                       \
	X(VERSION, "no common RPC-over-RDMA version")                                              \
	X(BAD_REPLY, "reply that matches no Call")                                                 \
	X(RESOURCES, "out of memory or descriptors")                                               \
	X(NO_SOURCE_PORT, "no source port")                                                        \
	X(NO_SOURCE_ADDRESS, "no source address")                                                  \
	X(SUPERSEDED, "its client is back on a new connection")                                    \
	X(DRAINED, "the service takes nobody")                                                     \
	X(DISCONNECTED, "an administrator ended it")                                               \
	X(SHUTDOWN, "drained, or the daemon stops")

enum leg_close {
#define LEG_CLOSE_ENUM(name, text) LEG_CLOSE_##name,
	LEG_CLOSE_REASONS(LEG_CLOSE_ENUM) LEG_CLOSE_COUNT
#undef LEG_CLOSE_ENUM
};

/** leg_close_text - the reason in words. */
const char *leg_close_text(enum leg_close why);
/** leg_close_name - the reason as an identifier: "RECORD_TOO_BIG". */
const char *leg_close_name(enum leg_close why);

#define LEG_DETAIL_BYTES 160u /* room for the sentence of closing(), its end included */

struct leg_events {
	/* The leg is up. Listening legs: the peer may be answered; connecting legs: Calls may be sent. */
	void (*opened)(void *arg);
	/*
	 * An accepted leg only: leg_accept() or leg_close() is due, now or later. RDMA: the peer asks for the
	 * connection. TCP: the first byte is here, and stays unread until leg_accept(). To accept before
	 * there is a server is allowed: Calls then wait with whoever was given them.
	 */
	void (*requested)(void *arg);
	/*
	 * A Call came in, admitted; complete unless config.partial. Its facts are at FACTS_HEAD at least, at
	 * FACTS_WHOLE if it is complete.
	 */
	void (*call)(void *arg, struct exchange *x);
	/* The Reply, or a fault, for an exchange that was given to leg_call(); complete unless config.partial. */
	void (*reply)(void *arg, struct exchange *x);
	/* A Call or Reply that was given up before it was complete has grown, or a Call's facts have. */
	void (*more)(void *arg, struct exchange *x);
	/*
	 * Optional, accepted TCP legs: the peer has ended its sending side, and may be gone. The Replies to its Calls
	 * still go to it, and the leg closes behind the last one. Of a leg that is not being read it is said at once,
	 * though Calls may be unread, and once more behind those.
	 */
	void (*half_closed)(void *arg);
	/* leg_can_call() has become true again. */
	void (*call_ready)(void *arg);
	/*
	 * The connection is going to end, for @why. @detail is a sentence for the log, or "". The leg's close_errno says which
	 * error of the connection it was, if it was one.
	 */
	void (*closing)(void *arg, enum leg_close why, const char *detail);
	/* Always last: over, and everything released. */
	void (*closed)(void *arg);
	/* The peer did something worth a log line; says what. */
	void (*note)(void *arg, const char *text);
};

struct nfs_sessions;

/*
 * Reverse Calls, those of a server to its client. A Call and a Reply of so many bytes each take nothing from the budget:
 * each leg that connects has room for those that it takes at once. What is longer has memory at once, where enough is left
 * for the largest Calls of clients besides, or fails: its Reply may stand behind Calls that wait for memory.
 */
#define REVERSE_FREE_BYTES (16u * 1024u)
/* The longest that is taken from a server behind TCP: clients ask for 4 KiB to 1 MiB (RFC 8881 section 18.36.3). */
#define REVERSE_MAX_BYTES (1024u * 1024u)

#define LEG_PREFACE_BYTES 52u

/* What both kinds of leg are made from. Owned by the bridge; outlives the leg. */
struct leg_config {
	struct loop *loop;
	struct pool *pool;
	struct budget_holder *holder; /* of memory: the connection that the leg is an end of */
	struct spares *spares;        /* of this thread; NULL: none are kept */
	uint32_t max_message_bytes;   /* of one RPC message, either way */
	struct reply_room reply_room; /* of the leg to which this one's Calls go */
	/* What that takes of a reverse Call, and of its Reply, at most; less than REVERSE_FREE_BYTES count as these. */
	uint32_t reverse_max_bytes;
	uint64_t stall_timeout_us;   /* to finish a record, to take a reply */
	uint64_t connect_timeout_us; /* to get a connecting leg up */
	/* RPC-over-RDMA's own program for configuration: Calls to it are answered here (A6.2-8); 0: there is none. */
	uint32_t config_program;
	bool partial; /* give messages up before they are complete */
	/* Of legs that connect over a stream of bytes: what goes out on it before anything else. */
	uint8_t preface[LEG_PREFACE_BYTES];
	unsigned preface_bytes;
	const struct nfs_sessions *sessions; /* that the connection has shown; lent; NULL: none */
	const struct leg_events *events;
	void *arg;
};

/* A snapshot for the control socket. */
struct leg_info {
	const char *kind; /* "tcp", "iwarp", "verbs", "sim" */
	const char *state;
	uint64_t state_since_us; /* on the leg's loop */
	struct sockaddr_storage local, peer;
	/* Not answered; a Reply that is lent is an answer, though its client has to read it. */
	unsigned calls_in_flight_in, calls_in_flight_out;
	unsigned credits_granted, credits_available; /* RDMA: to the peer, from the peer; else 0 */
	bool credits_told; /* RDMA: whether a Reply of the peer has granted those available; one until then */
	unsigned credits_used; /* RDMA: of what the peer grants, by whatever is out; else 0 */
	unsigned calls_held;   /* waiting for a credit */
	uint32_t inline_send_bytes, inline_recv_bytes; /* RDMA: thresholds in force; else 0 */
	uint32_t rpcrdma_version;                      /* RDMA; else 0 */
	const char
		*dialect; /* which document of that is spoken; NULL: it has but one, or no RDMA */
	/* RDMA: how long receives are, as this end and the peer have told; all those posted here; else 0. */
	uint32_t recv_size_bytes, peer_recv_size_bytes;
	uint64_t recv_posted_bytes;
	/* RDMA: the peer has told by the configuration program how many Reads it takes at once, and its sizes. */
	bool configured;
	uint32_t peer_reads_max;
	unsigned replies_lent; /* RDMA: which the peer is reading */
	unsigned
		calls_abandoned; /* RDMA: given up without an answer; their credits are out still */
	const char *pending;     /* what an end has asked for and has not got yet; NULL: nothing */
	const char *peer_profile, *peer_why; /* RDMA: what a server is taken for; else NULL */
	bool peer_found; /* … since it has shown that, or the configuration says so */
	/* On the socket; or of Sends and of what went by RDMA, whichever end moved it. */
	uint64_t bytes_received, bytes_sent;
};

/* Of that, what is added up over many connections: quick to get. */
struct leg_load {
	const char *kind;
	bool is_rdma;
	unsigned calls_in_flight_in, calls_in_flight_out, calls_held;
	unsigned credits_granted, credits_available; /* RDMA: as of leg_info */
};

#define LEG_TEXT_BYTES 512u /* room for leg_describe() */

struct leg_ops {
	void (*accept)(struct leg *leg);
	bool (*can_call)(const struct leg *leg);
	void (*call)(struct leg *leg, struct exchange *x);
	void (*reply)(struct leg *leg, struct exchange *x);
	void (*more)(struct leg *leg, struct exchange *x);
	void (*pause)(struct leg *leg, bool paused);
	void (*drain)(struct leg *leg);
	void (*close)(struct leg *leg, enum leg_close why);
	void (*hear_end)(struct leg *leg); /* NULL: the leg hears of ends as they come */
	void (*info)(const struct leg *leg, struct leg_info *info);
	void (*load)(const struct leg *leg, struct leg_load *load); /* NULL: info() tells it */
	void (*describe)(const struct leg *leg, char text[LEG_TEXT_BYTES]); /* may be NULL */
	/* All three NULL: the end of an exchange tells that its Reply has been taken. */
	uint64_t (*sent_bytes)(const struct leg *leg);
	uint64_t (*left_bytes)(const struct leg *leg);
	uint64_t (*taken_bytes)(const struct leg *leg);
	void (*free)(struct leg *leg);
};

/* The head of each kind's own structure. */
struct leg {
	const struct leg_ops *ops;
	const struct leg_config *config;
	int close_errno; /* from closing() on: the errno of the socket that ended it; 0: it was none */
};

/** leg_accept - after requested(): accept the peer; opened() follows, and reading begins. */
static inline void leg_accept(struct leg *leg)
{
	leg->ops->accept(leg);
}

/**
 * leg_can_call - whether further Calls are welcome
 *
 * False asks the other side to stop making Calls until call_ready(); a Call given all the same is held.
 */
static inline bool leg_can_call(const struct leg *leg)
{
	return leg->ops->can_call(leg);
}

/** leg_call - send x->call to the peer; takes a reference; reply() follows unless the leg closes. */
static inline void leg_call(struct leg *leg, struct exchange *x)
{
	leg->ops->call(leg, x);
}

/** leg_reply - answer the peer's Call with x->reply or for x->fault; takes a reference. */
static inline void leg_reply(struct leg *leg, struct exchange *x)
{
	leg->ops->reply(leg, x);
}

/**
 * leg_more - a message that this leg was given before it was complete has grown
 *
 * x->call if it was given by leg_call(), x->reply if by leg_reply(). Does nothing for one that the leg
 * has let go of already.
 */
static inline void leg_more(struct leg *leg, struct exchange *x)
{
	leg->ops->more(leg, x);
}

/**
 * leg_pause - give up no further Calls of a TCP peer (RDMA peers are held by their credits alone)
 *
 * Its stream is not read meanwhile, but for an accepted leg on which reverse Calls are out: their Replies pass,
 * also those behind a bounded amount of Calls.
 */
static inline void leg_pause(struct leg *leg, bool paused)
{
	leg->ops->pause(leg, paused);
}

/**
 * leg_drain - take no further Call from the peer; close for LEG_CLOSE_SHUTDOWN when none is in flight
 *
 * Calls in flight, both ways, are finished first, and Replies that are lent are read. Calls that the peer sends
 * meanwhile are not taken: it sends them again on its next connection. There is no time limit: leg_close() is the
 * caller's.
 */
static inline void leg_drain(struct leg *leg)
{
	leg->ops->drain(leg);
}

/**
 * leg_close - close for @why, in good order; closing() and closed() follow
 *
 * If it is closing that goes on, and @why no longer counts. But LEG_CLOSE_SHUTDOWN sets a limit: closed() follows within
 * LEG_STOP_US of the first such call, even if the peer goes on taking what is queued for it.
 */
static inline void leg_close(struct leg *leg, enum leg_close why)
{
	leg->ops->close(leg, why);
}

/**
 * leg_hear_end - check whether the peer has ended the connection, even if unread bytes stand before the end
 *
 * If it has, a task of this turn of the loop or the next calls closing() or half_closed(). Unread Calls may then not be
 * delivered: the peer sends them again on its next connection. Does nothing for a leg that is not up. May make a system call.
 */
static inline void leg_hear_end(struct leg *leg)
{
	if (leg->ops->hear_end)
		leg->ops->hear_end(leg);
}

/** leg_info - a snapshot. */
static inline void leg_info(const struct leg *leg, struct leg_info *info)
{
	leg->ops->info(leg, info);
}

/** leg_load_get - what it is about now, for sums. */
void leg_load_get(const struct leg *leg, struct leg_load *load);

/** leg_describe - what its ends have agreed on, in words for a log; "" if there is nothing of that. */
static inline void leg_describe(const struct leg *leg, char text[LEG_TEXT_BYTES])
{
	text[0] = '\0';
	if (leg->ops->describe)
		leg->ops->describe(leg, text);
}

/** leg_tells_taken - whether what was sent may not have been taken yet: what is below may be asked. */
static inline bool leg_tells_taken(const struct leg *leg)
{
	return leg->ops->taken_bytes != NULL;
}
/** leg_sent_bytes - how much the socket has been given. */
static inline uint64_t leg_sent_bytes(const struct leg *leg)
{
	return leg->ops->sent_bytes(leg);
}
/** leg_left_bytes - how much of that has left this host, whether it has arrived or not. Costs a system call. */
static inline uint64_t leg_left_bytes(const struct leg *leg)
{
	return leg->ops->left_bytes(leg);
}
/** leg_taken_bytes - how much of that the peer has acknowledged. Costs a system call. */
static inline uint64_t leg_taken_bytes(const struct leg *leg)
{
	return leg->ops->taken_bytes(leg);
}

/** leg_free - free a leg after closed(); accepts NULL. */
static inline void leg_free(struct leg *leg)
{
	if (leg)
		leg->ops->free(leg);
}

#endif
