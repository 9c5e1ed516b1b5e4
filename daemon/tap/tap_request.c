// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/tap/tap_request.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/edit_distance.h"

#define WORDS_BYTES 512u

static int PRINTF_LIKE(2, 3) fail(char *error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error, TAP_ERROR_BYTES, format, ap);
	va_end(ap);
	return -EINVAL;
}

struct unit {
	const char *name;
	uint64_t times;
};

/* Parses a whole number with one of @units. Returns false if malformed or out of range. */
static bool parse_number(const char *text, const struct unit *units, uint64_t least, uint64_t most,
			 uint64_t *number)
{
	char *end;
	unsigned long long value;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	while (units->name && strcmp(units->name, end))
		units++;
	if (errno || !units->name || value > most / units->times || value * units->times < least)
		return false;
	*number = value * units->times;
	return true;
}

static const struct unit plain_units[] = {{"", 1}, {0}};
static const struct unit byte_units[] = {
	{"", 1}, {"K", 1u << 10}, {"M", 1u << 20}, {"G", 1u << 30}, {0}};
static const struct unit time_units[] = {{"us", 1}, {"ms", 1000}, {"s", 1000000}, {0}};

static int parse_client(struct tap_request *request, const char *value, char *error)
{
	const char *wrong = config_cidr_parse(value, &request->client);

	request->has_client = true;
	return wrong ? fail(error, "--client %.60s: %s", value, wrong) : 0;
}

/* Returns the most similar name, or NULL. */
static const char *nearest_operation(const char *value)
{
	unsigned best = UINT_MAX, edits;
	char upper[EDIT_DISTANCE_WORD_BYTES + 1];
	const char *found = NULL;

	if (strlen(value) >= sizeof(upper))
		return NULL;
	for (size_t i = 0; i <= strlen(value); i++)
		upper[i] = (char)toupper((unsigned char)value[i]);
	for (enum nfs_operation i = 0; i < NFS_OPERATION_COUNT; i++) {
		edits = edit_distance(upper, nfs_operation_name(i));
		if (edits >= best)
			continue;
		best = edits;
		found = nfs_operation_name(i);
	}
	return found;
}

static int parse_operation(struct tap_request *request, const char *value, char *error)
{
	const char *meant;

	request->operation = nfs_operation_find(value);
	if (request->operation != NFS_OPERATION_COUNT)
		return 0;
	meant = nearest_operation(value);
	if (meant)
		return fail(error, "there is no operation %.60s: did you mean %s?", value, meant);
	return fail(error, "there is no operation %.60s", value);
}

static int parse_seconds(struct tap_request *request, const char *value, char *error)
{
	uint64_t seconds;

	if (!parse_number(value, plain_units, 1, TAP_SECONDS_LIMIT, &seconds))
		return fail(error, "--seconds needs a number from 1 to %u", TAP_SECONDS_LIMIT);
	request->seconds = (uint32_t)seconds;
	return 0;
}

static int parse_slower(struct tap_request *request, const char *value, char *error)
{
	if (!parse_number(value, time_units, 0, UINT32_MAX, &request->slower_us))
		return fail(error, "--slower needs a whole number with us, ms or s, up to 4294s, "
				   "such as 100ms");
	return 0;
}

static int parse_count(struct tap_request *request, const char *value, char *error)
{
	if (!parse_number(value, plain_units, 1, TAP_COUNT_LIMIT, &request->count))
		return fail(error, "--count needs a number from 1 to %u", TAP_COUNT_LIMIT);
	return 0;
}

static int parse_snaplen(struct tap_request *request, const char *value, char *error)
{
	uint64_t bytes;

	if (!parse_number(value, byte_units, TAP_SNAP_MIN_BYTES, TAP_SNAP_MAX_BYTES, &bytes))
		return fail(error, "--snaplen needs a size from %u to 2M, such as 512 or 64K",
			    TAP_SNAP_MIN_BYTES);
	request->snap_bytes = (uint32_t)bytes;
	return 0;
}

static int parse_max_bytes(struct tap_request *request, const char *value, char *error)
{
	if (!parse_number(value, byte_units, TAP_MAX_BYTES_LEAST, TAP_MAX_BYTES_LIMIT,
			  &request->max_bytes))
		return fail(error, "--max-bytes needs a size from %u to 1024G, such as 64M or 1G",
			    TAP_MAX_BYTES_LEAST);
	return 0;
}

#define OF(kind) (1u << (kind))

static const struct {
	const char *name;
	unsigned kinds;
	int (*parse)(struct tap_request *request, const char *value, char *error);
} options[] = {
	{"--client", OF(TAP_CALLS) | OF(TAP_MESSAGES), parse_client},
	{"--operation", OF(TAP_CALLS) | OF(TAP_MESSAGES), parse_operation},
	{"--seconds", OF(TAP_CALLS) | OF(TAP_MESSAGES), parse_seconds},
	{"--slower", OF(TAP_CALLS), parse_slower},
	{"--count", OF(TAP_CALLS), parse_count},
	{"--snaplen", OF(TAP_MESSAGES), parse_snaplen},
	{"--max-bytes", OF(TAP_MESSAGES), parse_max_bytes},
};

static int parse_option(struct tap_request *request, const char *name, const char *value,
			char *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (strcmp(options[i].name, name) || !(options[i].kinds & OF(request->kind)))
			continue;
		if (!value)
			return fail(error, "%s needs a value", name);
		return options[i].parse(request, value, error);
	}
	return fail(error, "unknown option %.60s", name);
}

static int parse_service(struct tap_request *request, const char *word, char *error)
{
	if (request->service[0])
		return fail(error, "unexpected argument '%.60s'", word);
	if (strlen(word) > CONFIG_NAME_MAX_BYTES)
		return fail(error, "there is no service %.60s…", word);
	strcpy(request->service, word);
	return 0;
}

int tap_request_parse(enum tap_kind kind, const char *text, struct tap_request *request,
		      char *error)
{
	char words[WORDS_BYTES], *word, *at;
	int rc = 0;

	*request = (struct tap_request){.kind = kind, .operation = NFS_OPERATION_COUNT};
	if (kind == TAP_MESSAGES) {
		request->snap_bytes = TAP_SNAP_BYTES;
		request->max_bytes = TAP_MAX_BYTES;
		request->seconds = TAP_SECONDS;
	}
	if ((size_t)snprintf(words, sizeof(words), "%s", text) >= sizeof(words))
		return fail(error, "the argument is too long");
	for (word = strtok_r(words, " ", &at); word && !rc; word = strtok_r(NULL, " ", &at))
		rc = word[0] == '-' ? parse_option(request, word, strtok_r(NULL, " ", &at), error)
				    : parse_service(request, word, error);
	return rc;
}

bool tap_request_matches(const struct tap_request *request, const char *service,
			 const struct sockaddr *client, enum nfs_operation operation)
{
	return (!request->service[0] || !strcmp(request->service, service)) &&
	       (request->operation == NFS_OPERATION_COUNT || request->operation == operation) &&
	       (!request->has_client || config_cidr_contains(&request->client, client));
}
