/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text that may go to a terminal.
 *
 * The daemon has less rights than who asks it often has, and a terminal obeys what it is shown. So whatever is not
 * to be seen is taken out of an answer before anybody has it.
 */
#ifndef DAEMON_CTL_PLAIN_H
#define DAEMON_CTL_PLAIN_H

#include <jansson.h>

/**
 * plain_json - a copy of @value whose strings and keys have '?' for each control character
 *
 * Those of ASCII and those of Latin 1 (U+0080 to U+009F). Returns a new reference; NULL for NULL or without memory.
 */
json_t *plain_json(const json_t *value);

#endif
