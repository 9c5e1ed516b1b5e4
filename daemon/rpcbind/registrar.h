/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registrar: what rpcbind of this host is to tell of this daemon's listeners.
 *
 * It asks one thing at a time over rpcbind's local socket and waits for nothing. Between questions it keeps the
 * connection, so that it sees when rpcbind ends: what was registered is registered again when rpcbind is back.
 * What fails is a line in the log, once, and tried again.
 *
 * Concurrency: the loop's thread.
 */
#ifndef DAEMON_RPCBIND_REGISTRAR_H
#define DAEMON_RPCBIND_REGISTRAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/loop.h"
#include "daemon/rpcbind/rpcbind_message.h"

#define REGISTRAR_SOCKET "/run/rpcbind.sock"
#define REGISTRAR_END_MS 1000 /* that registrar_free() may take */

struct mapping {
	uint32_t program, program_version;
	char netid[RPCBIND_NETID_BYTES];
	char address[UNIVERSAL_ADDRESS_BYTES];
};

struct registrar;

/** registrar_new - a registrar that wants nothing yet. @path outlives it. Returns NULL without memory. */
struct registrar *registrar_new(struct loop *loop, const char *path);

/**
 * registrar_want - from now on these, and no others
 * @mappings: copied; no two of one program, version and netid
 *
 * Returns 0 or -ENOMEM: then what was wanted before still is.
 */
int registrar_want(struct registrar *registrar, const struct mapping *mappings,
		   size_t count) MUST_CHECK;

/** registrar_free - take back what is registered, for a second at most, and free; accepts NULL. */
void registrar_free(struct registrar *registrar);

#endif
