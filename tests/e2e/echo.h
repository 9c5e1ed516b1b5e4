/* SPDX-License-Identifier: BSD-3-Clause */
/* A server of TEST_ECHO, and clients that check its Replies, for scenarios with many of them. */
#ifndef TESTS_E2E_ECHO_H
#define TESTS_E2E_ECHO_H

#include "tests/e2e/message.h"

/* The server: answers every echo Call on every connection, and can call its clients. */
struct echo_server {
	uint32_t reverse_bytes; /* each Call is answered by a Call of this size, too; 0: none */
	unsigned long calls;    /* received */
	bool reverse_fails;     /* … whose Reply must be SYSTEM_ERR */
	unsigned long reverse_sent, reverse_answered;
	unsigned long accepted, ended; /* connections; of these, how many have closed */
};

/* A client: makes Calls one after the other, a few concurrently, and checks each Reply. */
struct echo_client {
	struct conn *conn;
	uint32_t program; /* of its Calls; 0: TEST_PROGRAM */
	uint32_t xid_base, args_len, reply_len;
	unsigned calls, window; /* in all, and concurrently */
	uint32_t from_addr;     /* host order; 0: any source address … */
	uint16_t from_port;     /* … and port */
	unsigned sent, replied;
	unsigned long reverse_received;
	bool failed; /* a Reply was wrong */
};

/** echo_server_listen - Serves on a port. */
void echo_server_listen(struct net *net, uint16_t port, struct echo_server *server);
/** echo_client_start - Connects and sends the first Calls. */
void echo_client_start(struct net *net, struct echo_client *client, uint16_t port);
/**
 * echo_client_done - Returns true if all Calls are answered, or the client failed or lost its
 * connection.
 */
bool echo_client_done(const struct echo_client *client);
/**
 * echo_client_good - Returns true if all Calls are answered correctly, and the connection is up.
 */
bool echo_client_good(const struct echo_client *client);
/** echo_client_ask - Makes one more Call and waits for its Reply; ends the program if it fails. */
void echo_client_ask(struct net *net, struct echo_client *client, const char *when);

#endif
