// SPDX-License-Identifier: BSD-3-Clause
/* What the ends of connections are called. */
#include "fabric/fabric.h"

const char *fabric_close_name(enum fabric_close why)
{
	static const char *const names[] = {
		[FABRIC_CLOSE_LOCAL] = "local",
		[FABRIC_CLOSE_PEER] = "peer closed",
		[FABRIC_CLOSE_LOST] = "lost",
		[FABRIC_CLOSE_SILENT] = "silent",
		[FABRIC_CLOSE_REFUSED] = "refused",
		[FABRIC_CLOSE_TIMEOUT] = "timeout",
		[FABRIC_CLOSE_PROTOCOL] = "protocol error",
		[FABRIC_CLOSE_TERMINATED] = "terminated",
		[FABRIC_CLOSE_RESOURCES] = "resources",
		[FABRIC_CLOSE_PROXY_HEADER] = "proxy header",
		[FABRIC_CLOSE_PORT] = "port taken",
	};
	return names[why];
}
