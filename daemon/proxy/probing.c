// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/proxy/probing.h"

#include <errno.h>

#include "daemon/health/health.h"
#include "daemon/service/targets.h"

static struct loop *loop_of(const struct probing *probing)
{
	return probing->ps->proxy->loop;
}

static void ask_later(struct probing *probing)
{
	if (probing->timer)
		loop_timer_set(loop_of(probing), probing->timer,
			       probing->ps->service.config->probe_interval_s * 1000000ull);
}

/* Returns the first failed step, or NULL if the server replied. */
static const struct check_step *failure(const struct check_server *server)
{
	for (unsigned i = 0; i <= CHECK_NULL; i++)
		if (server->steps[i].result == CHECK_FAILED)
			return &server->steps[i];
	return NULL;
}

static void learn(struct probing *probing, const struct check_report *report)
{
	uint64_t now_us = loop_now_us(loop_of(probing));
	void (*told)(struct targets * targets, unsigned target, enum leg_close why,
		     const char *error, uint64_t now_us) =
		probing->doubts ? targets_asked : targets_probed;

	for (unsigned i = 0; i < report->nservers; i++) {
		const struct check_server *server = &report->servers[i];
		const struct check_step *step = failure(server);

		if (server->steps[CHECK_CONNECT].result == CHECK_NOT_TRIED)
			continue;
		told(probing->targets, i, step ? step->why : LEG_CLOSE_LOCAL,
		     step ? step->what : NULL, now_us);
	}
}

static void look(struct probing *probing);

static void on_done(void *arg, const struct check_report *report)
{
	struct probing *probing = arg;

	if (!probing->emptied)
		learn(probing, report);
	check_free(probing->check);
	probing->check = NULL;
	if (probing->emptied) {
		probing->emptied(probing->arg);
		return;
	}
	/* The timer still runs during a check of doubtful servers. */
	if (!probing->doubts)
		ask_later(probing);
	look(probing);
}

static int start(struct probing *probing, uint32_t left_out)
{
	struct proxy_service *ps = probing->ps;
	const struct check_config config = {
		.health = ps->proxy->health,
		.loop = ps->proxy->loop,
		.doors = &ps->proxy->doors,
		.config = ps->config,
		.service = ps->service.config,
		.to_mount = probing->to_mount,
		.last = CHECK_NULL,
		.left_out = left_out,
		.done = on_done,
		.arg = probing,
	};

	return check_start(&config, &probing->check);
}

static void ask(void *arg)
{
	struct probing *probing = arg;

	/* Without memory the timer tries again. */
	if (probing->check || start(probing, targets_in_use(probing->targets)))
		ask_later(probing);
	else
		probing->doubts = 0;
}

static void look(struct probing *probing)
{
	uint64_t now_us = loop_now_us(loop_of(probing));
	uint32_t doubts;

	if (probing->check || probing->emptied || now_us < probing->doubts_us)
		return;
	doubts = targets_take_doubts(probing->targets);
	if (!doubts)
		return;
	if (start(probing, ~doubts)) {
		/* Without memory try again later. */
		targets_put_doubts(probing->targets, doubts);
		return;
	}
	probing->doubts = doubts;
	probing->doubts_us = now_us + PROBING_DOUBT_US;
}

void probing_look(struct proxy_service *ps)
{
	look(&ps->probing);
	look(&ps->mount_probing);
}

int probing_begin(struct proxy_service *ps)
{
	ps->probing = (struct probing){.ps = ps, .targets = &ps->service.targets};
	ps->mount_probing =
		(struct probing){.ps = ps, .targets = &ps->service.mounts, .to_mount = true};
	if (!ps->service.config->probe_interval_s)
		return 0;
	ps->probing.timer = loop_timer_new(ps->proxy->loop, ask, &ps->probing);
	if (!ps->probing.timer)
		return -ENOMEM;
	/* The first check runs immediately, before the first client. */
	loop_timer_set(ps->proxy->loop, ps->probing.timer, 0);
	return 0;
}

static void end(struct probing *probing, void (*emptied)(void *arg), void *arg)
{
	probing->emptied = emptied;
	probing->arg = arg;
	loop_timer_clear(loop_of(probing), probing->timer);
	if (probing->check)
		check_give_up(probing->check);
}

void probing_end(struct proxy_service *ps, void (*emptied)(void *arg), void *arg)
{
	end(&ps->probing, emptied, arg);
	end(&ps->mount_probing, emptied, arg);
}

bool probing_is_out(const struct proxy_service *ps)
{
	return ps->probing.check || ps->mount_probing.check;
}

static void fini(struct proxy_service *ps, struct probing *probing)
{
	loop_timer_free(ps->proxy->loop, probing->timer);
	probing->timer = NULL;
	check_free(probing->check);
	probing->check = NULL;
}

void probing_fini(struct proxy_service *ps)
{
	fini(ps, &ps->probing);
	fini(ps, &ps->mount_probing);
}
