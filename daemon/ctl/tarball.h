/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A compressed tar archive, written member by member; nothing of it lies in another file meanwhile.
 *
 * gzip(1) has it from here by a pipe, and writes the file itself.
 */
#ifndef DAEMON_CTL_TARBALL_H
#define DAEMON_CTL_TARBALL_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/compiler.h"

#define TARBALL_NAME_BYTES 100u /* of a member, with the zero at its end */

struct tarball {
	FILE *out; /* to gzip; NULL while none is open */
	pid_t gzip;
	const char *path; /* the caller's */
};

/**
 * tarball_open - make a file of that name, which only its owner may read
 * @path: outlives the tarball; what is there already is left alone
 *
 * Returns 0 or a negative errno; -EEXIST if the name is taken.
 */
int tarball_open(struct tarball *tarball, const char *path) MUST_CHECK;
/** tarball_add - a file of that name, shorter than TARBALL_NAME_BYTES; what fails is told by tarball_close(). */
void tarball_add(struct tarball *tarball, const char *name, const char *data, size_t len);
/** tarball_close - complete the file, or remove it if it cannot be. Returns 0 or a negative errno; -ENOEXEC without gzip. */
int tarball_close(struct tarball *tarball) MUST_CHECK;

#endif
