/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of trace (daemon/control/trace.h) as text. */
#ifndef DAEMON_CTL_RENDER_TRACE_H
#define DAEMON_CTL_RENDER_TRACE_H

#include <jansson.h>
#include <stdio.h>

/** render_trace_titles - what stands above the lines. */
void render_trace_titles(FILE *out);
/** render_trace_line - an RPC that is over, or how many were missed; nothing of anything else. */
void render_trace_line(const json_t *line, FILE *out);

#endif
