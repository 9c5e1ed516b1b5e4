/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers the daemon's listeners with the rpcbind of this host.
 *
 * It sends one Call at a time over rpcbind's local socket and never blocks. Between Calls it keeps the connection open,
 * to detect the end of rpcbind: then everything is registered again once rpcbind is back. A failure is logged once and
 * retried.
 *
 * Threads: the loop's thread.
 */
#ifndef DAEMON_RPCBIND_REGISTRAR_H
#define DAEMON_RPCBIND_REGISTRAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/rpcbind/rpcbind_message.h"

#define REGISTRAR_SOCKET "/run/rpcbind.sock"
#define REGISTRAR_END_MS 1000 /* time limit of registrar_free() */

struct mapping {
	uint32_t program, program_version;
	char netid[RPCBIND_NETID_BYTES];
	char address[UNIVERSAL_ADDRESS_BYTES];
};

struct registrar;

/** registrar_new - Creates a registrar without mappings. @path outlives it. Returns NULL without memory. */
struct registrar *registrar_new(struct loop *loop, const char *path);

/**
 * registrar_want - Replaces the mappings to register
 * @mappings: copied; program, version and netid together must be unique
 *
 * Returns 0; or -ENOMEM, and keeps the previous mappings.
 */
int registrar_want(struct registrar *registrar, const struct mapping *mappings,
		   size_t count) MUST_CHECK;

/** registrar_free - Unregisters everything, within a second, and frees. Accepts NULL. */
void registrar_free(struct registrar *registrar);

#endif
