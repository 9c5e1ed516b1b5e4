/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a key means something in a service. */
#ifndef DAEMON_CONFIG_CONFIG_SCOPE_H
#define DAEMON_CONFIG_CONFIG_SCOPE_H

#include <stdbool.h>

#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"

/** config_in_scope - whether a key of that scope does; where @service listens and connects is known. */
bool config_in_scope(const struct service_config *service, enum config_key_scope scope);

#endif
