// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/listener_inherit.h"

#include <errno.h>
#include <unistd.h>

#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/config/config_value.h"
#include "daemon/service/listener.h"

static bool is_listened_at(const struct proxy_service *ps, const struct sockaddr *addr)
{
	int fds[LISTENER_MAX_SOCKETS], fd;
	struct listen_sockets sockets = listener_sockets(ps->listener, fds);

	fd = listen_socket_find(&sockets, addr);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Logs why systemd should not hold this socket. */
static void log_unexpected_socket(const char *name, const struct sockaddr *addr,
				  const struct proxy_service *ps)
{
	char at[ADDRESS_TEXT_BYTES], listen[CONFIG_LISTEN_TEXT_BYTES];

	if (ps)
		log_error(LOG_ABOUT(.service = name),
			  "systemd passed a socket of this name (FileDescriptorName=) that "
			  "listens on %s, but listen is %s",
			  address_text(addr, at), config_listen_text(ps->service.config, listen));
	else
		log_error(NULL,
			  "systemd passed a socket with FileDescriptorName=%s that listens on %s, "
			  "but no service has this name",
			  name, address_text(addr, at));
}

int listener_inherit_check(struct proxy *proxy)
{
	const struct socket_activation *inherited = &proxy->inherited;
	int rc = 0;

	for (size_t i = 0; i < inherited->count; i++) {
		struct proxy_service *ps = proxy_service_find(proxy, inherited->names[i]);
		struct sockaddr_storage at = {0};
		socklen_t len = sizeof(at);

		(void)getsockname(inherited->fds[i], (struct sockaddr *)&at, &len);
		if (ps && is_listened_at(ps, (const struct sockaddr *)&at))
			continue;
		if (inherited->stored[i]) {
			socket_activation_unstore(inherited->names[i]);
			continue;
		}
		log_unexpected_socket(inherited->names[i], (const struct sockaddr *)&at, ps);
		rc = -EINVAL;
	}
	return rc;
}

void listener_inherit_store(const struct proxy *proxy)
{
	const struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		int fds[LISTENER_MAX_SOCKETS];
		struct listen_sockets sockets = listener_sockets(ps->listener, fds);

		socket_activation_store(ps->service.config->name, &sockets);
	}
}
