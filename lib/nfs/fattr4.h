/* SPDX-License-Identifier: BSD-3-Clause */
/* How large the NFSv4 attributes are. */
#ifndef NFS_FATTR4_H
#define NFS_FATTR4_H

#include <stdint.h>

/**
 * nfs_fattr4_bound_bytes - the largest attrlist4 that a request for attributes can get
 * @words, @count: the bitmap of the request, as on the wire; NULL: none
 *
 * Returns the bytes of the values alone, without their bitmap and length, or NFS_UNBOUNDED if an attribute is not
 * known.
 */
uint64_t nfs_fattr4_bound_bytes(const uint8_t *words, uint32_t count);

#endif
