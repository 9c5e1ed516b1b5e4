/* SPDX-License-Identifier: BSD-3-Clause */
/* The records that are copied to a tap: plain data, without pointers that can become invalid. */
#ifndef DAEMON_TAP_TAP_EVENT_H
#define DAEMON_TAP_TAP_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "daemon/config/config_value.h"
#include "leg/exchange.h"
#include "nfs/operation.h"
#include "tls/tls_stream.h"

/* A completed RPC. */
struct tap_call {
	uint64_t connection; /* connection number */
	uint64_t over_us;    /* when it completed, by CLOCK_MONOTONIC */
	char service[CONFIG_NAME_MAX_BYTES + 1];
	struct sockaddr_storage client;
	/* verified name in the client's certificate; "": none, or no TLS */
	char client_name[TLS_PEER_NAME_BYTES];
	bool callback; /* the server sent the Call */
	bool sent;     /* forwarded; else the proxy answered it */
	bool answered; /* else status, reply_bytes and reply_forms are not set */
	enum nfs_operation operation;
	uint32_t xid, prog, vers;
	uint32_t status; /* of call_status_of() */
	uint32_t request_bytes, reply_bytes;
	/* an enum message_form each, by enum exchange_role */
	uint8_t call_forms[2], reply_forms[2];
	uint32_t stage_elapsed_us[CALL_STAGE_COUNT];
};

enum tap_message_what {
	TAP_MESSAGE_CALL,  /* complete; how it will be forwarded is not known yet */
	TAP_MESSAGE_REPLY, /* passed to the leg that sends it */
	TAP_MESSAGE_END,   /* the end of a connection: nothing follows */
};

/* A message, followed by kept_bytes of its data; or the end of a connection. */
struct tap_message {
	enum tap_message_what what;
	uint64_t connection; /* connection number */
	uint64_t at_us;      /* by CLOCK_MONOTONIC */
	char service[CONFIG_NAME_MAX_BYTES + 1];
	struct sockaddr_storage client, local;     /* both addresses of the client's connection */
	const char *client_fabric, *server_fabric; /* "tcp", "iwarp" …; static; NULL: no leg */
	bool callback;                             /* the server sent the Call */
	enum nfs_operation operation;
	/* an enum message_form each, by enum exchange_role */
	uint8_t call_forms[2], reply_forms[2];
	uint32_t len_bytes, kept_bytes;
};

#endif
