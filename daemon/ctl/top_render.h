/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a screen of top, or a block if there is no terminal. */
#ifndef DAEMON_CTL_TOP_RENDER_H
#define DAEMON_CTL_TOP_RENDER_H

#include <stdio.h>

#include "base/compiler.h"
#include "daemon/ctl/top_rows.h"

/**
 * top_render - Prints the rows.
 * @error:   what the daemon refused, or NULL
 * @columns: of the terminal; lines that cannot be cut are longer
 *
 * Returns 0 or -ENOMEM.
 */
int top_render(const struct top_view *view, const struct top_rows *rows, const json_t *status,
	       const char *error, unsigned columns, FILE *out) MUST_CHECK;

#endif
