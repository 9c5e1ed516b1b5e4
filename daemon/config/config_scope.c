// SPDX-License-Identifier: BSD-3-Clause
/* Whether a key means something in a service. */
#include "daemon/config/config_scope.h"

bool config_in_scope(const struct service_config *service, enum config_key_scope scope)
{
	enum transport b = service->connect.transport;

	switch (scope) {
	case CONFIG_SCOPE_ANY_RDMA:
		return config_listens_rdma(service) || b != TRANSPORT_TCP;
	case CONFIG_SCOPE_ANY_IWARP:
		return config_listens_on(service, TRANSPORT_RDMA) ||
		       config_listens_on(service, TRANSPORT_IWARP) || b == TRANSPORT_RDMA ||
		       b == TRANSPORT_IWARP;
	case CONFIG_SCOPE_ANY_VERBS:
		return config_listens_on(service, TRANSPORT_RDMA) ||
		       config_listens_on(service, TRANSPORT_VERBS) || b == TRANSPORT_RDMA ||
		       b == TRANSPORT_VERBS;
	case CONFIG_SCOPE_LISTEN_IWARP:
		return config_listens_on(service, TRANSPORT_RDMA) ||
		       config_listens_on(service, TRANSPORT_IWARP);
	case CONFIG_SCOPE_LISTEN_TCP:
		return config_listens_tcp(service);
	case CONFIG_SCOPE_LISTEN_RDMA:
		return config_listens_rdma(service);
	case CONFIG_SCOPE_CONNECT_SOCKET:
		return b == TRANSPORT_TCP || b == TRANSPORT_IWARP;
	case CONFIG_SCOPE_CONNECT_TCP:
		return b == TRANSPORT_TCP || config_asks_mount(service);
	case CONFIG_SCOPE_CONNECT_RDMA:
		return b != TRANSPORT_TCP;
	case CONFIG_SCOPE_LISTEN_SOCKET:
		return !config_listens_on(service, TRANSPORT_RDMA) &&
		       !config_listens_on(service, TRANSPORT_VERBS);
	default:
		return true;
	}
}
