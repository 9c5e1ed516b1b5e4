/* SPDX-License-Identifier: BSD-3-Clause */
/* A screen of top, or a block where there is no terminal. */
#ifndef DAEMON_CTL_TOP_RENDER_H
#define DAEMON_CTL_TOP_RENDER_H

#include <stdio.h>

#include "base/compiler.h"
#include "daemon/ctl/top_rows.h"

/**
 * top_render - print it
 * @error:   what the daemon refused, or NULL
 * @columns: of the terminal; lines get longer where they cannot be cut to fit
 *
 * Returns 0 or -ENOMEM.
 */
int top_render(const struct top_view *view, const struct top_rows *rows, const json_t *status,
	       const char *error, unsigned columns, FILE *out) MUST_CHECK;

#endif
