/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TLS keys of services: what they demand of each other, and the files that they name.
 *
 * config_load() checks the keys alone. config_tls_load() reads the files, which can change without
 * the configuration.
 */
#ifndef DAEMON_CONFIG_CONFIG_TLS_H
#define DAEMON_CONFIG_CONFIG_TLS_H

#include <libconfig.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/compiler.h"
#include "daemon/config/config.h"
#include "daemon/config/config_parse.h"

/* The time before its end from which a certificate is reported. */
#define CONFIG_TLS_EXPIRES_S (14 * 86400)

/** config_tls_is_used - Returns whether the service uses TLS, with clients or servers. */
static inline bool config_tls_is_used(const struct service_config *service)
{
	return service->tls.accept != CONFIG_TLS_OFF || service->tls.connect;
}

#define CONFIG_TLS_TIME_BYTES 32u
/** config_tls_time_text - Writes a Unix time as "2027-01-31 08:00 UTC"; "" for 0. Returns @text. */
const char *config_tls_time_text(int64_t time_s, char text[static CONFIG_TLS_TIME_BYTES]);

#define CONFIG_TLS_HOST_BYTES (CONFIG_HOST_MAX_BYTES + 1)
/**
 * config_tls_host_name - Writes the name or address that the certificate of a server at @host, the
 * host of a URI, must have: without a zone such as "%eth0". Returns @text.
 */
const char *config_tls_host_name(const char *host, char text[static CONFIG_TLS_HOST_BYTES]);

/** config_tls_check - Reports TLS keys of a service that need others, for config_load(). */
void config_tls_check(struct config_ctx *r, const config_setting_t *group,
		      struct service_config *service);

/**
 * config_tls_load - Reads the TLS files of all services, and makes their contexts.
 * @errors: gets all errors, one per line as "FILE:LINE: text"
 *
 * Returns 0; -ENODEV after such errors, since the files can be corrected without the configuration;
 * or -ENOMEM.
 */
int config_tls_load(struct config *config, FILE *errors) MUST_CHECK;

/**
 * config_tls_forget - Frees the contexts, once the services have them: otherwise a retired key would
 * stay in memory as long as the configuration.
 */
void config_tls_forget(struct config *config);

/**
 * config_tls_warn - Writes warnings to @out about TLS keys and files that are legal but unwise.
 *
 * Those about files need config_tls_load().
 */
void config_tls_warn(const struct service_config *service, FILE *out);
/**
 * config_tls_check_names - Writes warnings to @out about listeners that the service's certificate
 * does not name, for -t. Clients check the name or address that they mount.
 */
void config_tls_check_names(const struct service_config *service, FILE *out);
/**
 * config_tls_check_user - Writes warnings to @out about TLS files that @user cannot read, and about
 * a key that the group of @user can read, for -t by root. Writes none if there is no such user.
 */
void config_tls_check_user(const struct service_config *service, const char *user, FILE *out);

#endif
