/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, as one worker uses them. */
#ifndef FABRIC_VERBS_DEVICE_H
#define FABRIC_VERBS_DEVICE_H

#include "fabric/verbs/verbs_priv.h"

/** verbs_device_get - this worker's view of the device behind @context, with one endpoint more; or NULL. */
struct verbs_device *verbs_device_get(struct verbs_fabric *fabric, struct ibv_context *context);
/** verbs_device_put - one endpoint less; its id must still stand, since that keeps the context open. */
void verbs_device_put(struct verbs_device *device);
/** verbs_device_removed - the device of an endpoint is gone: do not listen to it any more. */
void verbs_device_removed(struct verbs_device *device);
/** verbs_devices_free - let go of all devices; no endpoint is left. */
void verbs_devices_free(struct verbs_fabric *fabric);

#endif
