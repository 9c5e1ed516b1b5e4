/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes limits of memory and descriptors from the configuration: the shares of the services, and
 * the sizes of their RPCs.
 */
#ifndef DAEMON_CONFIG_CONFIG_MEMORY_H
#define DAEMON_CONFIG_CONFIG_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/config/config.h"
#include "leg/exchange.h"

/*
 * Memory to recognize a client and its last connection when it reconnects
 * (daemon/service/client_affinity.h).
 */
#define CONFIG_CLIENT_BYTES 8192u

/**
 * config_memory_guaranteed_bytes - Returns each service's guaranteed share: a Call and a Reply of
 * unbounded operations.
 */
size_t config_memory_guaranteed_bytes(void);
/** config_memory_limit_bytes - Returns memory_limit_mib in bytes. */
size_t config_memory_limit_bytes(const struct config *config);
/**
 * config_memory_min_mib - Returns the smallest memory_limit_mib that holds the guaranteed shares of
 * all services.
 */
size_t config_memory_min_mib(const struct config *config);
/**
 * config_memory_largest_bytes - Returns the largest message size, up to max_message_bytes, for
 * which @service has memory for a Call and a Reply.
 */
uint32_t config_memory_largest_bytes(const struct config *config,
				     const struct service_config *service);
/**
 * config_memory_reply_space - Returns the most that an RDMA server's leg needs for a Reply, in
 * addition to its buffer.
 */
struct reply_memory config_memory_reply_space(const struct service_config *service);
/**
 * config_memory_reverse_space - Returns the same for the Reply to a reverse Call, on a client's leg
 * (@rdma or TCP).
 */
struct reply_memory config_memory_reverse_space(const struct service_config *service, bool rdma);
/**
 * config_memory_reverse_max_bytes - Returns the length limit of reverse Calls, and of the Replies
 * to them, on such a leg.
 */
uint32_t config_memory_reverse_max_bytes(const struct service_config *service, bool rdma);
/**
 * config_memory_buffer_bytes - Returns the largest buffer that @service needs, for a message or a
 * receive.
 */
size_t config_memory_buffer_bytes(const struct service_config *service);
/** config_memory_buffer_max_bytes - Returns the same for any possible configuration. */
size_t config_memory_buffer_max_bytes(void);
/**
 * config_memory_receives_bytes - Returns the memory of all receives that a connection can post, at
 * their initial size. Receives of iwarp:// do not count: they use memory only while a Send arrives.
 */
size_t config_memory_receives_bytes(const struct service_config *service);
/**
 * config_memory_queues_bytes - Returns the most memory that a connection's queues lock on RDMA
 * devices.
 */
size_t config_memory_queues_bytes(const struct service_config *service);
/**
 * config_memory_cqs_bytes - Returns the most memory that the completion queues of all workers lock
 * in addition, for @connections.
 */
size_t config_memory_cqs_bytes(const struct config *config, const struct service_config *service,
			       unsigned connections);
/**
 * config_memory_uncharged_bytes - Returns the most memory that a connection of @service uses
 * outside the limit.
 */
size_t config_memory_uncharged_bytes(const struct service_config *service);
/**
 * config_memory_reserve_bytes - Returns the most unused memory that a worker's pool keeps mapped.
 */
size_t config_memory_reserve_bytes(const struct config *config);
/**
 * config_memory_kept_bytes - Returns the same for memory that is registered with a device and was
 * used recently.
 */
size_t config_memory_kept_bytes(const struct config *config);
/**
 * config_memory_unused_bytes - Returns the reserve or the kept memory, whichever applies, of all
 * workers.
 */
size_t config_memory_unused_bytes(const struct config *config);
/**
 * config_memory_buffers_bytes - Returns the most buffer memory, limit included, that RDMA devices
 * can register for config_connections().
 */
size_t config_memory_buffers_bytes(const struct config *config);
/**
 * config_memory_staging_bytes - Returns the staging buffers of all workers and services, outside
 * the limit.
 */
size_t config_memory_staging_bytes(const struct config *config);
/**
 * config_memory_alone_bytes - Returns the memory of the daemon if this were its only service, without
 * that of connections: the limit, unused buffers and staging buffers.
 */
size_t config_memory_alone_bytes(const struct config *config, const struct service_config *service);
/**
 * config_memory_print - Writes to @out how memory is divided, and how many RPCs of each service
 * fit.
 */
void config_memory_print(const struct config *config, FILE *out);

#define CONFIG_DESCRIPTORS_RESERVED   72u  /* control socket, its streams, and name servers */
#define CONFIG_DESCRIPTORS_CONNECTION 2u   /* at most a socket per side */
#define CONFIG_DESCRIPTORS_TARPIT     512u /* per service, for tarpitted connections: two each */

/** config_connections - Returns the sum of the shares of all services, config_share(). */
uint64_t config_connections(const struct config *config);
/** config_connections_of_file - Returns the sum of the numbers that the file sets. */
uint64_t config_connections_of_file(const struct config *config);
/**
 * config_descriptors - Returns the descriptors for config_connections(), by the formula in
 * doc/limits.md.
 */
uint64_t config_descriptors(const struct config *config);
/**
 * config_descriptors_idle - Returns how many descriptors the daemon will have open without
 * connections, or a few more.
 */
uint64_t config_descriptors_idle(const struct config *config);
/**
 * config_descriptors_min - Returns the descriptors needed to start: the daemon's own, and one
 * connection.
 */
uint64_t config_descriptors_min(const struct config *config);
/** config_descriptors_print - Writes to @out how many descriptors are needed. */
void config_descriptors_print(const struct config *config, FILE *out);
/**
 * config_descriptors_warn - Writes a warning to @out if the connections that the file sets need more
 * than @limit.
 */
void config_descriptors_warn(const struct config *config, uint64_t limit, FILE *out);

#endif
