/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads asynchronous events of devices, and passes them to the workers of their connections. */
#ifndef FABRIC_VERBS_ASYNC_EVENT_H
#define FABRIC_VERBS_ASYNC_EVENT_H

#include "fabric/verbs/verbs_ep.h"

#define VERBS_KEY_RETRY_US 10000u /* delay before the next attempt to get a memory window */

/** verbs_async_init - Prepares a fabric for events. Returns 0 or a negative errno. */
int verbs_async_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_async_fini - Frees what verbs_async_init() created; no device must be left. */
void verbs_async_fini(struct verbs_fabric *fabric);
/**
 * verbs_async_join - Starts reading @device's events, on this worker or on another one that uses
 * it.
 *
 * Returns 0 or a negative errno.
 */
int verbs_async_join(struct verbs_device *device) MUST_CHECK;
/**
 * verbs_async_removed - Stops watching a device that was removed or has failed.
 *
 * Later endpoints use another struct verbs_device for it. Can be called again.
 */
void verbs_async_removed(struct verbs_device *device);
/**
 * verbs_async_leave - Stops reading @device's events on this worker; another worker takes over.
 * Accepts a device that has left or never joined.
 */
void verbs_async_leave(struct verbs_device *device);
/**
 * verbs_async_block - Blocks the reading of asynchronous events of @device until
 * verbs_async_unblock(); any thread; several threads can do so concurrently.
 *
 * Used while destroying a queue: for a removed device libibverbs does not wait until its events are
 * acknowledged.
 */
void verbs_async_block(struct verbs_device *device);
void verbs_async_unblock(struct verbs_device *device);
/**
 * verbs_async_request_window - Requests memory windows from the other workers, for a connection
 * that waits on @device.
 *
 * Each of them frees the unused windows that it keeps, or else the next one returned to it, and
 * then wakes the waiting connections here.
 */
void verbs_async_request_window(struct verbs_device *device);
/**
 * verbs_async_yield - Stops allocating windows of @device here for VERBS_KEY_RETRY_US, because one
 * is being freed for others.
 */
void verbs_async_yield(struct verbs_device *device);
/** verbs_async_window_freed - Notifies workers that wait for a window that some were freed. */
void verbs_async_window_freed(struct verbs_device *device);
/** verbs_async_ep_event - Handles events of an endpoint, as callback of its verbs_async_event. */
void verbs_async_ep_event(struct verbs_async_event *news, unsigned what);
/**
 * verbs_async_detach - Stops passing events to the owner of @news.
 * @context: context of its queue, which pointed to @news; NULL: it has no queue
 */
void verbs_async_detach(struct verbs_async_event *news, void **context);

#endif
