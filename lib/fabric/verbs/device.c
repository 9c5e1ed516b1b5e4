// SPDX-License-Identifier: BSD-3-Clause
/* Each device is opened by the first command of its thread. */
#include "fabric/verbs/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fabric/verbs/async_event.h"
#include "fabric/verbs/cq.h"
#include "fabric/verbs/event_lock.h"
#include "fabric/verbs/mw_detect.h"
#include "fabric/verbs/pd.h"

#define SIW_GAP_CQES 32768

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

/*
 * The kernel's siw maps each queue of a process at the first free place; its library (rdma-core 44)
 * takes a queue mapped at 0x90000 for a failed mapping, and the connection fails. An unused
 * completion queue across that place prevents that. (If its worker releases the device before other
 * workers, the place is free until the next worker uses the device.)
 */
static void fill_gap(struct verbs_device *device)
{
	if (device->attr.vendor_id == VERBS_SIW_VENDOR)
		device->gap = ibv_create_cq(device->context, SIW_GAP_CQES, NULL, NULL, 0);
}

static int find_out(struct verbs_device *device)
{
	int err = ibv_query_device(device->context, &device->attr);

	if (err)
		return verbs_errno(err);
	device->windows = !device->fabric->config.windows_off &&
			  verbs_mw_detect(device->context, &device->attr, &device->fabric->config);
	/*
	 * Linux: fast registration, local invalidation, IB_WR_SEND_WITH_INV; also of iWARP devices.
	 */
	device->sends_inv = device->attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS;
	device->rxe = device->attr.vendor_id == VERBS_RXE_VENDOR;
	device->shares_cqs = verbs_cq_may_share(device->attr.vendor_id);
	/*
	 * The kernel's siw copies inline data from the process when it sends them, which fails on
	 * its own thread.
	 */
	if (device->attr.vendor_id == VERBS_SIW_VENDOR) {
		device->inline_step = VERBS_NO_INLINE;
		device->signals_all = true;
	}
	device->shares = (device->windows && !device->iwarp) ||
			 device->fabric->config.pd_scope == VERBS_PD_WORKER;
	return 0;
}

static int open_channel(struct verbs_device *device)
{
	int err;

	fill_gap(device);
	errno = 0;
	device->channel = ibv_create_comp_channel(device->context);
	if (!device->channel)
		return errno ? -errno : -ENOMEM;
	err = set_nonblocking(device->channel->fd);
	return err ? err : set_nonblocking(device->context->async_fd);
}

int verbs_device_open(struct verbs_device *device)
{
	int err;

	if (device->usable)
		return 0;
	err = find_out(device);
	if (!err)
		err = open_channel(device);
	if (!err && device->shares && !verbs_pd_alloc(device->shared))
		err = errno ? -errno : -ENOMEM;
	/* The next endpoint tries again. */
	if (err)
		verbs_device_close(device);
	device->usable = !err;
	return err;
}

int verbs_device_opened(struct verbs_device *device)
{
	int err;

	if (device->removed)
		return -ENODEV;
	if (device->opened)
		return 0;
	err = verbs_fd_watch_init(&device->channel_watch, device->fabric->fabric.loop,
				  device->channel->fd, verbs_channel_ready, device);
	if (!err)
		err = verbs_async_join(device);
	if (err) {
		verbs_fd_watch_fini(&device->channel_watch);
		return err;
	}
	/* Each slab is registered once, so fewer and larger slabs are cheaper. */
	if (device->shares)
		buf_pool_large_slabs(device->fabric->fabric.pool, true);
	verbs_fd_watch_set(&device->channel_watch, true);
	device->opened = true;
	return 0;
}

static struct verbs_device *find(const struct verbs_fabric *fabric,
				 const struct ibv_context *context)
{
	struct verbs_device *device;

	LIST_FOREACH(device, &fabric->devices, entry)
		if (device->context == context && !device->removed)
			return device;
	return NULL;
}

static struct verbs_device *device_new(struct verbs_fabric *fabric, struct ibv_context *context)
{
	struct verbs_device *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;
	device->fabric = fabric;
	device->context = context;
	device->iwarp = context->device->transport_type == IBV_TRANSPORT_IWARP;
	LIST_INIT(&device->eps);
	device->shared = verbs_pd_new(device);
	if (!device->shared)
		goto out_free;
	device->event_lock = verbs_event_lock_get(context);
	if (!device->event_lock)
		goto out_shared;
	if (verbs_commands_start(&device->commands, &fabric->back))
		goto out_event_lock;
	pthread_mutex_init(&device->cq_lock, NULL);
	LIST_INSERT_HEAD(&fabric->devices, device, entry);
	return device;

out_event_lock:
	verbs_event_lock_put(device->event_lock);
out_shared:
	free(device->shared);
out_free:
	free(device);
	return NULL;
}

int verbs_device_get(struct verbs_ep *ep)
{
	struct verbs_fabric *fabric = verbs_fabric_of(ep->ep.fabric);
	struct verbs_device *device = find(fabric, ep->id->verbs);

	if (!device)
		device = device_new(fabric, ep->id->verbs);
	if (!device)
		return -ENOMEM;
	ep->device = device;
	LIST_INSERT_HEAD(&device->eps, ep, device_entry);
	return 0;
}

bool verbs_device_put(struct verbs_ep *ep)
{
	struct verbs_device *device = ep->device;

	LIST_REMOVE(ep, device_entry);
	if (!LIST_EMPTY(&device->eps))
		return false;
	LIST_REMOVE(device, entry);
	verbs_fd_watch_fini(&device->channel_watch);
	verbs_async_leave(device);
	if (device->opened && device->shares)
		buf_pool_large_slabs(device->fabric->fabric.pool, false);
	verbs_pd_fini(device->shared);
	return true;
}

void verbs_device_close(struct verbs_device *device)
{
	if (device->gap)
		ibv_destroy_cq(device->gap);
	if (device->channel)
		ibv_destroy_comp_channel(device->channel);
	device->gap = NULL;
	device->channel = NULL;
}

void verbs_device_free(struct verbs_device *device)
{
	verbs_commands_stop(&device->commands);
	pthread_mutex_destroy(&device->cq_lock);
	verbs_event_lock_put(device->event_lock);
	free(device);
}
