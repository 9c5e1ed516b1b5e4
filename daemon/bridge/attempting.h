/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One attempt after the other at the addresses of a target: the leg that each makes, and what is kept of those that
 * have failed. For upstream.c, which decides when.
 */
#ifndef DAEMON_BRIDGE_ATTEMPTING_H
#define DAEMON_BRIDGE_ATTEMPTING_H

#include "base/compiler.h"
#include "daemon/base/log.h"
#include "daemon/bridge/upstream_impl.h"

/**
 * attempting_begin - the list of the attempts at those of the target's addresses that can be come to
 *
 * Returns as attempts_init(), or -EADDRNOTAVAIL if there is none.
 */
int attempting_begin(struct upstream *upstream, const struct name_result *name) MUST_CHECK;
/**
 * attempting_next - make the leg of the next attempt that does not fail at once
 *
 * As one does at an address of a family that this host has not. Returns 0, or the errno of the last one if none is left.
 */
int attempting_next(struct upstream *upstream) MUST_CHECK;
/** attempting_why - why these two have failed, of which @rc is an errno; sets @detail. */
enum leg_close attempting_why(const struct upstream *upstream, int rc, const char **detail);
/** attempting_keep_cause - keep why a target has failed, unless there was more to say of one before it. */
void attempting_keep_cause(struct upstream *upstream, enum leg_close why, const char *detail);
/** attempting_share_us - how much of the time that is left the next target has. */
uint64_t attempting_share_us(const struct upstream *upstream);
/** attempting_left_us - how much time there is left for the target. */
uint64_t attempting_left_us(const struct upstream *upstream);
/** attempting_blame - the present attempt has failed: iwarp is next if it was verbs, unless only verbs will do. */
void attempting_blame(struct upstream *upstream, const char *why);
/** attempting_forget_port - come from any port from now on. */
void attempting_forget_port(struct upstream *upstream);
/** attempting_log - that the present attempt has failed, and how it goes on. */
void attempting_log(const struct upstream *upstream, enum log_level level, enum leg_close why,
		    const char *detail, const char *how);

#endif
