// SPDX-License-Identifier: BSD-3-Clause
/* Rows of NFS versions 2 and 3. */
#include "tests/nfs/rows.h"

/* clang-format off */
#define P2(number, args, results, slack) \
	{"NFSv2 " #number, 100003, 2, number, -1, 0, args, results, slack}
#define P3(number, args, results, slack) \
	{"NFSv3 " #number, 100003, 3, number, -1, 0, args, results, slack}
/* clang-format on */

#define FH2    "x:32 "
#define ATTR2  "1 0100644 1 0 0 1000 4096 0 8 1 2 3 4 5 6 7 8 "
#define SATTR2 "0644 0 0 0 1 2 3 4 "
#define DIROP2 FH2 "o:255 "

const struct nfs_row rows_v2[] = {
	P2(0, "", "", 0),
	P2(1, FH2, "0 " ATTR2, 0),
	P2(2, FH2 SATTR2, "0 " ATTR2, 0),
	P2(3, "", "", 0),
	P2(4, DIROP2, "0 " FH2 ATTR2, 0),
	P2(4, DIROP2, "2", ROW_ANY),
	P2(5, FH2, "0 d:1024", 0),
	P2(5, FH2, "0 d:7", ROW_ANY),
	P2(5, FH2, "5", ROW_ANY),
	P2(6, FH2 "0 8192 0", "0 " ATTR2 "d:8192", 0),
	P2(6, FH2 "0 8191 0", "0 " ATTR2 "d:8191", 0),
	P2(6, FH2 "0 8192 0", "0 " ATTR2 "d:0", ROW_ANY),
	P2(6, FH2 "0 8192 0", "5", ROW_ANY),
	P2(7, "", "", 0),
	P2(8, FH2 "0 0 0 d:4097", "0 " ATTR2, 0),
	P2(9, DIROP2 SATTR2, "0 " FH2 ATTR2, 0),
	P2(10, DIROP2, "0", 0),
	P2(11, DIROP2 DIROP2, "0", 0),
	P2(12, FH2 DIROP2, "0", 0),
	P2(13, DIROP2 "d:9 " SATTR2, "0", 0),
	P2(14, DIROP2 SATTR2, "0 " FH2 ATTR2, 0),
	P2(15, DIROP2, "0", 0),
	P2(16, FH2 "0 4096", "0 r:16(1 7 o:232 9) 0 1", ROW_SLACK),
	P2(17, FH2, "0 8192 4096 100 50 40", 0),
	{0},
};

#define FH3    "o:64 "
#define ATTR3  "1 0644 1 0 0 q1000 q4096 1 2 q3 q4 5 6 7 8 9 10 "
#define POST3  "1 " ATTR3
#define WCC3   "1 q1 2 3 4 5 " POST3
#define SATTR3 "1 0644 1 0 1 0 1 q0 2 1 2 2 3 4 "
#define DIROP3 FH3 "o:255 "
#define MADE3  "0 1 " FH3 POST3 WCC3

const struct nfs_row rows_v3[] = {
	P3(0, "", "", 0),
	P3(1, FH3, "0 " ATTR3, 0),
	P3(2, FH3 SATTR3 "1 1 2", "0 " WCC3, 0),
	P3(3, DIROP3, "0 " FH3 POST3 POST3, 0),
	P3(3, DIROP3, "2 0", ROW_ANY),
	P3(4, FH3 "63", "0 " POST3 "31", 0),
	P3(5, FH3, "0 " POST3 "d:8192", 0),
	P3(5, FH3, "0 0 d:13", ROW_ANY),
	P3(5, FH3, "5 " POST3, ROW_ANY),
	P3(6, FH3 "q0 16384", "0 " POST3 "16384 1 d:16384", 0),
	P3(6, FH3 "q0 16381", "0 " POST3 "16381 1 d:16381", 0),
	P3(6, "o:28 q0 16384", "0 0 5 1 d:5", ROW_ANY),
	P3(6, "o:28 q0 16384", "0 0 0 1 d:0", ROW_ANY),
	P3(6, FH3 "q0 16384", "70 0", ROW_ANY),
	P3(6, FH3 "q0 16384", "5 " POST3, ROW_ANY),
	P3(7, FH3 "q0 8193 2 d:8193", "0 " WCC3 "8193 2 x:8", 0),
	P3(7, "o:28 q0 8193 2 d:3", "0 0 0 3 2 x:8", ROW_ANY),
	P3(8, DIROP3 "0 " SATTR3, MADE3, 0),
	P3(8, DIROP3 "1 " SATTR3, MADE3, 0),
	P3(8, DIROP3 "2 x:8", MADE3, 0),
	P3(9, DIROP3 SATTR3, MADE3, 0),
	P3(10, DIROP3 SATTR3 "d:100", MADE3, 0),
	P3(10, DIROP3 "0 0 0 0 0 0 d:2", MADE3, 0),
	P3(11, DIROP3 "4 " SATTR3 "1 2", MADE3, 0),
	P3(11, DIROP3 "7 " SATTR3, MADE3, 0),
	P3(12, DIROP3, "0 " WCC3, 0),
	P3(13, DIROP3, "0 " WCC3, 0),
	P3(13, DIROP3, "66 " WCC3, 0),
	P3(14, DIROP3 DIROP3, "0 " WCC3 WCC3, 0),
	P3(15, FH3 DIROP3, "0 " POST3 WCC3, 0),
	P3(16, FH3 "q0 x:8 4096", "0 " POST3 "x:8 r:16(1 q7 o:228 q9) 0 1", ROW_SLACK),
	P3(17, FH3 "q0 x:8 512 8192", "0 " POST3 "x:8 r:18(1 q7 o:252 q9 " POST3 "1 " FH3 ") 0 1",
	   ROW_SLACK),
	/* What the slack is for: entries beyond the count. */
	P3(17, FH3 "q0 x:8 512 8192", "0 " POST3 "x:8 r:54(1 q7 o:252 q9 " POST3 "1 " FH3 ") 0 1",
	   ROW_SLACK),
	P3(18, FH3, "0 " POST3 "q1 q2 q3 q4 q5 q6 0", 0),
	P3(19, FH3, "0 " POST3 "1048576 1048576 4096 1048576 1048576 4096 65536 q1 0 1 27", 0),
	P3(20, FH3, "0 " POST3 "255 255 1 1 0 1", 0),
	P3(21, FH3 "q0 0", "0 " WCC3 "x:8", 0),
	{0},
};
