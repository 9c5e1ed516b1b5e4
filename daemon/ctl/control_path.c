// SPDX-License-Identifier: BSD-3-Clause
/* Where the daemon of a configuration file has its control socket. */
#include "daemon/ctl/control_path.h"

#include <errno.h>
#include <libconfig.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/paths.h"

static int read_stream(config_t *parsed, const char *file, FILE *stream, char *error,
		       size_t error_bytes)
{
	char *dir = strdup(file);

	if (!dir)
		return -ENOMEM;
	/* As the daemon has it: what a file includes lies beside it. */
	config_set_include_dir(parsed, dirname(dir));
	free(dir);
	if (config_read(parsed, stream))
		return 0;
	snprintf(error, error_bytes, "%s:%d: %s", file, config_error_line(parsed),
		 config_error_text(parsed));
	return -EINVAL;
}

int control_path(const char *file, char *error, size_t error_bytes, char **out)
{
	const char *path = CONTROL_DEFAULT_SOCKET;
	FILE *stream = fopen(file, "re");
	config_t parsed;
	int rc = -errno;

	if (!stream) {
		snprintf(error, error_bytes, "%s: %s", file, strerror(-rc));
		return rc;
	}
	snprintf(error, error_bytes, "%s: %s", file, strerror(ENOMEM));
	config_init(&parsed);
	rc = read_stream(&parsed, file, stream, error, error_bytes);
	fclose(stream);
	if (!rc) {
		config_lookup_string(&parsed, "control", &path);
		*out = strdup(path);
		rc = *out ? 0 : -ENOMEM;
	}
	config_destroy(&parsed);
	return rc;
}
