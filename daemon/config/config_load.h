/* SPDX-License-Identifier: BSD-3-Clause */
/* From a file to a struct config. */
#ifndef DAEMON_CONFIG_CONFIG_LOAD_H
#define DAEMON_CONFIG_CONFIG_LOAD_H

#include <stdio.h>

#include "base/compiler.h"
#include "daemon/config/config.h"

/**
 * config_load - read and check a file
 * @path:   the file
 * @errors: gets each error as "FILE:LINE: what", one a line; all of them, not the first only, but none that
 *           follows from another. A syntax error has a second such line, with what stands in that line.
 * @config: set on success; to be freed with config_free()
 *
 * Returns 0, -EINVAL if the file has errors, -ENODEV if they are but devices that are not here, -EFBIG if it is over
 * 1 MiB, or the errno of opening or reading it.
 */
int config_load(const char *path, FILE *errors, struct config **config) MUST_CHECK;

#endif
