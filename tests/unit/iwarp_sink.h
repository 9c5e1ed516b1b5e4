/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks independently what an iwarp engine sends.
 *
 * It parses the stream by the documents alone (RFC 5044, 5041, 5040), without code of lib/: the
 * length, padding and CRC of each FPDU; versions and reserved bits; the direction of each opcode;
 * the numbers and offsets of each queue; and that a tagged message is complete before another
 * begins. A violation fails the test, which prints the seed.
 */
#ifndef TESTS_UNIT_IWARP_SINK_H
#define TESTS_UNIT_IWARP_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/lib/test.h"

/* The running test; failures name it. */
extern uint64_t ear_seed;

/* libcheck writes a note for each passing assertion, which is too slow here. */
#define EAR_CHECK(cond)                                                                            \
	do {                                                                                       \
		if (!(cond))                                                                       \
			ck_abort_msg("seed %llu: %s", (unsigned long long)ear_seed, #cond);        \
	} while (0)

#define EAR_MAX_FRAME   (65536u + 8u)
#define EAR_MAX_MESSAGE 8192u

enum ear_kind {
	EAR_WRITE,
	EAR_READ_REQUEST,
	EAR_READ_RESPONSE,
	EAR_SEND,
	EAR_TERMINATE,
	EAR_KINDS
};

struct ear {
	bool crc;        /* FPDUs have a CRC; else zeros instead */
	bool set_up;     /* the start-up frame has passed */
	bool terminated; /* nothing may follow */
	/* An incomplete frame. */
	uint8_t frame[EAR_MAX_FRAME];
	size_t have;
	/* The tagged message in progress. */
	bool tagged_open;
	uint8_t tagged_opcode;
	uint32_t tagged_stag;
	uint64_t tagged_to;
	/* The next numbers of each untagged queue. */
	uint32_t msn[3], send_mo;
	bool send_open;
	uint8_t send_opcode;
	uint8_t message[EAR_MAX_MESSAGE]; /* the Send in progress */
	unsigned count[EAR_KINDS];        /* whole messages */
	/* Called with each whole frame, which it can change. */
	void (*frame_heard)(void *arg, uint8_t *frame, size_t len_bytes, bool is_fpdu);
	/* Called with each whole Send. */
	void (*send_heard)(void *arg, const uint8_t *bytes, size_t len_bytes);
	void *arg;
};

/** ear_init - Initializes it; the caller sets the callbacks. */
void ear_init(struct ear *ear, bool crc, void *arg);
/** ear_hear - Parses the next sent bytes, in any pieces. */
void ear_hear(struct ear *ear, const uint8_t *bytes, size_t len_bytes);
/** ear_crc_fix - Recomputes an FPDU's CRC after a change. */
void ear_crc_fix(uint8_t *fpdu, size_t len_bytes);

#endif
