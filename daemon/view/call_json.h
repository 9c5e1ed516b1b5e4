/* SPDX-License-Identifier: BSD-3-Clause */
/* An RPC that is over, as JSON (daemon/control/trace.h). */
#ifndef DAEMON_VIEW_CALL_JSON_H
#define DAEMON_VIEW_CALL_JSON_H

#include <jansson.h>

#include "base/compiler.h"
#include "daemon/tap/tap_record.h"

/** call_json - a new reference, NULL without memory. */
json_t *call_json(const struct tap_call *call) MUST_CHECK;

#define CALL_TIME_BYTES 40u
/** call_time_text - when something was by CLOCK_MONOTONIC, by the clock on the wall: "2026-11-25T22:34:25.123456Z". Returns @text. */
const char *call_time_text(uint64_t mono_us, char text[CALL_TIME_BYTES]);

#endif
