/* SPDX-License-Identifier: BSD-3-Clause */
/* What is copied to a tap: plain data, without pointers into what may go. */
#ifndef DAEMON_TAP_TAP_RECORD_H
#define DAEMON_TAP_TAP_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "daemon/config/config_value.h"
#include "leg/exchange.h"
#include "nfs/operation.h"

/* An RPC that is over. */
struct tap_call {
	uint64_t connection; /* its number */
	uint64_t over_us;    /* when, by CLOCK_MONOTONIC */
	char service[CONFIG_NAME_MAX_BYTES + 1];
	struct sockaddr_storage client;
	bool callback; /* the server has called */
	bool sent;     /* to the other end, or answered here in its place */
	bool answered; /* else there is no status, reply_bytes and reply_forms */
	enum nfs_operation operation;
	uint32_t xid;
	uint32_t status; /* of call_status_of() */
	uint32_t request_bytes, reply_bytes;
	uint8_t call_forms[2],
		reply_forms[2]; /* an enum message_form each, by enum exchange_side */
	uint32_t took_us[CALL_STAGE_COUNT];
};

enum tap_message_what {
	TAP_MESSAGE_CALL, /* when all of it is here; how it will go to the other end is not known yet */
	TAP_MESSAGE_REPLY, /* when it has been given to the leg that it goes to */
	TAP_MESSAGE_END,   /* the end of a connection: nothing follows */
};

/* A message, or the end of a connection. kept_bytes of the message follow it. */
struct tap_message {
	enum tap_message_what what;
	uint64_t connection; /* its number */
	uint64_t at_us;      /* by CLOCK_MONOTONIC */
	char service[CONFIG_NAME_MAX_BYTES + 1];
	struct sockaddr_storage client, local;     /* the two ends of the client's connection */
	const char *client_fabric, *server_fabric; /* "tcp", "iwarp" …; constant; NULL: not there */
	bool callback;                             /* the server has called */
	enum nfs_operation operation;
	uint8_t call_forms[2],
		reply_forms[2]; /* an enum message_form each, by enum exchange_side */
	uint32_t len_bytes, kept_bytes;
};

#endif
