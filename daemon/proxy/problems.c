// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/base/clock.h"
#include "daemon/base/humanize.h"
#include "daemon/base/log.h"
#include "daemon/config/config_limits.h"
#include "daemon/config/config_tls.h"
#include "daemon/service/listener.h"
#include "daemon/service/service_condition.h"
#include "daemon/service/service_tls.h"
#include "daemon/upstream/leg_factory.h"

static const struct {
	const char *name;
	enum problem_severity severity;
	bool logs;
	const char *cure;
} table[] = {
#define PROBLEM_ROW(name, id, severity, logs, cure)                                                \
	[PROBLEM_##name] = {(id), PROBLEM_##severity, (logs), (cure)},
	PROBLEMS(PROBLEM_ROW)
#undef PROBLEM_ROW
};

_Static_assert(PROBLEM_COUNT <= 64, "proxy and services have a bit for each problem");

const char *problem_name(enum problem_id id)
{
	return table[id].name;
}

enum problem_severity problem_severity(enum problem_id id)
{
	return table[id].severity;
}

const char *problem_severity_name(enum problem_severity severity)
{
	static const char *const names[] = {"critical", "warning", "notice"};

	return names[severity];
}

/* ---- the list ---- */

#define FIRST_CAPACITY 16u /* problems that a list can hold at first */

/* Returns whether there is room for one more. */
static bool list_grow(struct problem_list *problems)
{
	size_t capacity = problems->capacity ? 2 * problems->capacity : FIRST_CAPACITY;
	struct problem *list;

	if (problems->count < problems->capacity)
		return true;
	list = reallocarray(problems->list, capacity, sizeof(struct problem));
	if (!list)
		return false;
	problems->list = list;
	problems->capacity = capacity;
	return true;
}

/* Adds a copy at the end. */
static void list_add(struct problem_list *problems, const struct problem *problem)
{
	if (!list_grow(problems)) {
		problems->nomem = true;
		return;
	}
	problems->list[problems->count] = *problem;
	problems->list[problems->count].order = problems->count;
	problems->count++;
}

static int compare(const void *a, const void *b)
{
	const struct problem *x = a, *y = b;

	if (x->severity != y->severity)
		return x->severity < y->severity ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

void problems_sort(struct problem_list *problems)
{
	if (problems->count)
		qsort(problems->list, problems->count, sizeof(*problems->list), compare);
}

void problems_fini(struct problem_list *problems)
{
	free(problems->list);
	*problems = (struct problem_list){0};
}

/* ---- texts ---- */

/* The values of the names in a cure. */
struct cure_names {
	const char *service, *server, *client, *file;
};

static const char *cure_value(const struct cure_names *names, const char *name, size_t len)
{
	const struct {
		const char *name, *value;
	} all[] = {{"service", names->service},
		   {"server", names->server},
		   {"client", names->client},
		   {"file", names->file}};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (strlen(all[i].name) == len && !strncmp(all[i].name, name, len))
			return all[i].value;
	return NULL;
}

/* Writes the cure with its names replaced. */
static void write_cure(char cure[PROBLEM_CURE_BYTES], const char *text,
		       const struct cure_names *names)
{
	size_t used = 0;

	while (*text && used < PROBLEM_CURE_BYTES - 1) {
		size_t len = *text == '{' ? strcspn(text + 1, "}") : 0;
		const char *value = len ? cure_value(names, text + 1, len) : NULL;

		if (!value) {
			cure[used++] = *text++;
			continue;
		}
		used += (size_t)snprintf(cure + used, PROBLEM_CURE_BYTES - used, "%s", value);
		text += len + 2;
	}
	cure[used < PROBLEM_CURE_BYTES ? used : PROBLEM_CURE_BYTES - 1] = '\0';
}

/* Starts a problem; the caller sets the rest and calls list_add(). */
static void PRINTF_LIKE(5, 6)
	problem_init(struct problem *problem, enum problem_id id, const struct proxy_service *ps,
		     const struct cure_names *names, const char *format, ...)
{
	va_list ap;

	*problem = (struct problem){
		.id = id, .severity = table[id].severity, .ps = ps, .why = LEG_CLOSE_COUNT};
	va_start(ap, format);
	vsnprintf(problem->text, sizeof(problem->text), format, ap);
	va_end(ap);
	write_cure(problem->cure, table[id].cure, names);
}

static struct cure_names names_of(const struct proxy_service *ps, const char *server)
{
	return (struct cure_names){.service = ps->service.config->name,
				   .server = server ? server : "",
				   .client = "",
				   .file = ps->proxy->config->file};
}

#define AGO_BYTES 48u

/* Writes " for 35 s". */
static const char *for_how_long(uint64_t us, char text[AGO_BYTES])
{
	char age[HUMANIZE_TEXT_BYTES];

	snprintf(text, AGO_BYTES, " for %s", humanize_age(us, age));
	return text;
}

static void set_age(struct problem *problem, uint64_t us)
{
	problem->has_age = true;
	problem->age_us = us;
}

/* ---- the daemon ---- */

#define names_of_daemon(proxy) (&(const struct cure_names){.file = (proxy)->config->file})

static void add_stopping(const struct proxy *proxy, struct problem_list *problems)
{
	struct problem problem;

	if (!proxy->stopping)
		return;
	problem_init(&problem, PROBLEM_STOPPING, NULL, names_of_daemon(proxy),
		     "the daemon is stopping and drains its connections");
	list_add(problems, &problem);
}

static void add_reload_rejected(const struct proxy *proxy, uint64_t now_us,
				struct problem_list *problems)
{
	const struct reload_failure *failure = &proxy->reload_failure;
	uint64_t age_us = clock_elapsed_us(failure->us, now_us);
	char age[HUMANIZE_TEXT_BYTES], more[AGO_BYTES] = "";
	struct problem problem;

	if (!proxy->reload_failed)
		return;
	if (failure->errors > 1)
		snprintf(more, sizeof(more), " (and %u more error%s)", failure->errors - 1,
			 humanize_plural(failure->errors - 1));
	problem_init(&problem, PROBLEM_RELOAD_REJECTED, NULL, names_of_daemon(proxy),
		     "reload rejected %s ago, the daemon uses the previous file: %s%s",
		     humanize_age(age_us, age), failure->first, more);
	set_age(&problem, age_us);
	list_add(problems, &problem);
}

static void add_no_services(const struct proxy *proxy, struct problem_list *problems)
{
	const char *dir = proxy->config->include_dir;
	struct problem problem;

	if (proxy->nservices || proxy->stopping)
		return;
	problem_init(&problem, PROBLEM_NO_SERVICES, NULL, names_of_daemon(proxy),
		     "no services in %s%s%s: no client can connect", proxy->config->file,
		     dir ? " and " : "", dir ? dir : "");
	list_add(problems, &problem);
}

static void set_event(struct problem *problem, uint64_t count, uint64_t last_us, uint64_t now_us)
{
	problem->count = count;
	problem->last_us = clock_elapsed_us(last_us, now_us);
	if (problem->last_us >= PROBLEM_RECENT_US)
		problem->severity = PROBLEM_NOTICE;
}

static void add_log_dropped(struct proxy *proxy, uint64_t now_us, struct problem_list *problems)
{
	uint64_t dropped = log_lines_dropped();
	struct problem problem;

	if (dropped != proxy->log_dropped)
		proxy->log_dropped_us = now_us;
	proxy->log_dropped = dropped;
	if (!dropped)
		return;
	problem_init(&problem, PROBLEM_LOG_DROPPED, NULL, names_of_daemon(proxy),
		     "log lines dropped: %llu: stderr or the journal is too slow",
		     (unsigned long long)dropped);
	set_event(&problem, dropped, proxy->log_dropped_us, now_us);
	list_add(problems, &problem);
}

static void add_leaving(const struct proxy *proxy, struct problem_list *problems)
{
	const struct proxy_service *ps;
	struct problem problem;
	unsigned removed = 0;

	TAILQ_FOREACH(ps, &proxy->removed, entry)
		removed++;
	if (!removed || proxy->stopping)
		return;
	problem_init(&problem, PROBLEM_SERVICES_LEAVING, NULL, names_of_daemon(proxy),
		     "removed services still draining: %u", removed);
	list_add(problems, &problem);
}

/* ---- servers ---- */

static void add_server_down(const struct proxy_service *ps,
			    const struct service_condition *condition,
			    struct problem_list *problems)
{
	const struct server_health_info *health = &condition->health;
	const struct cure_names names = names_of(ps, condition->server->text);
	unsigned count = ps->service.servers.count;
	char age[AGO_BYTES], all[AGO_BYTES] = "";
	struct problem problem;

	if (count > 1)
		snprintf(all, sizeof(all), "none of %u servers is usable: ", count);
	/* A name that does not resolve has no address. */
	problem_init(&problem, PROBLEM_SERVER_DOWN, ps, &names,
		     "%sserver %s is down%s: %s; attempts: %llu, waiting clients: %u", all,
		     health->addr[0] ? health->addr : condition->server->text,
		     for_how_long(health->age_us, age), health->error,
		     (unsigned long long)health->failed, health->waiting);
	set_age(&problem, health->age_us);
	list_add(problems, &problem);
}

static void add_server_disabled(const struct proxy_service *ps,
				const struct service_condition *condition,
				struct problem_list *problems)
{
	const struct nfs_server *server = condition->server;
	const struct cure_names names = names_of(ps, server->text);
	const char *order = server_order_name(atomic_load(&server->order));
	unsigned count = ps->service.servers.count;
	struct problem problem;

	if (count > 1)
		problem_init(&problem, PROBLEM_SERVER_DISABLED, ps, &names,
			     "all %u servers are disabled by 'target': each new client is refused",
			     count);
	else
		problem_init(
			&problem, PROBLEM_SERVER_DISABLED, ps, &names,
			"its only server %s is disabled by 'target %s': each new client is refused",
			server->text, order);
	list_add(problems, &problem);
}

static void add_late(const struct proxy_service *ps, const struct service_condition *condition,
		     uint64_t now_us, struct problem_list *problems)
{
	const struct late_calls_info *late = &condition->late;
	bool is_silent = condition->condition == CONDITION_SILENT;
	uint64_t age_us = clock_elapsed_us(late->oldest_start_us, now_us);
	const struct cure_names names = names_of(ps, late->target ? late->target->text : NULL);
	char age[HUMANIZE_TEXT_BYTES];
	struct problem problem;

	if (!late_calls_are_long(late, now_us))
		return;
	humanize_age(age_us, age);
	if (is_silent)
		problem_init(&problem, PROBLEM_SERVER_SILENT, ps, &names,
			     "server %s has not answered for %s: %u Call%s of %u client%s wait%s",
			     late->target->text, age, late->calls, humanize_plural(late->calls),
			     late->clients, humanize_plural(late->clients),
			     late->calls == 1 ? "s" : "");
	else
		problem_init(&problem, PROBLEM_CALLS_LATE, ps, &names,
			     "%u Call%s of %u client%s wait%s, up to %s, for server %s, which "
			     "answers others",
			     late->calls, humanize_plural(late->calls), late->clients,
			     humanize_plural(late->clients), late->calls == 1 ? "s" : "", age,
			     late->target->text);
	problem.server = late->target->text;
	set_age(&problem, age_us);
	list_add(problems, &problem);
}

/* @with_down: also if it is down, which the problem of all servers does not say */
static void add_one_server(const struct proxy_service *ps, struct nfs_server *server,
			   uint64_t now_us, bool with_down, struct problem_list *problems)
{
	enum server_order order = atomic_load(&server->order);
	const struct cure_names names = names_of(ps, server->text);
	struct server_health_info health;
	struct problem problem;
	char age[AGO_BYTES];

	server_health_get(&server->health, now_us, &health);
	if (order != SERVER_ORDER_UP) {
		problem_init(&problem, PROBLEM_ONE_SERVER_DISABLED, ps, &names,
			     "server %s is disabled by 'target %s'", server->text,
			     server_order_name(order));
	} else if (with_down && health.reach == SERVER_DOWN) {
		problem_init(&problem, PROBLEM_ONE_SERVER_DOWN, ps, &names,
			     "server %s is down%s: %s", server->text,
			     for_how_long(health.age_us, age), health.error);
		set_age(&problem, health.age_us);
	} else {
		return;
	}
	problem.server = server->text;
	list_add(problems, &problem);
}

static void add_mount_down(const struct proxy_service *ps, struct nfs_server *server,
			   uint64_t now_us, struct problem_list *problems)
{
	const struct cure_names names = names_of(ps, server->text);
	struct server_health_info health;
	struct problem problem;
	char age[AGO_BYTES];

	server_health_get(&server->health, now_us, &health);
	if (health.reach != SERVER_DOWN)
		return;
	problem_init(&problem, PROBLEM_MOUNT_DOWN, ps, &names,
		     "MOUNT by %s is down%s, NFSv3 clients cannot mount: %s", server->text,
		     for_how_long(health.age_us, age), health.error);
	problem.server = server->text;
	set_age(&problem, health.age_us);
	list_add(problems, &problem);
}

static void add_servers(struct proxy_service *ps, uint64_t now_us, struct problem_list *problems)
{
	struct service *service = &ps->service;
	struct service_condition condition;

	service_condition_get(service, now_us, &condition);
	if (condition.condition == CONDITION_DOWN)
		add_server_down(ps, &condition, problems);
	if (condition.condition == CONDITION_DISABLED)
		add_server_disabled(ps, &condition, problems);
	else if (service->servers.count > 1)
		for (unsigned i = 0; i < service->servers.count; i++)
			add_one_server(ps, &service->servers.list[i], now_us,
				       condition.condition != CONDITION_DOWN, problems);
	add_late(ps, &condition, now_us, problems);
	for (unsigned i = 0; i < service->mount_servers.count; i++)
		add_mount_down(ps, &service->mount_servers.list[i], now_us, problems);
}

/* ---- clients ---- */

/* Cures of refusals whose limit or fault has no problem of its own. */
static const char *refusal_cure(enum leg_close why)
{
	switch (why) {
	case LEG_CLOSE_NOT_ALLOWED:
		return "if that is a client, add its address to allow of {service} in {file}, "
		       "or take it out of deny, " RELOAD_IT;
	case LEG_CLOSE_UNPRIVILEGED:
		return "mount with resvport, or set require_privileged_port = false for "
		       "{service} in {file}, " RELOAD_IT;
	case LEG_CLOSE_PROXY_HEADER:
		return "compare accept_proxy_from of {service} in {file} with the sender's setting";
	case LEG_CLOSE_TLS:
		return "compare the client's certificate, authority and mount option xprtsec with "
		       "the keys tls_ of {service} in {file}";
	case LEG_CLOSE_TLS_LIMIT:
		return "clients try again by themselves; if that lasts, find out why the address "
		       "begins so many connections";
	case LEG_CLOSE_DRAINED:
		return "'rpcrdma-proxyctl resume {service}'";
	default:
		return "the log has the client and the cause";
	}
}

/* Cures of max_connections by the cause of its limit: with "auto" the file has no number. */
static const char *limit_cure(enum config_limit limit)
{
	switch (limit) {
	case CONFIG_LIMIT_PORTS:
		return "add an address to source_address of {service} in {file}, or export with "
		       "\"insecure\" and set source_port = \"any\", " RELOAD_IT LIST_CLIENTS;
	case CONFIG_LIMIT_DESCRIPTORS:
		return "raise LimitNOFILE= of the unit (ulimit -n in a shell) and "
		       "restart" LIST_CLIENTS;
	case CONFIG_LIMIT_MEMORY:
		return "set max_connections of {service} in {file} to the number that you "
		       "need, " RELOAD_IT LIST_CLIENTS;
	default:
		return table[PROBLEM_MAX_CONNECTIONS_REACHED].cure;
	}
}

/* The kind of problem of refused clients, by reason. */
static enum problem_id refusal_id(enum leg_close why)
{
	switch (why) {
	case LEG_CLOSE_TOO_MANY:
		return PROBLEM_MAX_CONNECTIONS_REACHED;
	case LEG_CLOSE_PER_CLIENT:
		return PROBLEM_CLIENT_LIMIT_REACHED;
	case LEG_CLOSE_RESOURCES:
		return PROBLEM_RESOURCES_SHORT;
	case LEG_CLOSE_NO_SOURCE_PORT:
		return PROBLEM_SOURCE_PORTS_SHORT;
	case LEG_CLOSE_NO_SOURCE_ADDRESS:
		return PROBLEM_SOURCE_ADDRESS_MISSING;
	case LEG_CLOSE_OWN_UPSTREAM:
		return PROBLEM_LEADS_BACK;
	default:
		return PROBLEM_CLIENTS_REFUSED;
	}
}

static void add_client_event(struct proxy_service *ps, unsigned kind, uint64_t now_us,
			     struct problem_list *problems)
{
	const struct client_event event = client_events_get(&ps->service.events, kind);
	const struct sockaddr *client = (const struct sockaddr *)&event.client;
	bool refused = kind < LEG_CLOSE_COUNT;
	enum problem_id id = refused ? refusal_id(kind) : PROBLEM_XID_REUSED;
	struct cure_names names = names_of(ps, NULL);
	char host[ADDRESS_HOST_BYTES], address[ADDRESS_TEXT_BYTES], age[HUMANIZE_TEXT_BYTES];
	char limit[CONFIG_LIMIT_TEXT_BYTES] = "";
	struct problem problem;

	if (!event.count)
		return;
	names.client = address_host_text(client, host);
	if (id == PROBLEM_MAX_CONNECTIONS_REACHED)
		config_limit_text(ps->service.config, limit);
	problem_init(&problem, id, ps, &names, "%llu %s%s %s: %s%s%s; the last was %s, %s ago%s%s",
		     (unsigned long long)event.count, refused ? "client" : "connection",
		     humanize_plural(event.count), refused ? "refused" : "closed",
		     leg_close_text(refused ? kind : LEG_CLOSE_XID_REUSED), limit[0] ? ": " : "",
		     limit, address_text(client, address),
		     humanize_age(clock_elapsed_us(event.last_us, now_us), age),
		     event.detail[0] ? ": " : "", event.detail);
	set_event(&problem, event.count, event.last_us, now_us);
	if (refused)
		problem.why = kind;
	if (id == PROBLEM_MAX_CONNECTIONS_REACHED)
		write_cure(problem.cure, limit_cure(ps->service.config->limit), &names);
	if (!table[id].cure[0])
		write_cure(problem.cure, refusal_cure(kind), &names);
	list_add(problems, &problem);
}

/* ---- services ---- */

static void add_not_accepting(const struct proxy_service *ps, struct problem_list *problems)
{
	const struct cure_names names = names_of(ps, NULL);
	struct problem problem;

	if (atomic_load(&ps->service.draining))
		problem_init(&problem, PROBLEM_SERVICE_DRAINED, ps, &names,
			     "drained: new clients are refused until 'resume'");
	else if (!ps->listener)
		problem_init(&problem, PROBLEM_NOT_LISTENING, ps, &names,
			     "not listening: after a failed reload its address could not be "
			     "opened again");
	else
		return;
	list_add(problems, &problem);
}

/* A standby host of a cluster lacks it for good: a notice. */
static void add_address_absent(const struct proxy_service *ps, struct problem_list *problems)
{
	const struct sockaddr *addr = ps->listener ? listener_absent_address(ps->listener) : NULL;
	const struct cure_names names = names_of(ps, NULL);
	char text[ADDRESS_TEXT_BYTES];
	struct problem problem;

	if (!addr)
		return;
	problem_init(&problem, PROBLEM_ADDRESS_ABSENT, ps, &names,
		     "the address of %s is not configured on this host (yet): no client can "
		     "connect there",
		     address_text(addr, text));
	list_add(problems, &problem);
}

static void add_descriptors(const struct proxy_service *ps, struct problem_list *problems)
{
	const struct cure_names names = names_of(ps, NULL);
	struct problem problem;

	if (!ps->out_of_descriptors)
		return;
	problem_init(&problem, PROBLEM_DESCRIPTORS_SHORT, ps, &names,
		     "new clients wait: the limit of descriptors allows %u connections of all "
		     "services",
		     ps->proxy->max_connections);
	list_add(problems, &problem);
}

/* Only a TCP server can refuse such ports. */
static void add_unprivileged_ports(const struct proxy_service *ps, uint64_t now_us,
				   struct problem_list *problems)
{
	const struct service *service = &ps->service;
	const struct cure_names names = names_of(ps, NULL);
	struct problem problem;

	if (service->config->connect.transport != TRANSPORT_TCP ||
	    now_us >= atomic_load(&service->shortfall_quiet_until_us))
		return;
	problem_init(&problem, PROBLEM_SOURCE_PORTS_UNPRIVILEGED, ps, &names,
		     "connections to the server come from unprivileged ports: %s",
		     leg_factory_shortfall_text());
	list_add(problems, &problem);
}

void problems_add_certificate(struct problem_list *problems, const struct proxy_service *ps,
			      int64_t expiry_s, int64_t now_s)
{
	const struct cure_names names = names_of(ps, NULL);
	char date[CONFIG_TLS_TIME_BYTES], age[HUMANIZE_TEXT_BYTES];
	int64_t left_s = expiry_s - now_s;
	struct problem problem;

	if (!expiry_s || left_s > CONFIG_TLS_EXPIRES_S)
		return;
	config_tls_time_text(expiry_s, date);
	humanize_age((uint64_t)llabs(left_s) * 1000000, age);
	if (left_s > 0) {
		problem_init(&problem, PROBLEM_CERTIFICATE_EXPIRES, ps, &names,
			     "its TLS certificate expires in %s, on %s", age, date);
	} else {
		problem_init(&problem, PROBLEM_CERTIFICATE_EXPIRED, ps, &names,
			     "its TLS certificate expired %s ago, on %s: peers refuse it", age,
			     date);
		set_age(&problem, (uint64_t)-left_s * 1000000);
	}
	list_add(problems, &problem);
}

void problems_add_memory(struct problem_list *problems, const struct proxy_service *ps,
			 size_t waiting, uint64_t oldest_us)
{
	const struct cure_names names = names_of(ps, NULL);
	char age[HUMANIZE_TEXT_BYTES];
	struct problem problem;

	if (!waiting || oldest_us < PROBLEM_MEMORY_US)
		return;
	problem_init(&problem, PROBLEM_MEMORY_SHORT, ps, &names,
		     "RPCs waiting for memory: %zu, the oldest for %s", waiting,
		     humanize_age(oldest_us, age));
	set_age(&problem, oldest_us);
	list_add(problems, &problem);
}

void problems_collect_service(struct proxy_service *ps, uint64_t now_us,
			      struct problem_list *problems)
{
	add_not_accepting(ps, problems);
	add_address_absent(ps, problems);
	add_servers(ps, now_us, problems);
	add_descriptors(ps, problems);
	add_unprivileged_ports(ps, now_us, problems);
	problems_add_certificate(problems, ps, service_tls_expiry_s(ps->service.tls), time(NULL));
	for (unsigned kind = 0; kind < CLIENT_EVENT_COUNT; kind++)
		add_client_event(ps, kind, now_us, problems);
}

static void add_daemon(struct proxy *proxy, uint64_t now_us, struct problem_list *problems)
{
	add_stopping(proxy, problems);
	add_reload_rejected(proxy, now_us, problems);
	add_no_services(proxy, problems);
	add_log_dropped(proxy, now_us, problems);
	add_leaving(proxy, problems);
}

void problems_collect(struct proxy *proxy, uint64_t now_us, struct problem_list *problems)
{
	struct proxy_service *ps;

	add_daemon(proxy, now_us, problems);
	TAILQ_FOREACH(ps, &proxy->services, entry)
		problems_collect_service(ps, now_us, problems);
}

/* ---- the log ---- */

/* Logs the problems of a service, or of the daemon, that are not in the bits of @logged. */
static void log_appeared(struct problem_list *problems, const char *service, uint64_t *logged)
{
	uint64_t present = 0;

	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->list[i];

		if (problem->severity == PROBLEM_NOTICE)
			continue;
		present |= UINT64_C(1) << problem->id;
		if (table[problem->id].logs && !(*logged >> problem->id & 1))
			log_warning(LOG_ABOUT(.service = service), "%s: %s", problem->text,
				    problem->cure);
	}
	*logged = present;
	problems->count = 0;
}

/* By service: one list of all would be walked for each. */
void problems_log(struct proxy *proxy, uint64_t now_us)
{
	struct problem_list problems = {0};
	struct proxy_service *ps;

	add_daemon(proxy, now_us, &problems);
	log_appeared(&problems, NULL, &proxy->problems_logged);
	TAILQ_FOREACH(ps, &proxy->services, entry) {
		problems_collect_service(ps, now_us, &problems);
		log_appeared(&problems, ps->service.config->name, &ps->problems_logged);
	}
	problems_fini(&problems);
}
