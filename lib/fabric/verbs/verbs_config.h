/* SPDX-License-Identifier: BSD-3-Clause */
/* What a verbs fabric is made from, what it counts, and whether this machine can have one. */
#ifndef FABRIC_VERBS_VERBS_CONFIG_H
#define FABRIC_VERBS_VERBS_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counter.h"

#define VERBS_COUNTERS(X)                                                                          \
	X(connections_opened, "connections established")                                           \
	X(wrs_posted, "work requests posted")                                                      \
	X(chains_posted, "chains of work requests posted")                                         \
	X(wrs_inline, "work requests whose data went inline")                                      \
	X(sends_waited, "times that the send queue was full")                                      \
	X(reads_waited, "times that a Read waited for the peer's read depth")                      \
	X(completions, "completions polled")                                                       \
	X(completion_events, "completion events taken")                                            \
	X(slabs_registered, "slabs registered for local use")                                      \
	X(windows_bound, "keys lent as memory windows")                                            \
	X(regions_lent, "keys lent as memory regions")                                             \
	X(sinks_registered, "Read sinks registered for an iWARP device")                           \
	X(probes, "times that a peer was asked whether it is there")                               \
	X(probes_unanswered, "connections closed since the peer answered none")                    \
	X(peer_invalidations, "keys that the peer invalidated")                                    \
	X(async_events, "asynchronous device events")                                              \
	X(device_removals, "connections lost with their device")                                   \
	X(address_changes, "changes of address under a connection")
COUNTER_STRUCT(verbs_counters, VERBS_COUNTERS);

struct verbs_config {
	/* To resolve, to connect, and for the peer to finish an accept. */
	uint64_t setup_timeout_us;
	/* Poll for so long after a completion before waiting for an event. */
	uint64_t busy_poll_us;
	/* Times that either end is to try a Send again that found no receive; 7: for ever. Not over iWARP. */
	unsigned rnr_retry;
	/* Told in words what befalls a device or a listener, on a thread that uses it; may be NULL. */
	void (*notice)(const char *text);
};

/** verbs_devices_present - whether this machine has any RDMA device now. */
bool verbs_devices_present(void);

/* What buffers there are, and who uses devices. */
struct verbs_memlock_use {
	size_t memory_bytes; /* of all buffers */
	size_t services;
	size_t endpoints; /* at once */
};

/* Of what kind the devices of this machine are. */
struct verbs_memlock_devices {
	size_t sharing; /* devices whose connections share a domain, one for each service */
	size_t parting; /* devices on which each connection has a domain of its own */
};

/**
 * verbs_memlock_bytes - the most that may come to be locked
 *
 * What is registered in several domains is counted as often. Where each connection has a domain of its own, keys and the
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
