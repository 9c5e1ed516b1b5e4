/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds COMPOUNDs of many operations, chosen from the rows by a seed. */
#ifndef TESTS_NFS_COMPOUNDS_H
#define TESTS_NFS_COMPOUNDS_H

#include "tests/nfs/rows.h"

#define COMPOUND_MAX_OPS 16u

/**
 * compound_build - a COMPOUND and its Reply; row_free() them
 * @seed: the same seed makes the same messages
 * @for_tshark: draw no operation that tshark 4.0 reads only in part
 *
 * The minor version, the number of operations and each of them are drawn. A READ or READLINK comes often. The
 * Reply ends with the first operation that fails.
 */
void compound_build(struct row_built *built, uint32_t seed, bool for_tshark);

#endif
