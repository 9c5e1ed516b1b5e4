// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/http/http.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/base/log.h"
#include "daemon/http/http_server.h"
#include "daemon/http/metrics_table.h"
#include "daemon/http/readiness.h"
#include "daemon/proxy/proxy.h"
#include "daemon/view/answer.h"

/* The page is self-contained and sends requests to this daemon only. */
#define PAGE_POLICY                                                                                \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src "      \
	"data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const char page_html[] =
#include "daemon/http/page_html.h"
	;

#define READY_PATH "/readyz/" /* and a service */

#define TEXT_TYPE  "text/plain; version=0.0.4; charset=utf-8"
#define OPEN_TYPE  "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct http {
	struct proxy *proxy;
	struct snapshot_collector *snapshot_collector;
	struct config *config;       /* a reference: its http_allow and http_hosts apply */
	struct http_server *server;  /* the current one; NULL: none */
	struct http_server *next;    /* that of the reload in progress; NULL: none */
	struct http_server *retired; /* the previous one: still serves its connections */
	bool keeps_server;           /* the reload in progress keeps the server */
	bool gave_up_port; /* the server has stopped listening to free the port for `next` */
	uint64_t status_counts[HTTP_STATUS_COUNT];
};

/* ---- pages ---- */

static void show_text(struct http_request *request, enum http_status status, const char *text)
{
	http_request_respond(request, &(struct http_response){.status = status,
							      .type = "text/plain; charset=utf-8",
							      .body = text,
							      .body_bytes = strlen(text)});
}

static enum readiness find_health(const struct proxy *proxy, const struct http_query *query,
				  FILE *out)
{
	return readiness_health(proxy, out);
}

/* Returns whether the query has the parameter, with or without a value. */
static bool has_parameter(const char *query, const char *name)
{
	size_t length = strlen(name);

	while (strncmp(query, name, length) || !strchr("&=", query[length])) {
		query = strchr(query, '&');
		if (!query)
			return false;
		query++;
	}
	return true;
}

static enum readiness find_readiness(const struct proxy *proxy, const struct http_query *query,
				     FILE *out)
{
	enum readiness_of of =
		has_parameter(query->query, "any") ? READINESS_OF_ANY : READINESS_OF_ALL;

	return readiness_get(proxy, of, NULL, loop_now_us(proxy->loop), out);
}

static enum readiness find_service_readiness(const struct proxy *proxy,
					     const struct http_query *query, FILE *out)
{
	return readiness_get(proxy, READINESS_OF_ONE, query->path + strlen(READY_PATH),
			     loop_now_us(proxy->loop), out);
}

static void show_state(struct http *http, struct http_request *request,
		       const struct http_query *query,
		       enum readiness (*find)(const struct proxy *proxy,
					      const struct http_query *query, FILE *out))
{
	static const enum http_status statuses[] = {
		[READINESS_GOOD] = HTTP_STATUS_200,
		[READINESS_BAD] = HTTP_STATUS_503,
		[READINESS_UNKNOWN] = HTTP_STATUS_404,
	};
	enum readiness found = READINESS_BAD;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (out) {
		found = find(http->proxy, query, out);
		if (fclose(out))
			found = READINESS_BAD;
	}
	show_text(request, statuses[found], text ? text : "out of memory\n");
	free(text);
}

/* A request for metrics in progress. It does not refer to the http, which can be closed first. */
struct scrape {
	struct http_request *request;
	bool is_open;
	uint64_t status_counts[HTTP_STATUS_COUNT];
};

static void on_metrics(void *arg, const struct collected *collected)
{
	struct scrape *scrape = arg;
	const struct metrics_source source = {collected, scrape->status_counts};
	struct metrics_text text;
	size_t bytes = 0;
	char *data = NULL;

	if (collected) {
		metrics_text_init(&text, scrape->is_open);
		metrics_write(&text, &source);
		data = metrics_text_end(&text, &bytes);
	}
	if (data)
		http_request_respond(
			scrape->request,
			&(struct http_response){.status = HTTP_STATUS_200,
						.type = scrape->is_open ? OPEN_TYPE : TEXT_TYPE,
						.body = data,
						.body_bytes = bytes});
	else
		show_text(scrape->request, HTTP_STATUS_503,
			  "metrics are temporarily unavailable\n");
	free(data);
	free(scrape);
}

static void show_metrics(struct http *http, struct http_request *request,
			 const struct http_query *query)
{
	struct scrape *scrape = malloc(sizeof(*scrape));

	if (!scrape) {
		show_text(request, HTTP_STATUS_503, "out of memory\n");
		return;
	}
	scrape->request = request;
	scrape->is_open = strstr(query->accept, "application/openmetrics-text") != NULL;
	memcpy(scrape->status_counts, http->status_counts, sizeof(scrape->status_counts));
	snapshot_collect(http->snapshot_collector, METRICS_WANTS, on_metrics, scrape);
}

static void show_page(struct http *http, struct http_request *request,
		      const struct http_query *query)
{
	http_request_respond(request, &(struct http_response){.status = HTTP_STATUS_200,
							      .type = "text/html; charset=utf-8",
							      .policy = PAGE_POLICY,
							      .body = page_html,
							      .body_bytes = sizeof(page_html) - 1});
}

/* Takes over the reference to @answer. */
static void on_answer(void *arg, json_t *answer)
{
	char *text = answer_text(answer);

	if (text)
		http_request_respond(arg, &(struct http_response){.status = HTTP_STATUS_200,
								  .type = "application/json",
								  .body = text,
								  .body_bytes = strlen(text)});
	else
		show_text(arg, HTTP_STATUS_503, "the answer is temporarily unavailable\n");
	free(text);
}

/*
 * find(), show() or, without them, the answer of that kind. is_gathered: the answer waits for the
 * workers. A path that ends with a slash, except "/", stands for all paths below it.
 */
static const struct {
	const char *path;
	bool is_gathered;
	enum answer_kind kind;
	void (*show)(struct http *http, struct http_request *request,
		     const struct http_query *query);
	enum readiness (*find)(const struct proxy *proxy, const struct http_query *query,
			       FILE *out);
} pages[] = {
	{"/", .show = show_page},
	{"/api/status.json", true, .kind = ANSWER_STATUS},
	{"/api/services.json", true, .kind = ANSWER_SERVICES},
	{"/api/connections.json", true, .kind = ANSWER_OLDEST},
	{"/api/latency.json", true, .kind = ANSWER_LATENCY},
	{"/metrics", true, .show = show_metrics},
	{"/healthz", .find = find_health},
	{"/readyz", .find = find_readiness},
	{READY_PATH, .find = find_service_readiness},
};

static bool is_page(const char *page, const char *path)
{
	size_t length = strlen(page);

	if (length > 1 && page[length - 1] == '/')
		return !strncmp(page, path, length);
	return !strcmp(page, path);
}

static void on_ask(void *arg, struct http_request *request, const struct http_query *query)
{
	struct http *http = arg;
	size_t i = 0;

	while (i < ARRAY_SIZE(pages) && !is_page(pages[i].path, query->path))
		i++;
	if (i == ARRAY_SIZE(pages))
		show_text(request, HTTP_STATUS_404, "there is no such page\n");
	else if (pages[i].is_gathered && http_request_needs_reserve(request))
		show_text(request, HTTP_STATUS_503, "too many concurrent requests\n");
	else if (pages[i].find)
		show_state(http, request, query, pages[i].find);
	else if (pages[i].show)
		pages[i].show(arg, request, query);
	else
		answer_query(http->snapshot_collector, pages[i].kind, "", on_answer, request);
}

/* ---- where ---- */

/* Valid while http holds its reference to @config. */
static struct http_access access_of(const struct config *config)
{
	return (struct http_access){.allow = &config->http_allow, .hosts = &config->http_hosts};
}

static int open_server(struct http *http, const struct config *config, struct http_server **out)
{
	const struct http_access access = access_of(config);

	return http_server_open(http->proxy->loop, (const struct sockaddr *)&config->http_listen,
				&access, http->status_counts, on_ask, http, out);
}

static void log_where(const struct config *config)
{
	char text[ADDRESS_TEXT_BYTES];

	log_info(NULL, "metrics and status are at http://%s/",
		 address_text((const struct sockaddr *)&config->http_listen, text));
}

static void print_error(const struct config *config, int err, char text[static 160])
{
	char addr[ADDRESS_TEXT_BYTES];

	snprintf(text, 160, "http_listen: cannot listen on %s: %s",
		 address_text((const struct sockaddr *)&config->http_listen, addr), strerror(-err));
}

/* Listens again if the reload failed after the server had freed its port. */
static void resume_listening(struct http *http)
{
	const struct sockaddr *addr = (const struct sockaddr *)&http->config->http_listen;
	char error[160];
	int rc;

	if (!http->gave_up_port)
		return;
	rc = http_server_listen(http->server, addr);
	http->gave_up_port = rc != 0;
	if (!rc)
		return;
	print_error(http->config, rc, error);
	log_error(NULL, "%s", error);
}

/*
 * Stops listening at the previous address but keeps serving its connections. Only one such server
 * is kept.
 */
static void retire_server(struct http *http)
{
	if (!http->server)
		return;
	http_server_stop_listening(http->server);
	http_server_close(http->retired);
	http->retired = http->server;
}

static bool is_wanted(const struct config *config)
{
	return config->http_listen.ss_family != AF_UNSPEC;
}

static bool has_same_port(const struct http *http, const struct config *config)
{
	return sockaddr_port((const struct sockaddr *)&http->config->http_listen) ==
	       sockaddr_port((const struct sockaddr *)&config->http_listen);
}

/*
 * The new address can conflict with the daemon's own listener on the same port, as 127.0.0.1 and
 * 0.0.0.0 do.
 */
static int open_listener(struct http *http, const struct config *config)
{
	int rc;

	http_server_stop_listening(http->server);
	http->gave_up_port = true;
	rc = open_server(http, config, &http->next);
	if (rc)
		resume_listening(http);
	return rc;
}

static int on_prepare(void *arg, const struct config *config, FILE *errors)
{
	struct http *http = arg;
	char error[160];
	int rc;

	http->keeps_server = http->server && !http->gave_up_port &&
			     !memcmp(&config->http_listen, &http->config->http_listen,
				     sizeof(config->http_listen));
	if (http->keeps_server || !is_wanted(config))
		return 0;
	rc = open_server(http, config, &http->next);
	if (rc == -EADDRINUSE && http->server && !http->gave_up_port && has_same_port(http, config))
		rc = open_listener(http, config);
	if (!rc)
		return 0;
	print_error(config, rc, error);
	fprintf(errors, "%s: %s\n", config->file, error);
	return rc;
}

static void on_finish(void *arg, bool committed)
{
	struct http *http = arg;
	struct config *old = http->config;
	struct http_access access;

	if (!committed) {
		http_server_close(http->next);
		http->next = NULL;
		resume_listening(http);
		return;
	}
	http->config = config_ref(http->proxy->config);
	access = access_of(http->config);
	if (http->keeps_server) {
		http_server_allow(http->server, &access);
	} else {
		retire_server(http);
		http->server = http->next;
		http->next = NULL;
		if (http->server)
			log_where(http->config);
	}
	if (http->retired)
		http_server_allow(http->retired, &access);
	http->gave_up_port = false;
	config_free(old);
}

int http_open(struct proxy *proxy, struct snapshot_collector *snapshot_collector, struct http **out)
{
	struct http *http = calloc(1, sizeof(*http));
	char error[160];
	int rc = 0;

	if (!http)
		return -ENOMEM;
	*http = (struct http){.proxy = proxy,
			      .snapshot_collector = snapshot_collector,
			      .config = config_ref(proxy->config)};
	if (is_wanted(http->config))
		rc = open_server(http, http->config, &http->server);
	if (rc) {
		print_error(http->config, rc, error);
		log_error(NULL, "%s", error);
		config_free(http->config);
		free(http);
		return rc;
	}
	if (http->server)
		log_where(http->config);
	proxy->participant = (struct reload_participant){on_prepare, on_finish, http};
	*out = http;
	return 0;
}

void http_close(struct http *http)
{
	if (!http)
		return;
	http->proxy->participant = (struct reload_participant){0};
	http_server_close(http->server);
	http_server_close(http->retired);
	config_free(http->config);
	free(http);
}
