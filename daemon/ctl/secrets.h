/* SPDX-License-Identifier: BSD-3-Clause */
/* What looks like a secret in a text that is going to be shown to others. */
#ifndef DAEMON_CTL_SECRETS_H
#define DAEMON_CTL_SECRETS_H

#include <stddef.h>
#include <stdio.h>

/**
 * secrets_cut - write a text without its secrets
 * @text, @len: a configuration file or the like: one setting a line, as a rule
 *
 * Cut are the values behind '=' or ':' of names with "password", "passwd", "passphrase", "secret", "token",
 * "credential" or "key" in them, but for the names of files (…_file); in comments, too, and to the ';' if that is on a
 * later line; users and passwords in URIs; and what stands in PEM between BEGIN and END. In doubt more is cut.
 */
void secrets_cut(const char *text, size_t len, FILE *out);

#endif
