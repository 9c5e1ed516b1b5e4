/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet judge: definitions shared by all its parts. The judge orders a capture (tcp.h),
 * recognises each connection by its first bytes (trial.h), and judges it as iWARP (iwarp.h) or as
 * records of ONC RPC (trial.c). Both end in the book of Calls and Replies (book.h). On iWARP it
 * parses the transport header (header.h) and judges it (transport.h) by the state of the connection
 * (session.h): its version (versions.h), the lengths of Sends (limits.h), characteristics
 * (options.h), the Connection Configuration Protocol (config.h). Errors of siw of Linux do not
 * count against the other end (excuse.h). The judge shares no code with the program that it judges.
 */
#ifndef TESTS_JUDGE_JUDGE_H
#define TESTS_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/judge/excuse.h"
#include "tests/judge/tcp.h"

struct ordered;

/* Counts that tshark has too. */
struct tally {
	uint64_t conns;
	uint64_t fpdus, crcs;
	uint64_t calls, replies; /* of both kinds of connection */
	uint64_t errors;         /* RDMA_ERRORs for Calls */
	uint64_t open_calls;     /* unanswered when their connection or the capture ended */
	uint64_t configs;        /* Calls and Replies of the Connection Configuration Protocol */
};

/* Counts over all connections. */
struct judge {
	bool cuts_allowed; /* a process was killed: connections can be refused, or end with unanswered Calls */
	bool bounded; /* the capture ended before the work did */
	bool draft03; /* RDMA_MSGP, RDMA_DONE and Replies with read chunks, which RFC 8166 reserves, are allowed */
	uint32_t config_program; /* of the Connection Configuration Protocol */
	struct excuse_peer siw;
	struct excuse_calls excused;
	struct ordered *ordered; /* where the judged streams are written, in order; or NULL */
	unsigned violations;
	uint64_t iwarp_conns, tcp_conns, other_conns, cut_conns;
	struct tally all, unread; /* of all connections; of those that tshark cannot read */
	uint64_t backward_calls;  /* of the end that was connected to */
	uint64_t reads, writes, sends;
	uint64_t sends_of_two; /* of version two, RDMA_OPTIONALs among them */
	uint64_t optionals, padded, dones;
	uint64_t crc_faults;             /* of siw */
	unsigned reads_most;             /* concurrent RDMA Reads */
	unsigned calls_most, grant_most; /* concurrent Calls that hold credits; the largest grant */
};

/* The state of one connection. */
struct hearing {
	struct judge *judge;
	const struct tcp_conn *conn;
	struct tally tally;
	bool unread; /* tshark cannot read it */
	struct excuse excuse;
};

/** judge_violation - Counts a violation, and prints it on standard output. */
void judge_violation(struct hearing *hearing, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/**
 * judge_remark - Prints a fault of a peer on standard output that is not the judged program's; no
 * violation.
 */
void judge_remark(const struct hearing *hearing, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/** judge_side - Returns a side's name. */
static inline const char *judge_side(unsigned side)
{
	return side ? "the acceptor" : "the initiator";
}

#endif
