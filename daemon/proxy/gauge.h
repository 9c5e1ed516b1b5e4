/* SPDX-License-Identifier: BSD-3-Clause */
/* How busy a worker is, by the processor time that its thread has had of late. It belongs to the main thread. */
#ifndef DAEMON_PROXY_GAUGE_H
#define DAEMON_PROXY_GAUGE_H

#include <stdbool.h>
#include <stdint.h>

/* The least that is looked back. */
#define GAUGE_US 100000u
/* Busy is told in so many parts of the time; a worker that is so for less than one of them is idle. */
#define GAUGE_PARTS 4u

struct gauge {
	/* When it was last looked at, and the processor time that the worker had had; 0 at first. */
	uint64_t at_us;
	uint64_t cpu_us;
	/* 0 to GAUGE_PARTS */
	unsigned busy;
};

/** gauge_is_due - whether it is time to look again. */
bool gauge_is_due(const struct gauge *gauge, uint64_t now_us);
/** gauge_look - the worker has had @cpu_us of processor time by now, since it began; only when it is due. */
void gauge_look(struct gauge *gauge, uint64_t now_us, uint64_t cpu_us);

#endif
