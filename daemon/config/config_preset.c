// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/config/config_preset.h"

#include <sched.h>
#include <unistd.h>

#include "daemon/config/config.h"

#define MAX_AUTO_WORKERS 64u

static uint32_t cores(void)
{
	cpu_set_t set;
	long n = sched_getaffinity(0, sizeof(set), &set) ? sysconf(_SC_NPROCESSORS_ONLN)
							 : CPU_COUNT(&set);

	return n < 1 ? 1 : n > MAX_AUTO_WORKERS ? MAX_AUTO_WORKERS : (uint32_t)n;
}

uint32_t config_preset(const struct config_key *key, const void *base)
{
	const struct service_config *service = base; /* for its keys */

	switch (key->rule) {
	case CONFIG_PRESET_CORES:
		return cores();
	case CONFIG_PRESET_PRIVILEGED:
		return config_listens_tcp(service) && service->connect.transport != TRANSPORT_TCP;
	case CONFIG_PRESET_OF_FILE:
		return service->file_registered;
	default:
		return key->value;
	}
}
