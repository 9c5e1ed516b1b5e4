// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/control/cmd_actions.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/resolver.h"
#include "daemon/control/control_request.h"
#include "daemon/proxy/listener_inherit.h"
#include "daemon/proxy/problems.h"
#include "daemon/proxy/proxy.h"
#include "daemon/proxy/proxy_service.h"
#include "daemon/proxy/reader.h"
#include "daemon/proxy/reload.h"
#include "daemon/proxy/rpcbind_sync.h"
#include "daemon/proxy/worker.h"
#include "daemon/service/listen_error.h"
#include "daemon/view/answer.h"

static void wake_workers(struct proxy *proxy)
{
	for (size_t i = 0; i < proxy->nworkers; i++)
		proxy->workers[i]->env.wake(proxy->workers[i]->env.arg);
}

/*
 * target_order_json - Obeys "SERVICE ADDRESS up|drain|down". Main thread only.
 *
 * Returns the answer with the new order, {"error": "why"}, or NULL if memory ran out.
 */
static json_t *target_order_json(struct proxy *proxy, const char *argument)
{
	char text[CONTROL_MAX_ARGUMENT_BYTES + 1];
	const char *name, *address, *word;
	enum server_order order;
	struct proxy_service *ps;
	struct nfs_server *server;
	char *at;

	snprintf(text, sizeof(text), "%s", argument);
	name = strtok_r(text, " ", &at);
	address = strtok_r(NULL, " ", &at);
	word = strtok_r(NULL, " ", &at);
	if (!name || !address || !word || strtok_r(NULL, " ", &at))
		return error_json("the command takes a service, an address and a word");
	ps = proxy_service_find(proxy, name);
	if (!ps)
		return unknown_service_json(proxy, name);
	server = servers_find(&ps->service.servers, address);
	if (!server)
		return error_json("service %s has no server %s, or more than one", name, address);
	if (server_order_parse(word, &order))
		return error_json("the order is up, drain or down");
	if (ps->service.config->mount.way == MOUNT_RPCBIND)
		server_order_set(&ps->service.mount_servers,
				 &ps->service.mount_servers.list[server->index], order);
	server_order_set(&ps->service.servers, server, order);
	wake_workers(proxy);
	problems_log(proxy, loop_now_us(proxy->loop));
	return json_pack("{s:s, s:s, s:s}", "service", name, "target", server->text, "order", word);
}

/* A request whose answer comes later. */
struct deferred_answer {
	struct proxy *proxy;
	char service[CONTROL_MAX_ARGUMENT_BYTES + 1]; /* of a resume; "": all */
	cmd_actions_done_fn *done;
	void *done_arg;
};

static void deferred_answer_send(struct deferred_answer *deferred_answer, json_t *answer)
{
	deferred_answer->done(deferred_answer->done_arg, answer);
	free(deferred_answer);
}

static struct deferred_answer *deferred_answer_new(struct proxy *proxy, const char *service,
						   cmd_actions_done_fn *done, void *done_arg)
{
	struct deferred_answer *deferred_answer = calloc(1, sizeof(*deferred_answer));

	if (!deferred_answer) {
		done(done_arg, NULL);
		return NULL;
	}
	deferred_answer->proxy = proxy;
	snprintf(deferred_answer->service, sizeof(deferred_answer->service), "%s", service);
	deferred_answer->done = done;
	deferred_answer->done_arg = done_arg;
	return deferred_answer;
}

static void on_reloaded(void *arg, int rc, const struct reload_report *report)
{
	char *const *texts = report->texts;
	json_t *answer;

	if (rc)
		answer = json_pack("{s:s, s:o}", "error", "not reloaded, nothing has changed",
				   "errors", lines_json(texts[RELOAD_ERRORS]));
	else
		answer = json_pack("{s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "reloaded", 1,
				   "kept", lines_json(texts[RELOAD_UNCHANGED]), "changed",
				   lines_json(texts[RELOAD_CHANGED]), "added",
				   lines_json(texts[RELOAD_ADDED]), "removed",
				   lines_json(texts[RELOAD_REMOVED]), "held",
				   lines_json(texts[RELOAD_NEEDS_RESTART]), "warnings",
				   lines_json(texts[RELOAD_WARNINGS]), "tls_renewed",
				   lines_json(texts[RELOAD_TLS]));
	deferred_answer_send(arg, answer);
}

static void start_reload(struct proxy *proxy, cmd_actions_done_fn *done, void *done_arg)
{
	struct deferred_answer *deferred_answer = deferred_answer_new(proxy, "", done, done_arg);

	if (deferred_answer)
		reload(proxy, on_reloaded, deferred_answer);
}

static bool is_meant(const struct proxy_service *ps, const char *name)
{
	return !name[0] || !strcmp(ps->service.config->name, name);
}

static json_t *drain_json(struct proxy *proxy, const char *name)
{
	json_t *drained = json_array();
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		if (!is_meant(ps, name))
			continue;
		proxy_service_close_listener(ps);
		proxy_drain_service(ps);
		json_array_append_new(drained, json_string(ps->service.config->name));
	}
	rpcbind_sync_update(proxy);
	return json_pack("{s:o}", "draining", drained);
}

static bool wants_resume(const struct proxy_service *ps, const char *name)
{
	return is_meant(ps, name) && atomic_load(&ps->service.draining);
}

static json_t *resume_json(struct proxy *proxy, const char *name, const struct listen_names *names)
{
	json_t *resumed = json_array(), *errors = json_array();
	char error[LISTEN_ERROR_BYTES];
	struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		const char *own = ps->service.config->name;

		if (!wants_resume(ps, name))
			continue;
		if (proxy_service_listen(ps, names, NULL, error, sizeof(error))) {
			log_error(LOG_ABOUT(.service = own), "%s", error);
			json_array_append_new(errors, json_sprintf("%s: %s", own, error));
			continue;
		}
		proxy_log_listening(ps);
		json_array_append_new(resumed, json_string(own));
	}
	listener_inherit_store(proxy);
	rpcbind_sync_update(proxy);
	if (!json_array_size(errors)) {
		json_decref(errors);
		return json_pack("{s:o}", "resumed", resumed);
	}
	return json_pack("{s:s, s:o, s:o}", "error", "not all have resumed", "errors", errors,
			 "resumed", resumed);
}

static void on_names(void *arg, struct reading *reading)
{
	struct deferred_answer *deferred_answer = arg;
	/* If the lookup failed, use the addresses from the previous lookup. */
	struct listen_names *names = reading->rc ? deferred_answer->proxy->names : reading->names;

	if (deferred_answer->proxy->stopping || reading->rc == -ECANCELED) {
		deferred_answer_send(deferred_answer, error_json("the daemon is stopping"));
		return;
	}
	if (!reading->rc)
		listen_names_log_stale(names);
	deferred_answer_send(deferred_answer,
			     resume_json(deferred_answer->proxy, deferred_answer->service, names));
}

/* Returns the host names on which the services to resume listen, or NULL if memory ran out. */
static struct listen_names *names_of(const struct proxy *proxy, const char *name)
{
	struct listen_names *names = listen_names_new();
	const struct proxy_service *ps;

	TAILQ_FOREACH(ps, &proxy->services, entry) {
		if (!names || !wants_resume(ps, name) ||
		    !listen_names_add(names, ps->service.config))
			continue;
		listen_names_put(names);
		names = NULL;
	}
	return names;
}

static void start_resume(struct proxy *proxy, const char *name, cmd_actions_done_fn *done,
			 void *done_arg)
{
	struct listen_names *names = names_of(proxy, name);
	struct deferred_answer *deferred_answer;
	int rc;

	if (!names || listen_names_is_empty(names)) {
		done(done_arg, names ? resume_json(proxy, name, names) : NULL);
		listen_names_put(names);
		return;
	}
	deferred_answer = deferred_answer_new(proxy, name, done, done_arg);
	if (!deferred_answer) {
		listen_names_put(names);
		return;
	}
	rc = reader_start(proxy->names_resolver, NULL, names, proxy->names, on_names,
			  deferred_answer);
	if (rc)
		deferred_answer_send(deferred_answer,
				     json_pack("{s:s}", "error",
					       rc == -EBUSY
						       ? "another resume is looking up names: try "
							 "again"
						       : strerror(-rc)));
}

static json_t *disconnect_json(struct proxy *proxy, const char *argument)
{
	struct worker_conn_selector choice;
	unsigned count = 0;

	if (!worker_conn_selector_parse(argument, &choice))
		return invalid_selector_json(argument);
	for (size_t i = 0; i < proxy->nworkers; i++)
		count += worker_disconnect(proxy->workers[i], &choice);
	if (!count)
		return unknown_connection_json(argument);
	return json_pack("{s:i}", "disconnected", count);
}

void cmd_actions_run(struct proxy *proxy, enum control_command_id command, const char *argument,
		     const char *who, cmd_actions_done_fn *done, void *done_arg)
{
	bool of_service = command == CONTROL_COMMAND_DRAIN || command == CONTROL_COMMAND_RESUME;

	log_info(LOG_ABOUT(.service = of_service && argument[0] ? argument : NULL),
		 "%s%s%s requested by %s via control socket",
		 command == CONTROL_COMMAND_RELOAD   ? "reload"
		 : command == CONTROL_COMMAND_DRAIN  ? "drain"
		 : command == CONTROL_COMMAND_RESUME ? "resume"
		 : command == CONTROL_COMMAND_TARGET ? "target"
						     : "disconnect",
		 argument[0] && !of_service ? " " : "", of_service ? "" : argument, who);
	if (proxy->stopping)
		done(done_arg, error_json("the daemon is stopping"));
	else if (of_service && argument[0] && !proxy_service_find(proxy, argument))
		done(done_arg, unknown_service_json(proxy, argument));
	else if (command == CONTROL_COMMAND_RELOAD)
		start_reload(proxy, done, done_arg);
	else if (command == CONTROL_COMMAND_RESUME)
		start_resume(proxy, argument, done, done_arg);
	else if (command == CONTROL_COMMAND_DRAIN)
		done(done_arg, drain_json(proxy, argument));
	else if (command == CONTROL_COMMAND_TARGET)
		done(done_arg, target_order_json(proxy, argument));
	else
		done(done_arg, disconnect_json(proxy, argument));
}
