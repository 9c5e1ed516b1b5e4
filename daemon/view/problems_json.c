// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/view/problems_json.h"

#include <stdio.h>

#include "daemon/view/stats.h"

static void add_memory(const struct collected *collected, size_t i, struct problem_list *problems)
{
	problems_add_memory(problems, collected->services[i], collected->memory[i].waiting,
			    collected->memory[i].oldest_us);
}

void problems_gather(const struct collected *collected, struct problem_list *problems)
{
	problems_collect(collected->proxy, loop_now_us(collected->proxy->loop), problems);
	for (size_t i = 0; i < collected->nservices; i++)
		add_memory(collected, i, problems);
	problems_sort(problems);
}

void problems_gather_service(const struct collected *collected, size_t i,
			     struct problem_list *problems)
{
	problems_collect_service(collected->services[i], loop_now_us(collected->proxy->loop),
				 problems);
	add_memory(collected, i, problems);
	problems_sort(problems);
}

/* Text can quote the file, which need not be UTF-8, and can be cut within a character. */
static json_t *text_json(const char *text)
{
	json_t *string = json_string(text);
	char plain[PROBLEM_TEXT_BYTES];

	if (string)
		return string;
	snprintf(plain, sizeof(plain), "%s", text);
	for (char *c = plain; *c; c++)
		*c = (unsigned char)*c < 0x80 ? *c : '?';
	return json_string(plain);
}

_Static_assert(PROBLEM_CURE_BYTES <= PROBLEM_TEXT_BYTES, "a cure fits text_json()");

static json_t *problem_json(const struct problem *problem)
{
	const char *service = problem->ps ? problem->ps->service.config->name : NULL;
	bool has_reason = problem->why<LEG_CLOSE_COUNT, is_counted = problem->count> 0;
	char reason[STATS_CLOSE_NAME_BYTES];

	return json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:o, s:o, s:o, s:o, s:o}", "id",
			 problem_name(problem->id), "severity",
			 problem_severity_name(problem->severity), "service", service, "server",
			 problem->server, "reason",
			 has_reason ? stats_close_name(problem->why, reason) : NULL, "age_s",
			 problem->has_age ? json_real(problem->age_us / 1e6) : json_null(), "count",
			 is_counted ? json_integer((json_int_t)problem->count) : json_null(),
			 "last_age_s", is_counted ? json_real(problem->last_us / 1e6) : json_null(),
			 "text", text_json(problem->text), "cure", text_json(problem->cure));
}

json_t *problems_json(const struct problem_list *problems)
{
	json_t *list = problems->nomem ? NULL : json_array();

	for (size_t i = 0; list && i < problems->count; i++)
		json_array_append_new(list, problem_json(&problems->list[i]));
	return list;
}
