// SPDX-License-Identifier: BSD-3-Clause
/*
 * What RDMA devices this machine has, and whether as much memory may be locked as they may want.
 *
 * A slab is registered anew in each protection domain that it is used in, and locked memory is counted by registration:
 * see the table in verbs_priv.h. A slab belongs to one worker, so the number of workers makes no difference.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <sys/resource.h>

#include "fabric/verbs/trial.h"
#include "fabric/verbs/verbs_config.h"

bool verbs_devices_present(void)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	if (list)
		ibv_free_device_list(list);
	return count > 0;
}

/* One that does not say counts as the worse. */
static bool shares(struct ibv_device *device)
{
	struct ibv_context *context;
	struct ibv_device_attr attr;
	bool windows;

	if (device->transport_type == IBV_TRANSPORT_IWARP)
		return false;
	context = ibv_open_device(device);
	if (!context)
		return false;
	windows = !ibv_query_device(context, &attr) && !verbs_windows_try(context, &attr);
	ibv_close_device(context);
	return windows;
}

static void devices_get(struct verbs_memlock_devices *devices)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	*devices = (struct verbs_memlock_devices){0};
	for (int i = 0; list && i < count; i++) {
		if (shares(list[i]))
			devices->sharing++;
		else
			devices->parting++;
	}
	if (list)
		ibv_free_device_list(list);
}

size_t verbs_memlock_bytes(const struct verbs_memlock_use *use,
			   const struct verbs_memlock_devices *devices)
{
	size_t times = use->services * devices->sharing;
	size_t bytes;

	if (devices->parting)
		times += use->endpoints + 1;
	return __builtin_mul_overflow(use->memory_bytes, times, &bytes) ? SIZE_MAX : bytes;
}

/* CAP_IPC_LOCK is not asked for: siw holds even root to the limit. */
bool verbs_memlock_check(const struct verbs_memlock_use *use, char *text, size_t text_bytes)
{
	struct verbs_memlock_devices devices;
	struct rlimit limit;
	size_t need_bytes;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return true;
	devices_get(&devices);
	need_bytes = verbs_memlock_bytes(use, &devices);
	if (limit.rlim_cur >= need_bytes)
		return true;
	snprintf(
		text, text_bytes,
		"RDMA may come to lock up to %zu MiB of memory, as devices and connections register "
		"the same memory several times, but the limit is %llu KiB: set "
		"LimitMEMLOCK=infinity in the unit, or `ulimit -l unlimited`",
		need_bytes >> 20, (unsigned long long)limit.rlim_cur >> 10);
	return false;
}
