// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bench/nfs3.h"

#include <arpa/inet.h>
#include <string.h>

#define HANDLE_BYTES 28
#define FATTR3_TIME  1700000000

void nfs_handle(struct buf *buf)
{
	static const uint8_t handle[HANDLE_BYTES] = {1, 0, 7};

	buf_opaque(buf, handle, sizeof(handle));
}

/* nfstime3: the same whole second, repeated */
static void put_times(struct buf *buf, unsigned count)
{
	while (count-- > 0) {
		buf_u32(buf, FATTR3_TIME);
		buf_u32(buf, 0);
	}
}

/* fattr3 (RFC 1813 section 2.6) of a file. */
static void put_fattr3(struct buf *buf)
{
	buf_u32(buf, 1);
	buf_u32(buf, 0644);
	buf_u32(buf, 1);
	buf_words(buf, 2, 1000);
	buf_u64(buf, NFS3_FILE_SIZE);
	buf_u64(buf, NFS3_FILE_SIZE);
	buf_words(buf, 2, 0); /* no device */
	buf_u64(buf, 3);
	buf_u64(buf, 7);
	put_times(buf, 3);
}

/* post_op_attr */
static void put_attributes(struct buf *buf)
{
	buf_u32(buf, 1);
	put_fattr3(buf);
}

/* wcc_data with both attributes */
static void put_wcc(struct buf *buf)
{
	buf_u32(buf, 1);
	buf_u64(buf, NFS3_FILE_SIZE);
	put_times(buf, 2);
	put_attributes(buf);
}

void nfs3_call(struct buf *buf, uint32_t procedure, uint64_t offset, uint32_t count)
{
	call_begin(buf, 0, NFS_PROGRAM, 3, procedure, AUTH_SYS);
	if (procedure == NFS3_NULL)
		return;
	nfs_handle(buf);
	if (procedure == NFS3_GETATTR)
		return;
	buf_u64(buf, offset);
	buf_u32(buf, count);
	if (procedure == NFS3_WRITE) {
		buf_u32(buf, 0); /* UNSTABLE */
		buf_u32(buf, count);
	}
}

/* What stands in a Reply behind a status that is no success. */
static void put_failure(struct buf *buf, uint32_t procedure)
{
	if (procedure == NFS3_READ)
		buf_u32(buf, 0);
	else if (procedure != NFS3_GETATTR)
		buf_words(buf, 2, 0);
}

void nfs3_reply(struct buf *buf, uint32_t procedure, uint32_t status, uint32_t count)
{
	reply_begin(buf, 0, ACCEPT_SUCCESS);
	if (procedure == NFS3_NULL)
		return;
	buf_u32(buf, status);
	if (status != NFS3_OK) {
		put_failure(buf, procedure);
	} else if (procedure == NFS3_GETATTR) {
		put_fattr3(buf);
	} else if (procedure == NFS3_READ) {
		put_attributes(buf);
		buf_u32(buf, count);
		buf_u32(buf, 0); /* not at its end */
		buf_u32(buf, count);
	} else if (procedure == NFS3_WRITE) {
		put_wcc(buf);
		buf_u32(buf, count);
		buf_words(buf, 3, 0); /* UNSTABLE, verifier */
	} else {
		put_wcc(buf);
		buf_words(buf, 2, 0); /* verifier */
	}
}

static void set_u32(uint8_t *at, uint32_t value)
{
	uint32_t be = htonl(value);

	memcpy(at, &be, sizeof(be));
}

void nfs3_set_count(uint8_t *end, uint32_t procedure, uint32_t count)
{
	if (procedure == NFS3_WRITE) {
		set_u32(end - 16, count);
	} else {
		set_u32(end - 12, count);
		set_u32(end - 4, count);
	}
}

void nfs3_set_offset(uint8_t *end, uint32_t procedure, uint64_t offset)
{
	uint8_t *at = end - (procedure == NFS3_WRITE ? 20 : 12);

	set_u32(at, (uint32_t)(offset >> 32));
	set_u32(at + 4, (uint32_t)offset);
}
