// SPDX-License-Identifier: BSD-3-Clause
#include "base/ip_transparent.h"

#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

int ip_transparent_enable(int fd, sa_family_t family)
{
	int on = 1, rc;

	if (family == AF_INET6)
		rc = setsockopt(fd, IPPROTO_IPV6, IPV6_TRANSPARENT, &on, sizeof(on));
	else
		rc = setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof(on));
	return rc < 0 ? -errno : 0;
}

bool ip_transparent_is_permitted(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

	/* Other problems are reported when a connection is made. */
	if (fd < 0)
		return true;
	rc = ip_transparent_enable(fd, AF_INET);
	close(fd);
	return rc != -EPERM;
}
