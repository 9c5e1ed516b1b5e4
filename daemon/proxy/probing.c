// SPDX-License-Identifier: BSD-3-Clause
/* Servers that are asked once in a while, or when one is in doubt, whether they answer. */
#include "daemon/proxy/probing.h"

#include <errno.h>

#include "daemon/health/check.h"
#include "daemon/service/targets.h"

static void ask_later(struct proxy_service *ps)
{
	if (ps->probing.timer)
		loop_timer_set(ps->proxy->loop, ps->probing.timer,
			       ps->service.config->probe_interval_s * 1000000ull);
}

/* The first step that failed; NULL: it answers. */
static const struct check_step *failure(const struct check_server *server)
{
	for (unsigned i = 0; i <= CHECK_NULL; i++)
		if (server->steps[i].result == CHECK_FAILED)
			return &server->steps[i];
	return NULL;
}

/* Those that were left out have not been tried. */
static void learn(struct proxy_service *ps, const struct check_report *report)
{
	struct targets *targets = &ps->service.targets;
	uint64_t now_us = loop_now_us(ps->proxy->loop);
	void (*told)(struct targets * targets, unsigned target, enum leg_close why,
		     const char *error, uint64_t now_us) =
		ps->probing.doubts ? targets_asked : targets_probed;

	for (unsigned i = 0; i < report->nservers; i++) {
		const struct check_server *server = &report->servers[i];
		const struct check_step *step = failure(server);

		if (server->steps[CHECK_CONNECT].result == CHECK_NOT_TRIED)
			continue;
		told(targets, i, step ? step->why : LEG_CLOSE_LOCAL, step ? step->what : NULL,
		     now_us);
	}
}

static void on_done(void *arg, const struct check_report *report)
{
	struct proxy_service *ps = arg;
	struct probing *probing = &ps->probing;

	if (!probing->emptied)
		learn(ps, report);
	check_free(probing->check);
	probing->check = NULL;
	if (probing->emptied) {
		probing->emptied(probing->arg);
		return;
	}
	/* While doubtful ones were asked, the timer ran on. */
	if (!probing->doubts)
		ask_later(ps);
	probing_look(ps);
}

static int start(struct proxy_service *ps, uint32_t left_out)
{
	const struct check_config config = {
		.health = ps->proxy->health,
		.loop = ps->proxy->loop,
		.ports = ps->proxy->ports,
		.doors = &ps->proxy->doors,
		.config = ps->config,
		.service = ps->service.config,
		.last = CHECK_NULL,
		.left_out = left_out,
		.done = on_done,
		.arg = ps,
	};

	return check_start(&config, &ps->probing.check);
}

static void ask(void *arg)
{
	struct proxy_service *ps = arg;

	/* Without memory now there may be later. */
	if (ps->probing.check || start(ps, targets_in_use(&ps->service.targets)))
		ask_later(ps);
	else
		ps->probing.doubts = 0;
}

void probing_look(struct proxy_service *ps)
{
	struct probing *probing = &ps->probing;
	uint64_t now_us = loop_now_us(ps->proxy->loop);
	uint32_t doubts;

	if (probing->check || probing->emptied || now_us < probing->doubts_us)
		return;
	doubts = targets_take_doubts(&ps->service.targets);
	if (!doubts)
		return;
	if (start(ps, ~doubts)) {
		/* Without memory now there may be later. */
		targets_put_doubts(&ps->service.targets, doubts);
		return;
	}
	probing->doubts = doubts;
	probing->doubts_us = now_us + PROBING_DOUBT_US;
}

int probing_begin(struct proxy_service *ps)
{
	if (!ps->service.config->probe_interval_s)
		return 0;
	ps->probing.timer = loop_timer_new(ps->proxy->loop, ask, ps);
	if (!ps->probing.timer)
		return -ENOMEM;
	/* At once: what is down is to be known when the first client comes. */
	loop_timer_set(ps->proxy->loop, ps->probing.timer, 0);
	return 0;
}

void probing_end(struct proxy_service *ps, void (*emptied)(void *arg), void *arg)
{
	ps->probing.emptied = emptied;
	ps->probing.arg = arg;
	loop_timer_clear(ps->proxy->loop, ps->probing.timer);
	if (ps->probing.check)
		check_give_up(ps->probing.check);
}

bool probing_is_out(const struct proxy_service *ps)
{
	return ps->probing.check != NULL;
}

void probing_fini(struct proxy_service *ps)
{
	loop_timer_free(ps->proxy->loop, ps->probing.timer);
	ps->probing.timer = NULL;
	check_free(ps->probing.check);
	ps->probing.check = NULL;
}
