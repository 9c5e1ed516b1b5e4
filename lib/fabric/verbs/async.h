/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events of devices: who reads them, and what their connections are told. */
#ifndef FABRIC_VERBS_ASYNC_H
#define FABRIC_VERBS_ASYNC_H

#include "fabric/verbs/verbs_ep.h"

#define VERBS_KEY_RETRY_US 10000u /* to the next attempt to have a memory window */

/** verbs_async_init - prepare a fabric to hear of its connections. Returns 0 or a negative errno. */
int verbs_async_init(struct verbs_fabric *fabric) MUST_CHECK;
/** verbs_async_fini - no device is left. */
void verbs_async_fini(struct verbs_fabric *fabric);
/**
 * verbs_async_join - @device's events are read from now on, here or by another worker that uses it
 *
 * Returns 0 or a negative errno.
 */
int verbs_async_join(struct verbs_device *device) MUST_CHECK;
/**
 * verbs_async_removed - the device was removed, or has failed: do not listen to it here any more
 *
 * Endpoints that are made from now on use another view of it. May be called again.
 */
void verbs_async_removed(struct verbs_device *device);
/** verbs_async_leave - not here any more; another worker takes over. Accepts one that has left or never joined. */
void verbs_async_leave(struct verbs_device *device);
/**
 * verbs_async_hold - read no asynchronous event of @device until verbs_async_release(); any thread, several at once
 *
 * Around the end of a queue: once its device is gone, libibverbs does not wait for events of it that are not acknowledged.
 */
void verbs_async_hold(struct verbs_device *device);
void verbs_async_release(struct verbs_device *device);
/**
 * verbs_async_want_window - a connection on @device waits for a memory window: ask the other workers for theirs
 *
 * They free those that they keep for themselves and lend to nobody, or the next that they have back; then the connections
 * that wait here are woken.
 */
void verbs_async_want_window(struct verbs_device *device);
/** verbs_async_yield - a window of @device is being freed for others: none is allocated here for VERBS_KEY_RETRY_US. */
void verbs_async_yield(struct verbs_device *device);
/** verbs_async_gave_window - windows of @device were freed: the workers that want one hear of it. */
void verbs_async_gave_window(struct verbs_device *device);
/** verbs_async_tell_ep - act on what a device says of an endpoint: its news.tell(). */
void verbs_async_tell_ep(struct verbs_news *news, unsigned what);
/**
 * verbs_async_forget - tell the owner of @news nothing any more
 * @context: of its queue, which has @news no longer; NULL: it has no queue
 */
void verbs_async_forget(struct verbs_news *news, void **context);

#endif
