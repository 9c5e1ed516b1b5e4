// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/health/check_steps.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sockaddr.h"
#include "daemon/base/address.h"
#include "daemon/config/config.h"
#include "daemon/health/check_conn.h"
#include "daemon/health/check_report.h"
#include "daemon/health/check_rpc.h"
#include "daemon/service/call_stats.h"
#include "nfs/proc_table.h"

#define ANY_LOG "its log may say why"

static const char *connect_advice(enum transport transport, enum leg_close why)
{
	bool is_rdma = transport != TRANSPORT_TCP;

	switch (why) {
	case LEG_CLOSE_NO_ADDRESS:
		return "correct the host name in connect, or fix /etc/hosts or DNS (getent ahosts "
		       "HOST)";
	case LEG_CLOSE_OWN_UPSTREAM:
		return "connect leads back to this daemon: give the server's address";
	case LEG_CLOSE_NO_SOURCE_ADDRESS:
		return "no source_address is configured on this host any more (ip address)";
	case LEG_CLOSE_RESOURCES:
		return "this host is out of memory or descriptors (LimitNOFILE=)";
	case LEG_CLOSE_TLS:
		return "compare the server's certificate with tls_ca_file and tls_server_name, and "
		       "what the server demands with tls_cert_file; its log has its own reason";
	default:
		break;
	}
	if (is_rdma)
		return "is the server up, with RDMA enabled (rdma=y in /etc/nfs.conf of a Linux "
		       "server)? Are its RDMA port (20049 by default) and its fabric correct? For "
		       "NFS over TCP use tcp:// in connect";
	switch (why) {
	case LEG_CLOSE_REFUSED:
		return "start the server, or correct the port in connect: NFS over TCP uses 2049";
	case LEG_CLOSE_UNREACHABLE:
		return "correct the address in connect, start the host, or open the port in the "
		       "firewalls between (ping, ip route get ADDRESS)";
	case LEG_CLOSE_NO_SOURCE_PORT:
		return "source_port = \"reserved\": all ports below 1024 are in use, or the daemon "
		       "lacks CAP_NET_BIND_SERVICE, which the unit grants";
	case LEG_CLOSE_TIMEOUT:
		return "does a firewall drop packets, is the address wrong, or does the server "
		       "there not answer?";
	default:
		return "is that the server's port? " ANY_LOG;
	}
}

static const char *lost_advice(enum check_step_id id, enum transport transport,
			       const struct check_conn_result *result)
{
	/* A server that checks certificates refuses ours after the handshake. */
	if (result->event == CHECK_CONN_UNREACHED || result->why == LEG_CLOSE_TLS)
		return connect_advice(transport, result->why);
	if (id == CHECK_LONG_CALL || id == CHECK_LONG_REPLY)
		return transport == TRANSPORT_TCP
			       ? "large requests fail, so clients will hang: does a firewall or a "
				 "tunnel between drop large packets (MTU)? " ANY_LOG
			       : "large requests fail, so clients will hang. Try another value for "
				 "peer or ddp (rpcrdma-proxy.conf(5))";
	if (result->event == CHECK_CONN_LATE)
		return "the server accepts connections and does not reply: does it hang, or is "
		       "another program listening there?";
	if (result->why == LEG_CLOSE_PEER || result->why == LEG_CLOSE_LOST)
		return "does it reject this host (exports, firewall, reserved ports: source_port), "
		       "or is it not an NFS server? " ANY_LOG;
	return "the server there does not speak the protocol in connect: correct its transport or "
	       "port";
}

/* Describes a step that ended without a Reply, by @result; `connect` is @transport://. */
static void check_text_lost(struct check_step *step, enum check_step_id id,
			    enum transport transport, const struct check_conn_result *result)
{
	step->result = CHECK_FAILED;
	step->why = result->event == CHECK_CONN_LATE ? LEG_CLOSE_SILENT : result->why;
	step->advice = lost_advice(id, transport, result);
	if (result->event == CHECK_CONN_LATE)
		snprintf(step->what, sizeof(step->what), "no answer%s%s",
			 result->detail[0] ? ", but: " : " in time", result->detail);
	else
		snprintf(step->what, sizeof(step->what), "%s%s%s", leg_close_text(result->why),
			 result->detail[0] ? ": " : "", result->detail);
}

/* Returns what to do about a fault. The keys are those of RDMA servers only. */
static const char *fault_advice(enum check_step_id id, enum transport transport)
{
	if (transport == TRANSPORT_TCP)
		return "it violates the protocol, or another program listens there: " ANY_LOG;
	if (id == CHECK_LONG_CALL)
		return "the server accepts no long Calls: set ddp = \"nfs\", or peer to its "
		       "implementation (rpcrdma-proxy.conf(5))";
	return "it violates the protocol: set peer to its implementation, or update it; " ANY_LOG;
}

/* Describes a step whose Call ended with @fault. */
static void check_text_fault(struct check_step *step, enum check_step_id id,
			     enum transport transport, enum exchange_fault fault)
{
	static const char *const texts[] = {
		[EXCHANGE_OK] = "",
		[EXCHANGE_FAULT_ERR_CHUNK] =
			"the server's transport rejects its chunks (ERR_CHUNK)",
		[EXCHANGE_FAULT_ERR_VERS] = "the server's transport rejects its version (ERR_VERS)",
		[EXCHANGE_FAULT_BAD_REPLY] = "the Reply breaks the protocol",
		[EXCHANGE_FAULT_TOO_BIG] = "the Reply is larger than allowed",
		[EXCHANGE_FAULT_CANT_SEND] = "the Call cannot be sent this way",
		[EXCHANGE_FAULT_LATE] = "no answer in time",
	};

	step->result = CHECK_FAILED;
	step->why = fault == EXCHANGE_FAULT_CANT_SEND ? LEG_CLOSE_LOCAL : LEG_CLOSE_BAD_REPLY;
	snprintf(step->what, sizeof(step->what), "%s", texts[fault]);
	step->advice = fault_advice(id, transport);
}

static const char *accept_text(enum rpc_accept_stat stat)
{
	static const char *const texts[] = {
		[RPC_SUCCESS] = "SUCCESS",
		[RPC_PROG_UNAVAIL] = "PROG_UNAVAIL: it does not serve NFS",
		[RPC_PROG_MISMATCH] = "PROG_MISMATCH: it does not serve this version of NFS",
		[RPC_PROC_UNAVAIL] = "PROC_UNAVAIL: it does not know the procedure",
		[RPC_GARBAGE_ARGS] = "GARBAGE_ARGS: the Call was damaged, or it cannot decode it",
		[RPC_SYSTEM_ERR] =
			("SYSTEM_ERR: it lacks a resource, or a proxy in front of it has "
			 "no server"),
	};

	return texts[stat];
}

/* Returns the name of an auth_stat (RFC 5531 section 8.2, RFC 2203), or NULL. */
static const char *auth_stat_name(uint32_t auth_stat)
{
	static const char *const names[] = {
		[1] = "AUTH_BADCRED",
		[2] = "AUTH_REJECTEDCRED",
		[3] = "AUTH_BADVERF",
		[4] = "AUTH_REJECTEDVERF",
		[5] = "AUTH_TOOWEAK",
		[6] = "AUTH_INVALIDRESP",
		[7] = "AUTH_FAILED",
		[13] = "RPCSEC_GSS_CREDPROBLEM",
		[14] = "RPCSEC_GSS_CTXPROBLEM",
	};

	return auth_stat < ARRAY_SIZE(names) ? names[auth_stat] : NULL;
}

/* Describes a Reply that is not a success. */
static void check_text_refused(struct check_step *step, const struct check_rpc_reply *reply)
{
	step->result = CHECK_FAILED;
	step->advice = ANY_LOG;
	if (!reply->is_rpc) {
		step->why = LEG_CLOSE_BAD_REPLY;
		snprintf(step->what, sizeof(step->what), "a malformed Reply");
		step->advice = "is an NFS server listening there?";
	} else if (!reply->accepted) {
		const char *name = auth_stat_name(reply->auth_stat);

		if (name)
			snprintf(step->what, sizeof(step->what),
				 "the server rejects the credential: %s", name);
		else
			snprintf(step->what, sizeof(step->what),
				 "the server rejects the credential: auth_stat %u",
				 reply->auth_stat);
		step->advice = "with AUTH_TOOWEAK the server demands TLS (tls_connect) or a "
			       "security flavour such as krb5; otherwise see its exports";
	} else {
		snprintf(step->what, sizeof(step->what), "the server answers %s",
			 accept_text(reply->stat));
	}
}

#define CONNECT_US      10000000u
#define ANSWER_US       5000000u
#define LONG_US         10000000u /* time limit of a step with much data */
#define TCP_LONG_BYTES  16384u    /* size of a long Call without an inline threshold … */
#define TCP_REPLY_BYTES 4096u     /* … and of a long Reply */
#define LONG_BYTES      32768u    /* limit in READDIRPLUS, above the inline threshold */
#define BEYOND_BYTES    1024u     /* how much a long Call exceeds the inline threshold */

static struct check_step *step_of(const struct check_steps *steps)
{
	return &steps->at->steps[steps->step];
}

static uint64_t now_us(const struct check_steps *steps)
{
	return loop_now_us(steps->config.env->env.loop);
}

static unsigned number(const struct check_steps *steps)
{
	return (unsigned)(steps->at - steps->config.report->servers);
}

static const struct config_uri *server_of(const struct check_steps *steps)
{
	return &steps->config.servers->list[number(steps)];
}

static void begin_server(struct check_steps *steps);

static void finish(struct check_steps *steps)
{
	service_net_fini(&steps->net);
	steps->config.finished(steps->config.arg);
}

static void on_server_closed(void *arg)
{
	struct check_steps *steps = arg;

	steps->at++;
	if (steps->at < steps->config.report->servers + steps->config.report->nservers &&
	    !steps->ends)
		begin_server(steps);
	else
		finish(steps);
}

/* Marks the remaining steps of the server as not tried, for the reason @why. */
static void end_server(struct check_steps *steps, const char *why)
{
	struct check_conn *conn = steps->conn;

	for (unsigned i = steps->step + 1; i < CHECK_STEP_COUNT; i++)
		snprintf(steps->at->steps[i].what, CHECK_WHAT_BYTES, "%s", why);
	steps->conn = NULL;
	check_conn_free(conn, on_server_closed, steps);
}

static uint64_t timeout_left_us(const struct check_steps *steps, uint64_t wanted_us)
{
	uint64_t now = now_us(steps);

	if (now >= steps->until_us)
		return 1;
	return wanted_us < steps->until_us - now ? wanted_us : steps->until_us - now;
}

static uint32_t inline_send_bytes(const struct check_steps *steps)
{
	struct leg_info info;

	check_conn_info(steps->conn, &info);
	return info.inline_send_bytes ? info.inline_send_bytes : TCP_LONG_BYTES;
}

static uint32_t inline_recv_bytes(const struct check_steps *steps)
{
	struct leg_info info;

	check_conn_info(steps->conn, &info);
	return info.inline_recv_bytes ? info.inline_recv_bytes : TCP_REPLY_BYTES;
}

/* Returns how many GETATTRs make a Reply long; 0: even CHECK_RPC_MAX_GETATTRS do not. */
static unsigned getattrs_of_long_reply(const struct check_steps *steps)
{
	uint64_t wanted = (inline_recv_bytes(steps) + BEYOND_BYTES) / steps->getattr_bytes + 1;

	return wanted <= CHECK_RPC_MAX_GETATTRS ? (unsigned)wanted : 0;
}

static void step_fail(struct check_steps *steps, const char *what)
{
	struct check_step *step = step_of(steps);

	step->result = CHECK_FAILED;
	snprintf(step->what, sizeof(step->what), "%s", what);
	end_server(steps, "the previous step could not be tried");
}

static void next_step(struct check_steps *steps);

static void step_skip(struct check_steps *steps, const char *why)
{
	snprintf(step_of(steps)->what, CHECK_WHAT_BYTES, "%s", why);
	next_step(steps);
}

static bool is_nfs3(const struct check_steps *steps)
{
	return steps->nfs_version != CHECK_RPC_NFS_VERSION;
}

static size_t make_lookup(const struct check_steps *steps, uint8_t *to, uint32_t name_bytes)
{
	if (is_nfs3(steps))
		return nfs3_call_lookup(to, steps->xid, &steps->mount.handle, name_bytes);
	return check_rpc_lookup(to, steps->xid, name_bytes);
}

static void send_lookup(struct check_steps *steps)
{
	uint32_t name_bytes = inline_send_bytes(steps) + BEYOND_BYTES;
	uint8_t *call = malloc(NFS3_CALL_BYTES + name_bytes);
	size_t len = call ? make_lookup(steps, call, name_bytes) : 0;
	int rc = len ? check_conn_call(steps->conn, call, (uint32_t)len,
				       timeout_left_us(steps, LONG_US))
		     : -ENOMEM;

	free(call);
	if (rc)
		step_fail(steps, strerror(-rc));
}

static void send_call(struct check_steps *steps, const uint8_t *call, size_t len,
		      uint64_t timeout_us)
{
	int rc = check_conn_call(steps->conn, call, (uint32_t)len,
				 timeout_left_us(steps, timeout_us));

	if (rc)
		step_fail(steps, strerror(-rc));
}

static void send_getattrs(struct check_steps *steps, unsigned count, uint64_t timeout_us)
{
	uint8_t call[CHECK_RPC_GETATTRS_BYTES];

	send_call(steps, call, check_rpc_getattrs(call, steps->xid, count), timeout_us);
}

static void send_null(struct check_steps *steps)
{
	uint8_t call[CHECK_RPC_CALL_BYTES];
	bool checks_mount = steps->config.checks_mount || steps->asks_mount;
	size_t len =
		check_rpc_null(call, steps->xid, checks_mount ? NFS_PROGRAM_MOUNT : NFS_PROGRAM_NFS,
			       checks_mount ? CHECK_RPC_MOUNT_VERSION : steps->nfs_version);

	send_call(steps, call, len, ANSWER_US);
}

/* Sends an NFSv3 Call with the handle obtained from MOUNT. */
static void send_nfs3(struct check_steps *steps)
{
	const struct nfs3_handle *handle = &steps->mount.handle;
	bool is_long = steps->step == CHECK_LONG_REPLY;
	uint8_t call[NFS3_CALL_BYTES];
	size_t len = is_long ? nfs3_call_readdirplus(call, steps->xid, handle,
						     inline_recv_bytes(steps) + LONG_BYTES)
			     : nfs3_call_getattr(call, steps->xid, handle);

	send_call(steps, call, len, is_long ? LONG_US : ANSWER_US);
}

static void send_long_reply(struct check_steps *steps)
{
	unsigned count = steps->getattr_bytes ? getattrs_of_long_reply(steps) : 0;

	if (is_nfs3(steps))
		send_nfs3(steps);
	else if (count)
		send_getattrs(steps, count, LONG_US);
	else
		step_skip(steps, "no Reply can be that long");
}

/* Without an NFSv3 handle, an NFSv3-only server has no further steps. */
static void end_mount(struct check_steps *steps, const char *why)
{
	if (!is_nfs3(steps)) {
		step_skip(steps, why);
		return;
	}
	snprintf(step_of(steps)->what, CHECK_WHAT_BYTES, "%s", why);
	end_server(steps, why);
}

static void mount_start(struct check_steps *steps);

static void send_step(struct check_steps *steps)
{
	steps->began_us = now_us(steps);
	steps->xid++;
	switch (steps->step) {
	case CHECK_NULL:
		send_null(steps);
		break;
	case CHECK_MOUNT:
		mount_start(steps);
		break;
	case CHECK_INLINE_CALL:
		if (is_nfs3(steps))
			send_nfs3(steps);
		else
			send_getattrs(steps, 1, ANSWER_US);
		break;
	case CHECK_LONG_CALL:
		send_lookup(steps);
		break;
	case CHECK_LONG_REPLY:
		send_long_reply(steps);
		break;
	default:
		break;
	}
}

static void connect_now(struct check_steps *steps)
{
	steps->began_us = now_us(steps);
	check_conn_open(steps->conn, timeout_left_us(steps, CONNECT_US));
}

static void next_step(struct check_steps *steps)
{
	if (steps->step == steps->config.last || now_us(steps) >= steps->until_us || steps->ends) {
		end_server(steps, "the time limit was reached");
		return;
	}
	steps->step++;
	if (steps->step == CHECK_MOUNT && !steps->config.report->with_mount)
		steps->step++;
	if (steps->connected)
		send_step(steps);
	else
		connect_now(steps);
}

static void PRINTF_LIKE(2, 3) step_pass(struct check_steps *steps, const char *format, ...)
{
	struct check_step *step = step_of(steps);
	va_list ap;

	step->result = CHECK_PASSED;
	step->took_us = now_us(steps) - steps->began_us;
	va_start(ap, format);
	vsnprintf(step->what, sizeof(step->what), format, ap);
	va_end(ap);
}

/* ---- results ---- */

static void pass_connected(struct check_steps *steps)
{
	char text[ADDRESS_TEXT_BYTES];
	struct leg_info info;

	check_conn_info(steps->conn, &info);
	address_text((const struct sockaddr *)&info.peer, text);
	if (info.rpcrdma_version)
		step_pass(steps, "%s over %s, version %u, inline up to %u and %u bytes", text,
			  info.kind, info.rpcrdma_version, info.inline_send_bytes,
			  info.inline_recv_bytes);
	else
		step_pass(steps, "%s over %s, from port %u", text, info.kind,
			  sockaddr_port((const struct sockaddr *)&info.local));
}

static void fill_conn_config(struct check_steps *steps, struct check_conn_config *config);

/* On a connection of its own: a proxy there may lead MOUNT to another server, by the first Call. */
static void on_reconnect(void *arg)
{
	struct check_steps *steps = arg;
	struct check_conn_config config;

	fill_conn_config(steps, &config);
	if (steps->ends)
		end_server(steps, "the check was aborted");
	else if (check_conn_new(&config, &steps->conn))
		step_fail(steps, strerror(ENOMEM));
	else
		connect_now(steps);
}

/* The server does not serve NFS: a probe knows that it is up, a check asks for MOUNT. */
static void without_nfs(struct check_steps *steps)
{
	struct check_conn *conn = steps->conn;

	if (steps->config.last > CHECK_NULL) {
		steps->asks_mount = true;
		steps->conn = NULL;
		steps->connected = false;
		check_conn_free(conn, on_reconnect, steps);
		return;
	}
	step_pass(steps, "it replies, but does not serve NFS");
	end_server(steps, "the server does not serve NFS");
}

/* Without NFS, a server of MOUNT is good for a service that NFSv3 clients mount through. */
static void evaluate_null_of_mount(struct check_steps *steps, const struct check_rpc_reply *reply)
{
	struct check_step *step = step_of(steps);

	if (reply->is_rpc && reply->accepted && reply->stat == RPC_SUCCESS) {
		step_pass(steps, "MOUNT; it does not serve NFS");
		end_server(steps, "the server serves MOUNT and not NFS");
		return;
	}
	step->result = CHECK_FAILED;
	snprintf(step->what, sizeof(step->what),
		 "it answers RPC, but serves neither NFS nor MOUNT (PROG_UNAVAIL)");
	step->advice = "another program listens there: correct the port in connect (NFS over TCP "
		       "uses 2049, over RDMA 20049), or start the NFS server";
	end_server(steps, "the server does not serve NFS");
}

static void evaluate_null(struct check_steps *steps, const struct check_rpc_reply *reply)
{
	/* Any RPC Reply shows that the MOUNT server is alive. */
	if (steps->config.checks_mount && reply->is_rpc) {
		step_pass(steps, "MOUNT");
		end_server(steps, "MOUNT has no other step");
	} else if (reply->is_rpc && reply->accepted && reply->stat == RPC_SUCCESS) {
		step_pass(steps, "NFSv%u", steps->nfs_version);
		if (!is_nfs3(steps) || steps->config.report->with_mount)
			next_step(steps);
		else
			end_server(steps, "the server does not serve NFSv4, and NFSv3 Calls need a "
					  "file handle: use --mount");
	} else if (reply->is_rpc && reply->accepted && reply->stat == RPC_PROG_MISMATCH &&
		   steps->nfs_version == CHECK_RPC_NFS_VERSION &&
		   reply->high < CHECK_RPC_NFS_VERSION) {
		steps->nfs_version = reply->high;
		send_step(steps);
	} else if (reply->is_rpc && reply->accepted && reply->stat == RPC_PROG_UNAVAIL) {
		without_nfs(steps);
	} else {
		check_text_refused(step_of(steps), reply);
		end_server(steps, "the previous step failed");
	}
}

/* Returns why the server does not allow this request to anybody, or NULL. */
static const char *not_allowed(const struct check_rpc_reply *reply)
{
	if (!reply->accepted)
		return "the server wants another security flavour than AUTH_SYS";
	if (reply->nfs_status == CHECK_RPC_NFS4_MINOR_MISMATCH)
		return "the server does not serve NFSv4.0";
	if (reply->nfs_status == CHECK_RPC_NFS4_WRONGSEC)
		return "the server wants another security flavour than AUTH_SYS";
	return NULL;
}

static void evaluate_results(struct check_steps *steps, const struct check_rpc_reply *reply,
			     uint32_t len_bytes)
{
	struct check_step *step = step_of(steps);
	uint32_t status = reply->nfs_status;
	const char *why = reply->is_rpc ? not_allowed(reply) : NULL;
	char name[NFS_STATUS_TEXT_BYTES];

	if (why) {
		snprintf(step->what, sizeof(step->what), "%s", why);
		end_server(steps, why);
	} else if (steps->step == CHECK_LONG_CALL && reply->is_rpc &&
		   (reply->stat == RPC_GARBAGE_ARGS || reply->stat == RPC_SUCCESS)) {
		/* Any status will do: the server has received the Call. */
		step_pass(steps, "a Call of %u bytes", inline_send_bytes(steps) + BEYOND_BYTES);
		next_step(steps);
	} else if (!reply->is_rpc || reply->stat != RPC_SUCCESS) {
		check_text_refused(step, reply);
		next_step(steps);
	} else if (steps->step == CHECK_LONG_REPLY && len_bytes <= inline_recv_bytes(steps)) {
		step_skip(steps, is_nfs3(steps) ? "the exported directory is too small for that"
						: "its Reply was not that long");
	} else {
		if (status != CHECK_RPC_NFS_OK)
			step_pass(steps, "a Reply of %u bytes, %s", len_bytes,
				  call_status_full_name(NFS_PROGRAM_NFS, steps->nfs_version, status,
							name));
		else
			step_pass(steps, "a Reply of %u bytes", len_bytes);
		if (steps->step == CHECK_INLINE_CALL && status == CHECK_RPC_NFS_OK)
			steps->getattr_bytes = len_bytes > 2 * CHECK_RPC_FRAME_BYTES
						       ? len_bytes - CHECK_RPC_FRAME_BYTES
						       : CHECK_RPC_FRAME_BYTES;
		next_step(steps);
	}
}

static void evaluate_reply(struct check_steps *steps, const struct exchange *x)
{
	bool has_status = steps->step != CHECK_NULL;
	struct check_rpc_reply reply;

	step_of(steps)->took_us = now_us(steps) - steps->began_us;
	if (x->fault != EXCHANGE_OK) {
		check_text_fault(step_of(steps), steps->step, server_of(steps)->transport,
				 x->fault);
		if (steps->step == CHECK_NULL)
			end_server(steps, "the previous step failed");
		else
			next_step(steps);
		return;
	}
	check_rpc_reply_parse(x->reply.data, x->reply.len_bytes, has_status, &reply);
	if (has_status)
		evaluate_results(steps, &reply, x->reply.len_bytes);
	else if (steps->asks_mount)
		evaluate_null_of_mount(steps, &reply);
	else
		evaluate_null(steps, &reply);
}

static void on_result(void *arg, const struct check_conn_result *result)
{
	struct check_steps *steps = arg;

	switch (result->event) {
	case CHECK_CONN_OPENED:
		steps->connected = true;
		if (steps->step != CHECK_CONNECT) {
			send_step(steps);
			return;
		}
		pass_connected(steps);
		next_step(steps);
		return;
	case CHECK_CONN_REPLIED:
		evaluate_reply(steps, result->x);
		return;
	default:
		steps->connected = false;
		if (steps->mounting)
			return;
		check_text_lost(step_of(steps), steps->step, server_of(steps)->transport, result);
		step_of(steps)->took_us = now_us(steps) - steps->began_us;
		if (steps->step <= CHECK_NULL || result->event == CHECK_CONN_UNREACHED)
			end_server(steps, "the previous step failed");
		else
			next_step(steps);
	}
}

/* ---- the NFSv3 file handle ---- */

static void fill_conn_config(struct check_steps *steps, struct check_conn_config *config)
{
	const struct service_config *service = steps->config.service;
	bool checks_mount = steps->config.checks_mount;

	*config = (struct check_conn_config){
		.env = steps->config.env,
		.net = &steps->net,
		.server = server_of(steps),
		.listen_addrs = steps->config.listen_addrs,
		.asks_rpcbind = checks_mount && service->mount.way == MOUNT_RPCBIND,
		.is_other = checks_mount,
		.program = checks_mount || steps->asks_mount ? NFS_PROGRAM_MOUNT : NFS_PROGRAM_NFS,
		.on_event = on_result,
		.arg = steps,
	};
}

static void mount_done(void *arg)
{
	struct check_steps *steps = arg;

	steps->mounting = false;
	step_of(steps)->took_us = now_us(steps) - steps->began_us;
	if (steps->ends)
		end_server(steps, "the check was aborted");
	else if (is_nfs3(steps) && !steps->mount.handle.len_bytes)
		end_server(steps, "the previous step failed");
	else
		next_step(steps);
}

static void mount_start(struct check_steps *steps)
{
	const struct config_mount *mount = &steps->config.service->mount;
	struct check_mount_config config = {
		.until_us = steps->until_us, .finished = mount_done, .arg = steps};

	if (mount->way == MOUNT_OFF) {
		end_mount(steps, "mount = \"off\": clients get PROG_UNAVAIL");
		return;
	}
	fill_conn_config(steps, &config.conn);
	config.way = mount->way;
	config.uri = mount->way == MOUNT_AT ? &mount->at : config.conn.server;
	steps->mounting = true;
	check_mount_start(&steps->mount, &config, step_of(steps));
}

static void begin_server(struct check_steps *steps)
{
	struct check_conn_config config;

	fill_conn_config(steps, &config);
	if (steps->config.skipped_servers >> number(steps) & 1) {
		on_server_closed(steps);
		return;
	}
	steps->step = CHECK_CONNECT;
	steps->connected = false;
	steps->nfs_version = CHECK_RPC_NFS_VERSION;
	steps->getattr_bytes = 0;
	steps->asks_mount = false;
	steps->mount.handle.len_bytes = 0;
	if (now_us(steps) >= steps->until_us)
		end_server(steps, "the time limit was reached");
	else if (!steps->has_net || check_conn_new(&config, &steps->conn))
		step_fail(steps, strerror(ENOMEM));
	else
		connect_now(steps);
}

void check_steps_start(struct check_steps *steps, const struct check_steps_config *config)
{
	*steps = (struct check_steps){.config = *config, .at = config->report->servers};
	steps->until_us = now_us(steps) + CHECK_LIMIT_US;
	steps->has_net = !service_net_init(
		&steps->net, &config->env->env, config->service, NULL, config->tls,
		!config->checks_mount && service_verbs_connects(config->service));
	begin_server(steps);
}

void check_steps_abort(struct check_steps *steps)
{
	steps->ends = true;
	if (steps->mounting)
		check_mount_abort(&steps->mount);
	else if (steps->conn)
		end_server(steps, "the check was aborted");
}
