/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration file from its bytes to libconfig's tree, and what is said where that fails. */
#ifndef DAEMON_CONFIG_CONFIG_PARSE_H
#define DAEMON_CONFIG_CONFIG_PARSE_H

#include <libconfig.h>

#include "base/compiler.h"
#include "daemon/config/config_reader.h"

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
