/* SPDX-License-Identifier: BSD-3-Clause */
/* The words that keys of the type CONFIG_KEY_CHOICE take, in the order of their enums: for config_keys.c alone. */
#ifndef DAEMON_CONFIG_CONFIG_CHOICES_H
#define DAEMON_CONFIG_CONFIG_CHOICES_H

#include <stddef.h>

#include "daemon/config/config.h"

static const char *const source_port_choices[] = {
	[SOURCE_PORT_AUTO] = "auto",
	[SOURCE_PORT_RESERVED] = "reserved",
	[SOURCE_PORT_ANY] = "any",
	NULL,
};

static const char *const source_choices[] = {
	[SOURCE_PROXY] = "proxy",
	[SOURCE_CLIENT] = "client",
	NULL,
};

static const char *const log_level_choices[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARNING] = "warning",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
	NULL,
};

static const char *const ddp_choices[] = {
	[DDP_NONE] = "none",
	[DDP_NFS] = "nfs",
	NULL,
};

static const char *const balance_choices[] = {
	[BALANCE_STANDBY] = "standby",
	[BALANCE_SOURCE] = "source",
	NULL,
};

static const char *const compat_choices[] = {
	[DIALECT_RFC8166] = "rfc8166",
	[DIALECT_DRAFT03] = "draft03",
	NULL,
};

static const char *const done_policy_choices[] = {
	[DONE_POLICY_CLOSE] = "close",
	[DONE_POLICY_WITHDRAW] = "withdraw",
	NULL,
};

static const char *const peer_choices[] = {
#define PEER_CHOICE(name, text) [PEER_##name] = (text),
	PEER_PROFILES(PEER_CHOICE)
#undef PEER_CHOICE
		NULL,
};

static const char *const memory_windows_choices[] = {
	[MEMORY_WINDOWS_AUTO] = "auto",
	[MEMORY_WINDOWS_OFF] = "off",
	NULL,
};

static const char *const rdma_domain_choices[] = {
	[VERBS_DOMAIN_AUTO] = "auto",
	[VERBS_DOMAIN_CONNECTION] = "connection",
	[VERBS_DOMAIN_PEER] = "peer",
	[VERBS_DOMAIN_WORKER] = "worker",
	NULL,
};

static const char *const fpdu_max_choices[] = {
	[IWARP_FPDU_AUTO] = "auto",
	[IWARP_FPDU_MSS] = "mss",
	[IWARP_FPDU_64K] = "64k",
	NULL,
};

#endif
