// SPDX-License-Identifier: BSD-3-Clause
/* How busy a worker is. */
#include "daemon/proxy/gauge.h"

bool gauge_is_due(const struct gauge *gauge, uint64_t now_us)
{
	return now_us >= gauge->at_us + GAUGE_US;
}

void gauge_look(struct gauge *gauge, uint64_t now_us, uint64_t cpu_us)
{
	uint64_t had_us = cpu_us > gauge->cpu_us ? cpu_us - gauge->cpu_us : 0;
	uint64_t parts = had_us * GAUGE_PARTS / (now_us - gauge->at_us);

	gauge->busy = parts < GAUGE_PARTS ? (unsigned)parts : GAUGE_PARTS;
	gauge->at_us = now_us;
	gauge->cpu_us = cpu_us;
}
