/* SPDX-License-Identifier: BSD-3-Clause */
/* Address prefixes of the configuration file. */
#ifndef DAEMON_CONFIG_CONFIG_CIDR_H
#define DAEMON_CONFIG_CONFIG_CIDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"

/* An address prefix; v4-mapped IPv6 is stored as IPv4. */
struct config_cidr {
	sa_family_t family;
	unsigned prefix_bits;
	uint8_t addr[16];
};

/* A list of prefixes; all zero: empty. */
struct config_cidrs {
	bool is_set; /* the file sets it */
	size_t count;
	struct config_cidr *list;
};

/* Shared with config_value.c. */
/**
 * config_value_error - Formats an error text about a value. It is valid until the next call in this
 * thread.
 */
const char *config_value_error(const char *format, ...) PRINTF_LIKE(1, 2);
/** config_decimal - Returns the decimal number @text, or -1 if it is not one or above @max. */
long config_decimal(const char *text, long max) MUST_CHECK;

/**
 * config_cidr_parse - Parses ADDRESS[/BITS]; without BITS it is a single address.
 *
 * Returns NULL, or an error text that is valid until the next call in this thread.
 */
const char *config_cidr_parse(const char *text, struct config_cidr *cidr) MUST_CHECK;
#define CONFIG_CIDR_TEXT_BYTES 56u
/** config_cidr_text - Writes the prefix as config_cidr_parse() reads it. Returns @text. */
const char *config_cidr_text(const struct config_cidr *cidr,
			     char text[static CONFIG_CIDR_TEXT_BYTES]);
/**
 * config_cidr_contains - Returns whether the prefix contains an IPv4 or IPv6 address, v4-mapped or
 * not.
 */
bool config_cidr_contains(const struct config_cidr *cidr, const struct sockaddr *addr);
/** config_cidrs_contain - Returns whether any prefix of the list contains @addr. */
bool config_cidrs_contain(const struct config_cidrs *cidrs, const struct sockaddr *addr);

/**
 * config_cidr_addr - Sets @addr to a single address, with port 0. Returns false for a prefix of
 * several addresses.
 */
bool config_cidr_addr(const struct config_cidr *cidr, struct sockaddr_storage *addr);

#endif
