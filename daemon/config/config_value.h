/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of the configuration file that are a small language of their own: addresses and
 * prefixes.
 */
#ifndef DAEMON_CONFIG_CONFIG_VALUE_H
#define DAEMON_CONFIG_CONFIG_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

#define CONFIG_HOST_MAX_BYTES 253u /* a host name (RFC 1123), and longer than any literal */
#define CONFIG_URI_TEXT_BYTES 280u

enum transport { TRANSPORT_TCP, TRANSPORT_RDMA, TRANSPORT_IWARP, TRANSPORT_VERBS };

struct config_uri {
	enum transport transport;
	char *host; /* name or literal, without brackets; "" listens on every address */
	char *port; /* decimal */
};

/* A prefix of addresses; v4-mapped IPv6 is held as IPv4. */
struct config_cidr {
	sa_family_t family;
	unsigned prefix_bits;
	uint8_t addr[16];
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
/** config_uri_overlaps - whether two listen addresses cannot both be bound. */
bool config_uri_overlaps(const struct config_uri *a, const struct config_uri *b);
/** config_uri_is_loopback - whether only this host can reach it: a loopback literal, or "localhost". */
bool config_uri_is_loopback(const struct config_uri *uri);
/** config_uri_is_any - whether it is a literal that stands for every address of a host: 0.0.0.0 or [::]. */
bool config_uri_is_any(const struct config_uri *uri);
/** config_verbs_missing - why verbs:// cannot be had here, or NULL if it can. */
const char *config_verbs_missing(void);

/**
 * config_cidr_parse - ADDRESS[/BITS]; without BITS the address alone
 *
 * Returns NULL, or what is wrong with it; the text lasts until the next call in this thread.
 */
const char *config_cidr_parse(const char *text, struct config_cidr *cidr) MUST_CHECK;
/** config_cidr_contains - whether an IPv4 or IPv6 address, v4-mapped or not, lies in the prefix. */
bool config_cidr_contains(const struct config_cidr *cidr, const struct sockaddr *addr);

#endif
