/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the daemon of a configuration file has its control socket. */
#ifndef DAEMON_CTL_CONTROL_PATH_H
#define DAEMON_CTL_CONTROL_PATH_H

#include <stddef.h>

#include "base/compiler.h"

/**
 * control_path - read `control` of a configuration file, and nothing else of it
 * @error: on failure: what is wrong with the file, a sentence without a full stop
 * @out:   set on success, to be freed: the path, or the default one if the file does not say
 *
 * Returns 0, -EINVAL of a file that is not well formed, or the negative errno with which it cannot be read.
 */
int control_path(const char *file, char *error, size_t error_bytes, char **out) MUST_CHECK;

/** config_string - the same of another key at the top, which is a string; @preset if the file has it not. */
int config_string(const char *file, const char *key, const char *preset, char *error,
		  size_t error_bytes, char **out) MUST_CHECK;

#endif
