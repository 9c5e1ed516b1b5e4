/* SPDX-License-Identifier: BSD-3-Clause */
/* A tap at all workers. */
#ifndef DAEMON_PROXY_TAPPING_H
#define DAEMON_PROXY_TAPPING_H

#include "base/compiler.h"
#include "daemon/proxy/proxy_parts.h"
#include "daemon/tap/tap.h"

struct tapping;

/** tapping_open - have all workers copy what passes to @tap, each from its next turn on; NULL without memory. */
struct tapping *tapping_open(struct proxy *proxy, struct tap *tap) MUST_CHECK;
/** tapping_close - have them stop, soon; before the proxy is stopped. Accepts NULL. */
void tapping_close(struct tapping *tapping);

#endif
