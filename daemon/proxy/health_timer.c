// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/health_timer.h"

#include <errno.h>

#include "daemon/health/health.h"
#include "daemon/service/servers.h"

static struct loop *loop_of(const struct health_timer *health_timer)
{
	return health_timer->ps->proxy->loop;
}

static void schedule_check(struct health_timer *health_timer)
{
	if (health_timer->timer)
		loop_timer_set(loop_of(health_timer), health_timer->timer,
			       health_timer->ps->service.config->probe_interval_s * 1000000ull);
}

/* Returns the first failed step, or NULL if the server replied. */
static const struct check_step *failed_step(const struct check_server *server)
{
	for (unsigned i = 0; i <= CHECK_NULL; i++)
		if (server->steps[i].result == CHECK_FAILED)
			return &server->steps[i];
	return NULL;
}

static void report_check(struct health_timer *health_timer, const struct check_report *report)
{
	uint64_t now_us = loop_now_us(loop_of(health_timer));
	void (*report_fn)(struct servers * targets, unsigned target, enum leg_close why,
			  const char *error, uint64_t now_us) =
		health_timer->doubtful ? servers_doubt_checked : servers_checked;

	for (unsigned i = 0; i < report->nservers; i++) {
		const struct check_server *server = &report->servers[i];
		const struct check_step *step = failed_step(server);

		if (server->steps[CHECK_CONNECT].result == CHECK_NOT_TRIED)
			continue;
		report_fn(health_timer->targets, i, step ? step->why : LEG_CLOSE_LOCAL,
			  step ? step->what : NULL, now_us);
	}
}

static void check_doubtful(struct health_timer *health_timer);

static void on_check_done(void *arg, const struct check_report *report)
{
	struct health_timer *health_timer = arg;

	if (!health_timer->on_drained)
		report_check(health_timer, report);
	check_free(health_timer->check);
	health_timer->check = NULL;
	if (health_timer->on_drained) {
		health_timer->on_drained(health_timer->arg);
		return;
	}
	/* The timer still runs during a check of doubtful servers. */
	if (!health_timer->doubtful)
		schedule_check(health_timer);
	check_doubtful(health_timer);
}

static int start_check(struct health_timer *health_timer, uint32_t skipped_servers)
{
	struct proxy_service *ps = health_timer->ps;
	const struct check_config config = {
		.health = ps->proxy->health,
		.loop = ps->proxy->loop,
		.listen_addrs = &ps->proxy->listen_addrs,
		.config = ps->config,
		.service = ps->service.config,
		.tls = ps->service.tls,
		.checks_mount = health_timer->checks_mount,
		.last = CHECK_NULL,
		.skipped_servers = skipped_servers,
		.done = on_check_done,
		.arg = health_timer,
	};

	return check_start(&config, &health_timer->check);
}

static void on_timer(void *arg)
{
	struct health_timer *health_timer = arg;

	/* Without memory the timer tries again. */
	if (health_timer->check || start_check(health_timer, servers_in_use(health_timer->targets)))
		schedule_check(health_timer);
	else
		health_timer->doubtful = 0;
}

static void check_doubtful(struct health_timer *health_timer)
{
	uint64_t now_us = loop_now_us(loop_of(health_timer));
	uint32_t doubtful;

	if (health_timer->check || health_timer->on_drained || now_us < health_timer->doubtful_us)
		return;
	doubtful = servers_take_doubts(health_timer->targets);
	if (!doubtful)
		return;
	if (start_check(health_timer, ~doubtful)) {
		/* Without memory try again later. */
		servers_put_doubts(health_timer->targets, doubtful);
		return;
	}
	health_timer->doubtful = doubtful;
	health_timer->doubtful_us = now_us + HEALTH_TIMER_DOUBT_US;
}

void health_timer_check_doubtful(struct proxy_service *ps)
{
	check_doubtful(&ps->health_timer);
	check_doubtful(&ps->mount_health_timer);
}

int health_timer_start(struct proxy_service *ps)
{
	ps->health_timer = (struct health_timer){.ps = ps, .targets = &ps->service.servers};
	ps->mount_health_timer = (struct health_timer){
		.ps = ps, .targets = &ps->service.mount_servers, .checks_mount = true};
	if (!ps->service.config->probe_interval_s)
		return 0;
	ps->health_timer.timer = loop_timer_new(ps->proxy->loop, on_timer, &ps->health_timer);
	if (!ps->health_timer.timer)
		return -ENOMEM;
	/* The first check runs immediately, before the first client. */
	loop_timer_set(ps->proxy->loop, ps->health_timer.timer, 0);
	return 0;
}

static void stop_checks(struct health_timer *health_timer, void (*on_drained)(void *arg), void *arg)
{
	health_timer->on_drained = on_drained;
	health_timer->arg = arg;
	loop_timer_clear(loop_of(health_timer), health_timer->timer);
	if (health_timer->check)
		check_abort(health_timer->check);
}

void health_timer_stop(struct proxy_service *ps, void (*on_drained)(void *arg), void *arg)
{
	stop_checks(&ps->health_timer, on_drained, arg);
	stop_checks(&ps->mount_health_timer, on_drained, arg);
}

bool health_timer_is_busy(const struct proxy_service *ps)
{
	return ps->health_timer.check || ps->mount_health_timer.check;
}

static void fini_timer(struct proxy_service *ps, struct health_timer *health_timer)
{
	loop_timer_free(ps->proxy->loop, health_timer->timer);
	health_timer->timer = NULL;
	check_free(health_timer->check);
	health_timer->check = NULL;
}

void health_timer_fini(struct proxy_service *ps)
{
	fini_timer(ps, &ps->health_timer);
	fini_timer(ps, &ps->mount_health_timer);
}
