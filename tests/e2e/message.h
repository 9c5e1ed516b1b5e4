/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds and parses RPC messages for the tests' peers, without code of the proxy. */
#ifndef TESTS_E2E_MESSAGE_H
#define TESTS_E2E_MESSAGE_H

#include "tests/e2e/net.h"

#define MSG_CALL             0
#define MSG_REPLY            1

#define AUTH_NONE            0
#define AUTH_SYS             1
#define AUTH_TLS             7

#define ACCEPT_SUCCESS       0
#define ACCEPT_PROG_MISMATCH 2
#define ACCEPT_SYSTEM_ERR    5

/* A program that is not known to any binding. */
#define TEST_PROGRAM         0x20000099
#define TEST_PROGRAM_REVERSE 0x40000099
#define TEST_ECHO            1

#define NFS_PROGRAM          100003
#define MOUNT_PROGRAM        100005
#define RPCBIND_PROGRAM      100000

/* The parts of a message that the tests use. */
struct message {
	uint32_t xid, type;
	uint32_t program, version, procedure; /* of a Call */
	bool accepted;                        /* of a Reply */
	uint32_t accept_stat;                 /* of an accepted Reply */
	uint32_t reject_stat, auth_stat;      /* of a denied one */
	const uint8_t *body;                  /* arguments or results */
	size_t body_len;
};

/** message_parse - Parses an RPC message; returns false if it is none. */
bool message_parse(struct message *message, const uint8_t *data, size_t len);
/** message_u32 - Returns the word at @offset of the body; ends the program if there is none. */
uint32_t message_u32(const struct message *message, size_t offset);

/** call_begin - Begins a Call: its header; AUTH_SYS is root on host "test". */
void call_begin(struct buf *buf, uint32_t xid, uint32_t program, uint32_t version,
		uint32_t procedure, uint32_t flavour);
/** reply_begin - Begins an accepted Reply: its header. */
void reply_begin(struct buf *buf, uint32_t xid, uint32_t accept_stat);

/** pattern_put - Appends @len bytes that @seed determines. */
void pattern_put(struct buf *buf, uint32_t seed, size_t len);
/** pattern_is - Returns whether these are the bytes that pattern_put() makes of @seed. */
bool pattern_is(const uint8_t *data, size_t len, uint32_t seed);

/** echo_call - Makes a Call of TEST_ECHO with @args_len bytes that requests @reply_len. */
void echo_call(struct buf *buf, uint32_t program, uint32_t xid, uint32_t args_len,
	       uint32_t reply_len);
/** echo_reply - Makes the Reply to it; ends the program if the Call is damaged. */
void echo_reply(struct buf *buf, const struct message *call);
/** echo_check - Returns false if the Reply is not the one to a Call that requested @reply_len. */
bool echo_check(const struct message *reply, uint32_t reply_len);

#endif
