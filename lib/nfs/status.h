/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of NFS's statuses. */
#ifndef NFS_STATUS_H
#define NFS_STATUS_H

#include <stdint.h>

/**
 * nfs_status_name - "NOENT" of NFS3ERR_NOENT and NFS4ERR_NOENT; NULL: there is none
 *
 * The versions give a number one meaning. Where they have two words for it, this is NFSv4's: DELAY, not JUKEBOX.
 */
const char *nfs_status_name(uint32_t status);

#endif
