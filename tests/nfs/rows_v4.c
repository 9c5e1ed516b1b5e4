// SPDX-License-Identifier: BSD-3-Clause
/* Rows of the operations of NFSv4.0, 4.1 and 4.2, and of the callback program. */
#include "tests/nfs/rows.h"

/* The ceiling leaves room for a longer tag than the Call's. */
#define TAG 256u

/* clang-format off */
#define V(minor, op, args, results, slack) \
	{"NFSv4." #minor " op " #op, 100003, 4, 1, minor, op, args, results, \
	 (slack) == ROW_ANY ? ROW_ANY : (slack) + TAG}
#define CB(minor, op, args, results, slack) \
	{"NFSv4." #minor " callback op " #op, 0x40000000, 1, 1, minor, op, args, results, \
	 (slack) == ROW_ANY ? ROW_ANY : (slack) + TAG}
/* clang-format on */
#define V0(op, args, results, slack) V(0, op, args, results, slack)
#define V1(op, args, results, slack) V(1, op, args, results, slack)
#define V2(op, args, results, slack) V(2, op, args, results, slack)

#define STATEID                      "1 x:12 "
#define FH                           "o:128 "
#define CINFO                        "1 q1 q2 "
#define OWNER                        "q7 o:1024 "
#define SMALL_OWNER                  "q7 o:20 "
#define BITMAP                       "w:8*0 "
/* type and size: 12 bytes of values. */
#define FATTR            "n:1(18) o:12 "
#define LOCK_DENIED      "10010 q0 q10 2 " OWNER
#define NETADDR          "o:1024 o:1024 "
#define SECINFO          "0 n:64(6 o:112 0 1) "
#define ACE              "0 0 0 o:768 "
#define WRITE_DELEGATION "2 " STATEID "0 1 q100 " ACE
#define OPEN_OK          "0 " STATEID CINFO "4 " BITMAP

const struct nfs_row rows_v40[] = {
	V0(3, "63", "0 63 31", 0),
	V0(4, "1 " STATEID, "0 " STATEID, 0),
	V0(5, "q0 0", "0 x:8", 0),
	V0(6, "5 d:9 o:3 " FATTR, "0 " CINFO BITMAP, 0),
	V0(6, "3 8 1 o:3 " FATTR, "0 " CINFO BITMAP, 0),
	V0(6, "2 o:3 " FATTR, "0 " CINFO BITMAP, 0),
	V0(7, "q1", "0", 0),
	V0(8, STATEID, "0", 0),
	V0(9, "w:3*0", "0 w:8*0 o:0", 0),
	V0(10, "", "0 " FH, 0),
	V0(11, "o:255", "0 " CINFO, 0),
	V0(12, "2 0 q0 q10 1 1 " STATEID "1 " SMALL_OWNER, LOCK_DENIED, 0),
	V0(12, "2 0 q0 q10 0 " STATEID "1", "0 " STATEID, ROW_ANY),
	V0(13, "2 q0 q10 " SMALL_OWNER, LOCK_DENIED, 0),
	V0(13, "2 q0 q10 " SMALL_OWNER, "0", ROW_ANY),
	V0(14, "2 1 " STATEID "q0 q10", "0 " STATEID, 0),
	V0(15, "o:255", "0", 0),
	V0(16, "", "0", 0),
	V0(17, FATTR, "10027", 0),
	V0(18, "1 3 0 " SMALL_OWNER "1 0 " FATTR "0 o:9", OPEN_OK WRITE_DELEGATION, 0),
	V0(18, "1 3 0 " SMALL_OWNER "1 2 x:8 0 o:9", OPEN_OK "1 " STATEID "0 " ACE, ROW_ANY),
	V0(18, "1 1 0 " SMALL_OWNER "0 0 o:9", OPEN_OK "0", ROW_ANY),
	V0(18, "1 1 0 " SMALL_OWNER "0 1 1", OPEN_OK "2 " STATEID "0 2 1 512 " ACE, 0),
	V0(18, "1 1 0 " SMALL_OWNER "0 2 " STATEID "o:9", OPEN_OK "0", ROW_ANY),
	V0(18, "1 1 0 " SMALL_OWNER "0 3 o:9", "2", ROW_ANY),
	V0(19, "1", "0", 0),
	V0(20, STATEID "2", "0 " STATEID, 0),
	V0(21, STATEID "2 1 0", "0 " STATEID, 0),
	V0(22, FH, "0", 0),
	V0(23, "", "0", 0),
	V0(24, "", "0", 0),
	V0(25, STATEID "q0 4096", "0 1 d:4096", 0),
	V0(25, STATEID "q0 4093", "0 1 d:4093", 0),
	V0(25, STATEID "q0 4096", "0 1 d:1", ROW_ANY),
	V0(25, STATEID "q0 4096", "0 1 d:0", ROW_ANY),
	V0(25, STATEID "q0 4096", "10026", ROW_ANY),
	V0(26, "q0 x:8 1024 8192 w:2*0", "0 x:8 r:31(1 q7 o:228 w:2*0 o:4) 0 1", ROW_SLACK),
	V0(27, "", "0 d:8192", 0),
	V0(27, "", "0 d:11", ROW_ANY),
	V0(27, "", "22", ROW_ANY),
	V0(28, "o:255", "0 " CINFO, 0),
	V0(29, "o:255 o:255", "0 " CINFO CINFO, 0),
	V0(30, "q1", "0", 0),
	V0(31, "", "0", 0),
	V0(32, "", "0", 0),
	V0(33, "o:9", SECINFO, 0),
	V0(33, "o:9", "0 n:2(1)", ROW_ANY),
	V0(34, STATEID FATTR, "0 " BITMAP, 0),
	V0(34, STATEID FATTR, "13 " BITMAP, 0),
	V0(35, "x:8 o:20 0x40000000 o:3 o:17 1", "10017 " NETADDR, 0),
	V0(35, "x:8 o:20 0x40000000 o:3 o:17 1", "0 q1 x:8", ROW_ANY),
	V0(36, "q1 x:8", "0", 0),
	V0(37, FATTR, "0", 0),
	V0(38, STATEID "q0 2 d:4098", "0 4098 2 x:8", 0),
	V0(39, SMALL_OWNER, "0", 0),
	V0(10044, "", "10044", 0),
	{0},
};

#define SESSION "x:16 "
#define CHANNEL "0 1049620 1049480 4096 8 64 "
#define DEVICE  "x:16 "
#define IMPL    "n:1(o:1024 o:1024 q0 0) "
#define LAYOUT  "q0 q4096 1 0x80000001 " /* of a private type */

const struct nfs_row rows_v41[] = {
	V1(40, "0x40000000 n:2(1 5 o:4 0 0 n:1(0))", "0", 0),
	V1(40, "0x40000000 n:1(6 1 o:8 o:8)", "0", 0),
	V1(41, SESSION "3 0", "0 " SESSION "3 0", 0),
	V1(42, "x:8 o:20 1 0 n:1(o:9 o:9 q0 0)",
	   "0 q1 1 1 2 " BITMAP BITMAP "0 0 32 4 n:1(o:16376) q1 o:1024 o:1024 " IMPL, 0),
	V1(42, "x:8 o:20 1 1 w:2*0 w:2*0 n:0()", "0 q1 1 1 1 w:2*0 w:2*0 q1 o:9 o:9 n:0()",
	   ROW_ANY),
	V1(42, "x:8 o:20 1 2 w:2*0 w:2*0 n:1(o:9) n:1(o:9) 4 2 n:0()",
	   "0 q1 1 1 0 q1 o:9 o:9 n:0()", ROW_ANY),
	V1(43, "q1 1 3 " CHANNEL "w:0*0 " CHANNEL "w:1*8 0x40000000 n:1(0)",
	   "0 " SESSION "1 3 " CHANNEL "w:1*8 " CHANNEL "w:1*8", 0),
	V1(44, SESSION, "0", 0),
	V1(45, STATEID, "0", 0),
	V1(46, "0 w:1*0 q0 0 q0 0 w:1*0 w:1*0", "0 0 x:8 " STATEID BITMAP BITMAP BITMAP, 0),
	V1(46, "0 w:1*0 q0 0 q0 0 w:1*0 w:1*0", "0 1 0", ROW_ANY),
	V1(47, DEVICE "1 4096 w:1*0", "0 0x80000001 o:4096 w:8*0", ROW_SLACK),
	V1(47, DEVICE "1 4096 w:1*0", "10005 8192", ROW_ANY),
	V1(48, "1 100 q0 x:8", "0 q0 x:8 n:100(" DEVICE ") 1", 0),
	V1(49, "q0 q4096 0 " STATEID "1 q4095 1 q0 0 1 o:0", "0 1 q4096", 0),
	V1(49, "q0 q4096 0 " STATEID "0 0 1 o:0", "0 0", ROW_ANY),
	V1(50, "0 1 1 q0 q4096 q4096 " STATEID "4096", "0 1 " STATEID "n:1(" LAYOUT "o:4096)",
	   ROW_SLACK),
	V1(50, "0 1 1 q0 q4096 q4096 " STATEID "4096", "10058 1", ROW_ANY),
	V1(51, "0 1 3 1 q0 q4096 " STATEID "o:0", "0 1 " STATEID, 0),
	V1(51, "0 1 3 3", "0 0", ROW_ANY),
	V1(52, "0", SECINFO, 0),
	V1(53, SESSION "1 0 0 1", "0 " SESSION "1 0 0 0 0", 0),
	V1(54, "o:32 o:32", "0 o:1024", 0),
	V1(55, "n:9(" STATEID ")", "0 w:9*0", 0),
	V1(56, "256 4", "0 " WRITE_DELEGATION, 0),
	V1(56, "256 1 1", "0 3 1 1", ROW_ANY),
	V1(56, "256 6", "0 3 0", ROW_ANY),
	V1(57, "q1", "0", 0),
	V1(58, "0", "0", 0),
	/* What 4.1 and RFC 9754 added to OPEN. */
	V1(18, "0 0x101 0 " SMALL_OWNER "1 3 x:8 " FATTR "0 o:9", OPEN_OK WRITE_DELEGATION, 0),
	V1(18, "0 0x101 0 " SMALL_OWNER "0 4", OPEN_OK "3 2 1", ROW_ANY),
	V1(18, "0 0x101 0 " SMALL_OWNER "0 5 " STATEID, OPEN_OK "3 0", ROW_ANY),
	V1(18, "0 0x101 0 " SMALL_OWNER "0 6", OPEN_OK "4 " STATEID "0 " ACE, ROW_ANY),
	V1(18, "0 0x101 0 " SMALL_OWNER "0 4", OPEN_OK "5 " STATEID "0 1 q100 " ACE, 0),
	V1(25, STATEID "q0 4096", "0 1 d:4096", 0),
	V1(10044, "", "10044", 0),
	{0},
};

#define WRITE_RESPONSE "n:1(" STATEID ") q4096 2 x:8 "

const struct nfs_row rows_v42[] = {
	V2(59, STATEID "q0 q4096", "0", 0),
	V2(60, STATEID STATEID "q0 q0 q4096 1 1 n:0()", "0 " WRITE_RESPONSE "1 1", 0),
	V2(60, STATEID STATEID "q0 q0 q4096 1 1 n:3(3 o:3 o:17)", "10094 1 1", ROW_ANY),
	V2(61, STATEID "3 o:3 o:17", "0 q90 0 " STATEID "n:16(3 " NETADDR ")", 0),
	V2(61, STATEID "3 o:3 o:17", "0 q90 0 " STATEID "n:1(3 o:3 o:17)", ROW_ANY),
	V2(62, STATEID "q0 q4096", "0", 0),
	V2(63, STATEID "q0 q4096 n:1(2)", "0 " BITMAP, 0),
	V2(64, "q0 q4096 " STATEID "n:1(" DEVICE "5 25)", "0", 0),
	V2(65, "q0 q4096 " STATEID "q1 q2 q3 q4 " DEVICE "1 o:0", "0", 0),
	V2(66, STATEID, "0", 0),
	V2(67, STATEID, "0 q4096 n:1(0)", 0),
	V2(68, STATEID "q0 8192", "0 1 n:10(0 q0 o:512)", 6000),
	V2(68, STATEID "q0 8192", "0 1 n:3(1 q0 q4096)", ROW_ANY),
	V2(68, STATEID "q0 8192", "0 1 n:1(0 q0 o:8192)", 500),
	V2(69, STATEID "q0 0", "0 1 q4096", 0),
	V2(70, STATEID "2 q0 q4096 q8 q0 0 q8 o:16", "0 " WRITE_RESPONSE, 0),
	V2(71, STATEID STATEID "q0 q0 q4096", "0", 0),
	V2(72, "o:9", "0 o:65536", 0),
	V2(73, "0 o:9 o:100", "0 " CINFO, 0),
	V2(74, "q0 4096", "0 q0 n:15(o:255) 1", ROW_SLACK),
	V2(75, "o:9", "0 " CINFO, 0),
	V2(25, STATEID "q0 4096", "0 1 d:4096", 0),
	V2(27, "", "0 d:100", ROW_ANY),
	{0},
};

const struct nfs_row rows_cb[] = {
	CB(0, 3, FH "w:1*0", "0 w:8*0 o:0", 0),
	CB(0, 4, STATEID "0 " FH, "0", 0),
	CB(0, 10044, "", "10044", 0),
	CB(1, 5, "1 3 0 1 " FH "q0 q4096 " STATEID, "0", 0),
	CB(1, 5, "1 3 0 2 q1 q2", "0", 0),
	CB(1, 5, "1 3 0 3", "0", 0),
	CB(1, 6, STATEID FH "n:2(n:1(4) o:12)", "0", 0),
	CB(1, 7, FH WRITE_DELEGATION, "0", 0),
	CB(1, 8, "10 n:1(3)", "0", 0),
	CB(1, 9, "10 n:1(3)", "0", 0),
	CB(1, 10, "7", "0", 0),
	CB(1, 11, SESSION "1 0 0 0 n:2(" SESSION "n:2(1 2))", "0 " SESSION "1 0 0 0", 0),
	CB(1, 12, "1 1", "0", 0),
	CB(1, 13, FH SMALL_OWNER, "0", 0),
	CB(1, 14, "n:1(n:1(2) o:28)", "0", 0),
	CB(2, 15, FH STATEID "0 " WRITE_RESPONSE, "0", 0),
	CB(2, 15, FH STATEID "5 q100", "0", 0),
	{"NFSv4 callback NULL", 0x40000000, 1, 0, -1, 0, "", "", 0},
	{"NFSv4 callback NULL, version 4", 0x40000000, 4, 0, -1, 0, "", "", 0},
	{"NFSv4 NULL", 100003, 4, 0, -1, 0, "", "", 0},
	{0},
};
