// SPDX-License-Identifier: BSD-3-Clause
/* Rows of the side programs of NFS: NFSACL, MOUNT, NLM, NSM, rpcbind. */
#include "tests/nfs/rows.h"

/* clang-format off */
#define P(program, prog, vers, number, args, results, slack) \
	{program " " #number, prog, vers, number, -1, 0, args, results, slack}
/* clang-format on */
#define A2(number, ...) P("NFSACLv2", 100227, 2, number, __VA_ARGS__)
#define A3(number, ...) P("NFSACLv3", 100227, 3, number, __VA_ARGS__)
#define M1(number, ...) P("MOUNTv1", 100005, 1, number, __VA_ARGS__)
#define M2(number, ...) P("MOUNTv2", 100005, 2, number, __VA_ARGS__)
#define M3(number, ...) P("MOUNTv3", 100005, 3, number, __VA_ARGS__)
#define L1(number, ...) P("NLMv1", 100021, 1, number, __VA_ARGS__)
#define L3(number, ...) P("NLMv3", 100021, 3, number, __VA_ARGS__)
#define L4(number, ...) P("NLMv4", 100021, 4, number, __VA_ARGS__)
#define S1(number, ...) P("NSMv1", 100024, 1, number, __VA_ARGS__)
#define B2(number, ...) P("RPCBINDv2", 100000, 2, number, __VA_ARGS__)
#define B3(number, ...) P("RPCBINDv3", 100000, 3, number, __VA_ARGS__)
#define B4(number, ...) P("RPCBINDv4", 100000, 4, number, __VA_ARGS__)

#define FH2             "x:32 "
#define ATTR2           "1 0100644 1 0 0 1000 4096 0 8 1 2 3 4 5 6 7 8 "
#define FH3             "o:64 "
#define POST3           "1 1 0644 1 0 0 q1000 q4096 1 2 q3 q4 5 6 7 8 9 10 "
#define ACES            "1024 n:1024(1 0 7) "
#define SECATTR         "15 " ACES ACES

/* No more than the service's ceiling is promised of lists. */
#define UNBOUNDED      ROW_ANY

#define COOKIE         "o:1024 "
#define LOCK1          "o:255 o:32 o:1024 7 0 10 "
#define LOCK4          "o:255 o:64 o:1024 7 q0 q10 "
#define TEST(lock)     COOKIE "1 " lock
#define LOCKARGS(lock) COOKIE "1 1 " lock "0 3 "
#define CANCEL(lock)   COOKIE "1 1 " lock
#define UNLOCK(lock)   COOKIE lock
#define SHARE          COOKIE "o:255 o:32 o:1024 1 1 0"

#define NLM_ROWS(L, lock, denied)                                                                  \
	L(0, "", "", 0), L(1, TEST(lock), COOKIE denied, 0),                                       \
		L(1, TEST(lock), COOKIE "0", ROW_ANY), L(2, LOCKARGS(lock), COOKIE "0", 0),        \
		L(3, CANCEL(lock), COOKIE "0", 0), L(4, UNLOCK(lock), COOKIE "0", 0),              \
		L(5, TEST(lock), COOKIE "0", 0), L(6, TEST(lock), "", 0),                          \
		L(7, LOCKARGS(lock), "", 0), L(8, CANCEL(lock), "", 0), L(9, UNLOCK(lock), "", 0), \
		L(10, TEST(lock), "", 0), L(11, COOKIE denied, "", 0), L(12, COOKIE "0", "", 0),   \
		L(13, COOKIE "0", "", 0), L(14, COOKIE "0", "", 0), L(15, COOKIE "0", "", 0)
#define NLM3_ROWS(L, lock)                                                                         \
	L(20, SHARE, COOKIE "0 1", 0), L(21, SHARE, COOKIE "0 1", 0),                              \
		L(22, LOCKARGS(lock), COOKIE "0", 0), L(23, "o:255 3", "", 0)
#define DENIED1   "1 1 7 o:1024 0 10"
#define DENIED4   "1 1 7 o:1024 q0 q10"

#define RPCB      "100003 3 o:3 o:17 o:9 "
#define RPCB_LIST "r:3(1 " RPCB ") 0"

const struct nfs_row rows_side[] = {
	A2(0, "", "", 0),
	A2(1, FH2 "15", "0 " ATTR2 SECATTR, 0),
	A2(2, FH2 SECATTR, "0 " ATTR2, 0),
	A2(3, FH2, "0 " ATTR2, 0),
	A2(4, FH2 "63", "0 " ATTR2 "31", 0),
	A2(5, FH2 "0", "0 " FH2 ATTR2, 0),
	A3(0, "", "", 0),
	A3(1, FH3 "15", "0 " POST3 SECATTR, 0),
	A3(1, FH3 "15", "5 " POST3, ROW_ANY),
	A3(2, FH3 SECATTR, "0 " POST3, 0),
	A3(3, FH3 "0", "0 " FH3 POST3, 0),

	M1(0, "", "", 0),
	M1(1, "o:1024", "0 " FH2, 0),
	M1(2, "", "r:3(1 o:20 o:30) 0", UNBOUNDED),
	M1(3, "o:1024", "", 0),
	M1(4, "", "", 0),
	M1(5, "", "r:3(1 o:20 r:2(1 o:9) 0) 0", UNBOUNDED),
	M1(6, "", "r:3(1 o:20 r:2(1 o:9) 0) 0", UNBOUNDED),
	M2(0, "", "", 0),
	M2(1, "o:1024", "0 " FH2, 0),
	M2(2, "", "r:3(1 o:20 o:30) 0", UNBOUNDED),
	M2(3, "o:1024", "", 0),
	M2(4, "", "", 0),
	M2(5, "", "r:3(1 o:20 r:2(1 o:9) 0) 0", UNBOUNDED),
	M2(6, "", "r:3(1 o:20 r:2(1 o:9) 0) 0", UNBOUNDED),
	M2(7, "o:1024", "1 2 3 4 5 6 7 8 9 10", 0),
	M3(0, "", "", 0),
	M3(1, "o:1024", "0 " FH3 "w:256*6", 0),
	M3(1, "o:1024", "13", ROW_ANY),
	M3(2, "", "r:3(1 o:20 o:30) 0", UNBOUNDED),
	M3(3, "o:1024", "", 0),
	M3(4, "", "", 0),
	M3(5, "", "r:3(1 o:20 r:2(1 o:9) 0) 0", UNBOUNDED),

	NLM_ROWS(L1, LOCK1, DENIED1),
	NLM_ROWS(L3, LOCK1, DENIED1),
	NLM3_ROWS(L3, LOCK1),
	NLM_ROWS(L4, LOCK4, DENIED4),
	NLM3_ROWS(L4, LOCK4),

	S1(0, "", "", 0),
	S1(1, "o:100", "0 1", 0),
	S1(2, "o:100 o:100 100021 4 16 x:16", "0 1", 0),
	S1(3, "o:100 o:100 100021 4 16", "1", 0),
	S1(4, "o:100 100021 4 16", "1", 0),
	S1(5, "", "", 0),
	S1(6, "o:100 1", "", 0),

	B2(0, "", "", 0),
	B2(1, "100003 3 6 2049", "1", 0),
	B2(2, "100003 3 6 2049", "1", 0),
	B2(3, "100003 3 6 0", "2049", 0),
	B2(4, "", "r:3(1 100003 3 6 2049) 0", UNBOUNDED),
	B2(5, "100003 3 0 o:0", "2049 o:0", UNBOUNDED),
	B3(0, "", "", 0),
	B3(1, RPCB, "1", 0),
	B3(2, RPCB, "1", 0),
	B3(3, RPCB, "o:1024", 0),
	B3(4, "", RPCB_LIST, UNBOUNDED),
	B3(5, "100003 3 0 o:0", "o:17 o:0", UNBOUNDED),
	B3(6, "", "1000000", 0),
	B3(7, "o:17", "16 o:1024", 0),
	B3(8, "16 o:16", "o:1024", 0),
	B4(0, "", "", 0),
	B4(1, RPCB, "1", 0),
	B4(2, RPCB, "1", 0),
	B4(3, RPCB, "o:1024", 0),
	B4(4, "", RPCB_LIST, UNBOUNDED),
	B4(5, "100003 3 0 o:0", "o:17 o:0", UNBOUNDED),
	B4(6, "", "1000000", 0),
	B4(7, "o:17", "16 o:1024", 0),
	B4(8, "16 o:16", "o:1024", 0),
	B4(9, RPCB, "o:1024", 0),
	B4(10, "100003 3 0 o:0", "o:17 o:0", UNBOUNDED),
	B4(11, RPCB, "r:2(1 o:17 o:3 3 o:4 o:3) 0", UNBOUNDED),
	B4(12, "", "r:3(r:13(1) 2 3 r:2(1 100003 3 4 5 o:3) 0 r:2(1 100003 3 0 4 5 0 o:3) 0)",
	   UNBOUNDED),
	{0},
};
