/* SPDX-License-Identifier: BSD-3-Clause */
/* The servers of a service as the control socket shows them. */
#ifndef DAEMON_VIEW_SERVER_JSON_H
#define DAEMON_VIEW_SERVER_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/service/service.h"

/** server_json - the one that does best, and what waits for any of them. */
json_t *server_json(struct service *service, uint64_t now_us);
/** targets_json - each of them, in the order of the file. */
json_t *targets_json(struct targets *targets, uint64_t now_us);

#endif
