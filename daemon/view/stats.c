// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/view/stats.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "leg/leg.h"

static size_t table_count(const struct counter_desc *table)
{
	size_t n = 0;

	while (table[n].name)
		n++;
	return n;
}

static struct stats_module *module_get(struct stats *stats, const char *name,
				       const struct counter_desc *table)
{
	struct stats_module *module;

	for (size_t i = 0; i < stats->nmodules; i++)
		if (!strcmp(stats->modules[i].name, name))
			return &stats->modules[i];
	/* Modules and counters are constant, so this can only fail after a change of the source. */
	assert(stats->nmodules < STATS_MAX_MODULES && table_count(table) <= STATS_MAX_COUNTERS);
	module = &stats->modules[stats->nmodules++];
	*module = (struct stats_module){.name = name, .table = table};
	return module;
}

void stats_add(struct stats *stats, enum stats_side side, const char *module,
	       const struct counter_desc *table, const void *values)
{
	counters_add(table, module_get(stats, module, table)->values[side], values);
}

void stats_add_closes(struct stats *stats, const uint64_t closes[CLOSE_BY_COUNT][LEG_CLOSE_COUNT])
{
	for (unsigned by = 0; by < CLOSE_BY_COUNT; by++)
		for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++)
			stats->closes[by][why] += closes[by][why];
}

void stats_merge(struct stats *sum, const struct stats *part)
{
	stats_add_closes(sum, part->closes);
	for (size_t i = 0; i < part->nmodules; i++)
		for (unsigned side = 0; side < STATS_SIDES; side++)
			stats_add(sum, side, part->modules[i].name, part->modules[i].table,
				  part->modules[i].values[side]);
}

static uint64_t value_in(const struct stats_module *module, enum stats_side side, const char *name)
{
	for (size_t i = 0; module->table[i].name; i++)
		if (!strcmp(module->table[i].name, name))
			return module->values[side][i];
	/* The program defines all names, so this is a programming error. */
	assert(!"a counter of that name");
	return 0;
}

uint64_t stats_value(const struct stats *stats, enum stats_side side, const char *module,
		     const char *name)
{
	for (size_t i = 0; i < stats->nmodules; i++)
		if (!strcmp(stats->modules[i].name, module))
			return value_in(&stats->modules[i], side, name);
	return 0;
}

static uint64_t both_sides(const struct stats_module *module, size_t i)
{
	return module->values[STATS_CLIENT][i] + module->values[STATS_UPSTREAM][i];
}

const char *stats_close_name(enum leg_close why, char text[STATS_CLOSE_NAME_BYTES])
{
	const char *name = leg_close_name(why);
	size_t len = strlen(name);

	assert(len < STATS_CLOSE_NAME_BYTES);
	for (size_t i = 0; i <= len; i++)
		text[i] = (char)tolower((unsigned char)name[i]);
	return text;
}

/* Counts of each close reason, or their descriptions if @closes is NULL. */
static json_t *reasons_json(const uint64_t *closes)
{
	char name[STATS_CLOSE_NAME_BYTES];
	json_t *object = json_object();

	for (unsigned why = 0; why < LEG_CLOSE_COUNT; why++)
		json_object_set_new(object, stats_close_name(why, name),
				    closes ? json_integer((json_int_t)closes[why])
					   : json_string(leg_close_text(why)));
	return object;
}

static json_t *closes_json(const struct stats *stats)
{
	return json_pack("{s:o, s:o, s:o}", "client", reasons_json(stats->closes[CLOSE_BY_CLIENT]),
			 "server", reasons_json(stats->closes[CLOSE_BY_SERVER]), "proxy",
			 reasons_json(stats->closes[CLOSE_BY_PROXY]));
}

static json_t *module_json(const struct stats_module *module, bool help)
{
	json_t *object = json_object();

	for (size_t i = 0; module->table[i].name; i++) {
		json_t *value = help ? json_string(module->table[i].help)
				     : json_integer((json_int_t)both_sides(module, i));

		if (json_object_set_new(object, module->table[i].name, value)) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

json_t *stats_json(const struct stats *stats, bool help)
{
	json_t *object = json_object();

	for (size_t i = 0; i < stats->nmodules; i++) {
		if (json_object_set_new(object, stats->modules[i].name,
					module_json(&stats->modules[i], help))) {
			json_decref(object);
			return NULL;
		}
	}
	if (json_object_set_new(object, "closes", help ? reasons_json(NULL) : closes_json(stats))) {
		json_decref(object);
		return NULL;
	}
	return object;
}
