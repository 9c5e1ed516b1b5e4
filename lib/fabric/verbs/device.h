/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and releases a worker's devices, and queries their features. */
#ifndef FABRIC_VERBS_DEVICE_H
#define FABRIC_VERBS_DEVICE_H

#include "fabric/verbs/verbs_ep.h"

/**
 * verbs_device_get - Sets @ep->device to this worker's structure of the device of @ep's id; it may
 * not be open yet.
 *
 * A device that was removed or has failed gets a new structure for later endpoints. Returns 0 or
 * -ENOMEM.
 */
int verbs_device_get(struct verbs_ep *ep) MUST_CHECK;
/**
 * verbs_device_open - Opens the device, unless it is open; on the device's thread. Returns 0 or a
 * negative errno.
 */
int verbs_device_open(struct verbs_device *device) MUST_CHECK;
/** verbs_device_opened - Starts watching the opened device. Returns 0 or a negative errno. */
int verbs_device_opened(struct verbs_device *device) MUST_CHECK;
/**
 * verbs_device_put - Removes @ep from its device.
 *
 * A device without endpoints is released. Returns true for the last endpoint. That endpoint must
 * call verbs_device_close() on the device's thread, and verbs_device_free() when that has
 * completed. Its id must exist until then, because it keeps the context open.
 */
bool verbs_device_put(struct verbs_ep *ep) MUST_CHECK;
/** verbs_device_close - Destroys the device's objects, after all others; on the device's thread. */
void verbs_device_close(struct verbs_device *device);
/** verbs_device_free - Ends its thread and frees it; no command may be pending. */
void verbs_device_free(struct verbs_device *device);

#endif
