/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses as rpcbind has them (RFC 5665 section 5.2): "192.0.2.1.8.1" is port 2049 of 192.0.2.1. */
#ifndef DAEMON_RPCBIND_UNIVERSAL_ADDRESS_H
#define DAEMON_RPCBIND_UNIVERSAL_ADDRESS_H

#include <netinet/in.h>
#include <sys/socket.h>

#define UNIVERSAL_ADDRESS_BYTES (INET6_ADDRSTRLEN + sizeof(".255.255"))

/** universal_address - @addr as text, v4-mapped ones as IPv4; "" for an address of another family. Returns @text. */
const char *universal_address(const struct sockaddr *addr, char text[UNIVERSAL_ADDRESS_BYTES]);

#endif
