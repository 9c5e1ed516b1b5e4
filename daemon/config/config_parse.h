/* SPDX-License-Identifier: BSD-3-Clause */
/* One reading of the configuration file, from its bytes to libconfig's tree: where it and what it includes are, and its errors. */
#ifndef DAEMON_CONFIG_CONFIG_PARSE_H
#define DAEMON_CONFIG_CONFIG_PARSE_H

#include <libconfig.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"

struct config_reader {
	const char *path;
	const char *dir; /* the folder of @path: included files are named from there */
	char folder[PATH_MAX];
	const config_setting_t *defaults; /* of the keys of services; NULL: there are none */
	const config_setting_t *services; /* its list of them; NULL: it has none … */
	size_t first;                     /* … and where they begin in the configuration */
	FILE *errors;
	unsigned nerrors;
	unsigned nabsent; /* of these, about devices that may come yet */
	bool nomem;
	bool too_deep; /* files include files without an end */
};

/**
 * config_reader_init - before a file is read
 * @path, @errors: outlive it
 *
 * There is nothing to free. Returns 0 or -ENAMETOOLONG.
 */
int config_reader_init(struct config_reader *r, const char *path, FILE *errors) MUST_CHECK;
/** config_place - where @setting stands, as "FILE:LINE": to be freed, or NULL for want of memory. */
char *config_place(const struct config_reader *r, const config_setting_t *setting);
/** config_report - one error, as "FILE:LINE: what", at @setting. */
void config_report(struct config_reader *r, const config_setting_t *setting, const char *format,
		   ...) PRINTF_LIKE(3, 4);

/**
 * config_parse - read a file, and those that it includes
 * @r:      its path and its errors' place; an error of the text is reported there
 * @parsed: made by config_init()
 *
 * Mistakes that libconfig would not see are reported alone: what it makes of such a file was not meant.
 *
 * Returns 0, -EINVAL after a report, -EFBIG if the file is over 1 MiB, or the errno of opening or reading it.
 */
int config_parse(struct config_reader *r, config_t *parsed) MUST_CHECK;

#endif
