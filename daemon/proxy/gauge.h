/* SPDX-License-Identifier: BSD-3-Clause */
/* How busy a worker is, by the processor time that its thread has had of late. It belongs to the main thread. */
#ifndef DAEMON_PROXY_GAUGE_H
#define DAEMON_PROXY_GAUGE_H

#include <stdbool.h>
#include <stdint.h>

#define GAUGE_US 100000u /* the least that is looked back */
#define GAUGE_PARTS                                                                                \
	4u /* in so many parts of the time it counts; below one of them the worker is idle */

struct gauge {
	uint64_t at_us,
		cpu_us; /* when it was last looked at, and the processor time that it had had; 0 at first */
	unsigned busy; /* 0 to GAUGE_PARTS */
};

/** gauge_is_due - whether it is time to look again. */
bool gauge_is_due(const struct gauge *gauge, uint64_t now_us);
/** gauge_look - the worker has had @cpu_us of processor time by now, since it began; only when it is due. */
void gauge_look(struct gauge *gauge, uint64_t now_us, uint64_t cpu_us);

#endif
