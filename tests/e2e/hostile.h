/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hostile peers: what each does on its one connection, and the useless servers of their services.
 */
#ifndef TESTS_E2E_HOSTILE_H
#define TESTS_E2E_HOSTILE_H

#include "tests/e2e/mpa.h"

/* A generator of numbers that depend on the seed alone (splitmix64). */
struct dice {
	uint64_t state;
};

/* Where hostile connections go. */
struct hostile_target {
	uint16_t port;
	bool rdma;        /* a listener on iwarp; else on TCP */
	uint32_t program; /* whose Calls are made there */
};

/* One hostile connection. */
struct hostile {
	struct mpa mpa; /* its connection; the rest is for RDMA peers */
	const struct hostile_kind *kind;
	const struct hostile_target *target;
	struct dice dice;   /* its own, so that others do not change what it does */
	bool begun;         /* what comes once it is set up was done */
	uint64_t leaves_ms; /* when it goes, whatever has become of it */
	struct buf drip;    /* sent one byte a second */
	size_t dripped;
	uint64_t drips_ms; /* when the next byte is due */
};

struct hostile_kind {
	const char *name;
	bool rdma;                        /* it is for listeners on iwarp */
	bool set_up;                      /* an RDMA peer that begins after a good MPA set-up */
	bool deaf;                        /* it reads nothing */
	bool lingers;                     /* it stays for seconds */
	bool vanishes;                    /* it ends by a RST, always */
	void (*begin)(struct hostile *h); /* what it sends; NULL: nothing */
};

/** dice_throw - a number from 0 to @n - 1. */
uint32_t dice_throw(struct dice *dice, uint32_t n);

/** hostile_kind_of - one of the kinds for listeners on iwarp or on TCP, by chance. */
const struct hostile_kind *hostile_kind_of(struct dice *dice, bool rdma);
/** hostile_kind_number - the place of @kind among all, which are counted. */
unsigned hostile_kind_number(const struct hostile_kind *kind);
/** hostile_kind_at - NULL past the last one. */
const struct hostile_kind *hostile_kind_at(unsigned number);

/** hostile_serve_echo - a server at @port that answers Calls with as much as they ask for. */
void hostile_serve_echo(struct net *net, uint16_t port);
/** hostile_serve_silence - a server at @port that takes everything and answers nothing. */
void hostile_serve_silence(struct net *net, uint16_t port);

#endif
