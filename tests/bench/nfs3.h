/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NFSv3 messages (RFC 1813) of the load generators and their servers, except the data in them.
 */
#ifndef TESTS_BENCH_NFS3_H
#define TESTS_BENCH_NFS3_H

#include "tests/e2e/message.h"

#define NFS3_NULL      0
#define NFS3_GETATTR   1
#define NFS3_READ      6
#define NFS3_WRITE     7
#define NFS3_COMMIT    21

#define NFS3_OK        0
#define NFS3ERR_IO     5
#define NFS3ERR_INVAL  22

#define NFS3_FILE_SIZE (1u << 30)

/** nfs_handle - append the file handle of the one file that there is. */
void nfs_handle(struct buf *buf);

/**
 * nfs3_call - append a Call with AUTH_SYS, without a record mark
 * @count: of a READ or WRITE, in bytes. What is appended of a WRITE ends before its data.
 */
void nfs3_call(struct buf *buf, uint32_t procedure, uint64_t offset, uint32_t count);

/**
 * nfs3_reply - append a Reply, without a record mark: with all attributes if @status is NFS3_OK
 * @count: of a READ or WRITE, in bytes. What is appended of a READ ends before its data.
 */
void nfs3_reply(struct buf *buf, uint32_t procedure, uint32_t status, uint32_t count);

/** nfs3_set_count - the same in a successful Reply to READ or WRITE that is there: it ends at @end. */
void nfs3_set_count(uint8_t *end, uint32_t procedure, uint32_t count);
/** nfs3_set_offset - of a Call that nfs3_call() made of READ or WRITE: it ends at @end. */
void nfs3_set_offset(uint8_t *end, uint32_t procedure, uint64_t offset);

#endif
