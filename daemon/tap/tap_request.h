/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a trace or a capture: which RPCs, and how much of them. */
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

enum tap_kind {
	TAP_CALLS,    /* each completed RPC: struct tap_call */
	TAP_MESSAGES, /* each message, and the end of each connection: struct tap_message */
};

struct tap_request {
	enum tap_kind kind;
	char service[CONFIG_NAME_MAX_BYTES + 1]; /* "": any */
	bool has_client;
	struct config_cidr client;    /* if `of_client` */
	enum nfs_operation operation; /* NFS_OPERATION_COUNT: any */
	uint64_t slower_us;           /* RPCs that took at least this long */
	uint64_t count;               /* end after this many RPCs; 0: no limit */
	uint32_t seconds;             /* end after this time; 0: no limit */
	uint32_t snap_bytes;          /* keep messages up to this length whole; TAP_MESSAGES only */
	uint64_t max_bytes;           /* most bytes of output; TAP_MESSAGES only */
};

#define TAP_SNAP_BYTES      (260u << 10) /* READs and WRITEs of 256 KiB with their headers */
#define TAP_SNAP_MIN_BYTES  64u          /* an RPC header with AUTH_NONE, and a short result */
#define TAP_SNAP_MAX_BYTES  (2u << 20)
#define TAP_MAX_BYTES       (64ull << 20) /* default size limit of a capture */
#define TAP_MAX_BYTES_LEAST 4096u         /* the file's own blocks and a few messages */
#define TAP_MAX_BYTES_LIMIT (1ull << 40)
#define TAP_SECONDS         60u /* default time limit of a capture */
#define TAP_SECONDS_LIMIT   (7u * 24 * 3600)
#define TAP_COUNT_LIMIT     1000000000u

#define TAP_ERROR_BYTES     160u

/**
 * tap_request_parse - Parses the arguments of a command
 * @text:  [SERVICE] and options, each with its value after a space: --client ADDRESS[/BITS],
 *         --operation NAME, --seconds N; for TAP_CALLS --slower TIME (100ms, 2s, 500us), --count N;
 *         for TAP_MESSAGES --snaplen BYTES, --max-bytes BYTES (with K, M or G)
 * @error: set on failure, TAP_ERROR_BYTES long
 *
 * Returns 0 or -EINVAL.
 */
int tap_request_parse(enum tap_kind kind, const char *text, struct tap_request *request,
		      char *error) MUST_CHECK;

/**
 * tap_request_matches - Returns whether it selects RPCs of @service for @client with @operation.
 */
bool tap_request_matches(const struct tap_request *request, const char *service,
			 const struct sockaddr *client, enum nfs_operation operation);

#endif
