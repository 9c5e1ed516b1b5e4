/* SPDX-License-Identifier: BSD-3-Clause */
/* What memory_limit_mib makes possible: the parts of the services, and how large their RPCs may be. */
#ifndef DAEMON_CONFIG_CONFIG_MEMORY_H
#define DAEMON_CONFIG_CONFIG_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/config/config.h"
#include "leg/exchange.h"

/* What is kept of a client and of its last connection, to know it when it comes back (daemon/service/clients.h). */
#define CONFIG_CLIENT_BYTES 8192u

/** config_memory_own_bytes - what each service has for itself: a Call and a Reply of what has no bound. */
size_t config_memory_own_bytes(void);
/** config_memory_limit_bytes - memory_limit_mib in bytes. */
size_t config_memory_limit_bytes(const struct config *config);
/** config_memory_least_mib - the least memory_limit_mib that holds the services' own parts. */
size_t config_memory_least_mib(const struct config *config);
/** config_memory_largest_bytes - the largest message of @service, by its key at most, that fits as both Call and Reply. */
uint32_t config_memory_largest_bytes(const struct config *config,
				     const struct service_config *service);
/** config_memory_reply_room - what the server's leg may take for a Reply beside the buffer for it; it is over RDMA. */
struct reply_room config_memory_reply_room(const struct service_config *service);
/** config_memory_reverse_room - the same of the leg of a client, by @rdma or TCP, for the Reply to a reverse Call. */
struct reply_room config_memory_reverse_room(const struct service_config *service, bool rdma);
/** config_memory_reverse_max_bytes - the longest reverse Call, or Reply to one, for which such a client may have a way. */
uint32_t config_memory_reverse_max_bytes(const struct service_config *service, bool rdma);
/** config_memory_buffer_bytes - the largest buffer that @service ever asks a pool for: of a whole message, or a receive. */
size_t config_memory_buffer_bytes(const struct service_config *service);
/** config_memory_buffer_max_bytes - the same of any service that there may come to be. */
size_t config_memory_buffer_max_bytes(void);
/**
 * config_memory_receives_bytes - what a connection's receives take from its beginning, all that it may post, on sides
 * where devices may have them; over iwarp:// a receive has memory only while a Send comes
 */
size_t config_memory_receives_bytes(const struct service_config *service);
/** config_memory_queues_bytes - what the queues of a connection lock on sides where devices may have them, at most. */
size_t config_memory_queues_bytes(const struct service_config *service);
/** config_memory_cqs_bytes - what completion queues lock beside that, of @connections, on all workers, at most. */
size_t config_memory_cqs_bytes(const struct config *config, const struct service_config *service,
			       unsigned connections);
/** config_memory_beside_bytes - what a connection of @service can take beside the limit, at most. */
size_t config_memory_beside_bytes(const struct service_config *service);
/** config_memory_reserve_bytes - what a worker's pool keeps mapped though nobody uses it, at most. */
size_t config_memory_reserve_bytes(const struct config *config);
/** config_memory_kept_bytes - the same, where a device reaches it and it was in use of late. */
size_t config_memory_kept_bytes(const struct config *config);
/** config_memory_unused_bytes - which of both it is, of all workers. */
size_t config_memory_unused_bytes(const struct config *config);
/** config_memory_buffers_bytes - what all buffers come to that RDMA devices may register, with the limit, at most. */
size_t config_memory_buffers_bytes(const struct config *config);
/** config_memory_staging_bytes - what all workers read into, for each service: beside the limit too. */
size_t config_memory_staging_bytes(const struct config *config);
/** config_memory_print - say on @out how the memory is parted, and how many RPCs of each service fit. */
void config_memory_print(const struct config *config, FILE *out);

#define CONFIG_DESCRIPTORS_KEPT                                                                    \
	72u /* for the control socket's clients, what they watch, and name servers */
#define CONFIG_DESCRIPTORS_CONNECTION 2u /* a socket on either side, at most */
#define CONFIG_DESCRIPTORS_HELD       512u /* of a service, for who is turned away: two each here, too */

/** config_connections - the sum of the services' max_connections. */
uint64_t config_connections(const struct config *config);
/** config_descriptors - what is enough for as many connections; the formula is in rpcrdma-proxy.conf(5). */
uint64_t config_descriptors(const struct config *config);
/** config_descriptors_least - with fewer the daemon cannot start: what it takes itself, and one connection. */
uint64_t config_descriptors_least(const struct config *config);
/** config_descriptors_print - say on @out how many that is. */
void config_descriptors_print(const struct config *config, FILE *out);
/** config_descriptors_warn - say on @out if that is more than @limit. */
void config_descriptors_warn(const struct config *config, uint64_t limit, FILE *out);

#endif
