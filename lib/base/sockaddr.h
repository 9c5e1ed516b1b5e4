/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for IPv4 and IPv6 socket addresses. */
#ifndef BASE_SOCKADDR_H
#define BASE_SOCKADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/** sockaddr_bytes - Returns the length of the address; 0 for another family or none. */
socklen_t sockaddr_bytes(const struct sockaddr *addr);
/** sockaddr_port - Returns the port in host byte order; 0 for another family. */
uint16_t sockaddr_port(const struct sockaddr *addr);
/** sockaddr_set_port - Sets the port, given in host byte order; does nothing for another family. */
void sockaddr_set_port(struct sockaddr *addr, uint16_t port);
/**
 * sockaddr_host - Stores the address without its port in @host, IPv4 as v4-mapped: equal results
 * mean the same host
 *
 * Returns true; or false, with @host all zero, for another family.
 */
bool sockaddr_host(const struct sockaddr *addr, struct in6_addr *host);
/**
 * sockaddr_same_host - Returns whether two addresses, IPv4 or v4-mapped, are equal apart from the
 * port.
 */
bool sockaddr_same_host(const struct sockaddr *a, const struct sockaddr *b);
/** sockaddr_equal - Returns whether two addresses, IPv4 or v4-mapped, and their ports are equal. */
bool sockaddr_equal(const struct sockaddr *a, const struct sockaddr *b);

/** sockaddr_unmap - Converts a v4-mapped address to IPv4; leaves others unchanged. */
void sockaddr_unmap(struct sockaddr_storage *addr);
/** sockaddr_is_loopback - Returns whether the address is 127/8, v4-mapped or not, or ::1. */
bool sockaddr_is_loopback(const struct sockaddr *addr);

#endif
