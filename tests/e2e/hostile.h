/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hostile peers: what each does on its one connection, and the useless servers of their services.
 */
#ifndef TESTS_E2E_HOSTILE_H
#define TESTS_E2E_HOSTILE_H

#include "tests/e2e/mpa.h"

/* A generator of numbers determined by the seed (splitmix64). */
struct dice {
	uint64_t state;
};

/* The target of hostile connections. */
struct hostile_target {
	uint16_t port;
	bool rdma;        /* a listener on iwarp; else on TCP */
	uint32_t program; /* port to which it makes Calls */
};

/* One hostile connection. */
struct hostile {
	struct mpa mpa; /* its connection; the rest is for RDMA peers */
	const struct hostile_kind *kind;
	const struct hostile_target *target;
	struct dice dice;   /* its own, so that others do not change its actions */
	bool begun;         /* the action after set-up was done */
	uint64_t leaves_ms; /* when it disconnects, whatever its state */
	struct buf drip;    /* sent one byte a second */
	size_t dripped;
	uint64_t drips_ms; /* when the next byte is due */
};

struct hostile_kind {
	const char *name;
	bool rdma;                        /* it is for listeners on iwarp */
	bool set_up;                      /* an RDMA peer that acts after a good MPA set-up */
	bool deaf;                        /* it reads nothing */
	bool lingers;                     /* it stays for seconds */
	bool vanishes;                    /* it always ends with a RST */
	void (*begin)(struct hostile *h); /* its bytes; NULL: nothing */
};

/** dice_throw - Returns a number from 0 to @n - 1. */
uint32_t dice_throw(struct dice *dice, uint32_t n);

/** hostile_kind_of - Returns a random kind for listeners on iwarp or on TCP. */
const struct hostile_kind *hostile_kind_of(struct dice *dice, bool rdma);
/** hostile_kind_number - Returns the index of @kind among all kinds. */
unsigned hostile_kind_number(const struct hostile_kind *kind);
/** hostile_kind_at - Returns the kind with an index, or NULL past the last one. */
const struct hostile_kind *hostile_kind_at(unsigned number);

/**
 * hostile_serve_echo - Runs a server at @port that answers Calls with as many bytes as they
 * request.
 */
void hostile_serve_echo(struct net *net, uint16_t port);
/** hostile_serve_silence - Runs a server at @port that reads everything and answers nothing. */
void hostile_serve_silence(struct net *net, uint16_t port);

#endif
