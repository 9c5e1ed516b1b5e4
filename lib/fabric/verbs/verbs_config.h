/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration and counters of the verbs fabric, and the check of the locked-memory limit. */
#ifndef FABRIC_VERBS_VERBS_CONFIG_H
#define FABRIC_VERBS_VERBS_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"

#define VERBS_COUNTERS(X)                                                                          \
	X(connections_opened, "connections opened, by either side")                                \
	X(wrs_posted, "work requests posted to the device")                                        \
	X(chains_posted, "posts of one or more work requests")                                     \
	X(recv_chains_posted, "posts of one or more receives")                                     \
	X(wrs_inline, "work requests with inline data")                                            \
	X(sends_waited, "times that work waited because the send queue was full")                  \
	X(reads_waited, "RDMA Reads that waited because the peer allows no more at a time")        \
	X(completions, "completions of work requests and receives")                                \
	X(completion_events, "completion events that woke the worker")                             \
	X(slabs_registered, "blocks of buffers registered with the device")                        \
	X(windows_bound, "memory windows bound to expose memory to a peer")                        \
	X(regions_lent, "memory regions registered to expose memory to a peer")                    \
	X(exposed_bytes_cleared,                                                                   \
	  "bytes cleared before a peer could write there: they held data of another connection")   \
	X(sinks_registered,                                                                        \
	  "memory regions registered with an iWARP device as the target of an RDMA Read")          \
	X(probes, "keepalives sent to a silent peer")                                              \
	X(probes_unanswered, "connections closed because a keepalive got no answer")               \
	X(peer_invalidations, "memory keys that the peer invalidated")                             \
	X(async_events, "asynchronous events of the device")                                       \
	X(device_removals, "connections lost because their device was removed or failed")          \
	X(address_changes, "connections lost because their address moved to another device")       \
	X(resolve_retries, "retries of resolving an address or a route")
COUNTER_STRUCT(verbs_counters, VERBS_COUNTERS);

/* Which connections share a protection domain, where memory windows do not isolate them. */
enum verbs_pd_scope {
	VERBS_PD_AUTO,       /* one per peer */
	VERBS_PD_CONNECTION, /* one per connection */
	VERBS_PD_PEER,       /* one per peer address and worker */
	VERBS_PD_WORKER,     /* one per worker, for all peers */
};

#define VERBS_ROCE_ACK_TIMEOUT                                                                     \
	14u /* 67 ms; the default of Linux 6.1 on RoCE is 19 (2.1 s), of later kernels 17 (0.5 s) */
#define VERBS_ACK_TIMEOUT_MAX 22u /* 17 s */

#define VERBS_NOTICE_BYTES    256u /* size of a notice about a device or a listener */

struct verbs_config {
	/* Limit for resolving, connecting, and the peer's completion of an accept. */
	uint64_t setup_timeout_us;
	/* How long to poll after a completion before waiting for an event. */
	uint64_t busy_poll_us;
	/*
	 * How often an end retries a Send if the other end has no receive; 7: forever. Not over
	 * iWARP.
	 */
	unsigned rnr_retry;
	enum verbs_pd_scope pd_scope;
	bool windows_off; /* expose memory by regions even if a device has memory windows */
	/*
	 * The local ACK timeout: 4.096 us times two to this power until unacknowledged data is sent
	 * again. 0: VERBS_ROCE_ACK_TIMEOUT on RoCE adapters, the path's value on InfiniBand and
	 * rxe. Not over iWARP.
	 */
	unsigned ack_timeout;
	/* DSCP and ECN of RoCE and iWARP packets, InfiniBand's service level; 0: the default. */
	unsigned tos;
	/* The worker's number: selects its completion vector, and so the interrupted core. */
	unsigned vector;
	/* Called with a notice about a device or listener, on its thread; may be NULL. */
	void (*notice)(const char *text);
	/* Called once per device with the features found; may be NULL. */
	void (*found)(const char *text);
};

/**
 * verbs_process_init - Initializes libibverbs for this process: before any other call, and before
 * the second thread.
 *
 * Allows libibverbs to free objects of a removed device (RDMAV_ALLOW_DISASSOC_DESTROY), unless the
 * environment sets another value.
 */
void verbs_process_init(void);

/** verbs_devices_present - Returns true if this machine has an RDMA device now. */
bool verbs_devices_present(void);

/* The buffers and the users of devices, for the locked-memory check. */
struct verbs_memlock_use {
	size_t memory_bytes; /* size of all buffers */
	size_t services;     /* services that use memory windows where devices have them */
	size_t per_peer;     /* services that use no memory windows */
	size_t domains;      /* number of protection domains, if each peer or connection has one */
	size_t queues_bytes; /* size of the queues of all endpoints */
};

/* The kinds of devices of this machine. */
struct verbs_memlock_devices {
	size_t shared_pd; /* devices whose connections share one domain per service */
	size_t per_peer;  /* devices with one domain per peer */
};

/**
 * verbs_queues_bytes - Returns the memory that the queues of an endpoint with up to @recvs posted
 * receives lock.
 *
 * Includes its completion queue, or its share of the worker's (verbs_cqs_spare_bytes()). The sizes
 * are those of libmlx5 (rdma-core 65), the largest of the libraries examined. siw and rxe lock
 * nothing: their queues are in the kernel.
 */
size_t verbs_queues_bytes(unsigned recvs);
/**
 * verbs_cqs_spare_bytes - Returns the additional memory that a worker's completion queues lock,
 * with up to @endpoints such endpoints.
 *
 * They are created before they are completely used, see verbs_cq_next().
 */
size_t verbs_cqs_spare_bytes(unsigned endpoints, unsigned recvs);

/**
 * verbs_memlock_bytes - Returns the maximum of memory that can be locked, or SIZE_MAX on overflow.
 *
 * Memory registered in several domains counts once for each. With one domain per peer, keys and the
 * sinks of Reads are registered in addition.
 */
size_t verbs_memlock_bytes(const struct verbs_memlock_use *use,
			   const struct verbs_memlock_devices *devices);

/**
 * verbs_memlock_check - Checks whether this process may lock that much for the devices of this
 * machine.
 * @text: on failure set to the problem and its remedy
 *
 * Returns true if the limit suffices.
 */
bool verbs_memlock_check(const struct verbs_memlock_use *use, char *text, size_t text_bytes);

#endif
