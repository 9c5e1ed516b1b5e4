/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads Calls and Replies captured between libnfs, NFS-Ganesha and Ganesha's own NFSv4.1 client:
 * files real_* of a corpus.
 */
#ifndef TESTS_NFS_CORPUS_H
#define TESTS_NFS_CORPUS_H

#include <stdint.h>

struct corpus_pair {
	const char *name;
	const uint8_t *call, *reply;
	uint32_t call_bytes, reply_bytes;
};

/**
 * corpus_each - Calls @fn with each captured pair, in order of their names
 *
 * Reads $srcdir/tests/fuzz/corpus/nfs_reply. Returns the number of pairs, or -1 if they cannot be
 * read.
 */
int corpus_each(void (*fn)(const struct corpus_pair *pair, void *arg), void *arg);

#endif
