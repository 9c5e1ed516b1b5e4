/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefixes of addresses, as the configuration file writes them. */
#ifndef DAEMON_CONFIG_CONFIG_CIDR_H
#define DAEMON_CONFIG_CONFIG_CIDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

/* A prefix of addresses; v4-mapped IPv6 is held as IPv4. */
struct config_cidr {
	sa_family_t family;
	unsigned prefix_bits;
	uint8_t addr[16];
};

/* A list of them; all zero is an empty one. */
struct config_cidrs {
	bool said; /* the file has it */
	size_t count;
	struct config_cidr *list;
};

/* For config_value.c, too, which the client (daemon/ctl) does not link. */
/** config_complaint - what is wrong with a value; the text lasts until the next call in this thread. */
const char *config_complaint(const char *format, ...) PRINTF_LIKE(1, 2);
/** config_decimal - a plain decimal number of at most @max; -1 for anything else. */
long config_decimal(const char *text, long max) MUST_CHECK;

/**
 * config_cidr_parse - ADDRESS[/BITS]; without BITS the address alone
 *
 * Returns NULL, or what is wrong with it; the text lasts until the next call in this thread.
 */
const char *config_cidr_parse(const char *text, struct config_cidr *cidr) MUST_CHECK;
#define CONFIG_CIDR_TEXT_BYTES 56u
/** config_cidr_text - as config_cidr_parse() takes it. Returns @text. */
const char *config_cidr_text(const struct config_cidr *cidr,
			     char text[static CONFIG_CIDR_TEXT_BYTES]);
/** config_cidr_contains - whether an IPv4 or IPv6 address, v4-mapped or not, lies in the prefix. */
bool config_cidr_contains(const struct config_cidr *cidr, const struct sockaddr *addr);
/** config_cidrs_contain - whether one of a list does. */
bool config_cidrs_contain(const struct config_cidrs *cidrs, const struct sockaddr *addr);

/** config_cidr_addr - the one address that it is, with port 0; false, and @addr untouched, for a prefix of several. */
bool config_cidr_addr(const struct config_cidr *cidr, struct sockaddr_storage *addr);

#endif
