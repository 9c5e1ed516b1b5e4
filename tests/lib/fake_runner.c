// SPDX-License-Identifier: BSD-3-Clause
#include "tests/lib/fake_runner.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct fake_job {
	TAILQ_ENTRY(fake_job) entry;
	struct fake_runner *runner;
	struct loop *loop;
	struct loop_task task;
	void (*work)(void *arg);
	void (*done)(void *arg);
	void *arg;
};

static void run_job(void *arg)
{
	struct fake_job *job = arg, own = *job;

	free(job);
	own.runner->ran++;
	if (!own.runner->ends)
		own.work(own.arg);
	own.done(own.arg);
}

static int add_job(struct tls_runner *base, struct loop *loop, void (*work)(void *arg),
		   void (*done)(void *arg), void *arg)
{
	struct fake_runner *runner = container_of(base, struct fake_runner, runner);
	struct fake_job *job;

	if (runner->full)
		return -EAGAIN;
	job = malloc(sizeof(*job));
	assert(job);
	*job = (struct fake_job){
		.runner = runner, .loop = loop, .work = work, .done = done, .arg = arg};
	loop_task_init(&job->task, run_job, job);
	if (runner->hold)
		TAILQ_INSERT_TAIL(&runner->jobs, job, entry);
	else
		loop_defer(loop, &job->task);
	return 0;
}

void fake_runner_init(struct fake_runner *runner)
{
	*runner = (struct fake_runner){.runner.run = add_job};
	TAILQ_INIT(&runner->jobs);
}

void fake_runner_release(struct fake_runner *runner)
{
	struct fake_job *job;

	runner->hold = false;
	while ((job = TAILQ_FIRST(&runner->jobs))) {
		TAILQ_REMOVE(&runner->jobs, job, entry);
		loop_defer(job->loop, &job->task);
	}
}
