/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts socket addresses to text, v4-mapped ones as IPv4. */
#ifndef DAEMON_BASE_ADDRESS_H
#define DAEMON_BASE_ADDRESS_H

#include <netinet/in.h>
#include <sys/socket.h>

#define ADDRESS_TEXT_BYTES (INET6_ADDRSTRLEN + sizeof("[]:65535"))
#define ADDRESS_HOST_BYTES INET6_ADDRSTRLEN

/**
 * address_text - Writes "10.0.0.1:712" or "[fe80::1]:712"; "-" for an address without family.
 * Returns @text.
 */
const char *address_text(const struct sockaddr *addr, char text[ADDRESS_TEXT_BYTES]);

/**
 * address_host_text - Writes "10.0.0.1" or "fe80::1", without the port; "" for an address without
 * family. Returns @text.
 */
const char *address_host_text(const struct sockaddr *addr, char text[ADDRESS_HOST_BYTES]);

#endif
