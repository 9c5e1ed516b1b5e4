// SPDX-License-Identifier: BSD-3-Clause
/*
 * Requests for a reload that wait while the file is read.
 *
 * A reading answers all requests that came before it began. The file may have changed since then, so later requests wait
 * for the next reading.
 */
#include "daemon/proxy/reload.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "daemon/base/log.h"
#include "daemon/base/sd.h"
#include "daemon/proxy/proxy_parts.h"
#include "daemon/proxy/reader.h"

struct request {
	STAILQ_ENTRY(request) entry;
	reload_done_fn *done;
	void *arg;
};
STAILQ_HEAD(request_list, request);

struct reload_queue {
	struct proxy *proxy;
	struct reader *reader;
	bool is_reading;
	struct request_list read; /* who have this reading */
	struct request_list next; /* … the next one */
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

static void answer(struct request_list *list, int rc, const struct reload_report *report)
{
	struct request *request;

	while ((request = STAILQ_FIRST(list))) {
		STAILQ_REMOVE_HEAD(list, entry);
		request->done(request->arg, rc, report);
		free(request);
	}
}

/* systemd is told of the end of a reload, but not that a daemon is ready that stops. */
static void tell_manager(const struct proxy *proxy, int rc)
{
	char text[PROXY_SIZE_BYTES];

	if (proxy->stopping)
		return;
	sd_ready();
	sd_status("%s",
		  rc ? "The file was not reloaded: see the log" : proxy_size_text(proxy, text));
}

static void finish(struct reload_queue *queue, struct reading *reading)
{
	struct reload_report report;
	int rc = reload_apply(queue->proxy, reading, reader_late_s(queue->reader), &report);

	tell_manager(queue->proxy, rc);
	answer(&queue->read, rc, &report);
	reload_report_fini(&report);
}

static void begin(struct reload_queue *queue);

static void on_read(void *arg, struct reading *reading)
{
	struct reload_queue *queue = arg;

	queue->is_reading = false;
	finish(queue, reading);
	begin(queue);
}

static void begin(struct reload_queue *queue)
{
	struct proxy *proxy = queue->proxy;
	struct reading failed = {0};

	if (queue->is_reading || STAILQ_EMPTY(&queue->next))
		return;
	STAILQ_CONCAT(&queue->read, &queue->next);
	if (!proxy->stopping)
		sd_reloading();
	failed.rc = reader_start(queue->reader, proxy->config->file, NULL, proxy->names, on_read,
				 queue);
	queue->is_reading = !failed.rc;
	if (failed.rc)
		finish(queue, &failed);
}

void reload(struct proxy *proxy, reload_done_fn *done, void *arg)
{
	struct reload_queue *queue = proxy->reloads;
	struct request *request = malloc(sizeof(*request));

	if (!request) {
		log_error(NULL, "not reloaded, nothing has changed: out of memory");
		done(arg, -ENOMEM, &(struct reload_report){0});
		return;
	}
	request->done = done;
	request->arg = arg;
	STAILQ_INSERT_TAIL(&queue->next, request, entry);
	begin(queue);
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
	reader_cancel(proxy->names_reader);
	answer(&queue->read, -ECANCELED, &report);
	answer(&queue->next, -ECANCELED, &report);
	free(queue);
}
