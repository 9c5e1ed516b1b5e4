/* SPDX-License-Identifier: BSD-3-Clause */
/* What somebody needs to know who is to find out, far from here, what is wrong: in one archive, without secrets. */
#ifndef DAEMON_CTL_SUPPORT_H
#define DAEMON_CTL_SUPPORT_H

#include <stddef.h>

#include "base/compiler.h"

/* What the archive is called unless it is told. */
#define SUPPORT_NAME_BYTES 64u

/**
 * support_write - write it
 * @socket: the daemon's; it need not answer
 * @file:   the daemon's configuration file; it need not be there
 * @path:   of the archive, which must not be there; NULL: rpcrdma-proxy-support-DATE-TIME.tar.gz
 * @name:   set to the archive's path, as far as it fits
 * @error:  set to "", or, on failure and if the daemon did not answer, to a sentence without a full stop
 *
 * Returns 0 or a negative errno.
 */
int support_write(const char *socket, const char *file, const char *path, char *name,
		  size_t name_bytes, char *error, size_t error_bytes) MUST_CHECK;

#endif
