// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/service/service_net.h"

#include <errno.h>
#include <string.h>

#include "daemon/base/job_threads.h"
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

/* Only for services with TLS, since it costs memory. */
static int open_tls(struct service_net *net)
{
	const struct worker_env *env = net->env;

	if (net->config->tls.accept == CONFIG_TLS_OFF && !net->config->tls.connect)
		return 0;
	net->tls_jobs = job_queue_new(env->jobs, env->loop, env->post);
	if (!net->tls_jobs)
		return -ENOMEM;
	return tls_worker_init(&net->tls_worker, env->loop, job_queue_runner(net->tls_jobs));
}

int service_net_init(struct service_net *net, const struct worker_env *env,
		     const struct service_config *config, struct service *service,
		     struct service_tls *tls, bool verbs)
{
	struct iwarp_config iwarp;

	*net = (struct service_net){
		.env = env, .config = config, .service = service, .tls_contexts = tls};
	service_iwarp_config(config, &iwarp);
	net->iwarp = iwarp_fabric_new(env->loop, env->pool, &iwarp);
	tcp_stream_net_init(&net->sockets, env->loop, env->reserved_ports,
			    (uint64_t)config->stall_timeout_s * 1000000, config->keepalive_s);
	if (!net->iwarp || tcp_worker_init(&net->tcp, &net->sockets.net) || open_tls(net))
		return -ENOMEM;
	if (verbs)
		open_verbs(net);
	return 0;
}

void service_net_fini(struct service_net *net)
{
	/* First: a closed leg's stream exists until the end of its handshake. */
	job_queue_free(net->tls_jobs);
	tls_worker_fini(&net->tls_worker);
	fabric_free(net->iwarp);
	fabric_free(net->verbs);
	tcp_worker_fini(&net->tcp);
}
