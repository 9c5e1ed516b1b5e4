// SPDX-License-Identifier: BSD-3-Clause
/* What -t looks at beside the file: the host that it runs on. */
#include "daemon/config/config_check.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/listen_socket.h"
#include "daemon/base/paths.h"
#include "daemon/config/config_routes.h"

#define MIB (1024u * 1024u)

uint64_t config_check_memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

static void check_control(const struct config *config, FILE *out)
{
	char path[PATH_MAX], usual[] = CONTROL_DEFAULT_SOCKET;
	struct stat found;
	const char *dir;

	if (!stat(config->control, &found) && S_ISDIR(found.st_mode)) {
		fprintf(out, "%s:1: warning: control: %s is a directory: name a file in it\n",
			config->file, config->control);
		return;
	}
	snprintf(path, sizeof(path), "%s", config->control);
	dir = dirname(path);
	if (!stat(dir, &found)) {
		if (!S_ISDIR(found.st_mode))
			fprintf(out, "%s:1: warning: control: %s is not a directory\n",
				config->file, dir);
		return;
	}
	if (strcmp(dir, dirname(usual)) != 0)
		fprintf(out,
			"%s:1: warning: control: there is no directory %s (%s): create it, or set "
			"control to another path\n",
			config->file, dir, strerror(errno));
}

/* Names are for config_check_names(); devices have their own error. */
static void check_listen(const struct service_config *service, const struct config_uri *uri,
			 FILE *out)
{
	struct resolver_answer literal;

	if (uri->transport == TRANSPORT_VERBS || !uri->host[0] ||
	    !resolver_literal(uri->host, uri->port, &literal) ||
	    listen_socket_has_host((const struct sockaddr *)&literal.addrs[0]))
		return;
	fprintf(out,
		"%s:%d: warning: service %s: this host does not have the address %s to listen at: "
		"clients come once it has\n",
		service->file, service->line, service->name, uri->host);
}

static void warn_lack(void *arg, const struct service_config *service, const char *text)
{
	fprintf(arg, "%s:%d: warning: service %s: %s\n", service->file, service->line,
		service->name, text);
}

void config_check_host(const struct config *config, uint64_t memory_bytes, FILE *out)
{
	check_control(config, out);
	for (size_t i = 0; i < config->nservices; i++) {
		for (unsigned k = 0; k < config_nlisteners(&config->services[i]); k++)
			check_listen(&config->services[i], config_listener(&config->services[i], k),
				     out);
		config_routes_lacks(&config->services[i], warn_lack, out);
	}
	if (memory_bytes && config->memory_limit_mib > memory_bytes / MIB)
		fprintf(out,
			"%s:1: warning: memory_limit_mib is %u, but this host has %" PRIu64
			" MiB of memory: lower it, or the daemon may be killed when memory runs "
			"out\n",
			config->file, config->memory_limit_mib, memory_bytes / MIB);
}

/* ---- names ---- */

struct asking;

struct name {
	struct asking *asking;
	const struct service_config *service; /* the first that has it */
	const struct config_uri *uri;         /* … to connect to, … */
	bool listens;                         /* … or to listen at */
	struct resolver_answer answer;
	bool is_asked, is_answered;
};

/* Lives until the last answer, which may come long after everybody has stopped to wait for it. */
struct asking {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	unsigned open; /* names without an answer */
	unsigned refs; /* of those, and of who waits */
	size_t count;
	struct name names[];
};

/* Unlocks it. */
static void put(struct asking *asking)
{
	bool last = --asking->refs == 0;

	pthread_mutex_unlock(&asking->lock);
	if (!last)
		return;
	pthread_cond_destroy(&asking->answered);
	pthread_mutex_destroy(&asking->lock);
	free(asking);
}

static void on_answer(void *arg)
{
	struct name *name = arg;
	struct asking *asking = name->asking;

	pthread_mutex_lock(&asking->lock);
	name->is_answered = true;
	asking->open--;
	pthread_cond_signal(&asking->answered);
	put(asking);
}

static bool is_known(const struct asking *asking, const char *host)
{
	for (size_t i = 0; i < asking->count; i++)
		if (!strcasecmp(asking->names[i].uri->host, host))
			return true;
	return false;
}

static void add(struct asking *asking, const struct service_config *service,
		const struct config_uri *uri, bool listens)
{
	struct resolver_answer literal;

	if (uri->host[0] && !resolver_literal(uri->host, uri->port, &literal) &&
	    !is_known(asking, uri->host))
		asking->names[asking->count++] = (struct name){
			.asking = asking, .service = service, .uri = uri, .listens = listens};
}

/* Those to listen at, those to connect to, and that of MOUNT. */
static size_t nuris(const struct config *config)
{
	size_t n = 0;

	for (size_t i = 0; i < config->nservices; i++)
		n += config_nlisteners(&config->services[i]) +
		     config_nservers(&config->services[i]) + 1;
	return n;
}

/* One of each name in the file: those to listen at first. Returns NULL if there is none, or no memory. */
static struct asking *gather(const struct config *config)
{
	struct asking *asking =
		calloc(1, sizeof(*asking) + nuris(config) * sizeof(asking->names[0]));
	pthread_condattr_t attr;

	if (!asking)
		return NULL;
	for (size_t i = 0; i < config->nservices; i++)
		for (unsigned k = 0; k < config_nlisteners(&config->services[i]); k++)
			add(asking, &config->services[i], config_listener(&config->services[i], k),
			    true);
	for (size_t i = 0; i < config->nservices; i++)
		for (unsigned k = 0; k < config_nservers(&config->services[i]); k++)
			add(asking, &config->services[i], config_server(&config->services[i], k),
			    false);
	for (size_t i = 0; i < config->nservices; i++)
		if (config->services[i].mount.way == MOUNT_AT)
			add(asking, &config->services[i], &config->services[i].mount.at, false);
	if (!asking->count) {
		free(asking);
		return NULL;
	}
	pthread_mutex_init(&asking->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&asking->answered, &attr);
	pthread_condattr_destroy(&attr);
	asking->refs = 1;
	return asking;
}

static void ask(struct asking *asking, const struct resolver *resolver)
{
	for (size_t i = 0; i < asking->count; i++) {
		struct name *name = &asking->names[i];
		const struct config_uri *uri = name->uri;

		pthread_mutex_lock(&asking->lock);
		asking->open++;
		asking->refs++;
		pthread_mutex_unlock(&asking->lock);
		name->is_asked =
			!resolver->start(uri->host, uri->port, &name->answer, on_answer, name);
		if (name->is_asked)
			continue;
		pthread_mutex_lock(&asking->lock);
		asking->open--;
		put(asking);
	}
}

/* Leaves it locked. */
static void await(struct asking *asking, unsigned timeout_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&asking->lock);
	while (asking->open && !pthread_cond_timedwait(&asking->answered, &asking->lock, &until))
		;
}

static void tell(const struct config *config, const struct name *name, unsigned timeout_ms,
		 FILE *out)
{
	const struct service_config *service = name->service;
	bool listens = name->listens;

	if (!name->is_asked || (name->is_answered && !name->answer.error))
		return;
	fprintf(out, "%s:%d: warning: service %s: the name %s%s does not resolve (", service->file,
		service->line, service->name, name->uri->host, listens ? " to listen at" : "");
	if (name->is_answered)
		fprintf(out, "%s", name->answer.error);
	else
		fprintf(out, "no answer in %g s", timeout_ms / 1000.0);
	fprintf(out, "): %s %s until it does\n",
		name->is_answered && name->answer.is_final ? "is it right?"
							   : "do the name servers answer?",
		listens ? "the daemon does not start" : "clients wait");
}

void config_check_names(const struct config *config, const struct resolver *resolver,
			unsigned timeout_ms, FILE *out)
{
	struct asking *asking = gather(config);

	if (!asking)
		return;
	ask(asking, resolver);
	await(asking, timeout_ms);
	for (size_t i = 0; i < asking->count; i++)
		tell(config, &asking->names[i], timeout_ms, out);
	put(asking);
}
