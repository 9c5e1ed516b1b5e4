// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/service_net.h"

#include <errno.h>
#include <string.h>

#include "daemon/base/log.h"

/* Without verbs the service continues with its other fabrics. */
static void open_verbs(struct service_net *net)
{
	const struct service_config *config = net->config;
	struct verbs_config verbs;

	if (!verbs_devices_present())
		return;
	service_verbs_config(config, &verbs);
	verbs.vector = net->env->worker;
	net->verbs = verbs_fabric_new(net->env->loop, net->env->pool, &verbs);
	if (!net->verbs && net->service)
		log_warning(LOG_ABOUT(.service = config->name), "RDMA devices not usable: %s",
			    strerror(errno));
}

int service_net_init(struct service_net *net, const struct worker_env *env,
		     const struct service_config *config, struct service *service, bool verbs)
{
	struct iwarp_config iwarp;

	*net = (struct service_net){.env = env, .config = config, .service = service};
	service_iwarp_config(config, &iwarp);
	net->iwarp = iwarp_fabric_new(env->loop, env->pool, &iwarp);
	tcp_stream_net_init(&net->sockets, env->loop, env->reserved_ports,
			    (uint64_t)config->stall_timeout_s * 1000000, config->keepalive_s);
	if (!net->iwarp || tcp_worker_init(&net->tcp, &net->sockets.net))
		return -ENOMEM;
	if (verbs)
		open_verbs(net);
	return 0;
}

void service_net_fini(struct service_net *net)
{
	fabric_free(net->iwarp);
	fabric_free(net->verbs);
	tcp_worker_fini(&net->tcp);
}
