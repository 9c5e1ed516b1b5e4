// SPDX-License-Identifier: BSD-3-Clause
/* What the daemon shows of itself, as JSON: a snapshot of what the answer has, and its form. */
#include "daemon/view/answer.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/view/latency_json.h"
#include "daemon/view/service_json.h"

/* Who waits for an answer. */
struct question {
	enum answer_kind kind;
	char argument[ANSWER_ARGUMENT_BYTES + 1];
	void (*done)(void *arg, json_t *answer);
	void *arg;
};

static json_t *memory_json(const struct gathered *gathered)
{
	json_t *memory = json_pack("{s:I, s:I, s:I, s:I, s:I}", "limit_bytes",
				   (json_int_t)gathered->budget.limit_bytes, "peak_bytes",
				   (json_int_t)gathered->budget.peak_bytes, "mapped_bytes",
				   (json_int_t)gathered->pool.slab_bytes, "in_use_bytes",
				   (json_int_t)gathered->pool.in_use_bytes, "beside_limit_bytes",
				   (json_int_t)gathered->beside_bytes);
	struct memory_use all = {0};

	for (size_t i = 0; i < gathered->nservices; i++)
		memory_use_add(&all, &gathered->memory[i]);
	memory_use_put(&all, memory);
	return memory;
}

static json_t *status_answer(const struct gathered *gathered, const char *argument)
{
	json_t *answer = status_json(gathered->proxy);

	json_object_set_new(answer, "memory", memory_json(gathered));
	return answer;
}

static json_t *services_answer(const struct gathered *gathered, const char *argument)
{
	json_t *answer = services_json(gathered->proxy, gathered->services, gathered->nservices);
	json_t *list = json_object_get(answer, "services");

	for (size_t i = 0; i < gathered->nservices; i++) {
		json_t *memory = json_object();

		memory_use_put(&gathered->memory[i], memory);
		json_object_set_new(json_array_get(list, i), "memory", memory);
	}
	return answer;
}

static json_t *connections_answer(const struct gathered *gathered, const char *argument)
{
	return json_pack("{s:O}", "connections", gathered->connections);
}

static double age_of(const json_t *connection)
{
	const json_t *age = json_object_get(connection, "oldest_call_age_s");

	return json_is_number(age) ? json_number_value(age) : -1;
}

static int by_age(const void *a, const void *b)
{
	double age_a = age_of(*(json_t *const *)a), age_b = age_of(*(json_t *const *)b);

	return (age_a < age_b) - (age_a > age_b);
}

static json_t *oldest_answer(const struct gathered *gathered, const char *argument)
{
	size_t n = json_array_size(gathered->connections), i;
	json_t *list = json_array(), *connection;
	json_t **sorted = calloc(n + 1, sizeof(json_t *));

	if (!sorted) {
		json_decref(list);
		return NULL;
	}
	json_array_foreach(gathered->connections, i, connection) sorted[i] = connection;
	qsort(sorted, n, sizeof(json_t *), by_age);
	for (i = 0; i < n && i < GATHER_OLDEST_MOST; i++)
		json_array_append(list, sorted[i]);
	free(sorted);
	return json_pack("{s:o}", "connections", list);
}

static json_t *stats_answer(const struct gathered *gathered, const char *argument)
{
	json_t *services = json_object();

	for (size_t i = 0; i < gathered->nservices; i++) {
		const char *name = gathered->services[i]->service.config->name;

		if (!*argument || !strcmp(argument, name))
			json_object_set_new(services, name, stats_json(&gathered->stats[i]));
	}
	if (*argument && !json_object_size(services)) {
		json_decref(services);
		return no_service_json(gathered->proxy, argument);
	}
	return json_pack("{s:o}", "services", services);
}

static json_t *latency_answer(const struct gathered *gathered, const char *argument)
{
	json_t *answer = latency_json(gathered->services, gathered->calls, gathered->nservices);
	json_t *share = latency_only(gathered->proxy, answer, argument);

	json_decref(answer);
	return share;
}

/* They are the same for each service. */
static json_t *counters_answer(const struct gathered *gathered, const char *argument)
{
	return json_pack("{s:o}", "counters",
			 gathered->nservices ? stats_help_json(&gathered->stats[0])
					     : json_object());
}

static json_t *config_answer(const struct gathered *gathered, const char *argument)
{
	return config_json(gathered->proxy->config);
}

static const struct {
	unsigned wants;
	json_t *(*make)(const struct gathered *gathered, const char *argument);
} forms[] = {
	[ANSWER_STATUS] = {GATHER_LEAVING, status_answer},
	[ANSWER_SERVICES] = {0, services_answer},
	[ANSWER_CONNECTIONS] = {GATHER_CONNECTIONS | GATHER_LEAVING, connections_answer},
	[ANSWER_OLDEST] = {GATHER_OLDEST | GATHER_LEAVING, oldest_answer},
	[ANSWER_LATENCY] = {GATHER_CALLS, latency_answer},
	[ANSWER_STATS] = {GATHER_STATS, stats_answer},
	[ANSWER_COUNTERS] = {GATHER_STATS, counters_answer},
	[ANSWER_CONFIG] = {0, config_answer},
};

static void on_gathered(void *arg, const struct gathered *gathered)
{
	struct question *question = arg;
	json_t *answer = gathered ? forms[question->kind].make(gathered, question->argument) : NULL;

	question->done(question->arg, answer);
	free(question);
}

void answer_ask(struct gathering *gathering, enum answer_kind kind, const char *argument,
		void (*done)(void *arg, json_t *answer), void *arg)
{
	struct question *question;

	if (strlen(argument) > ANSWER_ARGUMENT_BYTES) {
		done(arg, json_pack("{s:s}", "error", "the argument is too long"));
		return;
	}
	question = malloc(sizeof(*question));
	if (!question) {
		done(arg, NULL);
		return;
	}
	*question = (struct question){.kind = kind, .done = done, .arg = arg};
	strcpy(question->argument, argument);
	gather_ask(gathering, forms[kind].wants, on_gathered, question);
}

char *answer_text(json_t *answer)
{
	json_t *object = json_pack("{s:i}", "schema", ANSWER_SCHEMA);
	char *text = NULL;

	if (answer && !json_object_update(object, answer))
		text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12));
	json_decref(object);
	json_decref(answer);
	return text;
}
