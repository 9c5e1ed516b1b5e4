/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the configuration file and its includes into libconfig's tree, and reports errors with file
 * and line.
 */
#ifndef DAEMON_CONFIG_CONFIG_PARSE_H
#define DAEMON_CONFIG_CONFIG_PARSE_H

#include <libconfig.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"

struct config_ctx {
	const char *path;
	const char *dir; /* directory of @path; included files are relative to it */
	char folder[PATH_MAX];
	const config_setting_t *defaults; /* the group `defaults`; NULL: none */
	const config_setting_t *services; /* the list `services` of the file; NULL: none */
	size_t first;                     /* index of its first service in the configuration */
	FILE *errors;
	unsigned nerrors;
	/* of these, errors about devices and addresses that this host can get later */
	unsigned nmissing_resources;
	bool nomem;
	bool too_deep; /* includes are nested too deep */
};

/**
 * config_ctx_init - Initializes the context of a file.
 * @path, @errors: outlive it
 *
 * It needs no cleanup. Returns 0 or -ENAMETOOLONG.
 */
int config_ctx_init(struct config_ctx *r, const char *path, FILE *errors) MUST_CHECK;
/**
 * config_location - Returns the location of @setting, "FILE:LINE", which the caller frees, or NULL
 * if memory ran out.
 */
char *config_location(const struct config_ctx *r, const config_setting_t *setting);
/** config_report - Reports an error at @setting, as "FILE:LINE: text". */
void config_report(struct config_ctx *r, const config_setting_t *setting, const char *format, ...)
	PRINTF_LIKE(3, 4);

/**
 * config_parse - Reads a file and its includes.
 * @r:      its context; errors of the text are reported there
 * @parsed: initialized by config_init()
 *
 * If the file has a mistake that libconfig silently misreads, only that mistake is reported.
 *
 * Returns 0, -EINVAL after a report, -EFBIG if the file is larger than 1 MiB, -ENOMEM, or the
 * negative errno of opening or reading it.
 */
int config_parse(struct config_ctx *r, config_t *parsed) MUST_CHECK;

#endif
