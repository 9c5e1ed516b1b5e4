/* SPDX-License-Identifier: BSD-3-Clause */
/* What somebody wants to watch: which RPCs, and how much of them. */
#ifndef DAEMON_TAP_TAP_REQUEST_H
#define DAEMON_TAP_TAP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "daemon/config/config_cidr.h"
#include "daemon/config/config_value.h"
#include "nfs/operation.h"

/* What is copied to a tap. */
enum tap_kind {
	TAP_CALLS,    /* each RPC when it is over: struct tap_call */
	TAP_MESSAGES, /* each message, and the end of each connection: struct tap_message */
};

struct tap_request {
	enum tap_kind kind;
	char service[CONFIG_NAME_MAX_BYTES + 1]; /* "": of any */
	bool of_client;
	struct config_cidr client;    /* if of_client */
	enum nfs_operation operation; /* NFS_OPERATION_COUNT: any */
	uint64_t slower_us;           /* RPCs that took as long, or longer */
	uint64_t count;               /* so many, then it ends; 0: on and on */
	uint32_t seconds;             /* the same; 0: on and on */
	uint32_t snap_bytes; /* messages up to this length whole: TAP_MESSAGES, as is the next */
	uint64_t max_bytes;  /* of all that is written */
};

#define TAP_SNAP_BYTES      (260u << 10) /* READs and WRITEs of 256 KiB, and what is around the data */
#define TAP_SNAP_MIN_BYTES  64u          /* the header of an RPC of AUTH_NONE and what it answers */
#define TAP_SNAP_MAX_BYTES  (2u << 20)
#define TAP_MAX_BYTES       (64ull << 20) /* the same, of a capture */
#define TAP_MAX_BYTES_LEAST 4096u         /* what stands around the messages, and a few of these */
#define TAP_MAX_BYTES_LIMIT (1ull << 40)
#define TAP_SECONDS         60u /* of a capture */
#define TAP_SECONDS_LIMIT   (7u * 24 * 3600)
#define TAP_COUNT_LIMIT     1000000000u

#define TAP_ERROR_BYTES     160u

/**
 * tap_request_parse - read what somebody wants
 * @text:  [SERVICE] and options, each with its value behind a space:
 *	   --client ADDRESS[/BITS], --operation NAME, --seconds N;
 *	   of TAP_CALLS --slower TIME (100ms, 2s, 500us), --count N;
 *	   of TAP_MESSAGES --snaplen BYTES, --max-bytes BYTES (with K, M or G)
 * @error: on failure what is wrong, TAP_ERROR_BYTES long
 *
 * Returns 0 or -EINVAL.
 */
int tap_request_parse(enum tap_kind kind, const char *text, struct tap_request *request,
		      char *error) MUST_CHECK;

/** tap_request_takes - whether it wants what @service does for @client with @operation. */
bool tap_request_takes(const struct tap_request *request, const char *service,
		       const struct sockaddr *client, enum nfs_operation operation);

#endif
