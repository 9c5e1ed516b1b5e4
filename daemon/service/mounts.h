/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The servers of a service to which Calls of MOUNT go, where these have a way of their own (`mount`).
 *
 * By "rpcbind" there is one for each of the service's servers, on the same host, known by rpcbind's address there; else it
 * is the one address that the file names. What is known of them is kept apart: where mountd does not run, NFS may be
 * served all the same. What an administrator orders of a server holds for both.
 */
#ifndef DAEMON_SERVICE_MOUNTS_H
#define DAEMON_SERVICE_MOUNTS_H

#include "base/compiler.h"
#include "daemon/config/config.h"
#include "daemon/service/targets.h"

/* A service's keys with these servers instead of its own. Not to be copied: it points to itself. */
struct mounts_view {
	struct service_config service;
	struct config_uri more[CONFIG_MAX_SERVERS];
};

struct mounts {
	struct mounts_view view;
	struct targets targets; /* all zero: there are none */
};

/** mounts_view_init - set @view for @config, for which config_asks_mount() holds and which outlives it. */
void mounts_view_init(struct mounts_view *view, const struct service_config *config);
/** mounts_init - of @config, which outlives them, as @lines do. Returns 0 or -ENOMEM. */
int mounts_init(struct mounts *mounts, const struct service_config *config,
		struct log_limit *lines) MUST_CHECK;
/** mounts_fini - as targets_fini(). */
void mounts_fini(struct mounts *mounts);
/** mounts_order - an order that was given to the service's server number @index. */
void mounts_order(struct mounts *mounts, unsigned index, enum target_order order);
/** mounts_all_up - no order counts any more. */
void mounts_all_up(struct mounts *mounts);

#endif
