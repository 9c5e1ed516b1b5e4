// SPDX-License-Identifier: BSD-3-Clause
/*
 * top: requests a sample, compares it with the previous one, shows the result, and waits for a key
 * or the next refresh.
 *
 * Without a terminal it prints a block per interval.
 */
#include "daemon/ctl/local_commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/clock.h"
#include "daemon/ctl/client.h"
#include "daemon/ctl/ctl_error.h"
#include "daemon/ctl/table.h"
#include "daemon/ctl/top_render.h"
#include "daemon/ctl/top_rows.h"
#include "daemon/ctl/top_view.h"
#include "daemon/ctl/tty.h"

#define ERROR_BYTES      512u
#define MIN_INTERVAL_S   0.1 /* samples closer together are not compared */
#define QUERY_TIME_SHARE 10  /* requests use at most 1/10 of the time */

struct top {
	const char *socket;
	struct top_view view;
	struct top_sample then, now;
	struct top_rows rows;
	double due_s;              /* time of the next request */
	unsigned left;             /* blocks left to show; 0: no limit */
	bool counted;              /* --count was given */
	bool all;                  /* do not cut lines */
	char error[ERROR_BYTES];   /* why the daemon cannot be reached */
	char refusal[ERROR_BYTES]; /* why the daemon refused; "": it did not */
};

static double now_s(void)
{
	return (double)clock_us(CLOCK_MONOTONIC) / 1e6;
}

/* ---- requests ---- */

/* Returns a new reference, also for a refusal; NULL if the daemon cannot be reached. */
static json_t *top_query(struct top *top, const char *command, const char *argument)
{
	const char *refused;
	json_t *answer;

	if (client_request(top->socket, command, argument, top->error, sizeof(top->error), &answer))
		return NULL;
	refused = json_string_value(json_object_get(answer, "error"));
	if (refused)
		snprintf(top->refusal, sizeof(top->refusal), "%s", refused);
	return answer;
}

/* A failure shows with the next sample. */
static bool service_is_there(struct top *top)
{
	json_t *answer;
	bool there;

	if (!*top->view.service)
		return true;
	top->refusal[0] = '\0';
	answer = top_query(top, "latency", top->view.service);
	there = !top->refusal[0];
	json_decref(answer);
	return there;
}

static int query_sample(struct top *top, struct top_sample *sample)
{
	const char *service = *top->view.service ? top->view.service : NULL;
	json_t *answer;

	top->refusal[0] = '\0';
	sample->status = top_query(top, "status", NULL);
	if (!sample->status)
		return -EIO;
	answer = top->view.kind == TOP_OPERATIONS ? top_query(top, "latency", service)
						  : top_query(top, "connections", NULL);
	if (!answer)
		return -EIO;
	if (top->view.kind == TOP_OPERATIONS) {
		sample->latency = answer;
	} else {
		sample->connections = json_incref(json_object_get(answer, "connections"));
		json_decref(answer);
	}
	sample->at_s = now_s();
	return 0;
}

/* Only samples of the same kind, and far enough apart, can be compared. */
static void keep_sample(struct top *top, const struct top_sample *sample)
{
	bool alike = top->now.status && !top->now.latency == !sample->latency;

	if (alike && sample->at_s - top->now.at_s < MIN_INTERVAL_S) {
		top_sample_fini(&top->now);
	} else {
		top_sample_fini(&top->then);
		if (alike)
			top->then = top->now;
		else
			top_sample_fini(&top->now);
	}
	top->now = *sample;
}

/* Returns 0 or the status to exit with. */
static int query_again(struct top *top)
{
	struct top_sample sample = {0};
	double begun_s = now_s(), took_s;

	if (query_sample(top, &sample)) {
		top_sample_fini(&sample);
		return EXIT_UNREACHABLE;
	}
	keep_sample(top, &sample);
	took_s = sample.at_s - begun_s;
	top->due_s = begun_s + (top->view.delay_s > QUERY_TIME_SHARE * took_s
					? top->view.delay_s
					: QUERY_TIME_SHARE * took_s);
	return 0;
}

/* ---- output ---- */

static int render_block(struct top *top, unsigned columns, FILE *out)
{
	int rc = top_rows_make(&top->rows, &top->view, &top->then, &top->now);

	if (!rc)
		rc = top_render(&top->view, &top->rows, top->now.status,
				top->refusal[0] ? top->refusal : NULL, top->all ? 0 : columns, out);
	return rc;
}

static int draw_screen(struct top *top)
{
	unsigned columns, lines;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	int rc;

	if (!out)
		return -ENOMEM;
	tty_size(&columns, &lines);
	rc = render_block(top, columns, out);
	fclose(out);
	if (!rc)
		rc = tty_draw(text);
	free(text);
	return rc;
}

/* finish_output() handles a closed pipe. */
static int print_block(struct top *top)
{
	int rc = render_block(top, TABLE_LINE, stdout);

	if (rc)
		return rc;
	putchar('\n');
	return fflush(stdout) ? -EPIPE : 0;
}

/* Counts a block. Returns whether it was the last one of --count. */
static bool was_last_block(struct top *top)
{
	return top->then.status && top->left && !--top->left;
}

static int failed(int rc)
{
	return rc == -ENOMEM ? ctl_error(EXIT_USAGE, "out of memory") : EXIT_OK;
}

/* ---- without a terminal ---- */

static void sleep_until(double due_s)
{
	struct timespec due = {.tv_sec = (time_t)due_s};

	due.tv_nsec = (long)((due_s - (double)due.tv_sec) * 1e9);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
		;
}

static int run_plain(struct top *top)
{
	int rc;

	for (;;) {
		sleep_until(top->due_s);
		rc = query_again(top);
		if (rc)
			return ctl_error(rc, "%s", top->error);
		rc = print_block(top);
		if (rc)
			return failed(rc);
		if (was_last_block(top))
			return EXIT_OK;
	}
}

/* ---- with one ---- */

/* Handles all available bytes, because a key can send several. Returns false to quit. */
static bool handle_key(struct top *top, int key, bool *ask_now)
{
	char before[TOP_TYPED_BYTES];

	strcpy(before, top->view.service);
	switch (top_key(&top->view, (unsigned char)key)) {
	case TOP_QUIT:
		return false;
	case TOP_REFRESH:
		*ask_now = true;
		if (strcmp(before, top->view.service) != 0 && !service_is_there(top)) {
			strcpy(top->view.service, before);
			top->view.note = "No such service.";
		}
		return true;
	default:
		return true;
	}
}

/* Returns 0 or the status to exit with; *@over is set at the end. */
static int top_step(struct top *top, bool *over)
{
	bool ask_now = false;
	int key = tty_wait(top->due_s - now_s()), rc = 0;

	if (key == TTY_EOF || (key >= 0 && !handle_key(top, key, &ask_now))) {
		*over = true;
		return 0;
	}
	if (ask_now || now_s() >= top->due_s) {
		rc = query_again(top);
		*over = rc || was_last_block(top);
	}
	return rc;
}

static int run_live(struct top *top)
{
	bool over = false;
	int rc = tty_start(), status = 0;

	if (rc)
		return ctl_error(EXIT_USAGE, "the terminal cannot be used: %s", strerror(-rc));
	rc = draw_screen(top);
	while (!rc && !over) {
		status = top_step(top, &over);
		if (!status)
			rc = draw_screen(top);
	}
	tty_restore();
	if (status)
		return ctl_error(status, "%s", top->error);
	/* Leave the last output on the screen. */
	if (!rc && top->counted)
		rc = print_block(top);
	return failed(rc);
}

/* ---- the command ---- */

static int read_options(struct top *top, const struct options *options, const char *service)
{
	const char *delay = options->of_command[OPTION_DELAY];
	const char *count = options->of_command[OPTION_COUNT];

	if (options->json)
		return ctl_error(EXIT_USAGE, "top has no JSON: use 'latency' and 'connections'");
	if (delay && !top_parse_delay(delay, &top->view.delay_s))
		return ctl_error(EXIT_USAGE, "'%s' is not a number of seconds from 0.1 to 3600",
				 delay);
	if (count && !top_parse_count(count, &top->left))
		return ctl_error(EXIT_USAGE, "'%s' is not a number of intervals", count);
	if (service && strlen(service) >= sizeof(top->view.service))
		return ctl_error(EXIT_USAGE, "there is no service %s", service);
	if (options->of_command[OPTION_CONNECTIONS])
		top->view.kind = TOP_CONNECTIONS;
	if (service)
		strcpy(top->view.service, service);
	return 0;
}

int local_top(const struct options *options, const char *service)
{
	struct top top = {.socket = options->socket,
			  .counted = options->of_command[OPTION_COUNT] != NULL,
			  .all = options->all};
	int status;

	top_view_init(&top.view);
	status = read_options(&top, options, service);
	if (!status && !service_is_there(&top))
		status = ctl_error(EXIT_REFUSED, "%s", top.refusal);
	if (!status && query_again(&top))
		status = ctl_error(EXIT_UNREACHABLE, "%s", top.error);
	else if (!status && top.refusal[0])
		status = ctl_error(EXIT_REFUSED, "%s", top.refusal);
	if (!status)
		status = tty_is_usable() ? run_live(&top) : run_plain(&top);
	top_rows_fini(&top.rows);
	top_sample_fini(&top.then);
	top_sample_fini(&top.now);
	return status;
}
