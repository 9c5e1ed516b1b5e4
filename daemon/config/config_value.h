/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and names of hosts, which are a small language of their own in the configuration file. */
#ifndef DAEMON_CONFIG_CONFIG_VALUE_H
#define DAEMON_CONFIG_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define CONFIG_NAME_MAX_BYTES 64u  /* of a service */
#define CONFIG_HOST_MAX_BYTES 253u /* a host name (RFC 1123), and longer than any literal */
#define CONFIG_URI_TEXT_BYTES 280u
#define CONFIG_URI_ADDRS      2u /* of "localhost": IPv4 and IPv6 */

enum transport { TRANSPORT_TCP, TRANSPORT_RDMA, TRANSPORT_IWARP, TRANSPORT_VERBS };

struct config_uri {
	enum transport transport;
	char *host; /* name or literal, without brackets; "" listens on every address */
	char *port; /* decimal */
};

/** transport_name - "tcp", "rdma", "iwarp", "verbs". */
const char *transport_name(enum transport transport);

/**
 * config_uri_parse - TRANSPORT://HOST[:PORT]
 * @text:   the URI; the port defaults to 2049 for tcp and 20049 for the others
 * @listen: for a listener, whose host may be empty
 * @uri:    set on success; its strings are freed with config_uri_fini()
 *
 * Returns NULL, or what is wrong with it; the text lasts until the next call in this thread.
 */
const char *config_uri_parse(const char *text, bool listen, struct config_uri *uri) MUST_CHECK;
/** config_uri_fini - free what a URI holds; accepts one that is all zero. */
void config_uri_fini(struct config_uri *uri);
/** config_uri_text - as it was written, with every default; `*` for an empty host. Returns @text. */
const char *config_uri_text(const struct config_uri *uri, char text[static CONFIG_URI_TEXT_BYTES]);
/**
 * config_uri_addrs - the addresses that a URI shows: of a literal, of "localhost", or [::] where it has no host
 *
 * Returns how many; 0 for a name. IPv4 is never v4-mapped.
 */
size_t config_uri_addrs(const struct config_uri *uri,
			struct sockaddr_storage addrs[static CONFIG_URI_ADDRS]);
/** config_uri_overlaps - whether two listen addresses cannot both be bound. */
bool config_uri_overlaps(const struct config_uri *a, const struct config_uri *b);
/** config_uri_may_share - whether two addresses that overlap may be one port of one service: tcp:// and iwarp:// of one host. */
bool config_uri_may_share(const struct config_uri *a, const struct config_uri *b);
/** config_uri_is_loopback - whether only this host can reach it: a loopback literal, or "localhost". */
bool config_uri_is_loopback(const struct config_uri *uri);
/** config_uri_is_any - whether it is a literal that stands for every address of a host: 0.0.0.0 or [::]. */
bool config_uri_is_any(const struct config_uri *uri);
/** config_verbs_missing - why verbs:// cannot be had here, or NULL if it can. */
const char *config_verbs_missing(void);

/* A list of names of hosts. */
struct config_hosts {
	size_t count;
	char **names; /* each of them, and the array, are the list's */
};

/**
 * config_host_wrong - why @text is no host's name
 *
 * A name has no scheme, port or path, and letters, digits, '-', '_' and '.' only. Returns a sentence without a full
 * stop, constant; NULL if it is one.
 */
const char *config_host_wrong(const char *text);
/** config_hosts_fini - free the names. */
void config_hosts_fini(struct config_hosts *hosts);

/* Where a service's Calls of MOUNT go. */
enum mount_way {
	MOUNT_CONNECT, /* where all others go */
	MOUNT_RPCBIND, /* to the port that rpcbind of the server's host names */
	MOUNT_OFF,     /* nowhere */
	MOUNT_AT,      /* to an address */
};

struct config_mount {
	enum mount_way way;
	struct config_uri at; /* of MOUNT_AT; else all zero */
};

/**
 * config_mount_parse - "connect", "rpcbind", "off" or tcp://HOST:PORT
 * @mount: set on success; its address is freed with config_uri_fini()
 *
 * Returns NULL, or what is wrong with it; the text lasts until the next call in this thread.
 */
const char *config_mount_parse(const char *text, struct config_mount *mount) MUST_CHECK;
/** config_mount_text - as the file has it, with the address in @text. Returns a word, or @text. */
const char *config_mount_text(const struct config_mount *mount,
			      char text[static CONFIG_URI_TEXT_BYTES]);

#endif
