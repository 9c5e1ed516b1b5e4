// SPDX-License-Identifier: BSD-3-Clause
/*
 * Lists this machine's RDMA devices, and checks whether enough memory may be locked for them.
 *
 * A slab is registered in each protection domain that uses it, and locked memory counts once per
 * registration: see the table in pd.h. A slab belongs to one worker, so the number of workers
 * does not matter.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/minmax.h"
#include "fabric/verbs/cq.h"
#include "fabric/verbs/mw_detect.h"
#include "fabric/verbs/qp.h"
#include "fabric/verbs/verbs_config.h"

#define PAGE_BYTES      4096u
#define MLX5_SEND_BYTES 384u /* per work request, for 128 bytes inline and FABRIC_MAX_SGE buffers */
#define MLX5_CQE_BYTES  64u

bool verbs_devices_present(void)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	if (list)
		ibv_free_device_list(list);
	return count > 0;
}

/* Returns true if the device's connections share a domain; false also if that is unknown. */
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
	windows = !ibv_query_device(context, &attr) && !verbs_mw_try(context, &attr);
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
			devices->shared_pd++;
		else
			devices->per_peer++;
	}
	if (list)
		ibv_free_device_list(list);
}

size_t verbs_memlock_bytes(const struct verbs_memlock_use *use,
			   const struct verbs_memlock_devices *devices)
{
	size_t times = use->services * devices->shared_pd;
	size_t bytes;

	if (devices->per_peer || (devices->shared_pd && use->per_peer))
		times += use->domains + 1;
	if (__builtin_mul_overflow(use->memory_bytes, times, &bytes))
		return SIZE_MAX;
	if (devices->shared_pd + devices->per_peer &&
	    __builtin_add_overflow(bytes, use->queues_bytes, &bytes))
		return SIZE_MAX;
	return bytes;
}

static size_t power_of_two(size_t n)
{
	return (size_t)1 << (8 * sizeof(unsigned long) - (size_t)__builtin_clzl(n - 1));
}

static size_t pages(size_t bytes)
{
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static size_t cq_bytes(size_t cqes)
{
	return pages(power_of_two(cqes + 1) * MLX5_CQE_BYTES);
}

/*
 * libmlx5: a bind with its data takes 192 bytes, and inline data its own size, in blocks of 64. A
 * receive with one buffer takes 16, a completion 64. Each queue is a power of two of bytes or
 * entries.
 */
size_t verbs_queues_bytes(unsigned recvs)
{
	size_t sends = power_of_two(VERBS_SQ_DEPTH * MLX5_SEND_BYTES);
	size_t receives = pages(power_of_two(recvs + 1) * 16);

	return sends + receives + cq_bytes(VERBS_SQ_DEPTH + recvs) + PAGE_BYTES;
}

size_t verbs_cqs_spare_bytes(unsigned endpoints, unsigned recvs)
{
	size_t share_bytes = cq_bytes(VERBS_SQ_DEPTH + recvs), bytes = 0, spare_bytes = 0;
	unsigned need = VERBS_SQ_DEPTH + recvs, cqes = 0, held = 0;

	/* The maximum is reached when the first endpoint of a new queue has joined. */
	while (held < endpoints) {
		unsigned next = max_u32(verbs_cq_next(cqes), need);

		bytes += cq_bytes(next);
		if (bytes > (held + 1) * share_bytes + spare_bytes)
			spare_bytes = bytes - (held + 1) * share_bytes;
		held += next / need;
		cqes += next;
	}
	return spare_bytes;
}

/* CAP_IPC_LOCK is not checked: siw applies the limit even to root. */
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
	snprintf(text, text_bytes,
		 "RDMA can lock up to %zu MiB of memory, because devices and connections register "
		 "the same memory several times, but the limit is %llu KiB: set "
		 "LimitMEMLOCK=infinity in the unit, or `ulimit -l unlimited`",
		 need_bytes >> 20, (unsigned long long)limit.rlim_cur >> 10);
	return false;
}
