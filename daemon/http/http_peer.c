// SPDX-License-Identifier: BSD-3-Clause
/* The sockets of the HTTP listener. */
#include "daemon/http/http_peer.h"

#include <poll.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/listen_socket.h"
#include "daemon/base/address.h"
#include "daemon/http/http_host.h"

#define BACKLOG 64
/* Of a Host, in the log. */
#define SHOWN_BYTES 100

int http_peer_listen(const struct sockaddr *addr)
{
	int fd = listen_socket_new(addr);
	int rc = fd < 0 ? fd : listen_socket_start(fd, addr, BACKLOG, NULL);

	if (rc < 0 && fd >= 0)
		close(fd);
	return rc < 0 ? rc : fd;
}

/* Returns false if the peer has gone. */
static bool get_peer(int fd, struct sockaddr_storage *peer)
{
	socklen_t bytes = sizeof(*peer);

	*peer = (struct sockaddr_storage){0};
	return !getpeername(fd, (struct sockaddr *)peer, &bytes);
}

bool http_peer_may_ask(int fd, const struct config_cidrs *allow, struct log_limit *refused)
{
	char text[ADDRESS_TEXT_BYTES];
	struct sockaddr_storage peer;

	if (!get_peer(fd, &peer))
		return false;
	if (config_cidrs_contain(allow, (struct sockaddr *)&peer))
		return true;
	log_write_limited(LOG_LEVEL_WARNING, refused, NULL,
			  "http: %s came and is refused: http_allow does not have it",
			  address_text((struct sockaddr *)&peer, text));
	return false;
}

/* A Host that is to stand between quotes: those that it has itself are written as in a URI. */
static const char *show(const char *host, char text[SHOWN_BYTES + 1])
{
	size_t len = 0;

	for (; *host && len + 3 <= SHOWN_BYTES; host++)
		if (*host == '"')
			len += (size_t)sprintf(text + len, "%%22");
		else
			text[len++] = *host;
	text[len] = '\0';
	return text;
}

bool http_peer_may_ask_for(const struct http_peer *peer, const char *host)
{
	char text[ADDRESS_TEXT_BYTES], shown[SHOWN_BYTES + 1];
	struct sockaddr_storage from;
	struct utsname own = {0};

	(void)uname(&own);
	if (http_host_is_ours(host, own.nodename, peer->hosts))
		return true;
	if (get_peer(peer->fd, &from))
		log_write_limited(LOG_LEVEL_WARNING, peer->lines, NULL,
				  "http: %s asked for the host \"%s\" and is refused: if that is "
				  "this host, add it to http_hosts",
				  address_text((struct sockaddr *)&from, text), show(host, shown));
	return false;
}

bool http_peer_gives_way(int fd, bool needed)
{
	/* poll() returns POLLERR and POLLHUP although they are not requested. */
	struct pollfd pollfd = {.fd = fd, .events = needed ? POLLRDHUP : 0};

	return poll(&pollfd, 1, 0) > 0;
}
