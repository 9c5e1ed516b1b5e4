/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prevents reading asynchronous events of a device while its queues are destroyed.
 *
 * All workers that use a device share its lock. Each device has its own, so that a device that
 * hangs while destroying a queue does not block the events of another.
 */
#ifndef FABRIC_VERBS_EVENT_LOCK_H
#define FABRIC_VERBS_EVENT_LOCK_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "base/compiler.h"

struct verbs_event_lock;

/**
 * verbs_event_lock_get - Returns the event lock of a device, or NULL without memory. Any thread can
 * call all these functions.
 */
struct verbs_event_lock *verbs_event_lock_get(const struct ibv_context *context) MUST_CHECK;
/** verbs_event_lock_put - Releases a reference; the last one frees the lock. */
void verbs_event_lock_put(struct verbs_event_lock *event_lock);
/**
 * verbs_event_lock_block - Blocks reading events until verbs_event_lock_release(); several threads
 * can block at a time.
 */
void verbs_event_lock_block(struct verbs_event_lock *event_lock);
/**
 * verbs_event_lock_try_read - Returns true if an event may be read; no queue is destroyed then
 * until verbs_event_lock_release(). Never waits.
 */
bool verbs_event_lock_try_read(struct verbs_event_lock *event_lock) MUST_CHECK;
/**
 * verbs_event_lock_release - Ends verbs_event_lock_block() or a successful
 * verbs_event_lock_try_read(). Returns true if another verbs_event_lock_try_read() may have failed
 * meanwhile.
 */
bool verbs_event_lock_release(struct verbs_event_lock *event_lock) MUST_CHECK;

#endif
