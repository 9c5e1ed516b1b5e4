/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A leg: one ONC RPC connection to one peer, over TCP or RDMA.
 *
 * A leg sends Calls to its peer, and Replies to its peer's Calls. It delivers to its owner what the
 * peer sends. Both directions always work: either end can send Calls. A bridge
 * (daemon/bridge/bridge.h) owns two legs and forwards exchanges between them. Neither leg knows the
 * other, or its kind.
 *
 * Rules:
 *  - No callback from inside a call into the leg, except note().
 *  - The leg that delivers call() is the exchange's origin and passes a reference to the owner. The
 *    owner passes it to leg_call() of the other leg, or answers by leg_reply() of this one.
 *  - The origin keeps a second reference until it has answered or closed.
 *  - reply() passes the target's reference to the owner. The owner passes it to leg_reply() of the
 *    origin, which consumes it.
 *  - With config.partial a message can be delivered before it is complete (struct rpc_msg). The leg
 *    then calls more() each time the message has grown, the last time when it is complete. The
 *    owner forwards that by leg_more() of the other leg. A record of several fragments, and a Reply
 *    placed by DDP, are always delivered complete. Every leg accepts incomplete messages.
 *  - A message that is incomplete when its leg calls closing() never becomes complete. The other
 *    leg must then end its own connection without completing the message. TCP resets the
 *    connection. RDMA disconnects before it answers a Read of the message or posts a Send of it.
 *  - closing() is called once, as soon as either side ends the connection. No call(), reply() or
 *    more() follows. After closed() the leg calls nothing and holds no exchange; the owner calls
 *    leg_free().
 */
#ifndef LEG_LEG_H
#define LEG_LEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/budget_account.h"
#include "base/compiler.h"
#include "base/counters.h"
#include "base/loop.h"
#include "leg/exchange.h"

/* Time limit for closed() after leg_close() with LEG_CLOSE_SHUTDOWN. */
#define LEG_STOP_US 5000000u

/* Why a leg closed; shown in the log, the counters and the control socket. */
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
	X(NO_MOUNT, "MOUNT port unknown")                                                          \
	X(TAKEN_DOWN, "its server was taken down")                                                 \
	X(TIMEOUT, "set-up timed out")                                                             \
	X(RECORD_TOO_BIG, "record far over max_message_bytes")                                     \
	X(RECORD_STALLED, "record not finished in time")                                           \
	X(REPLY_STALLED, "Replies not read in time")                                               \
	X(CALL_STALLED, "Calls not read in time")                                                  \
	X(XID_REUSED, "XID in flight used for another Call")                                       \
	X(RETRANSMITTED, "Call sent again and again")                                              \
	X(NOT_RPC, "not an RPC message")                                                           \
	X(PROXY_HEADER, "PROXY header missing, malformed or not accepted")                         \
	X(TLS, "TLS failed")                                                                       \
	X(TLS_LIMIT, "too many TLS handshakes")                                                    \
	X(UNPRIVILEGED, "source port is not privileged")                                           \
	X(NOT_ALLOWED, "address is not allowed")                                                   \
	X(TOO_MANY, "max_connections reached")                                                     \
	X(PER_CLIENT, "max_connections_per_client reached")                                        \
	X(HALF_OPEN, "too many connections without a Call")                                        \
	X(MADE_ROOM, "without a Call, evicted for a new client")                                   \
	X(NO_CALL, "no Call in time")                                                              \
	X(HALF_CLOSED, "half-closed by its client, evicted for a new client")                      \
	X(HALF_CLOSED_TIMEOUT, "half-closed by its client, and not answered in time")              \
	X(PROTOCOL, "peer broke the RDMA protocol")                                                \
	X(TERMINATED, "peer terminated the RDMA connection")                                       \
	X(VERSION, "no common RPC-over-RDMA version")                                              \
	X(BAD_REPLY, "reply that matches no Call")                                                 \
	X(RESOURCES, "out of memory or descriptors")                                               \
	X(NO_SOURCE_PORT, "no source port")                                                        \
	X(NO_SOURCE_ADDRESS, "no source address")                                                  \
	X(SUPERSEDED, "its client has reconnected")                                                \
	X(DRAINED, "the service is drained")                                                       \
	X(DISCONNECTED, "disconnected by an administrator")                                        \
	X(SHUTDOWN, "drained, or the daemon is stopping")

enum leg_close {
#define LEG_CLOSE_ENUM(name, text) LEG_CLOSE_##name,
	LEG_CLOSE_REASONS(LEG_CLOSE_ENUM) LEG_CLOSE_COUNT
#undef LEG_CLOSE_ENUM
};

/** leg_close_text - Returns the reason as text for people. */
const char *leg_close_text(enum leg_close why);
/** leg_close_name - Returns the reason as an identifier, such as "RECORD_TOO_BIG". */
const char *leg_close_name(enum leg_close why);

#define LEG_DETAIL_BYTES 160u /* of the detail of closing(), including the terminating null byte */

struct leg_events {
	/* The leg is open: an accepted leg can answer its peer, a connecting leg can send Calls. */
	void (*opened)(void *arg);
	/*
	 * Accepted legs only: leg_accept() or leg_close() must follow, now or later. RDMA: the peer
	 * requests the connection. TCP: the first byte has arrived, and stays unread until
	 * leg_accept(). The owner can accept before it has chosen a server; it then queues the
	 * Calls.
	 */
	void (*requested)(void *arg);
	/*
	 * Optional, accepted TCP legs only: the peer has sent a probe, and the leg is about to
	 * accept it. Returns NULL: secured() or closing() follows; or which limit of handshakes is
	 * reached, a detail of closing(): the leg closes for LEG_CLOSE_TLS_LIMIT instead.
	 */
	const char *(*securing)(void *arg);
	/*
	 * Optional, accepted TCP legs only: the peer has begun TLS, and the handshake is over.
	 * leg_info.tls is set.
	 */
	void (*secured)(void *arg);
	/*
	 * Delivers a Call that was admitted; complete unless config.partial. Its information is at
	 * CALL_INFO_HEAD at least, and at CALL_INFO_COMPLETE if it is complete.
	 */
	void (*call)(void *arg, struct exchange *x);
	/*
	 * Delivers the Reply or a fault of an exchange that was passed to leg_call(); complete
	 * unless config.partial.
	 */
	void (*reply)(void *arg, struct exchange *x);
	/* A Call or Reply that was delivered incomplete has grown, or a Call's information has. */
	void (*more)(void *arg, struct exchange *x);
	/*
	 * Optional, accepted TCP legs only: the peer has closed its sending side and may be gone.
	 * Replies to its Calls are still sent to it, and the leg closes after the last one. A leg
	 * that cannot read now calls this immediately, even before unread Calls, and again after
	 * them.
	 */
	void (*half_closed)(void *arg);
	/* leg_can_call() is true again. */
	void (*call_ready)(void *arg);
	/*
	 * The connection will end for @why. @detail is a sentence for the log, or "". The leg's
	 * close_errno is the socket error that caused it, if any.
	 */
	void (*closing)(void *arg, enum leg_close why, const char *detail);
	/* Always last: the connection has ended and all resources are released. */
	void (*closed)(void *arg);
	/* Something that the peer did, for the log. */
	void (*note)(void *arg, const char *text);
};

struct nfs_sessions;
struct tls_peer;

/*
 * Limits of reverse Calls, from a server to its client. Reverse Calls and Replies of up to
 * REVERSE_FREE_BYTES are not charged to the budget: each connecting leg reserves memory for those
 * that it accepts at a time. A longer one must not wait for memory, because its Reply could be
 * queued after Calls that wait. It gets memory immediately if enough is left for the largest Calls
 * of clients; otherwise it fails.
 */
#define REVERSE_FREE_BYTES (16u * 1024u)
/*
 * Longest reverse Call accepted from a TCP server; clients allow 4 KiB to 1 MiB (RFC 8881 section
 * 18.36.3).
 */
#define REVERSE_MAX_BYTES (1024u * 1024u)

#define LEG_PREFACE_BYTES 52u

/* Configuration of both kinds of leg. Owned by the bridge; outlives the leg. */
struct leg_config {
	struct loop *loop;
	struct buf_pool *pool;
	struct budget_holder *holder;     /* the memory of the leg's connection */
	struct freelists *freelists;      /* of this thread; NULL: use the heap */
	uint32_t max_message_bytes;       /* of one RPC message in either direction */
	struct reply_memory reply_memory; /* of the target leg, which sends this leg's Calls */
	/*
	 * Longest reverse Call, and longest Reply to one, that the target leg accepts; a lower
	 * value counts as REVERSE_FREE_BYTES.
	 */
	uint32_t reverse_max_bytes;
	uint64_t stall_timeout_us;   /* for the peer to complete a record, and to read a Reply */
	uint64_t connect_timeout_us; /* for connecting */
	/*
	 * Program number of the Connection Configuration Protocol: its Calls are answered locally
	 * (A6.2-8). 0: none.
	 */
	uint32_t config_program;
	bool partial; /* deliver messages before they are complete */
	/* A PROXY header, sent first on a connecting leg over a byte stream. */
	uint8_t preface[LEG_PREFACE_BYTES];
	unsigned preface_bytes;
	/* The sessions created on the connection; not owned; NULL: none. */
	const struct nfs_sessions *sessions;
	const struct leg_events *events;
	void *arg;
};

/* Snapshot for the control socket. */
struct leg_info {
	const char *kind; /* "tcp", "iwarp", "verbs", "sim" */
	const char *state;
	uint64_t state_since_us; /* time of the leg's loop */
	struct sockaddr_storage local, peer;
	/*
	 * Calls not answered yet. A Reply that the client must fetch by Read chunk counts as an
	 * answer.
	 */
	unsigned calls_in_flight_in, calls_in_flight_out;
	unsigned credits_granted, credits_available; /* RDMA: to the peer, from the peer; else 0 */
	/* RDMA: a Reply has granted credits; until then credits_available is at most one */
	bool credits_known;
	unsigned credits_used; /* RDMA: credits of the peer in use; else 0 */
	unsigned calls_queued; /* waiting for a credit */
	uint32_t inline_send_bytes, inline_recv_bytes; /* RDMA: thresholds in force; else 0 */
	uint32_t rpcrdma_version;                      /* RDMA; else 0 */
	/* Which RPC-over-RDMA document is used; NULL: the version has only one, or no RDMA. */
	const char *dialect;
	/*
	 * RDMA: the Receive sizes that this end and the peer have advertised, and all bytes posted
	 * here; else 0.
	 */
	uint32_t recv_size_bytes, peer_recv_size_bytes;
	uint64_t recv_posted_bytes;
	/* RDMA: the peer has reported its Read limit and its sizes by the configuration program. */
	bool configured;
	uint32_t peer_reads_max;
	unsigned replies_lent; /* RDMA: Replies that the peer is fetching by Read chunk */
	/* RDMA: abandoned without an answer; their credits are still in use. */
	unsigned calls_abandoned;
	/* Text for receive sizes that are requested and not settled; NULL: none. */
	const char *pending;
	/* RDMA: the profile of a server and why it was chosen; else NULL */
	const char *peer_profile, *peer_why;
	bool peer_found; /* the server's behaviour or the configuration selected the profile */
	/*
	 * TCP: bytes on the socket, or within TLS. RDMA: bytes of Sends, Reads and Writes of both
	 * ends.
	 */
	uint64_t bytes_received, bytes_sent;
	/* Of bytes_sent: the answer by which a client began TLS, which is no Reply to its Calls */
	uint32_t tls_answer_bytes;
	/* The peer of a TLS connection (tls/tls_stream.h); NULL: clear text. Valid until closed(). */
	const struct tls_peer *tls;
};

/* The part of leg_info that is summed over many connections; fast to get. */
struct leg_load {
	const char *kind;
	bool is_rdma;
	unsigned calls_in_flight_in, calls_in_flight_out, calls_queued;
	unsigned credits_granted, credits_available; /* RDMA: as in leg_info */
};

#define LEG_TEXT_BYTES 512u /* of leg_describe() */

struct leg_ops {
	void (*accept)(struct leg *leg);
	bool (*can_call)(const struct leg *leg);
	void (*call)(struct leg *leg, struct exchange *x);
	void (*reply)(struct leg *leg, struct exchange *x);
	void (*more)(struct leg *leg, struct exchange *x);
	void (*pause)(struct leg *leg, bool paused);
	void (*drain)(struct leg *leg);
	void (*close)(struct leg *leg, enum leg_close why);
	void (*check_peer_close)(struct leg *leg); /* NULL: the leg notices every end immediately */
	void (*info)(const struct leg *leg, struct leg_info *info);
	void (*load)(const struct leg *leg, struct leg_load *load);         /* NULL: use info() */
	void (*describe)(const struct leg *leg, char text[LEG_TEXT_BYTES]); /* can be NULL */
	/* All three NULL: the end of an exchange implies that its Reply was acknowledged. */
	uint64_t (*sent_bytes)(const struct leg *leg);
	uint64_t (*left_bytes)(const struct leg *leg);
	uint64_t (*acked_bytes)(const struct leg *leg);
	void (*free)(struct leg *leg);
};

/* Common head of each implementation's structure. */
struct leg {
	const struct leg_ops *ops;
	const struct leg_config *config;
	/*
	 * From closing() on: the socket error that ended the leg; 0: none; EPROTOTYPE: the client
	 * speaks RPC, but over the other transport, TCP instead of RDMA or the reverse
	 */
	int close_errno;
};

/** leg_accept - Accepts the peer after requested(); opened() follows, and reading begins. */
static inline void leg_accept(struct leg *leg)
{
	leg->ops->accept(leg);
}

/**
 * leg_can_call - Returns whether more Calls can be sent
 *
 * If false, the caller must stop sending Calls until call_ready(). A Call passed anyway is queued.
 */
static inline bool leg_can_call(const struct leg *leg)
{
	return leg->ops->can_call(leg);
}

/**
 * leg_call - Sends x->call to the peer. Takes over a reference. reply() follows unless the leg
 * closes.
 */
static inline void leg_call(struct leg *leg, struct exchange *x)
{
	leg->ops->call(leg, x);
}

/** leg_reply - Answers the peer's Call with x->reply, or for x->fault. Takes over a reference. */
static inline void leg_reply(struct leg *leg, struct exchange *x)
{
	leg->ops->reply(leg, x);
}

/**
 * leg_more - Notifies the leg that an incomplete message passed to it has grown
 *
 * That is x->call after leg_call(), and x->reply after leg_reply(). Does nothing if the leg has
 * dropped the exchange.
 */
static inline void leg_more(struct leg *leg, struct exchange *x)
{
	leg->ops->more(leg, x);
}

/**
 * leg_pause - Stops or resumes the delivery of a TCP peer's Calls; RDMA peers are limited by
 * credits alone
 *
 * A paused leg does not read its stream. Exception: an accepted leg with outstanding reverse Calls
 * delivers their Replies, even if a bounded amount of Calls precedes them.
 */
static inline void leg_pause(struct leg *leg, bool paused)
{
	leg->ops->pause(leg, paused);
}

/**
 * leg_drain - Accepts no more Calls, and closes for LEG_CLOSE_SHUTDOWN when none is in flight
 *
 * First the Calls in flight in both directions end, and the peer reads the Replies exposed to it.
 * Calls that arrive meanwhile are discarded: the peer retransmits them on its next connection.
 * Draining has no time limit; leg_close() ends it.
 */
static inline void leg_drain(struct leg *leg)
{
	leg->ops->drain(leg);
}

/**
 * leg_close - Closes the leg gracefully for @why; closing() and closed() follow
 *
 * If the leg is closing, @why is ignored. But LEG_CLOSE_SHUTDOWN sets a limit: closed() follows
 * within LEG_STOP_US of the first such call, even if the peer still reads what is queued for it.
 */
static inline void leg_close(struct leg *leg, enum leg_close why)
{
	leg->ops->close(leg, why);
}

/**
 * leg_check_peer_close - Checks whether the peer has ended the connection, even if input before the
 * end is unread
 *
 * If it has, a task in this or the next iteration of the loop calls closing() or half_closed().
 * Unread Calls may then be dropped: the peer retransmits them on its next connection. Does nothing
 * if the leg is not open. May make a system call.
 */
static inline void leg_check_peer_close(struct leg *leg)
{
	if (leg->ops->check_peer_close)
		leg->ops->check_peer_close(leg);
}

/** leg_info - Fills in a snapshot. */
static inline void leg_info(const struct leg *leg, struct leg_info *info)
{
	leg->ops->info(leg, info);
}

/** leg_load_get - Fills in the values that are summed over connections. */
void leg_load_get(const struct leg *leg, struct leg_load *load);

/** leg_describe - Writes what both ends have agreed on, as text for the log; "" if nothing. */
static inline void leg_describe(const struct leg *leg, char text[LEG_TEXT_BYTES])
{
	text[0] = '\0';
	if (leg->ops->describe)
		leg->ops->describe(leg, text);
}

/**
 * leg_reports_acks - Returns whether the leg tracks acknowledgements: then the three functions
 * below can be called.
 */
static inline bool leg_reports_acks(const struct leg *leg)
{
	return leg->ops->acked_bytes != NULL;
}
/** leg_sent_bytes - Returns how many bytes were written to the socket. */
static inline uint64_t leg_sent_bytes(const struct leg *leg)
{
	return leg->ops->sent_bytes(leg);
}
/** leg_transmitted_bytes - Returns how many of these have left this host. Makes a system call. */
static inline uint64_t leg_transmitted_bytes(const struct leg *leg)
{
	return leg->ops->left_bytes(leg);
}
/** leg_acked_bytes - Returns how many of these the peer has acknowledged. Makes a system call. */
static inline uint64_t leg_acked_bytes(const struct leg *leg)
{
	return leg->ops->acked_bytes(leg);
}

/** leg_free - Frees a leg after closed(). Accepts NULL. */
static inline void leg_free(struct leg *leg)
{
	if (leg)
		leg->ops->free(leg);
}

#endif
