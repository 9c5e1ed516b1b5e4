/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses URIs and host names of the configuration file. */
#ifndef DAEMON_CONFIG_CONFIG_VALUE_H
#define DAEMON_CONFIG_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define CONFIG_NAME_MAX_BYTES 64u  /* of a service */
#define CONFIG_HOST_MAX_BYTES 253u /* a host name (RFC 1123); longer than any literal */
#define CONFIG_URI_TEXT_BYTES 280u
#define CONFIG_URI_ADDRS      2u /* of "localhost": IPv4 and IPv6 */

enum transport { TRANSPORT_TCP, TRANSPORT_RDMA, TRANSPORT_IWARP, TRANSPORT_VERBS };

struct config_uri {
	enum transport transport;
	char *host; /* name or literal, without brackets; "": listen on every address */
	char *port; /* decimal */
};

/** transport_name - Returns "tcp", "rdma", "iwarp" or "verbs". */
const char *transport_name(enum transport transport);

/**
 * config_uri_parse - Parses TRANSPORT://HOST[:PORT].
 * @text:   the URI; the port defaults to 2049 for tcp and 20049 for the others
 * @listen: the URI of a listener, whose host can be empty
 * @uri:    set on success; free its strings with config_uri_fini()
 *
 * Returns NULL, or an error text that is valid until the next call in this thread.
 */
const char *config_uri_parse(const char *text, bool listen, struct config_uri *uri) MUST_CHECK;
/** config_uri_fini - Frees the strings of a URI; accepts a zeroed one. */
void config_uri_fini(struct config_uri *uri);
/** config_uri_text - Writes the URI with its port, and `*` for an empty host. Returns @text. */
const char *config_uri_text(const struct config_uri *uri, char text[static CONFIG_URI_TEXT_BYTES]);
/**
 * config_uri_addrs - Gets the addresses of a literal, of "localhost", or [::] for an empty host.
 *
 * Returns their number; 0 for a name. IPv4 is never v4-mapped.
 */
size_t config_uri_addrs(const struct config_uri *uri,
			struct sockaddr_storage addrs[static CONFIG_URI_ADDRS]);
/** config_uri_overlaps - Returns whether two listeners cannot both bind their addresses. */
bool config_uri_overlaps(const struct config_uri *a, const struct config_uri *b);
/**
 * config_uri_can_share - Returns whether two listeners of a service can share a port: tcp:// and
 * iwarp:// of one host.
 */
bool config_uri_can_share(const struct config_uri *a, const struct config_uri *b);
/** config_uri_is_loopback - Returns whether the host is a loopback literal or "localhost". */
bool config_uri_is_loopback(const struct config_uri *uri);
/** config_uri_is_any - Returns whether the host is 0.0.0.0 or [::]. */
bool config_uri_is_any(const struct config_uri *uri);
/** config_uri_lacks_zone - Returns whether the host is a link-local IPv6 literal without a zone. */
bool config_uri_lacks_zone(const struct config_uri *uri);
/** config_verbs_missing - Returns why verbs:// cannot be used on this host, or NULL if it can. */
const char *config_verbs_missing(void);

/* A list of host names. */
struct config_hosts {
	size_t count;
	char **names; /* owned by the list, including each string */
};

/**
 * config_host_error - Returns why @text is not a host name, or NULL if it is one.
 *
 * A name has no scheme, port or path, and only letters, digits, '-', '_' and '.'. The text is
 * constant, without a full stop.
 */
const char *config_host_error(const char *text);
/**
 * config_tls_server_error - Returns why @text is not a name or an IP address as in a server's
 * certificate, or NULL. The text is as that of config_host_error().
 */
const char *config_tls_server_error(const char *text);
/**
 * config_tls_peer_error - Returns why @text does not select certificates of clients, or NULL. It can
 * also be a name whose first label is a wildcard, or a fingerprint ("sha256:" and 64 digits).
 */
const char *config_tls_peer_error(const char *text);
/** config_hosts_fini - Frees the names. */
void config_hosts_fini(struct config_hosts *hosts);

/* Destination of a service's MOUNT Calls. */
enum mount_mode {
	MOUNT_CONNECT, /* the service's server */
	MOUNT_RPCBIND, /* the port that the rpcbind of the server reports */
	MOUNT_OFF,     /* none */
	MOUNT_AT,      /* a configured address */
};

struct config_mount {
	enum mount_mode way;
	struct config_uri at; /* for MOUNT_AT; otherwise all zero */
};

/**
 * config_mount_parse - Parses "connect", "rpcbind", "off" or tcp://HOST:PORT.
 * @mount: set on success; free its address with config_uri_fini()
 *
 * Returns NULL, or an error text that is valid until the next call in this thread.
 */
const char *config_mount_parse(const char *text, struct config_mount *mount) MUST_CHECK;
/**
 * config_mount_text - Returns the value in file syntax: a constant word, or the address in @text.
 */
const char *config_mount_text(const struct config_mount *mount,
			      char text[static CONFIG_URI_TEXT_BYTES]);

#endif
