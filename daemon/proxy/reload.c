// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/reload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/sd_notify.h"
#include "daemon/config/config_diff.h"
#include "daemon/config/config_tls.h"
#include "daemon/proxy/listener_inherit.h"
#include "daemon/proxy/problems.h"
#include "daemon/proxy/proxy_service.h"
#include "daemon/proxy/reader.h"
#include "daemon/proxy/rpcbind_sync.h"
#include "daemon/proxy/startup_warnings.h"
#include "daemon/service/listen_error.h"
#include "daemon/service/listener.h"

#define WARNING_MARK "warning: " /* in lines about the file */

struct reload_plan {
	struct proxy *proxy;
	struct config *config;      /* the new one */
	struct listen_names *names; /* its listen names */
	FILE *texts[RELOAD_TEXTS];
	struct proxy_service **services; /* in the order of the new file: unchanged and new ones */
	size_t nservices;
	int *inherited; /* duplicates of inherited sockets and of sockets of changed services */
	size_t ninherited;
};

static bool is_unchanged(const struct reload_plan *plan, const struct proxy_service *ps)
{
	for (size_t i = 0; i < plan->nservices; i++)
		if (plan->services[i] == ps)
			return true;
	return false;
}

/* ---- preparation, before anything changes ---- */

static void print_text(FILE *out, const char *text)
{
	if (text)
		fputs(text, out);
}

/* Prints why the reading failed, where it has no errors of its own. */
static void print_failure(const struct reload_plan *plan, const struct reading *reading,
			  unsigned late_s)
{
	const char *file = plan->proxy->config->file;
	FILE *errors = plan->texts[RELOAD_ERRORS];

	if (reading->is_late)
		fprintf(errors,
			"%s: the file could not be read in %u s. Is it a pipe? Is the file, an "
			"include, include_dir or a TLS file on a file system whose server is "
			"down?\n",
			file, READER_LIMIT_S);
	else if (reading->rc == -EBUSY && late_s)
		fprintf(errors,
			"%s: a reading that began %u s ago is still blocked. Is the file, an "
			"include, include_dir or a TLS file on a file system whose server is "
			"down?\n",
			file, late_s);
}

/* Moves the result of the reading to the plan. */
static int adopt_reading(struct reload_plan *plan, struct reading *reading, unsigned late_s)
{
	print_text(plan->texts[RELOAD_ERRORS], reading->errors);
	print_text(plan->texts[RELOAD_WARNINGS], reading->warnings);
	if (plan->proxy->stopping) {
		fprintf(plan->texts[RELOAD_ERRORS], "the daemon is stopping\n");
		return -ECANCELED;
	}
	print_failure(plan, reading, late_s);
	if (reading->rc)
		return reading->rc;
	plan->config = reading->config;
	plan->names = reading->names;
	reading->config = NULL;
	reading->names = NULL;
	listen_names_log_stale(plan->names);
	return config_keep_restart_keys(plan->config, plan->proxy->config,
					plan->texts[RELOAD_NEEDS_RESTART],
					plan->texts[RELOAD_ERRORS]);
}

static int make_services(struct reload_plan *plan)
{
	struct config *config = plan->config;

	plan->services = calloc(config->nservices + 1, sizeof(struct proxy_service *));
	if (!plan->services)
		return -ENOMEM;
	for (; plan->nservices < config->nservices; plan->nservices++) {
		const struct service_config *service = &config->services[plan->nservices];
		struct proxy_service *old = proxy_service_find(plan->proxy, service->name);
		enum reload_text what = !old ? RELOAD_ADDED : RELOAD_CHANGED;

		if (old && config_service_equal(old->service.config, service)) {
			plan->services[plan->nservices] = old;
			what = RELOAD_UNCHANGED;
		} else {
			plan->services[plan->nservices] =
				proxy_service_new(plan->proxy, config, service);
		}
		if (!plan->services[plan->nservices])
			return -ENOMEM;
		fprintf(plan->texts[what], "%s\n", service->name);
	}
	return 0;
}

static int dup_sockets(struct reload_plan *plan, const struct listen_sockets *sockets)
{
	for (size_t i = 0; i < sockets->count; i++) {
		int fd = sockets->fds[i] < 0 ? -1 : fcntl(sockets->fds[i], F_DUPFD_CLOEXEC, 0);

		if (fd >= 0)
			plan->inherited[plan->ninherited++] = fd;
		else if (sockets->fds[i] >= 0)
			return -errno;
	}
	return 0;
}

/*
 * Old and new services share sockets until the old ones close. An RDMA device allows one listener
 * per address, so the listeners of old services on devices close first.
 */
static int dup_old_sockets(struct reload_plan *plan)
{
	struct proxy *proxy = plan->proxy;
	struct proxy_service *ps;
	int rc;

	plan->inherited =
		calloc(proxy->inherited.count + (proxy->nservices + 1) * LISTENER_MAX_SOCKETS,
		       sizeof(int));
	if (!plan->inherited)
		return -ENOMEM;
	rc = dup_sockets(plan,
			 &(struct listen_sockets){proxy->inherited.count, proxy->inherited.fds});
	if (rc)
		return rc;
	TAILQ_FOREACH(ps, &proxy->services, entry) {
		int fds[LISTENER_MAX_SOCKETS];
		struct listen_sockets sockets = listener_sockets(ps->listener, fds);

		if (is_unchanged(plan, ps))
			continue;
		rc = dup_sockets(plan, &sockets);
		if (rc)
			return rc;
		if (listener_on_devices(ps->listener))
			proxy_service_unlisten(ps);
	}
	return 0;
}

static int listen_service(struct reload_plan *plan, struct proxy_service *ps,
			  const struct listen_names *names)
{
	const struct listen_sockets have = {plan->ninherited, plan->inherited};
	char error[LISTEN_ERROR_BYTES];
	int rc;

	rc = proxy_service_listen(ps, names, &have, error, sizeof(error));
	if (rc)
		fprintf(plan->texts[RELOAD_ERRORS], "%s: %s\n", ps->service.config->name, error);
	return rc;
}

static int make_listeners(struct reload_plan *plan)
{
	int rc = dup_old_sockets(plan);

	for (size_t i = 0; i < plan->nservices && !rc; i++)
		if (plan->services[i]->config == plan->config)
			rc = listen_service(plan, plan->services[i], plan->names);
	return rc;
}

/* ---- commit or roll back ---- */

/* Frees the new services, and reopens the listeners that were closed for them. */
static void roll_back(struct reload_plan *plan)
{
	struct proxy_service *ps;

	for (size_t i = 0; i < plan->nservices; i++) {
		const struct service_config *service = plan->services[i]->service.config;

		if (proxy_service_find(plan->proxy, service->name) != plan->services[i])
			proxy_service_free(plan->services[i]);
	}
	TAILQ_FOREACH(ps, &plan->proxy->services, entry)
		if (!ps->listener && !atomic_load(&ps->service.draining) &&
		    listen_service(plan, ps, plan->proxy->names))
			log_error(LOG_ABOUT(.service = ps->service.config->name),
				  "not listening any more: reload again");
}

static bool has_name(const struct reload_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->nservices; i++)
		if (!strcmp(plan->services[i]->service.config->name, name))
			return true;
	return false;
}

static void remove_old_services(struct reload_plan *plan)
{
	struct proxy_service *ps, *next;

	for (ps = TAILQ_FIRST(&plan->proxy->services); ps; ps = next) {
		const char *name = ps->service.config->name;

		next = TAILQ_NEXT(ps, entry);
		if (is_unchanged(plan, ps))
			continue;
		if (!has_name(plan, name))
			fprintf(plan->texts[RELOAD_REMOVED], "%s\n", name);
		socket_activation_unstore(name);
		proxy_remove_service(ps, has_name(plan, name));
	}
}

/*
 * A removed service may still reject clients on a socket of systemd. Its successor accepts them
 * now.
 */
static void release_socket(const struct proxy_service *fresh)
{
	struct proxy_service *old;

	TAILQ_FOREACH(old, &fresh->proxy->removed, entry)
		if (!strcmp(old->service.config->name, fresh->service.config->name))
			proxy_service_unlisten(old);
}

/* Makes a drained service listen again. */
static void resume_service(struct reload_plan *plan, struct proxy_service *ps)
{
	char error[LISTEN_ERROR_BYTES];
	const struct listen_sockets have = {plan->ninherited, plan->inherited};

	if (!atomic_load(&ps->service.draining) ||
	    !proxy_service_listen(ps, plan->names, &have, error, sizeof(error)))
		return;
	fprintf(plan->texts[RELOAD_WARNINGS], "%s stays drained: %s\n", ps->service.config->name,
		error);
}

/* Gives new connections of an unchanged service its changed TLS files. */
static void renew_tls(struct reload_plan *plan, struct proxy_service *ps,
		      const struct service_config *fresh)
{
	char until[CONFIG_TLS_TIME_BYTES];

	if (!service_tls_replace(ps->service.tls, fresh))
		return;
	fprintf(plan->texts[RELOAD_TLS], "%s\n", fresh->name);
	config_tls_time_text(service_tls_expiry_s(ps->service.tls), until);
	log_info(LOG_ABOUT(.service = fresh->name),
		 "its TLS files have changed: new connections use them%s%s",
		 until[0] ? "; the certificate is valid until " : "", until);
}

static void add_new_services(struct reload_plan *plan)
{
	struct proxy *proxy = plan->proxy;
	bool fresh;

	for (size_t i = 0; i < plan->nservices; i++) {
		struct proxy_service *ps = plan->services[i];

		fresh = ps->config == plan->config;
		if (fresh) {
			release_socket(ps);
		} else {
			resume_service(plan, ps);
			renew_tls(plan, ps, &plan->config->services[i]);
			TAILQ_REMOVE(&proxy->services, ps, entry);
			servers_clear_orders(&ps->service.servers);
			servers_clear_orders(&ps->service.mount_servers);
		}
		TAILQ_INSERT_TAIL(&proxy->services, ps, entry);
		if (fresh)
			proxy_log_listening(ps);
	}
	proxy->nservices = plan->nservices;
}

static void commit_plan(struct reload_plan *plan)
{
	struct proxy *proxy = plan->proxy;

	/* An unchanged key keeps the level set by a control client. */
	if (plan->config->log_level != proxy->config->log_level)
		log_reconfigure_level(plan->config->log_level);
	config_free(proxy->config);
	proxy->config = config_ref(plan->config);
	listen_names_put(proxy->names);
	proxy->names = listen_names_ref(plan->names);
	remove_old_services(plan);
	add_new_services(plan);
	config_tls_forget(plan->config);
	listener_inherit_store(proxy);
	if (proxy_update_listen_addrs(proxy))
		log_error(NULL, "out of memory: the list of own listen addresses is not updated: "
				"reload again");
	rpcbind_sync_update(proxy);
	startup_warnings_log(proxy->config, proxy->max_connections);
}

static int prepare_participant(struct reload_plan *plan)
{
	struct reload_participant *participant = &plan->proxy->participant;

	if (!participant->prepare)
		return 0;
	return participant->prepare(participant->arg, plan->config, plan->texts[RELOAD_ERRORS]);
}

static void finish_participant(struct reload_plan *plan, bool committed)
{
	struct reload_participant *participant = &plan->proxy->participant;

	if (participant->finish)
		participant->finish(participant->arg, committed);
}

static int apply_plan(struct reload_plan *plan, struct reading *reading, unsigned late_s)
{
	int rc = adopt_reading(plan, reading, late_s);

	if (!rc)
		rc = make_services(plan);
	if (!rc)
		rc = make_listeners(plan);
	if (!rc)
		rc = prepare_participant(plan);
	if (rc == -ENOMEM)
		fprintf(plan->texts[RELOAD_ERRORS], "out of memory\n");
	else if (rc == -EMFILE)
		fprintf(plan->texts[RELOAD_ERRORS], "no descriptors are left\n");
	if (rc)
		roll_back(plan);
	else
		commit_plan(plan);
	finish_participant(plan, !rc);
	for (size_t i = 0; i < plan->ninherited; i++)
		close(plan->inherited[i]);
	free(plan->inherited);
	free(plan->services);
	config_free(plan->config);
	listen_names_put(plan->names);
	return rc;
}

/* ---- report ---- */

static unsigned lines_of(const char *text)
{
	unsigned lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

static void log_lines(enum log_level level, const char *text, const char *more)
{
	while (*text) {
		int len = (int)strcspn(text, "\n");
		const char *mark = strstr(text, WARNING_MARK);
		int first = mark && mark < text + len ? (int)(mark - text) : len;
		int skip = first < len ? (int)strlen(WARNING_MARK) : 0;

		/* Without the mark: the log level shows that the line is a warning. */
		log_write(level, NULL, "%.*s%.*s%s", first, text, len - first - skip,
			  text + first + skip, more);
		text += len + (text[len] == '\n');
	}
}

static void log_report(int rc, struct reload_report *report)
{
	char **texts = report->texts;

	log_lines(LOG_LEVEL_WARNING, texts[RELOAD_WARNINGS], "");
	log_lines(LOG_LEVEL_ERROR, texts[RELOAD_ERRORS], "");
	if (rc) {
		log_error(NULL, "not reloaded, nothing has changed");
		return;
	}
	log_lines(LOG_LEVEL_WARNING, texts[RELOAD_NEEDS_RESTART],
		  " cannot be changed by a reload: restart to apply it");
	log_info(NULL, "reloaded: services kept %u, changed %u, added %u, removed %u",
		 lines_of(texts[RELOAD_UNCHANGED]), lines_of(texts[RELOAD_CHANGED]),
		 lines_of(texts[RELOAD_ADDED]), lines_of(texts[RELOAD_REMOVED]));
}

/* Keeps the first error for `status`. */
static void keep_failure(struct proxy *proxy, int rc, const struct reload_report *report)
{
	struct reload_failure *failure = &proxy->reload_failure;
	const char *errors = report->texts[RELOAD_ERRORS];

	if (!errors || !errors[0])
		errors = strerror(-rc);
	*failure =
		(struct reload_failure){.us = loop_now_us(proxy->loop), .errors = lines_of(errors)};
	snprintf(failure->first, sizeof(failure->first), "%.*s", (int)strcspn(errors, "\n"),
		 errors);
}

int reload_apply(struct proxy *proxy, struct reading *reading, unsigned late_s,
		 struct reload_report *report)
{
	struct reload_plan plan = {.proxy = proxy};
	size_t bytes[RELOAD_TEXTS];
	int rc = 0, i;

	*report = (struct reload_report){0};
	for (i = 0; i < RELOAD_TEXTS; i++) {
		plan.texts[i] = open_memstream(&report->texts[i], &bytes[i]);
		if (!plan.texts[i])
			rc = -ENOMEM;
	}
	if (!rc)
		rc = apply_plan(&plan, reading, late_s);
	for (i = 0; i < RELOAD_TEXTS; i++)
		if (plan.texts[i] && fclose(plan.texts[i]))
			rc = rc ? rc : -ENOMEM;
	for (i = 0; i < RELOAD_TEXTS && report->texts[i]; i++)
		;
	if (i == RELOAD_TEXTS)
		log_report(rc, report);
	proxy->reload_failed = rc != 0;
	if (!rc)
		proxy->config_s = time(NULL);
	else
		keep_failure(proxy, rc, report);
	problems_log(proxy, loop_now_us(proxy->loop));
	return rc;
}

void reload_report_fini(struct reload_report *report)
{
	for (int i = 0; i < RELOAD_TEXTS; i++)
		free(report->texts[i]);
}

/*
 * ---- pending requests ----
 *
 * A reading answers all requests made before it started. Later requests wait for the next reading,
 * because the file can have changed.
 */

struct reload_request {
	STAILQ_ENTRY(reload_request) entry;
	reload_done_fn *done;
	void *arg;
};
STAILQ_HEAD(reload_request_list, reload_request);

struct reload_queue {
	struct proxy *proxy;
	struct reader *reader;
	bool is_reading;
	struct reload_request_list read; /* answered by the current reading */
	struct reload_request_list next; /* answered by the next one */
};

int reload_open(struct proxy *proxy)
{
	struct reload_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	queue->proxy = proxy;
	STAILQ_INIT(&queue->read);
	STAILQ_INIT(&queue->next);
	queue->reader = reader_new(proxy->loop, READER_LIMIT_S * UINT64_C(1000000));
	if (!queue->reader) {
		free(queue);
		return -ENOMEM;
	}
	proxy->reloads = queue;
	return 0;
}

static void answer_requests(struct reload_request_list *list, int rc,
			    const struct reload_report *report)
{
	struct reload_request *request;

	while ((request = STAILQ_FIRST(list))) {
		STAILQ_REMOVE_HEAD(list, entry);
		request->done(request->arg, rc, report);
		free(request);
	}
}

/* Reports the end of a reload to systemd, unless the daemon is stopping. */
static void notify_systemd(const struct proxy *proxy, int rc)
{
	char text[PROXY_SIZE_BYTES];

	if (proxy->stopping)
		return;
	sd_notify_ready();
	sd_notify_status("%s", rc ? "The file was not reloaded: see the log"
				  : proxy_size_text(proxy, text));
}

static void finish_reload(struct reload_queue *queue, struct reading *reading)
{
	struct reload_report report;
	int rc = reload_apply(queue->proxy, reading, reader_late_s(queue->reader), &report);

	notify_systemd(queue->proxy, rc);
	answer_requests(&queue->read, rc, &report);
	reload_report_fini(&report);
}

static void start_reading(struct reload_queue *queue);

static void on_read(void *arg, struct reading *reading)
{
	struct reload_queue *queue = arg;

	queue->is_reading = false;
	finish_reload(queue, reading);
	start_reading(queue);
}

static void start_reading(struct reload_queue *queue)
{
	struct proxy *proxy = queue->proxy;
	struct reading failed = {0};

	if (queue->is_reading || STAILQ_EMPTY(&queue->next))
		return;
	STAILQ_CONCAT(&queue->read, &queue->next);
	if (!proxy->stopping)
		sd_notify_reloading();
	failed.rc = reader_start(queue->reader, proxy->config->file, NULL, proxy->names, on_read,
				 queue);
	queue->is_reading = !failed.rc;
	if (failed.rc)
		finish_reload(queue, &failed);
}

void reload(struct proxy *proxy, reload_done_fn *done, void *arg)
{
	struct reload_queue *queue = proxy->reloads;
	struct reload_request *request = malloc(sizeof(*request));

	if (!request) {
		log_error(NULL, "not reloaded, nothing has changed: out of memory");
		done(arg, -ENOMEM, &(struct reload_report){0});
		return;
	}
	request->done = done;
	request->arg = arg;
	STAILQ_INSERT_TAIL(&queue->next, request, entry);
	start_reading(queue);
}

void reload_close(struct proxy *proxy)
{
	char why[] = "the daemon is stopping\n";
	const struct reload_report report = {.texts[RELOAD_ERRORS] = why};
	struct reload_queue *queue = proxy ? proxy->reloads : NULL;

	if (!queue)
		return;
	proxy->reloads = NULL;
	reader_free(queue->reader);
	reader_cancel(proxy->names_resolver);
	answer_requests(&queue->read, -ECANCELED, &report);
	answer_requests(&queue->next, -ECANCELED, &report);
	free(queue);
}
