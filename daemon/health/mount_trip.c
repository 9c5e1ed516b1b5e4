// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/health/mount_trip.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/health/check_rpc.h"
#include "daemon/rpcbind/rpcbind_message.h"
#include "nfs/table.h"
#include "rpc/record.h"

#define CONNECT_US 5000000u
#define ANSWER_US  5000000u
#define RPCBIND_AT "111"
#define MNT3_ACCES 13u
#define REFUSES    "does it reject this host (hosts.allow, firewall)?"

enum { TRIP_GETADDR, TRIP_EXPORT, TRIP_MNT, TRIP_UMNT };

static void go_there(struct mount_trip *trip);

static void gone(void *arg)
{
	struct mount_trip *trip = arg;

	if (trip->at_mount && !trip->ends && trip->stage == TRIP_EXPORT)
		go_there(trip);
	else
		trip->config.over(trip->config.arg);
}

static void leave(struct mount_trip *trip)
{
	struct check_conn *conn = trip->conn;

	trip->conn = NULL;
	check_conn_free(conn, gone, trip);
}

static void end(struct mount_trip *trip)
{
	trip->ends = true;
	leave(trip);
}

static void fail(struct mount_trip *trip, const char *what, const char *advice)
{
	trip->step->result = CHECK_FAILED;
	trip->step->advice = advice;
	snprintf(trip->step->what, sizeof(trip->step->what), "%s at port %s: %s",
		 trip->at_mount ? "MOUNT" : "rpcbind", trip->port, what);
	end(trip);
}

static uint64_t patience_us(const struct mount_trip *trip, uint64_t wanted_us)
{
	uint64_t now_us = loop_now_us(trip->config.conn.ground->ground.loop);
	uint64_t left_us = trip->config.until_us > now_us ? trip->config.until_us - now_us : 1;

	return wanted_us < left_us ? wanted_us : left_us;
}

static void call(struct mount_trip *trip, const uint8_t *msg, size_t len)
{
	if (!len || check_conn_call(trip->conn, msg, (uint32_t)len, patience_us(trip, ANSWER_US)))
		fail(trip, strerror(ENOMEM), NULL);
}

/* Encodes RPCBPROC_GETADDR for MOUNT, without the record mark. */
static size_t getaddr_call(uint8_t msg[NFS3_CALL_BYTES], uint32_t xid, bool v6)
{
	uint8_t record[RPCBIND_MAX_CALL_BYTES];
	size_t len = rpcbind_call(record, xid, RPCBIND_GETADDR, NFS_PROGRAM_MOUNT,
				  PROBE_MOUNT_VERSION, v6 ? "tcp6" : "tcp", "");

	if (!len)
		return 0;
	memcpy(msg, record + RECORD_MARK_BYTES, len - RECORD_MARK_BYTES);
	return len - RECORD_MARK_BYTES;
}

static void send_stage(struct mount_trip *trip)
{
	uint8_t msg[NFS3_CALL_BYTES];
	struct leg_info info;
	size_t len = 0;

	trip->xid++;
	switch (trip->stage) {
	case TRIP_GETADDR:
		check_conn_info(trip->conn, &info);
		len = getaddr_call(msg, trip->xid, info.peer.ss_family == AF_INET6);
		break;
	case TRIP_EXPORT:
		len = nfs3_call_export(msg, trip->xid);
		break;
	case TRIP_MNT:
		len = nfs3_call_mnt(msg, trip->xid, trip->path);
		break;
	case TRIP_UMNT:
		len = nfs3_call_umnt(msg, trip->xid, trip->path);
		break;
	}
	call(trip, msg, len);
}

static void next_stage(struct mount_trip *trip)
{
	trip->stage++;
	send_stage(trip);
}

/* ---- results ---- */

static void learn_port(struct mount_trip *trip, const struct exchange *x)
{
	uint16_t port = 0;

	switch (rpcbind_reply_port(x->reply.data, x->reply.len_bytes, trip->xid, &port)) {
	case RPCBIND_YES:
		snprintf(trip->port, sizeof(trip->port), "%u", port);
		trip->at_mount = true;
		trip->stage = TRIP_EXPORT;
		leave(trip);
		break;
	case RPCBIND_NO:
		fail(trip, "MOUNT is not registered",
		     "the server does not serve NFSv3, or its mountd is not running: clients need "
		     "vers=4 or mountport=");
		break;
	case RPCBIND_ERROR:
		fail(trip, "it rejects the Call", REFUSES);
		break;
	default:
		fail(trip, "a malformed Reply", NULL);
	}
}

static void learn_exports(struct mount_trip *trip, struct xdr_reader *results)
{
	if (!nfs3_reply_export(results, &trip->nexports, trip->path))
		fail(trip, "a malformed list of exports", NULL);
	else if (!trip->nexports)
		fail(trip, "no exports", "export a directory; exportfs -v shows the exports");
	else
		next_stage(trip);
}

/* A server's text goes to a terminal and into JSON: keeps only printable ASCII. */
static void make_printable(char *text)
{
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
			*c = '?';
}

static void tell_mounted(struct mount_trip *trip)
{
	char path[200];

	snprintf(path, sizeof(path), "%.199s", trip->path);
	make_printable(path);
	trip->step->result = CHECK_PASSED;
	snprintf(trip->step->what, sizeof(trip->step->what),
		 "MOUNT at port %s, %u export%s, a handle of %s", trip->port, trip->nexports,
		 trip->nexports == 1 ? "" : "s", path);
}

static void learn_handle(struct mount_trip *trip, struct xdr_reader *results)
{
	char text[80];
	uint32_t status;

	if (!nfs3_reply_mnt(results, &status, &trip->handle)) {
		fail(trip, "a malformed Reply", NULL);
	} else if (status == MNT3_ACCES) {
		fail(trip, "it rejects this host (MNT3ERR_ACCES)",
		     "the export must allow this host, which is its client, or every host");
	} else if (status) {
		snprintf(text, sizeof(text), "the first export cannot be mounted: status %u",
			 status);
		fail(trip, text, "see the server's exports and its log");
	} else {
		tell_mounted(trip);
		next_stage(trip);
	}
}

static void judge(struct mount_trip *trip, const struct exchange *x)
{
	struct probe_reply reply;
	struct rpc_reply_hdr hdr;
	struct xdr_reader results;

	if (trip->stage == TRIP_UMNT) {
		end(trip); /* ignores the result */
		return;
	}
	if (x->fault != EXCHANGE_OK) {
		fail(trip, "no RPC", "are rpcbind and mountd listening there?");
		return;
	}
	if (trip->stage == TRIP_GETADDR) {
		learn_port(trip, x);
		return;
	}
	probe_reply_read(x->reply.data, x->reply.len_bytes, false, &reply);
	if (!reply.is_rpc || !reply.accepted || reply.stat != RPC_SUCCESS ||
	    rpc_reply_decode(x->reply.data, x->reply.len_bytes, &hdr) != RPC_OK) {
		fail(trip, "it rejects the Call", REFUSES);
		return;
	}
	xdr_reader_init(&results, x->reply.data + hdr.results_offset,
			x->reply.len_bytes - hdr.results_offset);
	if (trip->stage == TRIP_EXPORT)
		learn_exports(trip, &results);
	else
		learn_handle(trip, &results);
}

static void on_told(void *arg, const struct check_conn_news *news)
{
	struct mount_trip *trip = arg;
	char text[LEG_DETAIL_BYTES + 40];

	if (news->event == CHECK_CONN_OPENED) {
		send_stage(trip);
	} else if (news->event == CHECK_CONN_ANSWERED) {
		judge(trip, news->x);
	} else if (trip->stage == TRIP_UMNT) {
		end(trip);
	} else {
		snprintf(text, sizeof(text), "%s%s%s",
			 news->event == CHECK_CONN_LATE ? "no answer" : leg_close_text(news->why),
			 news->detail[0] ? ": " : "", news->detail);
		fail(trip, text,
		     "NFSv3 clients find MOUNT by rpcbind, port 111, over TCP: start both, or open "
		     "their ports, or set mount in the service");
	}
}

static void go_there(struct mount_trip *trip)
{
	struct check_conn_config config = trip->config.conn;

	trip->uri = (struct config_uri){TRANSPORT_TCP, trip->config.host, trip->port};
	config.server = &trip->uri;
	config.is_other = true;
	config.asks_rpcbind = false;
	config.told = on_told;
	config.arg = trip;
	if (check_conn_new(&config, &trip->conn))
		fail(trip, strerror(ENOMEM), NULL);
	else
		check_conn_open(trip->conn, patience_us(trip, CONNECT_US));
}

void mount_trip_begin(struct mount_trip *trip, const struct mount_trip_config *config,
		      struct check_step *step)
{
	*trip = (struct mount_trip){.config = *config, .step = step};
	if (config->port) {
		trip->at_mount = true;
		trip->stage = TRIP_EXPORT;
	}
	snprintf(trip->port, sizeof(trip->port), "%s", config->port ? config->port : RPCBIND_AT);
	go_there(trip);
}

void mount_trip_give_up(struct mount_trip *trip)
{
	trip->ends = true;
	if (trip->conn)
		leave(trip);
}
