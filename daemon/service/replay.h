/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source ports that clients' upstream connections had, for replay.
 *
 * A TCP server knows a retransmission by XID, client address and client port (knfsd's
 * duplicate-request cache compares all three). A client that lost its connection sends its
 * unanswered Calls again on a new one; if the proxy then comes to the server from the port that it
 * used for this client before, the server gives the first answer instead of executing REMOVE a
 * second time.
 *
 * There is one table per service. All workers share it, at connect and close only, so it has a lock.
 */
#ifndef DAEMON_SERVICE_REPLAY_H
#define DAEMON_SERVICE_REPLAY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define REPLAY_REMEMBER_US (120u * 1000000u)
#define REPLAY_MAX_ENTRIES 4096u /* the oldest goes first */

struct replay;

/** replay_new - an empty table; NULL without memory. */
struct replay *replay_new(void);
/** replay_free - free it; accepts NULL. */
void replay_free(struct replay *replay);

/**
 * replay_store - remember that @client's upstream connection, now closed, came from @port
 * @now_us: monotonic time
 */
void replay_store(struct replay *replay, const struct sockaddr *client, uint16_t port,
		  uint64_t now_us);

/**
 * replay_take - the port for a new upstream connection of @client
 *
 * The one that the same address and port had; else the latest one closed of that address. The entry
 * is used up, so that no two connections get one port. Returns 0 if nothing is remembered.
 */
uint16_t replay_take(struct replay *replay, const struct sockaddr *client, uint64_t now_us);

#endif
