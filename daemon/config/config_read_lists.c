// SPDX-License-Identifier: BSD-3-Clause
/* The values of the configuration file that are lists of addresses and prefixes. */
#include "daemon/config/config_read_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_type.h"
#include "daemon/config/own_doors.h"

#define MAX_ALLOW 1024
#define MAX_HOSTS 64

/* One that this host lacks now may come later, as that of a cluster. */
static void read_source(struct config_reader *r, const config_setting_t *s,
			const struct config_key *key, struct service_config *service)
{
	const char *text = config_setting_get_string(s), *wrong;
	struct sockaddr_storage *source = &service->sources[service->nsources];
	struct config_cidr alone;

	if (!text) {
		config_report_type(r, s, key, "an array of strings");
		return;
	}
	wrong = config_cidr_parse(text, &alone);
	if (!wrong && !config_cidr_addr(&alone, source))
		wrong = "addresses stand alone here, without a prefix length";
	if (wrong) {
		config_report(r, s, "%s: %s", key->name, wrong);
		return;
	}
	for (size_t i = 0; i < service->nsources; i++)
		if (sockaddr_equal((struct sockaddr *)&service->sources[i],
				   (struct sockaddr *)source))
			config_report(r, s, "%s: %s is named twice", key->name, text);
	service->nsources++;
	if (own_doors_is_ours((struct sockaddr *)source))
		return;
	r->nabsent++;
	config_report(r, s, "%s: this host does not have the address %s", key->name, text);
}

void config_read_sources(struct config_reader *r, const config_setting_t *s,
			 const struct config_key *key, struct service_config *service)
{
	int n = config_setting_length(s);

	if (!config_setting_is_array(s) && !config_setting_is_list(s)) {
		config_report_type(r, s, key, "an array of strings: [ \"10.0.0.7\" ]");
		return;
	}
	if (n > (int)CONFIG_MAX_SOURCES) {
		config_report(r, s, "%s has %d addresses, but may have %u", key->name, n,
			      CONFIG_MAX_SOURCES);
		return;
	}
	service->sources = calloc((size_t)n + 1, sizeof(*service->sources));
	if (!service->sources) {
		r->nomem = true;
		return;
	}
	for (int i = 0; i < n; i++)
		read_source(r, config_setting_get_elem(s, (unsigned)i), key, service);
}

/* Into a list of @count, which is empty so far. */
static void read_cidrs(struct config_reader *r, const config_setting_t *s,
		       const struct config_key *key, struct config_cidr **list, size_t *count)
{
	int n = config_setting_length(s);

	if (!config_is_array(s)) {
		config_report_type(r, s, key, "an array of strings: [ \"10.0.0.0/8\" ]");
		return;
	}
	if (n > MAX_ALLOW) {
		config_report(r, s, "%s has %d entries, but may have %d", key->name, n, MAX_ALLOW);
		return;
	}
	*list = calloc((size_t)n + 1, sizeof(**list));
	if (!*list) {
		r->nomem = true;
		return;
	}
	for (int i = 0; i < n; i++) {
		const config_setting_t *elem = config_setting_get_elem(s, (unsigned)i);
		const char *text = config_setting_get_string(elem);
		const char *wrong;

		if (!text) {
			config_report_type(r, elem, key, "an array of strings");
			continue;
		}
		wrong = config_cidr_parse(text, &(*list)[*count]);
		if (wrong)
			config_report(r, elem, "%s: %s", key->name, wrong);
		else
			++*count;
	}
}

void config_read_allow(struct config_reader *r, const config_setting_t *s,
		       const struct config_key *key, struct service_config *service)
{
	service->has_allow = true;
	read_cidrs(r, s, key, &service->allow, &service->nallow);
}

static void free_prefixes(struct config_cidrs *cidrs)
{
	free(cidrs->list);
	*cidrs = (struct config_cidrs){0};
}

void config_read_prefixes(struct config_reader *r, const config_setting_t *s,
			  const struct config_key *key, struct config_cidrs *cidrs)
{
	free_prefixes(cidrs);
	cidrs->said = true;
	read_cidrs(r, s, key, &cidrs->list, &cidrs->count);
}

static void read_host(struct config_reader *r, const config_setting_t *s,
		      const struct config_key *key, struct config_hosts *hosts)
{
	const char *text = config_setting_get_string(s), *wrong;

	if (!text) {
		config_report_type(r, s, key, "an array of strings");
		return;
	}
	wrong = config_host_wrong(text);
	if (wrong) {
		config_report(r, s, "%s: %s", key->name, wrong);
		return;
	}
	hosts->names[hosts->count] = strdup(text);
	if (hosts->names[hosts->count])
		hosts->count++;
	else
		r->nomem = true;
}

void config_read_hosts(struct config_reader *r, const config_setting_t *s,
		       const struct config_key *key, struct config_hosts *hosts)
{
	int n = config_setting_length(s);

	config_hosts_fini(hosts);
	if (!config_is_array(s)) {
		config_report_type(r, s, key, "an array of strings: [ \"proxy.example.net\" ]");
		return;
	}
	if (n > MAX_HOSTS) {
		config_report(r, s, "%s has %d entries, but may have %d", key->name, n, MAX_HOSTS);
		return;
	}
	hosts->names = calloc((size_t)n + 1, sizeof(*hosts->names));
	if (!hosts->names) {
		r->nomem = true;
		return;
	}
	for (int i = 0; i < n; i++)
		read_host(r, config_setting_get_elem(s, (unsigned)i), key, hosts);
}

/* The default, as the manual prints it: what stands in quotes. */
void config_preset_prefixes(struct config_reader *r, const struct config_key *key,
			    struct config_cidrs *cidrs)
{
	char *text = strdup(key->preset), *rest = text;
	const char *word;

	cidrs->list = calloc(strlen(key->preset), sizeof(*cidrs->list));
	if (!text || !cidrs->list)
		r->nomem = true;
	while (!r->nomem && (word = strsep(&rest, "[], \"")))
		if (*word && !config_cidr_parse(word, &cidrs->list[cidrs->count]))
			cidrs->count++;
	free(text);
}
