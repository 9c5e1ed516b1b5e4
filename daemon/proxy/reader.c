// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/background.h"
#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/config/config_tls.h"

/* One reading. The thread owns it while it runs. */
struct reader_job {
	struct reader *reader; /* not for the thread */
	char *file;            /* NULL: names only */
	struct listen_names *old;
	struct reading reading;
};

struct reader {
	struct loop *loop;
	struct loop_timer *limit;
	struct background *background; /* NULL: no reading runs */
	uint64_t limit_us, start_us;
	reader_done_fn *done; /* NULL: the reading was cancelled */
	void *arg;
};

static void job_free(struct reader_job *job)
{
	config_free(job->reading.config);
	free(job->reading.errors);
	free(job->reading.warnings);
	listen_names_put(job->reading.names);
	listen_names_put(job->old);
	free(job->file);
	free(job);
}

/* ---- on the thread ---- */

static int read_file(struct reader_job *job, FILE *errors, FILE *warnings)
{
	struct reading *reading = &job->reading;
	int rc = config_load(job->file, errors, &reading->config);

	if (rc) {
		if (rc != -EINVAL && rc != -ENODEV)
			fprintf(errors, "%s: %s\n", job->file, strerror(-rc));
		return rc;
	}
	rc = config_tls_load(reading->config, errors);
	config_warn(reading->config, warnings);
	if (rc)
		return rc;
	reading->names = listen_names_new();
	rc = reading->names ? 0 : -ENOMEM;
	for (size_t i = 0; i < reading->config->nservices && !rc; i++)
		rc = listen_names_add(reading->names, &reading->config->services[i]);
	return rc;
}

static int read_texts(struct reader_job *job)
{
	size_t errors_bytes, warnings_bytes;
	FILE *errors = open_memstream(&job->reading.errors, &errors_bytes);
	FILE *warnings = open_memstream(&job->reading.warnings, &warnings_bytes);
	int rc = errors && warnings ? read_file(job, errors, warnings) : -ENOMEM;

	if (errors && fclose(errors))
		rc = rc ? rc : -ENOMEM;
	if (warnings && fclose(warnings))
		rc = rc ? rc : -ENOMEM;
	return rc;
}

static void run(void *arg)
{
	struct reader_job *job = arg;
	int rc = job->file ? read_texts(job) : 0;

	if (!rc)
		rc = listen_names_resolve(job->reading.names, &resolver_system, job->old);
	job->reading.rc = rc;
}

/* ---- on the main thread ---- */

static void drop(void *arg)
{
	job_free(arg);
}

static void call_done(struct reader *reader, struct reading *reading)
{
	reader_done_fn *done = reader->done;

	reader->done = NULL;
	done(reader->arg, reading);
}

static void on_done(void *arg)
{
	struct reader_job *job = arg;
	struct reader *reader = job->reader;

	reader->background = NULL;
	loop_timer_clear(reader->loop, reader->limit);
	if (reader->done)
		call_done(reader, &job->reading);
	else
		log_info(NULL, "the configuration file can be read again: repeat the reload");
	job_free(job);
}

static void on_limit(void *arg)
{
	struct reading late = {.rc = -ETIMEDOUT, .is_late = true};
	struct reader *reader = arg;

	call_done(reader, &late);
}

struct reader *reader_new(struct loop *loop, uint64_t limit_us)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->loop = loop;
	reader->limit_us = limit_us;
	reader->limit = loop_timer_new(loop, on_limit, reader);
	if (reader->limit)
		return reader;
	free(reader);
	return NULL;
}

static struct reader_job *job_new(struct reader *reader, const char *file,
				  struct listen_names *names, struct listen_names *old)
{
	struct reader_job *job = calloc(1, sizeof(*job));

	if (!job) {
		listen_names_put(names);
		return NULL;
	}
	job->reader = reader;
	job->old = listen_names_ref(old);
	job->reading.names = names;
	job->file = file ? strdup(file) : NULL;
	if (!file || job->file)
		return job;
	job_free(job);
	return NULL;
}

int reader_start(struct reader *reader, const char *file, struct listen_names *names,
		 struct listen_names *old, reader_done_fn *done, void *arg)
{
	struct reader_job *job = job_new(reader, file, names, old);
	const struct background_work work = {.run = run, .done = on_done, .drop = drop, .arg = job};
	int rc = reader->background ? -EBUSY : -ENOMEM;

	if (job && !reader->background)
		rc = background_start(reader->loop, "reader", &work, &reader->background);
	if (rc) {
		if (job)
			job_free(job);
		return rc;
	}
	reader->done = done;
	reader->arg = arg;
	reader->start_us = loop_now_us(reader->loop);
	loop_timer_set(reader->loop, reader->limit, reader->limit_us);
	return 0;
}

unsigned reader_late_s(const struct reader *reader)
{
	if (!reader->background || reader->done)
		return 0;
	return (unsigned)((loop_now_us(reader->loop) - reader->start_us) / 1000000);
}

void reader_cancel(struct reader *reader)
{
	struct reading cancelled = {.rc = -ECANCELED};

	background_detach(reader->background);
	reader->background = NULL;
	loop_timer_clear(reader->loop, reader->limit);
	if (reader->done)
		call_done(reader, &cancelled);
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	background_detach(reader->background);
	loop_timer_free(reader->loop, reader->limit);
	free(reader);
}
