/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading single values of the configuration file, as libconfig has parsed it, and reporting errors in them. */
#ifndef DAEMON_CONFIG_CONFIG_READ_H
#define DAEMON_CONFIG_CONFIG_READ_H

#include <libconfig.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/config/config_keys.h"

/* One reading of a file. */
struct config_reader {
	const char *path;
	const char *dir; /* the folder of @path: included files are named from there */
	FILE *errors;
	unsigned nerrors;
	unsigned nabsent; /* of these, about devices that may come yet */
	bool nomem;
	bool too_deep; /* files include files without an end */
};

/** config_include_path - where libconfig looks for what @include names: to be freed, or NULL for want of memory. */
char *config_include_path(const struct config_reader *r, const char *name);
/** config_file_path - the path of an included file, as libconfig names it: to be freed, or NULL for want of memory. */
char *config_file_path(const struct config_reader *r, const char *name);
/** config_report - one error, as "FILE:LINE: what", at @setting. */
void config_report(struct config_reader *r, const config_setting_t *setting, const char *format,
		   ...) PRINTF_LIKE(3, 4);
/** config_type_text - "a string", "a group { }" …: what a setting is. */
const char *config_type_text(const config_setting_t *setting);

/**
 * config_value_read - read the value of a key, or report what is wrong with it
 * @key:  any but one of type CONFIG_KEY_SERVICES, which holds groups
 * @base: the struct config or struct service_config that the key belongs to
 */
void config_value_read(struct config_reader *r, const config_setting_t *s,
		       const struct config_key *key, void *base);
/** config_value_preset - give a key's value its default. */
void config_value_preset(struct config_reader *r, const struct config_key *key, void *base);

#endif
