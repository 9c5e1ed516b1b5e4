/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, as one worker uses them. */
#ifndef FABRIC_VERBS_DEVICE_H
#define FABRIC_VERBS_DEVICE_H

#include "fabric/verbs/verbs_ep.h"

/**
 * verbs_device_get - set @ep->device to this worker's view of the device that the id of @ep is on; it need not be open
 *
 * A device that was removed or has failed has another view than that of the endpoints that it had before. Returns 0 or -ENOMEM.
 */
int verbs_device_get(struct verbs_ep *ep) MUST_CHECK;
/** verbs_device_open - on the device's thread: open it, unless it is. Returns 0 or a negative errno. */
int verbs_device_open(struct verbs_device *device) MUST_CHECK;
/** verbs_device_opened - it was opened: listen to it from now on. Returns 0 or a negative errno. */
int verbs_device_opened(struct verbs_device *device) MUST_CHECK;
/**
 * verbs_device_put - @ep is no more on its device
 *
 * A device without endpoints is let go: it may have been removed, and coming back it is another one. Returns true for the last
 * endpoint, which has to call verbs_device_close() on the device's thread, and verbs_device_free() when that has come back. Until
 * then its id must stand, since that keeps the context open.
 */
bool verbs_device_put(struct verbs_ep *ep) MUST_CHECK;
/** verbs_device_close - on the device's thread: destroy what it has, after everything else. */
void verbs_device_close(struct verbs_device *device);
/** verbs_device_free - end its thread, and free it; all commands have come back. */
void verbs_device_free(struct verbs_device *device);

#endif
