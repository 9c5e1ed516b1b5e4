/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets in: connections on the main thread, on their way from a listener to a worker, and the descriptors for them. */
#ifndef DAEMON_PROXY_ADMISSION_H
#define DAEMON_PROXY_ADMISSION_H

#include "daemon/service/listener.h"

/* How often that clients wait for descriptors is told. */
#define ADMISSION_TELL_US 60000000u

/* What a listener of a service does; the arg is its struct proxy_service. */
extern const struct listener_events admission_events;

/** admission_most_connections - of two descriptors each, of those that are neither taken now nor kept for the rest. */
unsigned admission_most_connections(void);

#endif
