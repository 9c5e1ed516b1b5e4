/* SPDX-License-Identifier: BSD-3-Clause */
/* Judges RPC-over-RDMA messages: the allowed contents of each kind, by version and sender. */
#ifndef TESTS_JUDGE_TRANSPORT_H
#define TESTS_JUDGE_TRANSPORT_H

#include "tests/judge/session.h"

/* A Send. */
struct transport_send {
	const uint8_t *msg;
	size_t len;
	bool invalidates;
	uint32_t stag;           /* that it invalidates */
	struct book_moment then; /* when it began */
};

/** transport_judge - Judges the message of a Send. */
void transport_judge(struct session *s, unsigned side, const struct transport_send *send);

#endif
