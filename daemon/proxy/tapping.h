/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaches a tap to all workers. */
#ifndef DAEMON_PROXY_TAPPING_H
#define DAEMON_PROXY_TAPPING_H

#include "base/compiler.h"
#include "daemon/proxy/proxy_parts.h"
#include "daemon/tap/tap.h"

struct tapping;

/** tapping_open - Makes every worker copy messages to @tap, soon. Returns NULL without memory. */
struct tapping *tapping_open(struct proxy *proxy, struct tap *tap) MUST_CHECK;
/** tapping_close - Makes the workers stop, soon; before proxy_stop(). Accepts NULL. */
void tapping_close(struct tapping *tapping);

#endif
