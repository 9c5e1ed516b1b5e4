/* SPDX-License-Identifier: BSD-3-Clause */
/* Redacts secrets in texts that are shown to others. */
#ifndef DAEMON_CTL_REDACT_H
#define DAEMON_CTL_REDACT_H

#include <stddef.h>
#include <stdio.h>

/**
 * redact_text - Writes a text without its secrets.
 * @text, @len: a configuration file or similar, usually one setting per line
 *
 * It cuts the values after '=' or ':' of names that contain "password", "passwd", "passphrase",
 * "secret", "token", "credential" or "key", but not of file names (…_file). That includes comments,
 * and multi-line values up to the ';'. It also cuts users and passwords in URIs, and PEM between
 * BEGIN and END. In doubt it cuts more.
 */
void redact_text(const char *text, size_t len, FILE *out);

#endif
