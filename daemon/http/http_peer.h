/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets of the HTTP listener: listening, who the peer is and whether it may ask, and whether it has gone. */
#ifndef DAEMON_HTTP_HTTP_PEER_H
#define DAEMON_HTTP_HTTP_PEER_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/base/log.h"
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_value.h"

struct http_peer {
	int fd; /* connected */
	const struct config_hosts *hosts;
	struct log_limit *lines; /* about hosts that are not this one */
};

/** http_peer_listen - listen at @addr. Returns a descriptor, the caller's, or a negative errno. */
int http_peer_listen(const struct sockaddr *addr) MUST_CHECK;
/**
 * http_peer_may_ask - whether the peer's address may ask
 * @fd:      connected
 * @allow:   addresses that may
 * @refused: the bucket of the line that says that it may not
 *
 * Returns false, too, if the peer has gone.
 */
bool http_peer_may_ask(int fd, const struct config_cidrs *allow, struct log_limit *refused);
/** http_peer_may_ask_for - http_host_is_ours(@host) with the name of this machine; logs it if not. */
bool http_peer_may_ask_for(const struct http_peer *peer, const char *host);
/**
 * http_peer_gives_way - whether a peer that waits for its answer is not to be waited for
 * @needed: another one needs its place
 *
 * Returns true if nothing can be sent to it; if @needed, also if it will send nothing more: it has closed the connection,
 * or its sending side alone, and these two cannot be told apart.
 */
bool http_peer_gives_way(int fd, bool needed);

#endif
