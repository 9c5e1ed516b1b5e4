/* SPDX-License-Identifier: BSD-3-Clause */
/* One reading of the configuration file: where it and what it includes are, and where its errors go. */
#ifndef DAEMON_CONFIG_CONFIG_READER_H
#define DAEMON_CONFIG_CONFIG_READER_H

#include <libconfig.h>
#include <limits.h>
#include <stdarg.h>
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
/** config_include_path - where libconfig looks for what @include names: to be freed, or NULL for want of memory. */
char *config_include_path(const struct config_reader *r, const char *name);
/** config_file_path - the path of an included file, as libconfig names it: to be freed, or NULL for want of memory. */
char *config_file_path(const struct config_reader *r, const char *name);
/** config_place - where @setting stands, as "FILE:LINE": to be freed, or NULL for want of memory. */
char *config_place(const struct config_reader *r, const config_setting_t *setting);
/**
 * config_reader_put - the rest of a line about a file, from where "FILE:LINE: " was written
 *
 * It counts as an error. It may quote the file: what a terminal would obey, or would make two lines of it, stands as '?'.
 */
void config_reader_put(struct config_reader *r, const char *format, va_list ap);
/** config_report - one error, as "FILE:LINE: what", at @setting. */
void config_report(struct config_reader *r, const config_setting_t *setting, const char *format,
		   ...) PRINTF_LIKE(3, 4);

#endif
