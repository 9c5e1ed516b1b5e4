// SPDX-License-Identifier: BSD-3-Clause
/* Builds NFS Calls as the Linux client does, and their Replies as its server does. */
#include "tests/bench/work.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/nfs3.h"

#define DATA_SEED           9

#define NFS4_COMPOUND       1

#define OP_GETATTR          9
#define OP_PUTFH            22
#define OP_READ             25
#define OP_CREATE_SESSION   43
#define OP_SEQUENCE         53

#define SESSION_BYTES       16
#define SESSION_MAX_MESSAGE (WORK_LARGE_BYTES + 1024)

static void put_data(struct buf *buf, uint32_t len)
{
	static const uint8_t zero[3];

	pattern_put(buf, DATA_SEED, len);
	buf_put(buf, zero, -len & 3);
}

static void build_getattr(struct work *work)
{
	nfs3_call(&work->call, NFS3_GETATTR, 0, 0);
	nfs3_reply(&work->reply, NFS3_GETATTR, NFS3_OK, 0);
}

static void build_read(struct work *work)
{
	nfs3_call(&work->call, NFS3_READ, 0, work->data_bytes);
	nfs3_reply(&work->reply, NFS3_READ, NFS3_OK, work->data_bytes);
	put_data(&work->reply, work->data_bytes);
}

static void build_write(struct work *work)
{
	nfs3_call(&work->call, NFS3_WRITE, 0, work->data_bytes);
	put_data(&work->call, work->data_bytes);
	nfs3_reply(&work->reply, NFS3_WRITE, NFS3_OK, work->data_bytes);
}

/* The head of a COMPOUND of version 4.1 and of its Reply: no tag, no failure. */
static void compound(struct buf *call, struct buf *reply, uint32_t operations)
{
	call_begin(call, 0, NFS_PROGRAM, 4, NFS4_COMPOUND, AUTH_SYS);
	buf_words(call, 1, 0);
	buf_u32(call, 1);
	buf_u32(call, operations);
	reply_begin(reply, 0, ACCEPT_SUCCESS);
	buf_words(reply, 2, 0);
	buf_u32(reply, operations);
}

/* channel_attrs4 (RFC 8881 section 18.36): pad, request, response, cached, operations, requests, no ird. */
static void put_channel(struct buf *buf, uint32_t max_message)
{
	buf_u32(buf, 0);
	buf_u32(buf, max_message);
	buf_u32(buf, max_message);
	buf_u32(buf, 4096);
	buf_u32(buf, 16);
	buf_u32(buf, 64);
	buf_u32(buf, 0);
}

/* The session's id is all zeros. The callback program is offered with AUTH_NONE. */
static void build_create_session(struct work *work)
{
	struct buf *call = &work->opening_call, *reply = &work->opening_reply;

	compound(call, reply, 1);
	buf_u32(call, OP_CREATE_SESSION);
	buf_u64(call, 1);
	buf_words(call, 2, 1);
	put_channel(call, SESSION_MAX_MESSAGE);
	put_channel(call, 4096);
	buf_u32(call, 0x40000000);
	buf_u32(call, 1);
	buf_u32(call, AUTH_NONE);
	buf_u32(reply, OP_CREATE_SESSION);
	buf_u32(reply, 0);
	buf_words(reply, SESSION_BYTES / 4, 0);
	buf_words(reply, 2, 1);
	put_channel(reply, SESSION_MAX_MESSAGE);
	put_channel(reply, 4096);
}

/* SEQUENCE and PUTFH, and @more operations that the caller puts. */
static void in_session(struct work *work, uint32_t more)
{
	struct buf *call = &work->call, *reply = &work->reply;

	build_create_session(work);
	compound(call, reply, 2 + more);
	buf_u32(call, OP_SEQUENCE);
	buf_words(call, SESSION_BYTES / 4, 0);
	buf_u32(call, 1);
	buf_words(call, 3, 0);
	buf_u32(reply, OP_SEQUENCE);
	buf_u32(reply, 0);
	buf_words(reply, SESSION_BYTES / 4, 0);
	buf_u32(reply, 1);
	buf_u32(reply, 0);
	buf_words(reply, 2, 63);
	buf_u32(reply, 0);
	buf_u32(call, OP_PUTFH);
	nfs_handle(call);
	buf_u32(reply, OP_PUTFH);
	buf_u32(reply, 0);
}

static void build_compound_read(struct work *work)
{
	in_session(work, 1);
	buf_u32(&work->call, OP_READ);
	buf_words(&work->call, 4, 0);
	buf_u64(&work->call, 0);
	buf_u32(&work->call, WORK_SMALL_BYTES);
	buf_u32(&work->reply, OP_READ);
	buf_words(&work->reply, 2, 0);
	buf_u32(&work->reply, WORK_SMALL_BYTES);
	put_data(&work->reply, WORK_SMALL_BYTES);
}

/* type, change, size; mode, numlinks, space_used, time_metadata, time_modify */
static void put_bitmap(struct buf *buf)
{
	buf_u32(buf, 2);
	buf_u32(buf, 1u << 1 | 1u << 3 | 1u << 4);
	buf_u32(buf, 1u << 1 | 1u << 3 | 1u << 13 | 1u << 20 | 1u << 21);
}

static void build_compound_getattr(struct work *work)
{
	in_session(work, 1);
	buf_u32(&work->call, OP_GETATTR);
	put_bitmap(&work->call);
	buf_u32(&work->reply, OP_GETATTR);
	buf_u32(&work->reply, 0);
	put_bitmap(&work->reply);
	buf_u32(&work->reply, 60);
	buf_words(&work->reply, 60 / 4, 1);
}

static const struct {
	const char *name;
	void (*build)(struct work *work);
	bool sized; /* it has data_bytes */
} works[] = {
	{"getattr", build_getattr, false},
	{"read", build_read, true},
	{"write", build_write, true},
	{"compound-read", build_compound_read, false},
	{"compound-getattr", build_compound_getattr, false},
};

/* The bytes behind a name of @len characters; 0: there is no such work. */
static uint32_t bytes_of(const char *name, size_t len, bool sized)
{
	char *end;
	unsigned long bytes;

	if (!name[len])
		return WORK_LARGE_BYTES;
	if (!sized || name[len] != ':' || !isdigit((unsigned char)name[len + 1]))
		return 0;
	bytes = strtoul(name + len + 1, &end, 10);
	return *end || bytes > WORK_LARGE_BYTES ? 0 : (uint32_t)bytes;
}

bool work_init(struct work *work, const char *name)
{
	size_t len = strcspn(name, ":");

	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		uint32_t bytes = bytes_of(name, len, works[i].sized);

		if (strlen(works[i].name) != len || strncmp(works[i].name, name, len) || !bytes)
			continue;
		memset(work, 0, sizeof(*work));
		work->data_bytes = bytes;
		works[i].build(work);
		return true;
	}
	return false;
}

void work_fini(struct work *work)
{
	buf_free(&work->call);
	buf_free(&work->reply);
	buf_free(&work->opening_call);
	buf_free(&work->opening_reply);
}

void work_names_print(FILE *to)
{
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		fprintf(to, "%s%s%s", i ? " " : "", works[i].name,
			works[i].sized ? "[:BYTES]" : "");
}
