/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls of the measuring programs: TCP sockets over IPv4 or IPv6, epoll, and the time. */
#ifndef TESTS_BENCH_SOCKETS_H
#define TESTS_BENCH_SOCKETS_H

#include <stdint.h>
#include <sys/socket.h>

struct address {
	struct sockaddr_storage storage;
	socklen_t len;
};

/** address_parse - Parses a numeric address and a port; ends the program if they are invalid. */
struct address address_parse(const char *host, const char *port);
/** socket_listen - Returns a non-blocking listener; ends the program on failure. */
int socket_listen(const struct address *address);
/**
 * sockets_come_from - Makes later connections use ports below 1024: 300 of 127.0.0.@host, then of
 * the next address.
 */
void sockets_come_from(unsigned host);
/**
 * socket_connect - Starts to connect; does not block, nor wait to fill segments. Returns the
 * descriptor or -errno.
 */
int socket_connect(const struct address *address);
/**
 * socket_accept - The same for an incoming connection; @peer can be NULL. Returns -EAGAIN; ends the
 * program on other errors.
 */
int socket_accept(int listener, struct address *peer);
/** address_port - Returns the port of an address of address_parse() or socket_accept(). */
uint16_t address_port(const struct address *address);

int poll_new(void);
/** poll_watch - Watches a new @fd; poll_change() changes the events of a watched one. */
void poll_watch(int poll, int fd, uint32_t events, void *arg);
void poll_change(int poll, int fd, uint32_t events, void *arg);

/** files_unlimited - Raises the descriptor limit to the hard limit. */
void files_unlimited(void);
uint64_t now_ns(void);

#endif
