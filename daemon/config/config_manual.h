/* SPDX-License-Identifier: BSD-3-Clause */
/* What the table of keys says, in the words and the macros (mdoc) of the manual page. */
#ifndef DAEMON_CONFIG_CONFIG_MANUAL_H
#define DAEMON_CONFIG_CONFIG_MANUAL_H

#include <stdio.h>

#include "daemon/config/config_keys.h"

/** config_manual_item - the head of a key's paragraph: its name, and in brackets what it may be and its default. */
void config_manual_item(const struct config_key *key, FILE *out);
/** config_manual_end - its last lines: in which services it means something, and whether a change takes a restart. */
void config_manual_end(const struct config_key *key, FILE *out);
/**
 * config_manual_fill - copy a page, with the table's lines where it asks for them
 * @in: the page: a line "@key NAME@" begins the paragraph of that key, which the next such line or "@end@" ends
 * @out: where the page goes
 * @wrong: where it is told what is wrong
 *
 * Return: 0; -1 if the page names a key that is not in the table or was there before, or has not each of them.
 */
int config_manual_fill(FILE *in, FILE *out, FILE *wrong);

#endif
