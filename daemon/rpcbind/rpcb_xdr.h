/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes Calls of RPCBIND version 3 (RFC 1833 section 2.2.1): SET, UNSET and GETADDR. Decodes the
 * Replies.
 */
#ifndef DAEMON_RPCBIND_RPCB_XDR_H
#define DAEMON_RPCBIND_RPCB_XDR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "rpc/record_mark.h"

/* with the record mark, for strings as long as in struct rpcb_mapping */
#define RPCBIND_MAX_CALL_BYTES  256u
#define RPCBIND_MAX_REPLY_BYTES 512u
#define RPCBIND_NETID_BYTES     8u
#define RPCBIND_PORT            111u

enum rpcb_procedure { RPCBIND_SET = 1, RPCBIND_UNSET = 2, RPCBIND_GETADDR = 3 };

enum rpcb_reply {
	RPCBIND_YES,     /* done */
	RPCBIND_NO,      /* not done: it belongs to another user */
	RPCBIND_ERROR,   /* RPC error */
	RPCBIND_ANOTHER, /* not a Reply to this Call */
	RPCBIND_GARBAGE,
};

/**
 * rpcb_call_encode - Encodes a Call after its record mark
 * @netid:   "tcp", "tcp6", "rdma" or "rdma6"
 * @address: the universal address; used by RPCBIND_SET only
 *
 * Returns its length, or 0 if it does not fit.
 */
size_t rpcb_call_encode(uint8_t to[RPCBIND_MAX_CALL_BYTES], uint32_t xid,
			enum rpcb_procedure procedure, uint32_t program, uint32_t version,
			const char *netid, const char *address) MUST_CHECK;

/* A Reply being received. */
struct rpcb_input {
	struct record_parser parser;
	size_t len;
	uint8_t message[RPCBIND_MAX_REPLY_BYTES];
};

/** rpcb_input_init - Initializes the input for a new connection. */
void rpcb_input_init(struct rpcb_input *input);
/**
 * rpcb_input_read - Consumes input, up to the end of a Reply
 * @in, @len: advanced past the consumed bytes
 *
 * Returns RECORD_END if message[0 .. len) is a complete Reply: set len to 0 before the next. Else
 * RECORD_MORE or RECORD_TOO_….
 */
enum record_status rpcb_input_read(struct rpcb_input *input, const uint8_t **in,
				   size_t *len) MUST_CHECK;

/**
 * rpcbind_reply - Decodes a message, without record mark, as the Reply to Call @xid. Returns its
 * meaning.
 */
enum rpcb_reply rpcbind_reply(const uint8_t *message, size_t len, uint32_t xid) MUST_CHECK;
/**
 * rpcb_reply_port - Decodes a Reply of RPCBIND_GETADDR
 * @port: set for RPCBIND_YES; RPCBIND_NO: the program is not registered
 *
 * Ignores the host in the universal address, which can be any.
 */
enum rpcb_reply rpcb_reply_port(const uint8_t *message, size_t len, uint32_t xid,
				uint16_t *port) MUST_CHECK;

#define UADDR_TEXT_BYTES (INET6_ADDRSTRLEN + sizeof(".255.255"))

/**
 * uaddr_encode - Writes @addr as text, v4-mapped ones as IPv4; "" for other families. Returns
 * @text.
 */
const char *uaddr_encode(const struct sockaddr *addr, char text[UADDR_TEXT_BYTES]);

#endif
