/* SPDX-License-Identifier: BSD-3-Clause */
/* What befalls devices and listeners, told in words. */
#ifndef FABRIC_VERBS_NOTICE_H
#define FABRIC_VERBS_NOTICE_H

#include "base/compiler.h"
#include "fabric/verbs/verbs_config.h"

/** verbs_notice - tell @config's user what befell a device or a listener. */
void verbs_notice(const struct verbs_config *config, const char *fmt, ...) PRINTF_LIKE(2, 3);
/** verbs_tell_found - tell @config's user what a device was found to have. */
void verbs_tell_found(const struct verbs_config *config, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
