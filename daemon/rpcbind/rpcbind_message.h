/* SPDX-License-Identifier: BSD-3-Clause */
/* The Calls of RPCBIND version 3 (RFC 1833 section 2.2.1) by which a service comes, goes and is found, and their Replies. */
#ifndef DAEMON_RPCBIND_RPCBIND_MESSAGE_H
#define DAEMON_RPCBIND_RPCBIND_MESSAGE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "rpc/record.h"

#define RPCBIND_MAX_CALL_BYTES                                                                     \
	256u /* with its record mark, for texts as long as a mapping's here */
#define RPCBIND_MAX_REPLY_BYTES 512u
#define RPCBIND_NETID_BYTES     8u
#define RPCBIND_PORT            111u

enum rpcbind_procedure { RPCBIND_SET = 1, RPCBIND_UNSET = 2, RPCBIND_GETADDR = 3 };

enum rpcbind_reply {
	RPCBIND_YES,     /* it is done */
	RPCBIND_NO,      /* rpcbind does not: somebody else's */
	RPCBIND_ERROR,   /* it does not do such things at all */
	RPCBIND_ANOTHER, /* no Reply to this Call */
	RPCBIND_GARBAGE,
};

/**
 * rpcbind_call - encode a Call behind its record mark
 * @netid:   "tcp", "tcp6", "rdma" or "rdma6"
 * @address: the universal address; RPCBIND_SET alone looks at it
 *
 * Returns how long it is, or 0 if it does not fit.
 */
size_t rpcbind_call(uint8_t to[RPCBIND_MAX_CALL_BYTES], uint32_t xid,
		    enum rpcbind_procedure procedure, uint32_t program, uint32_t version,
		    const char *netid, const char *address) MUST_CHECK;

/* A Reply that is being received. */
struct rpcbind_input {
	struct record_parser parser;
	size_t len;
	uint8_t message[RPCBIND_MAX_REPLY_BYTES];
};

/** rpcbind_input_init - before the first byte of a connection. */
void rpcbind_input_init(struct rpcbind_input *input);
/**
 * rpcbind_input_take - take what has come, up to the end of a Reply
 * @in, @len: moved behind what was taken
 *
 * Returns RECORD_END if message[0 .. len) is a whole one, whose len is to be set to 0 before the next; RECORD_MORE;
 * or RECORD_TOO_….
 */
enum record_status rpcbind_input_take(struct rpcbind_input *input, const uint8_t **in,
				      size_t *len) MUST_CHECK;

/** rpcbind_reply - what a message says, without its record mark, to the Call @xid. */
enum rpcbind_reply rpcbind_reply(const uint8_t *message, size_t len, uint32_t xid) MUST_CHECK;
/**
 * rpcbind_reply_port - the same of RPCBIND_GETADDR
 * @port: set for RPCBIND_YES; RPCBIND_NO: there is no such program
 *
 * The host in the answer is not looked at: it may be any.
 */
enum rpcbind_reply rpcbind_reply_port(const uint8_t *message, size_t len, uint32_t xid,
				      uint16_t *port) MUST_CHECK;

#define UNIVERSAL_ADDRESS_BYTES (INET6_ADDRSTRLEN + sizeof(".255.255"))

/** universal_address - @addr as text, v4-mapped ones as IPv4; "" for an address of another family. Returns @text. */
const char *universal_address(const struct sockaddr *addr, char text[UNIVERSAL_ADDRESS_BYTES]);

#endif
