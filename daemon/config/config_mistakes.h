/* SPDX-License-Identifier: BSD-3-Clause */
/* The mistakes in the syntax of the configuration file that are made often: a table, each with its cure. */
#ifndef DAEMON_CONFIG_CONFIG_MISTAKES_H
#define DAEMON_CONFIG_CONFIG_MISTAKES_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/config/config_words.h"

#define CONFIG_HINT_BYTES 300u

/**
 * config_mistake_find - whether one of them was made at a word of the file
 * @i:    the word
 * @hint: set to the cure of the first in the table that fits, if one does
 */
bool config_mistake_find(const struct config_words *words, size_t i,
			 char hint[static CONFIG_HINT_BYTES]);

#endif
