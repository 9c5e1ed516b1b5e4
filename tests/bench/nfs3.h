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

/** nfs_handle - Appends the file handle of the only file. */
void nfs_handle(struct buf *buf);

/**
 * nfs3_call - Appends a Call with AUTH_SYS, without a record mark. @count: of a READ or WRITE, in
 * bytes. A WRITE is appended without its data.
 */
void nfs3_call(struct buf *buf, uint32_t procedure, uint64_t offset, uint32_t count);

/**
 * nfs3_reply - Appends a Reply, without a record mark, and with all attributes if @status is
 * NFS3_OK. @count: of a READ or WRITE, in bytes. A READ is appended without its data.
 */
void nfs3_reply(struct buf *buf, uint32_t procedure, uint32_t status, uint32_t count);

/** nfs3_set_count - Changes the count in a successful Reply to READ or WRITE that ends at @end. */
void nfs3_set_count(uint8_t *end, uint32_t procedure, uint32_t count);
/** nfs3_set_offset - Changes the offset of a READ or WRITE of nfs3_call() that ends at @end. */
void nfs3_set_offset(uint8_t *end, uint32_t procedure, uint64_t offset);

#endif
