// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/health/check_mount.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/humanize.h"
#include "daemon/health/check_rpc.h"
#include "daemon/rpcbind/rpcb_xdr.h"
#include "daemon/service/call_stats.h"
#include "nfs/proc_table.h"
#include "rpc/record_mark.h"

#define CONNECT_US 5000000u
#define ANSWER_US  5000000u
#define RPCBIND_AT "111"
#define MNT3_ACCES 13u
#define REFUSES    "does it reject this host (hosts.allow, firewall)?"

#define CONNECT_ADVICE                                                                                 \
	"NFSv3 clients that ask this service for MOUNT fail: set mount = \"rpcbind\" in the service, " \
	"or the address of mountd; or mount with vers=4"
#define MOUNTD_ADVICE                                                                              \
	"start mountd there, or correct mount in the service: rpcinfo -p HOST shows the port of "  \
	"mountd"

enum { TRIP_GETADDR, TRIP_EXPORT, TRIP_MNT, TRIP_UMNT };

static void connect_stage(struct check_mount *mount);

static void on_conn_closed(void *arg)
{
	struct check_mount *mount = arg;

	if (mount->at_mount && !mount->ends && mount->stage == TRIP_EXPORT)
		connect_stage(mount);
	else
		mount->config.finished(mount->config.arg);
}

static void disconnect(struct check_mount *mount)
{
	struct check_conn *conn = mount->conn;

	mount->conn = NULL;
	check_conn_free(conn, on_conn_closed, mount);
}

static void mount_finish(struct check_mount *mount)
{
	mount->ends = true;
	disconnect(mount);
}

static void mount_fail(struct check_mount *mount, const char *what, const char *advice)
{
	mount->step->result = CHECK_FAILED;
	mount->step->advice = advice;
	snprintf(mount->step->what, sizeof(mount->step->what), "%s at %sport %s: %s",
		 mount->at_mount ? "MOUNT" : "rpcbind",
		 mount->config.way == MOUNT_CONNECT ? "the server's " : "", mount->uri.port, what);
	mount_finish(mount);
}

static uint64_t timeout_left_us(const struct check_mount *mount, uint64_t wanted_us)
{
	uint64_t now_us = loop_now_us(mount->config.conn.env->env.loop);
	uint64_t left_us = mount->config.until_us > now_us ? mount->config.until_us - now_us : 1;

	return wanted_us < left_us ? wanted_us : left_us;
}

static void send_call(struct check_mount *mount, const uint8_t *msg, size_t len)
{
	if (!len ||
	    check_conn_call(mount->conn, msg, (uint32_t)len, timeout_left_us(mount, ANSWER_US)))
		mount_fail(mount, strerror(ENOMEM), NULL);
}

/* Encodes RPCBPROC_GETADDR for MOUNT, without the record mark. */
static size_t getaddr_call(uint8_t msg[NFS3_CALL_BYTES], uint32_t xid, bool v6)
{
	uint8_t record[RPCBIND_MAX_CALL_BYTES];
	size_t len = rpcb_call_encode(record, xid, RPCBIND_GETADDR, NFS_PROGRAM_MOUNT,
				      CHECK_RPC_MOUNT_VERSION, v6 ? "tcp6" : "tcp", "");

	if (!len)
		return 0;
	memcpy(msg, record + RECORD_MARK_BYTES, len - RECORD_MARK_BYTES);
	return len - RECORD_MARK_BYTES;
}

static void send_stage(struct check_mount *mount)
{
	uint8_t msg[NFS3_CALL_BYTES];
	struct leg_info info;
	size_t len = 0;

	mount->xid++;
	switch (mount->stage) {
	case TRIP_GETADDR:
		check_conn_info(mount->conn, &info);
		len = getaddr_call(msg, mount->xid, info.peer.ss_family == AF_INET6);
		break;
	case TRIP_EXPORT:
		len = nfs3_call_export(msg, mount->xid);
		break;
	case TRIP_MNT:
		len = nfs3_call_mnt(msg, mount->xid, mount->path);
		break;
	case TRIP_UMNT:
		len = nfs3_call_umnt(msg, mount->xid, mount->path);
		break;
	}
	send_call(mount, msg, len);
}

static void next_stage(struct check_mount *mount)
{
	mount->stage++;
	send_stage(mount);
}

/* ---- results ---- */

static void read_port(struct check_mount *mount, const struct exchange *x)
{
	uint16_t port = 0;

	switch (rpcb_reply_port(x->reply.data, x->reply.len_bytes, mount->xid, &port)) {
	case RPCBIND_YES:
		snprintf(mount->port, sizeof(mount->port), "%u", port);
		mount->uri.port = mount->port;
		mount->at_mount = true;
		mount->stage = TRIP_EXPORT;
		disconnect(mount);
		break;
	case RPCBIND_NO:
		mount_fail(mount, "MOUNT is not registered",
			   "the server does not serve NFSv3, or its mountd is not running: clients "
			   "need vers=4 or mountport=");
		break;
	case RPCBIND_ERROR:
		mount_fail(mount, "it rejects the Call", REFUSES);
		break;
	default:
		mount_fail(mount, "a malformed Reply", NULL);
	}
}

static void read_exports(struct check_mount *mount, struct xdr_reader *results)
{
	if (!nfs3_reply_export(results, &mount->nexports, mount->path))
		mount_fail(mount, "a malformed list of exports", NULL);
	else if (!mount->nexports)
		mount_fail(mount, "no exports",
			   "export a directory; exportfs -v shows the exports");
	else
		next_stage(mount);
}

/* A server's text goes to a terminal and into JSON: keeps only printable ASCII. */
static void make_printable(char *text)
{
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
			*c = '?';
}

static void pass_mounted(struct check_mount *mount)
{
	char path[200];

	snprintf(path, sizeof(path), "%.199s", mount->path);
	make_printable(path);
	mount->step->result = CHECK_PASSED;
	snprintf(mount->step->what, sizeof(mount->step->what),
		 "MOUNT at %sport %s, %u export%s, a handle of %s",
		 mount->config.way == MOUNT_CONNECT ? "the server's " : "", mount->uri.port,
		 mount->nexports, humanize_plural(mount->nexports), path);
}

static void read_handle(struct check_mount *mount, struct xdr_reader *results)
{
	char text[80], name[NFS_STATUS_TEXT_BYTES];
	uint32_t status;

	if (!nfs3_reply_mnt(results, &status, &mount->handle)) {
		mount_fail(mount, "a malformed Reply", NULL);
	} else if (status == MNT3_ACCES) {
		mount_fail(mount, "it rejects this host (MNT3ERR_ACCES)",
			   "the export must allow this host, which is the server's client, or "
			   "every host");
	} else if (status) {
		snprintf(text, sizeof(text), "the first export cannot be mounted: %s",
			 call_status_full_name(NFS_PROGRAM_MOUNT, CHECK_RPC_MOUNT_VERSION, status,
					       name));
		mount_fail(mount, text, "see the server's exports and its log");
	} else {
		pass_mounted(mount);
		next_stage(mount);
	}
}

/* Returns the cure for the clients of this service: @advice, unless MOUNT is asked at the server. */
static const char *advice_of_way(const struct check_mount *mount, const char *advice)
{
	return mount->config.way == MOUNT_CONNECT ? CONNECT_ADVICE : advice;
}

static void evaluate_reply(struct check_mount *mount, const struct exchange *x)
{
	struct check_rpc_reply reply;
	struct rpc_reply_hdr hdr;
	struct xdr_reader results;

	if (mount->stage == TRIP_UMNT) {
		mount_finish(mount); /* ignores the result */
		return;
	}
	if (x->fault != EXCHANGE_OK) {
		mount_fail(mount, "no RPC",
			   advice_of_way(mount, "are rpcbind and mountd listening there?"));
		return;
	}
	if (mount->stage == TRIP_GETADDR) {
		read_port(mount, x);
		return;
	}
	check_rpc_reply_parse(x->reply.data, x->reply.len_bytes, false, &reply);
	if (reply.is_rpc && reply.accepted && reply.stat == RPC_PROG_UNAVAIL) {
		mount_fail(mount, "it does not serve MOUNT", advice_of_way(mount, MOUNTD_ADVICE));
		return;
	}
	if (!reply.is_rpc || !reply.accepted || reply.stat != RPC_SUCCESS ||
	    rpc_reply_decode(x->reply.data, x->reply.len_bytes, &hdr) != RPC_OK) {
		mount_fail(mount, "it rejects the Call", REFUSES);
		return;
	}
	xdr_reader_init(&results, x->reply.data + hdr.results_offset,
			x->reply.len_bytes - hdr.results_offset);
	if (mount->stage == TRIP_EXPORT)
		read_exports(mount, &results);
	else
		read_handle(mount, &results);
}

static const char *lost_advice(const struct check_mount *mount)
{
	if (mount->config.way == MOUNT_AT)
		return MOUNTD_ADVICE;
	return "this service finds MOUNT by rpcbind, port 111, over TCP (mount = \"rpcbind\"): start "
	       "rpcbind and mountd on the server, or open their ports";
}

static void on_result(void *arg, const struct check_conn_result *result)
{
	struct check_mount *mount = arg;
	char text[LEG_DETAIL_BYTES + 40];

	if (result->event == CHECK_CONN_OPENED) {
		send_stage(mount);
	} else if (result->event == CHECK_CONN_REPLIED) {
		evaluate_reply(mount, result->x);
	} else if (mount->stage == TRIP_UMNT) {
		mount_finish(mount);
	} else {
		snprintf(text, sizeof(text), "%s%s%s",
			 result->event == CHECK_CONN_LATE ? "no answer"
							  : leg_close_text(result->why),
			 result->detail[0] ? ": " : "", result->detail);
		mount_fail(mount, text, advice_of_way(mount, lost_advice(mount)));
	}
}

static void connect_stage(struct check_mount *mount)
{
	struct check_conn_config config = mount->config.conn;

	config.server = &mount->uri;
	config.is_other = mount->config.way != MOUNT_CONNECT;
	config.asks_rpcbind = false;
	config.program = mount->at_mount ? NFS_PROGRAM_MOUNT : NFS_PROGRAM_RPCBIND;
	config.on_event = on_result;
	config.arg = mount;
	if (check_conn_new(&config, &mount->conn))
		mount_fail(mount, strerror(ENOMEM), NULL);
	else
		check_conn_open(mount->conn, timeout_left_us(mount, CONNECT_US));
}

void check_mount_start(struct check_mount *mount, const struct check_mount_config *config,
		       struct check_step *step)
{
	*mount = (struct check_mount){.config = *config, .step = step, .uri = *config->uri};
	if (config->way == MOUNT_RPCBIND) {
		snprintf(mount->port, sizeof(mount->port), "%s", RPCBIND_AT);
		mount->uri.transport = TRANSPORT_TCP;
		mount->uri.port = mount->port;
	} else {
		mount->at_mount = true;
		mount->stage = TRIP_EXPORT;
	}
	connect_stage(mount);
}

void check_mount_abort(struct check_mount *mount)
{
	mount->ends = true;
	if (mount->conn)
		disconnect(mount);
}
