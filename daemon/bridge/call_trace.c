// SPDX-License-Identifier: BSD-3-Clause
#include "daemon/bridge/call_trace.h"

#include <string.h>

#include "daemon/base/humanize.h"
#include "daemon/tap/pcap_tcp.h"
#include "daemon/tap/tap.h"
#include "daemon/tap/tap_event.h"

static uint64_t bridge_now_us(const struct bridge *bridge)
{
	return loop_now_us(bridge_loop(bridge));
}

static const char *service_name(const struct bridge *bridge)
{
	return bridge->ws->service->config->name;
}

static bool tap_wants(const struct tap *tap, enum tap_kind kind, const struct bridge *bridge,
		      enum nfs_operation operation)
{
	const struct tap_request *request = &tap_config(tap)->request;

	return request->kind == kind &&
	       tap_request_matches(request, service_name(bridge),
				   (const struct sockaddr *)&bridge->peer, operation);
}

/* ---- the slow log ---- */

#define STAGES_BYTES   160u /* size of the text of all stages */
#define SHOWN_FRACTION 100u /* the text has the stages that took 1/100 of the time or more */

/* "server 1.2 s, client 30 ms" */
static void stages_text(const uint32_t stage_elapsed_us[CALL_STAGE_COUNT], uint64_t whole_us,
			char text[STAGES_BYTES])
{
	char time[HUMANIZE_TEXT_BYTES];
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < CALL_STAGE_COUNT; i++)
		if (stage_elapsed_us[i] >= whole_us / SHOWN_FRACTION)
			used += (size_t)snprintf(text + used, STAGES_BYTES - used, "%s%s %s",
						 used ? ", " : "", call_stage_name(i),
						 humanize_time(stage_elapsed_us[i] / 1e6, time));
}

static void log_slow(const struct bridge *bridge, const struct call_end *end,
		     const struct call_record *report, uint32_t client_us, uint64_t whole_us)
{
	char time[HUMANIZE_TEXT_BYTES], in[HUMANIZE_TEXT_BYTES], back[HUMANIZE_TEXT_BYTES];
	char stages[STAGES_BYTES], status[NFS_STATUS_TEXT_BYTES];
	struct log_ctx ctx = bridge->log;
	uint32_t stage_elapsed_us[CALL_STAGE_COUNT];

	memcpy(stage_elapsed_us, report->stage_elapsed_us, sizeof(stage_elapsed_us));
	stage_elapsed_us[CALL_STAGE_CLIENT] = client_us;
	stages_text(stage_elapsed_us, whole_us, stages);
	ctx.about.xid = &report->xid;
	log_limited(LOG_LEVEL_INFO, bridge_line_limit(bridge, LINE_SLOW), &ctx,
		    "%s took %s: %s; %s in, %s back%s%s", nfs_operation_name(end->operation),
		    humanize_time((double)whole_us / 1e6, time), stages,
		    humanize_bytes(report->request_bytes, in),
		    humanize_bytes(report->reply_bytes, back), report->status ? ", " : "",
		    report->status ? call_status_full_name(report->prog, report->vers,
							   report->status, status)
				   : "");
}

static void log_if_slow(const struct bridge *bridge, const struct call_end *end,
			const struct call_record *report, uint32_t client_us)
{
	uint64_t whole_us = (uint64_t)end->before_us + client_us;
	uint64_t limit_us = bridge->ws->service->config->slow_log_ms * UINT64_C(1000);

	if (limit_us && whole_us >= limit_us &&
	    !log_is_suppressed(LOG_LEVEL_INFO, bridge_line_limit(bridge, LINE_SLOW)))
		log_slow(bridge, end, report, client_us, whole_us);
}

/* ---- finished RPCs ---- */

void call_trace_record(const struct bridge_side *side, const struct exchange *x, bool answered,
		       struct call_record *report)
{
	report->wanted = true;
	report->callback = side == &side->bridge->server;
	report->answered = answered;
	report->sent = answered || x->stage == CALL_STAGE_SERVER;
	report->xid = x->call_info.hdr.xid;
	report->prog = x->call_info.hdr.prog;
	report->vers = x->call_info.hdr.vers;
	report->status = answered ? call_status_of(x) : 0;
	report->request_bytes = x->call.len_bytes;
	report->reply_bytes = answered ? x->reply.len_bytes : 0;
	memcpy(report->call_forms, x->call_forms, sizeof(report->call_forms));
	memcpy(report->reply_forms, x->reply_forms, sizeof(report->reply_forms));
	memcpy(report->stage_elapsed_us, x->stage_elapsed_us, sizeof(report->stage_elapsed_us));
}

static void fill_call(const struct bridge *bridge, const struct call_end *end,
		      const struct call_record *report, uint32_t client_us, struct tap_call *call)
{
	*call = (struct tap_call){
		.connection = bridge->id,
		.over_us = report->answered ? end->since_us + client_us : bridge_now_us(bridge),
		.client = bridge->peer,
		.callback = report->callback,
		.sent = report->sent,
		.answered = report->answered,
		.operation = end->operation,
		.xid = report->xid,
		.prog = report->prog,
		.vers = report->vers,
		.status = report->status,
		.request_bytes = report->request_bytes,
		.reply_bytes = report->reply_bytes,
	};
	strcpy(call->service, service_name(bridge));
	memcpy(call->call_forms, report->call_forms, sizeof(call->call_forms));
	memcpy(call->reply_forms, report->reply_forms, sizeof(call->reply_forms));
	memcpy(call->stage_elapsed_us, report->stage_elapsed_us, sizeof(call->stage_elapsed_us));
	call->stage_elapsed_us[CALL_STAGE_CLIENT] = client_us;
}

/* Queries the leg, so it runs only for the first tap that wants the RPC. */
static void fill_client_name(const struct bridge *bridge, struct tap_call *call)
{
	struct leg_info info;

	if (bridge->end.client_leg_closed)
		return;
	leg_info(bridge->client.leg, &info);
	if (info.tls && info.tls->verified)
		strcpy(call->client_name, info.tls->name);
}

static void put_call(const struct bridge *bridge, const struct call_end *end,
		     const struct call_record *report, uint32_t client_us, uint64_t whole_us)
{
	const struct tap_subscriber *subscriber;
	struct tap_call call = {0};

	LIST_FOREACH(subscriber, &bridge->ws->env->taps, entry) {
		if (!tap_wants(subscriber->tap, TAP_CALLS, bridge, end->operation) ||
		    whole_us < tap_config(subscriber->tap)->request.slower_us)
			continue;
		if (!call.connection) {
			fill_call(bridge, end, report, client_us, &call);
			fill_client_name(bridge, &call);
		}
		tap_put(subscriber->tap, &call, sizeof(call), NULL, 0);
	}
}

void call_trace(const struct bridge *bridge, const struct call_end *end,
		const struct call_record *report, uint32_t client_us)
{
	uint64_t whole_us = (uint64_t)end->before_us + client_us;

	if (report->answered)
		log_if_slow(bridge, end, report, client_us);
	if (bridge_has_taps(bridge))
		put_call(bridge, end, report, client_us, whole_us);
}

/* ---- messages ---- */

/* Queries both legs, so it runs only for the first tap that wants the message. */
static void fill_message(const struct bridge *bridge, struct tap_message *message)
{
	struct leg_info info;

	if (message->connection)
		return;
	message->connection = bridge->id;
	message->at_us = bridge_now_us(bridge);
	message->client = bridge->peer;
	strcpy(message->service, service_name(bridge));
	if (!bridge->end.client_leg_closed) {
		leg_info(bridge->client.leg, &info);
		message->local = info.local;
		message->client_fabric = info.kind;
	}
	if (bridge->server.leg) {
		leg_info(bridge->server.leg, &info);
		message->server_fabric = info.kind;
	}
}

static void put_message(const struct bridge *bridge, struct tap_message *message,
			const struct rpc_msg *msg)
{
	const struct tap_subscriber *subscriber;

	LIST_FOREACH(subscriber, &bridge->ws->env->taps, entry) {
		uint32_t snap_bytes = tap_config(subscriber->tap)->request.snap_bytes;

		if (!tap_wants(subscriber->tap, TAP_MESSAGES, bridge, message->operation))
			continue;
		fill_message(bridge, message);
		message->len_bytes = msg->len_bytes;
		message->kept_bytes = pcap_tcp_kept_bytes(msg->len_bytes, snap_bytes);
		tap_put(subscriber->tap, message, sizeof(*message), msg->data, message->kept_bytes);
	}
}

void call_trace_message(const struct bridge_side *side, const struct exchange *x, bool is_reply)
{
	const struct bridge *bridge = side->bridge;
	const struct rpc_msg *msg = is_reply ? &x->reply : &x->call;
	struct tap_message message = {
		.what = is_reply ? TAP_MESSAGE_REPLY : TAP_MESSAGE_CALL,
		.callback = side == &bridge->server,
		.operation = nfs_operation_of(&x->call_info),
	};

	/* The leg encodes the answer to a fault; the exchange does not contain it. */
	if (is_reply && x->fault != EXCHANGE_OK)
		return;
	memcpy(message.call_forms, x->call_forms, sizeof(message.call_forms));
	memcpy(message.reply_forms, x->reply_forms, sizeof(message.reply_forms));
	put_message(bridge, &message, msg);
}

/* Goes to taps of any operation: a tap that has a message of the connection needs its end. */
void call_trace_close(const struct bridge *bridge)
{
	struct tap_message message = {.what = TAP_MESSAGE_END};
	const struct tap_subscriber *subscriber;

	LIST_FOREACH(subscriber, &bridge->ws->env->taps, entry) {
		const struct tap_request *request = &tap_config(subscriber->tap)->request;

		if (!tap_wants(subscriber->tap, TAP_MESSAGES, bridge, request->operation))
			continue;
		fill_message(bridge, &message);
		message.operation = request->operation;
		tap_put(subscriber->tap, &message, sizeof(message), NULL, 0);
	}
}
