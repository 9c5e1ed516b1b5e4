// SPDX-License-Identifier: BSD-3-Clause
/* Where the daemon of a configuration file has its control socket. */
#include "daemon/ctl/control_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/paths.h"
#include "daemon/config/config_parse.h"

/* Parses as the daemon does. What it reports is of many lines; the first has the cause. */
static int parse(const char *file, config_t *parsed, char **reported)
{
	struct config_reader r;
	size_t bytes;
	FILE *errors = open_memstream(reported, &bytes);
	int rc;

	if (!errors)
		return -ENOMEM;
	rc = config_reader_init(&r, file, errors);
	if (!rc)
		rc = config_parse(&r, parsed);
	fclose(errors);
	return rc;
}

int config_string(const char *file, const char *key, const char *preset, char *error,
		  size_t error_bytes, char **out)
{
	const char *value = preset;
	char *reported = NULL;
	config_t parsed;
	int rc;

	config_init(&parsed);
	rc = parse(file, &parsed, &reported);
	if (!rc) {
		config_lookup_string(&parsed, key, &value);
		*out = strdup(value);
		rc = *out ? 0 : -ENOMEM;
	}
	if (rc && reported && reported[0])
		snprintf(error, error_bytes, "%.*s", (int)strcspn(reported, "\n"), reported);
	else if (rc)
		snprintf(error, error_bytes, "%s: %s", file, strerror(-rc));
	free(reported);
	config_destroy(&parsed);
	return rc;
}

int control_path(const char *file, char *error, size_t error_bytes, char **out)
{
	return config_string(file, "control", CONTROL_DEFAULT_SOCKET, error, error_bytes, out);
}
