/* SPDX-License-Identifier: BSD-3-Clause */
/* What a verbs fabric is made from, what it counts, and whether this machine can have one. */
#ifndef FABRIC_VERBS_VERBS_CONFIG_H
#define FABRIC_VERBS_VERBS_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counter.h"

#define VERBS_COUNTERS(X)                                                                          \
	X(connections_opened, "connections set up, either way")                                    \
	X(wrs_posted, "work requests given to the device")                                         \
	X(chains_posted, "times that one or more were given to it")                                \
	X(recv_chains_posted, "times that one or more receives were given to it")                  \
	X(wrs_inline, "work requests that carried their data themselves")                          \
	X(sends_waited, "times that the device had no room for another Send")                      \
	X(reads_waited, "RDMA Reads that waited since the peer allows no more at once")            \
	X(completions, "work requests and receives that the device reported done")                 \
	X(completion_events, "times that the device woke us to report some")                       \
	X(slabs_registered, "blocks of buffers made known to the device")                          \
	X(windows_bound, "pieces of memory lent to a peer as memory windows")                      \
	X(regions_lent, "pieces of memory lent to a peer as memory regions")                       \
	X(exposed_bytes_cleared,                                                                   \
	  "bytes set to zero before a peer could write there: they had held data of another "      \
	  "connection")                                                                            \
	X(sinks_registered,                                                                        \
	  "pieces of memory made known to an iWARP device as the target of an RDMA Read")          \
	X(probes, "times that a silent peer was asked whether it is there")                        \
	X(probes_unanswered, "connections closed because it did not answer")                       \
	X(peer_invalidations, "memory keys that the peer took away when it was done")              \
	X(async_events, "events that the device reported by itself")                               \
	X(device_removals, "connections lost because their device was removed or failed")          \
	X(address_changes, "changes of address under a connection")                                \
	X(resolve_retries, "times that an address or a route was asked for again")
COUNTER_STRUCT(verbs_counters, VERBS_COUNTERS);

/* Whose protection domain a connection has, where memory windows do not keep others from what it lends. */
enum verbs_domain_of {
	VERBS_DOMAIN_AUTO,       /* the peer's */
	VERBS_DOMAIN_CONNECTION, /* its own */
	VERBS_DOMAIN_PEER,       /* that of its peer's address, on this worker */
	VERBS_DOMAIN_WORKER,     /* that of the worker: all peers */
};

#define VERBS_ROCE_ACK_TIMEOUT                                                                     \
	14u /* 67 ms; by itself Linux 6.1 takes 19 (2.1 s) on RoCE, later ones 17 (0.5 s) */
#define VERBS_ACK_TIMEOUT_MAX 22u /* 17 s */

#define VERBS_NOTICE_BYTES    256u /* of what a device or a listener is told of, cut to fit */

struct verbs_config {
	/* To resolve, to connect, and for the peer to finish an accept. */
	uint64_t setup_timeout_us;
	/* Poll for so long after a completion before waiting for an event. */
	uint64_t busy_poll_us;
	/* Times that either end is to try a Send again that found no receive; 7: for ever. Not over iWARP. */
	unsigned rnr_retry;
	enum verbs_domain_of domain_of;
	bool windows_off; /* lend memory as regions, even where a device has memory windows */
	/*
	 * The local ACK timeout, 4.096 us times two to the power of it, until what the peer did not acknowledge is sent again;
	 * 0: VERBS_ROCE_ACK_TIMEOUT on RoCE adapters, and what the path says on InfiniBand and rxe. Not over iWARP.
	 */
	unsigned ack_timeout;
	unsigned
		tos; /* of RoCE and iWARP packets: DSCP and ECN; on InfiniBand the service level; 0: the host's default */
	unsigned
		vector; /* the worker's number: its completions interrupt the core that the device has for it */
	/* Told in words what befalls a device or a listener, on a thread that uses it; may be NULL. */
	void (*notice)(const char *text);
	/* Told once of each device what it was found to have; may be NULL. */
	void (*found)(const char *text);
};

/**
 * verbs_process_init - set up libibverbs for this process: before any other call, and before the second thread
 *
 * Lets libibverbs free what belonged to a device that was removed (RDMAV_ALLOW_DISASSOC_DESTROY), unless the environment
 * says otherwise.
 */
void verbs_process_init(void);

/** verbs_devices_present - whether this machine has any RDMA device now. */
bool verbs_devices_present(void);

/* What buffers there are, and who uses devices. */
struct verbs_memlock_use {
	size_t memory_bytes; /* of all buffers */
	size_t services;     /* that use memory windows where devices have them */
	size_t parting;      /* services that do not */
	size_t domains;      /* at once, where each peer or connection has its own */
	size_t queues_bytes; /* of all endpoints */
};

/* Of what kind the devices of this machine are. */
struct verbs_memlock_devices {
	size_t sharing; /* devices whose connections share a domain, one for each service */
	size_t parting; /* devices on which each peer has a domain of its own */
};

/**
 * verbs_queues_bytes - what the queues of an endpoint lock that has up to @recvs receives posted
 *
 * With a completion queue of its own, or its share of those of its worker (verbs_cqs_spare_bytes()). As libmlx5 (rdma-core 65) sizes them, which has the largest of the libraries that were read; those of siw and rxe are the
 * kernel's and lock nothing.
 */
size_t verbs_queues_bytes(unsigned recvs);
/**
 * verbs_cqs_spare_bytes - what the completion queues of a worker lock beside that, with up to @endpoints of such endpoints
 *
 * They are created before they are needed whole, see verbs_cq_next().
 */
size_t verbs_cqs_spare_bytes(unsigned endpoints, unsigned recvs);

/**
 * verbs_memlock_bytes - the most that may come to be locked
 *
 * What is registered in several domains is counted as often. Where each peer has a domain of its own, keys and the
 * sinks of Reads are registered besides. SIZE_MAX if it is more than that.
 */
size_t verbs_memlock_bytes(const struct verbs_memlock_use *use,
			   const struct verbs_memlock_devices *devices);

/**
 * verbs_memlock_check - whether this process may lock that for the devices of this machine
 * @text: on failure says what is wrong and what to do about it
 *
 * Returns true if the limit suffices.
 */
bool verbs_memlock_check(const struct verbs_memlock_use *use, char *text, size_t text_bytes);

#endif
