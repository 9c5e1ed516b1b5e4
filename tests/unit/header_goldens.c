// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/header_goldens.h"

#include "tests/lib/hex.h"

/* xid, vers, credit */
#define START     "01020304 00000001 00000020 "
#define START_TWO "01020304 00000002 00000020 "
#define CALL_BODY                                                                                  \
	"01020304 00000000 00000002 000186a3 00000004 00000000 00000000 00000000 00000000 00000000"
#define REPLY_BODY "01020304 00000001 00000000 00000000 00000000 00000000"

static void add_read(struct rpcrdma_header *hdr, uint32_t position, uint32_t handle,
		     uint32_t len_bytes, uint64_t offset)
{
	hdr->reads[hdr->nreads++] = (struct rpcrdma_read_segment){
		.position = position,
		.seg = {handle, len_bytes, offset},
	};
}

static void begin_chunk(struct rpcrdma_header *hdr, struct rpcrdma_chunk *chunk)
{
	*chunk = (struct rpcrdma_chunk){.first = hdr->nsegments};
}

static void add_segment(struct rpcrdma_header *hdr, struct rpcrdma_chunk *chunk, uint32_t handle,
			uint32_t len_bytes, uint64_t offset)
{
	hdr->segments[hdr->nsegments++] = (struct rpcrdma_segment){handle, len_bytes, offset};
	chunk->count++;
	chunk->len_bytes += len_bytes;
}

static void say_msg(struct rpcrdma_header *hdr)
{
	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_ONE, GOLDEN_CREDIT, RPCRDMA_MSG);
}

static void say_msg_reads(struct rpcrdma_header *hdr)
{
	say_msg(hdr);
	add_read(hdr, 0x28, 0xa1a2a3a4, 0x1000, 0x1122334455667788);
	add_read(hdr, 0x28, 0xb1b2b3b4, 0x200, 0);
	add_read(hdr, 0x1228, 0xa1a2a3a4, 0x11, 0x1122334455668788);
}

static void say_msg_writes(struct rpcrdma_header *hdr)
{
	say_msg(hdr);
	hdr->nwrites = 2;
	begin_chunk(hdr, &hdr->writes[0]);
	add_segment(hdr, &hdr->writes[0], 7, 0x2000, 0x10000);
	add_segment(hdr, &hdr->writes[0], 8, 4, 0xffffffff00000000);
	begin_chunk(hdr, &hdr->writes[1]);
	add_segment(hdr, &hdr->writes[1], 7, 0, 0x12000);
}

static void say_msg_reply_chunk(struct rpcrdma_header *hdr)
{
	say_msg(hdr);
	hdr->has_reply_chunk = true;
	begin_chunk(hdr, &hdr->reply_chunk);
	add_segment(hdr, &hdr->reply_chunk, 9, 0x101000, 0x7f0000000000);
}

static void say_msg_empty_chunks(struct rpcrdma_header *hdr)
{
	say_msg(hdr);
	hdr->nwrites = 1;
	begin_chunk(hdr, &hdr->writes[0]);
	hdr->has_reply_chunk = true;
	begin_chunk(hdr, &hdr->reply_chunk);
}

static void say_msg_all(struct rpcrdma_header *hdr)
{
	say_msg(hdr);
	add_read(hdr, 0x28, 1, 0x1000, 0x1000);
	hdr->nwrites = 1;
	begin_chunk(hdr, &hdr->writes[0]);
	add_segment(hdr, &hdr->writes[0], 2, 0x2000, 0x3000);
	hdr->has_reply_chunk = true;
	begin_chunk(hdr, &hdr->reply_chunk);
	add_segment(hdr, &hdr->reply_chunk, 2, 0x400, 0x5000);
	add_segment(hdr, &hdr->reply_chunk, 3, 0x400, 0);
}

static void say_nomsg_call(struct rpcrdma_header *hdr)
{
	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_ONE, GOLDEN_CREDIT, RPCRDMA_NOMSG);
	add_read(hdr, 0, 5, 0x1234, 0x1000);
}

static void say_nomsg_reply(struct rpcrdma_header *hdr)
{
	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_ONE, GOLDEN_CREDIT, RPCRDMA_NOMSG);
	hdr->has_reply_chunk = true;
	begin_chunk(hdr, &hdr->reply_chunk);
	add_segment(hdr, &hdr->reply_chunk, 9, 0x64, 0x7f0000000000);
}

static void say_msgp(struct rpcrdma_header *hdr)
{
	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_ONE, GOLDEN_CREDIT, RPCRDMA_MSGP);
	hdr->align = 0x1000;
	hdr->thresh = 0x400;
}

static void say_done(struct rpcrdma_header *hdr)
{
	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_ONE, GOLDEN_CREDIT, RPCRDMA_DONE);
}

static void say_err_vers(struct rpcrdma_header *hdr)
{
	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_ONE, GOLDEN_CREDIT, RPCRDMA_ERROR);
	hdr->error = RPCRDMA_ERR_VERS;
	hdr->vers_low = 1;
	hdr->vers_high = 2;
}

static void say_err_vers_of_two(struct rpcrdma_header *hdr)
{
	say_err_vers(hdr);
	hdr->vers = 2;
}

static void say_err_chunk(struct rpcrdma_header *hdr)
{
	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_ONE, GOLDEN_CREDIT, RPCRDMA_ERROR);
	hdr->error = RPCRDMA_ERR_CHUNK;
}

static void say_err_unknown(struct rpcrdma_header *hdr)
{
	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_ONE, GOLDEN_CREDIT, RPCRDMA_ERROR);
	hdr->error = 9;
}

static void say_msg_of_two(struct rpcrdma_header *hdr)
{
	say_msg(hdr);
	hdr->vers = RPCRDMA_VERSION_TWO;
}

static void say_msg_all_of_two(struct rpcrdma_header *hdr)
{
	say_msg_all(hdr);
	hdr->vers = RPCRDMA_VERSION_TWO;
}

static void say_nomsg_call_of_two(struct rpcrdma_header *hdr)
{
	say_nomsg_call(hdr);
	hdr->vers = RPCRDMA_VERSION_TWO;
}

static void say_nomsg_reply_of_two(struct rpcrdma_header *hdr)
{
	say_nomsg_reply(hdr);
	hdr->vers = RPCRDMA_VERSION_TWO;
}

static void say_error_of_two(struct rpcrdma_header *hdr, uint32_t error)
{
	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_TWO, GOLDEN_CREDIT, RPCRDMA_ERROR);
	hdr->error = error;
}

static void say_bad_header(struct rpcrdma_header *hdr)
{
	say_error_of_two(hdr, RPCRDMA_ERR_CHUNK);
}

static void say_inval_option(struct rpcrdma_header *hdr)
{
	say_error_of_two(hdr, RPCRDMA_ERR_INVAL_OPTION);
}

static void say_err_unknown_of_two(struct rpcrdma_header *hdr)
{
	say_error_of_two(hdr, 9);
}

static void say_optional(struct rpcrdma_header *hdr)
{
	static const uint8_t info[] = {0xc1, 0xc2, 0xc3, 0xc4, 0xc5};

	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_TWO, GOLDEN_CREDIT, RPCRDMA_OPTIONAL);
	hdr->opttype = 0xe1e2e3e4;
	hdr->optinfo = info;
	hdr->optinfo_bytes = sizeof(info);
}

static void say_optional_empty(struct rpcrdma_header *hdr)
{
	rpcrdma_header_init(hdr, GOLDEN_XID, RPCRDMA_VERSION_TWO, GOLDEN_CREDIT, RPCRDMA_OPTIONAL);
	hdr->opttype = 1;
}

const struct golden goldens[GOLDEN_COUNT] = {
	/* A4.1-5, D2.5-1: what every reverse Call looks like, too */
	{"msg call", START "00000000 00000000 00000000 00000000", CALL_BODY, 28, 28, 28, say_msg},
	{"msg reply", START "00000000 00000000 00000000 00000000", REPLY_BODY, 28, 28, 28, say_msg},
	/* A3.4-5, A3.4-7: two entries of one position are one chunk */
	{"msg with reads",
	 START "00000000"
	       "00000001 00000028 a1a2a3a4 00001000 1122334455667788"
	       "00000001 00000028 b1b2b3b4 00000200 0000000000000000"
	       "00000001 00001228 a1a2a3a4 00000011 1122334455668788"
	       "00000000 00000000 00000000",
	 CALL_BODY, 28 + 3 * 24, 28, 100, say_msg_reads},
	/* A3.4-10 */
	{"msg with writes",
	 START "00000000 00000000"
	       "00000001 00000002 00000007 00002000 0000000000010000"
	       "                  00000008 00000004 ffffffff00000000"
	       "00000001 00000001 00000007 00000000 0000000000012000"
	       "00000000 00000000",
	 CALL_BODY, 28 + 2 * 8 + 3 * 16, 28, 92, say_msg_writes},
	/* A5.2-1 */
	{"msg with reply chunk",
	 START "00000000 00000000 00000000 00000001 00000001 00000009 00101000 00007f0000000000",
	 CALL_BODY, 28 + 4 + 16, 28, 48, say_msg_reply_chunk},
	{"msg with empty chunks",
	 START "00000000 00000000 00000001 00000000 00000000 00000001 00000000", REPLY_BODY,
	 28 + 8 + 4, 28, 40, say_msg_empty_chunks},
	/* A3.8-1 */
	{"msg with all three",
	 START "00000000"
	       "00000001 00000028 00000001 00001000 0000000000001000 00000000"
	       "00000001 00000001 00000002 00002000 0000000000003000 00000000"
	       "00000001 00000002 00000002 00000400 0000000000005000"
	       "                  00000003 00000400 0000000000000000",
	 CALL_BODY, 28 + 24 + 8 + 16 + 4 + 32, 28, 112, say_msg_all},
	/* A5.1-1 */
	{"nomsg call",
	 START "00000001"
	       "00000001 00000000 00000005 00001234 0000000000001000"
	       "00000000 00000000 00000000",
	 "", 28 + 24, 28, 52, say_nomsg_call},
	/* A5.2-2 */
	{"nomsg reply",
	 START "00000001 00000000 00000000 00000001 00000001 00000009 00000064 00007f0000000000",
	 "", 28 + 4 + 16, 28, 48, say_nomsg_reply},
	/* A3.5-1 */
	{"msgp", START "00000002 00001000 00000400 00000000 00000000 00000000", CALL_BODY, 36, 36,
	 36, say_msgp},
	/* A3.8-2 */
	{"done", START "00000003", "", 16, 16, 16, say_done},
	/* A4.2-1 */
	{"err_vers", START "00000004 00000001 00000001 00000002", "", 28, 28, 28, say_err_vers},
	{"err_vers in version two", START_TWO "00000004 00000001 00000001 00000002", "", 28, 28, 28,
	 say_err_vers_of_two},
	{"err_chunk", START "00000004 00000002", "", 20, 20, 20, say_err_chunk},
	/* A4.2-4, A4.3 default arm: the extra words may be missing */
	{"unknown error",
	 START "00000004 00000009 00000000 00000000 00000000 00000000"
	       "00000000 00000000 00000000 00000000",
	 "", 52, 20, 20, say_err_unknown},
	/* E4.2-1 */
	{"msg of version two", START_TWO "00000000 00000000 00000000 00000000", CALL_BODY, 28, 28,
	 28, say_msg_of_two},
	{"msg of version two with all three",
	 START_TWO "00000000"
		   "00000001 00000028 00000001 00001000 0000000000001000 00000000"
		   "00000001 00000001 00000002 00002000 0000000000003000 00000000"
		   "00000001 00000002 00000002 00000400 0000000000005000"
		   "                  00000003 00000400 0000000000000000",
	 CALL_BODY, 28 + 24 + 8 + 16 + 4 + 32, 28, 112, say_msg_all_of_two},
	{"nomsg call of version two",
	 START_TWO "00000001"
		   "00000001 00000000 00000005 00001234 0000000000001000"
		   "00000000 00000000 00000000",
	 "", 28 + 24, 28, 52, say_nomsg_call_of_two},
	{"nomsg reply of version two",
	 START_TWO
	 "00000001 00000000 00000000 00000001 00000001 00000009 00000064 00007f0000000000",
	 "", 28 + 4 + 16, 28, 48, say_nomsg_reply_of_two},
	/* E4.2-2 */
	{"bad_header", START_TWO "00000004 00000002", "", 20, 20, 20, say_bad_header},
	{"inval_option", START_TWO "00000004 00000003", "", 20, 20, 20, say_inval_option},
	/* E4.2-6: no extra words */
	{"unknown error of version two", START_TWO "00000004 00000009", "", 20, 20, 20,
	 say_err_unknown_of_two},
	/* E3.1-1 */
	{"optional", START_TWO "00000005 e1e2e3e4 00000005 c1c2c3c4 c5000000", "", 32, 24, 32,
	 say_optional},
	{"empty optional", START_TWO "00000005 00000001 00000000", "", 24, 24, 24,
	 say_optional_empty},
};

size_t golden_send(const struct golden *golden, uint8_t send[GOLDEN_MAX_BYTES])
{
	size_t len = hex_bytes(golden->header, send, GOLDEN_MAX_BYTES);

	return len + hex_bytes(golden->body, send + len, GOLDEN_MAX_BYTES - len);
}
