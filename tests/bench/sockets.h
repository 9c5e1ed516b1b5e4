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

/** address_parse - a numeric address and a port; ends the program if they are none. */
struct address address_parse(const char *host, const char *port);
/** socket_listen - does not block; ends the program if it cannot. */
int socket_listen(const struct address *address);
/** sockets_come_from - connections from now on come from ports below 1024: 300 of 127.0.0.@host, then of the next address. */
void sockets_come_from(unsigned host);
/** socket_connect - begins to; does not block, nor wait to fill segments. Returns the descriptor or -errno. */
int socket_connect(const struct address *address);
/** socket_accept - the same of a connection that came; @peer may be NULL. Ends the program but for -EAGAIN. */
int socket_accept(int listener, struct address *peer);
/** address_port - of what address_parse() or socket_accept() gave. */
uint16_t address_port(const struct address *address);

int poll_new(void);
/** poll_watch - @fd, which is new there; poll_change() - it was watched already. */
void poll_watch(int poll, int fd, uint32_t events, void *arg);
void poll_change(int poll, int fd, uint32_t events, void *arg);

/** files_unlimited - as many descriptors as the hard limit allows. */
void files_unlimited(void);
uint64_t now_ns(void);

#endif
