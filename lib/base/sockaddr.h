/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses of IPv4 and IPv6, whichever it is. */
#ifndef BASE_SOCKADDR_H
#define BASE_SOCKADDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/** sockaddr_bytes - how long it is; 0 for an address of another family, or of none. */
socklen_t sockaddr_bytes(const struct sockaddr *addr);
/** sockaddr_port - the port, host order; 0 for an address of another family. */
uint16_t sockaddr_port(const struct sockaddr *addr);
/** sockaddr_set_port - give it a port, host order; nothing for an address of another family. */
void sockaddr_set_port(struct sockaddr *addr, uint16_t port);
/**
 * sockaddr_host - the address alone, IPv4 as v4-mapped: what compares equal is the same host's
 *
 * Returns false, and has set @host to all zero, for an address of another family.
 */
bool sockaddr_host(const struct sockaddr *addr, struct in6_addr *host);
/** sockaddr_same_host - whether two are the same host's, IPv4 or v4-mapped, whatever their ports. */
bool sockaddr_same_host(const struct sockaddr *a, const struct sockaddr *b);
/** sockaddr_equal - whether two are the same host's, IPv4 or v4-mapped, and of the same port. */
bool sockaddr_equal(const struct sockaddr *a, const struct sockaddr *b);

/** sockaddr_unmap - have a v4-mapped address be the IPv4 one that it stands for; nothing for others. */
void sockaddr_unmap(struct sockaddr_storage *addr);
/** sockaddr_is_loopback - whether only this host can be meant: 127/8, v4-mapped or not, or ::1. */
bool sockaddr_is_loopback(const struct sockaddr *addr);

#endif
