/* SPDX-License-Identifier: BSD-3-Clause */
/* Attaches a tap to all workers. */
#ifndef DAEMON_PROXY_TAP_ATTACH_H
#define DAEMON_PROXY_TAP_ATTACH_H

#include "base/compiler.h"
#include "daemon/proxy/proxy_priv.h"
#include "daemon/tap/tap.h"

struct tap_attach;

/**
 * tap_attach_open - Makes every worker copy messages to @tap, soon. Returns NULL without memory.
 */
struct tap_attach *tap_attach_open(struct proxy *proxy, struct tap *tap) MUST_CHECK;
/** tap_attach_close - Makes the workers stop, soon; before proxy_stop(). Accepts NULL. */
void tap_attach_close(struct tap_attach *tap_attach);

#endif
