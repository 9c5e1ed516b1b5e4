/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers the daemon's listeners with the rpcbind of this host.
 *
 * It sends one Call at a time over rpcbind's local socket and never blocks. The connection stays
 * open, so the module detects the end of rpcbind and registers everything again after its restart.
 * A failure is logged once and retried.
 *
 * Threads: the loop's thread.
 */
#ifndef DAEMON_RPCBIND_RPCB_CLIENT_H
#define DAEMON_RPCBIND_RPCB_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/rpcbind/rpcb_xdr.h"

#define RPCB_CLIENT_SOCKET "/run/rpcbind.sock"
#define RPCB_CLIENT_END_MS 1000 /* time limit of rpcb_client_free() */

struct rpcb_mapping {
	uint32_t program, program_version;
	uint32_t needs_program, needs_version; /* registered only after that; 0: after none */
	char netid[RPCBIND_NETID_BYTES];
	char address[UADDR_TEXT_BYTES];
};

struct rpcb_client;

/**
 * rpcb_client_new - Creates a registrar without mappings. @path outlives it. Returns NULL without
 * memory.
 */
struct rpcb_client *rpcb_client_new(struct loop *loop, const char *path);

/**
 * rpcb_client_set - Replaces the mappings to register
 * @mappings: copied; program, version and netid together must be unique. One that needs another
 *            waits while rpcbind refuses that for the same netid and address, and is unregistered
 *            if rpcbind has it from before
 *
 * Returns 0; or -ENOMEM, and keeps the previous mappings.
 */
int rpcb_client_set(struct rpcb_client *rpcb, const struct rpcb_mapping *mappings,
		    size_t count) MUST_CHECK;

/** rpcb_client_free - Unregisters everything, within a second, and frees. Accepts NULL. */
void rpcb_client_free(struct rpcb_client *rpcb);

#endif
