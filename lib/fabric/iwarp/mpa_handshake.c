// SPDX-License-Identifier: BSD-3-Clause
/*
 * The MPA exchange (RFC 5044 section 7.1, RFC 6581), both roles.
 *
 * As initiator the engine sends revision 2 with IRD and ORD, because knfsd rejects a peer that
 * offers no Reads, and never requests peer-to-peer mode. If the peer answers in revision 1 without
 * rejecting, the depths are those of the request. A reject ends the connection; the engine does not
 * retry in revision 1.
 *
 * As responder the engine answers in the request's revision and form; without S it uses its own
 * depths. It rejects markers, and rejects unknown revisions with the highest known one. Revision 0
 * gets no answer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proto_sniff.h"
#include "fabric/iwarp/engine_priv.h"

#define UNANSWERED "accepts TCP but does not answer as iWARP: is that its RDMA port?"

static unsigned min_depth(unsigned ours, uint16_t theirs)
{
	return theirs == MPA_DEPTH_UNKNOWN || ours < theirs ? ours : theirs;
}

static unsigned own_depth(unsigned wanted)
{
	return wanted < IWARP_MAX_IRD ? wanted : IWARP_MAX_IRD;
}

static int params_apply(struct iwarp_engine *engine, const struct fabric_ep_params *params)
{
	engine->ird = own_depth(params->ird);
	engine->ord = own_depth(params->ord);
	return posted_recvs_add(&engine->recvs, params->recv_count, params->recv_size_bytes);
}

void engine_handshake_free(struct iwarp_engine *engine)
{
	free(engine->setup);
	engine->setup = NULL;
	engine->request.private_data = NULL;
	engine->setup_deadline = UINT64_MAX;
}

/* Opens the connection, once depths and CRC are set. Returns false (dropped) without memory. */
static bool engine_open(struct iwarp_engine *engine, uint64_t now_us)
{
	if (engine->ird) {
		engine->irrq = calloc(engine->ird, sizeof(*engine->irrq));
		if (!engine->irrq) {
			engine_drop(engine, FABRIC_CLOSE_RESOURCES, "no memory");
			return false;
		}
	}
	engine->counters->connections_opened++;
	engine->setup_deadline = UINT64_MAX;
	engine_state_set(engine, ENGINE_OPEN);
	return true;
}

int iwarp_engine_connect(struct iwarp_engine *engine, const struct fabric_ep_params *params,
			 uint64_t now_us)
{
	struct mpa_frame frame = {
		.revision = 2,
		.crc = engine->config.crc,
		.enhanced = true,
		.private_data = params->private_data,
		.private_data_bytes = params->private_data_bytes,
	};

	if (params_apply(engine, params) < 0)
		return -ENOMEM;
	if (engine->ird == 0)
		engine->ird = 1;
	frame.ird = (uint16_t)engine->ird;
	frame.ord = (uint16_t)engine->ord;
	engine->setup = malloc(MPA_MAX_FRAME_BYTES);
	if (!engine->setup ||
	    engine_preface_send(engine, params->preface, params->preface_bytes) < 0 ||
	    engine_frame_send(engine, &frame) < 0)
		return -ENOMEM;
	engine->initiator = true;
	engine_state_set(engine, ENGINE_AWAIT_REPLY);
	engine->setup_deadline = now_us + engine->config.setup_timeout_us;
	return 0;
}

void iwarp_engine_await_request(struct iwarp_engine *engine, uint64_t now_us)
{
	engine->tx.await_first_fpdu = true;
	engine_state_set(engine, ENGINE_AWAIT_REQUEST);
	engine->setup_deadline = now_us + engine->config.setup_timeout_us;
}

/* Chooses one of the RTR messages that the peer offers; RDMA Write if it offers none. */
static void rtr_choose(struct iwarp_engine *engine, struct mpa_frame *reply)
{
	const struct mpa_frame *request = &engine->request;

	reply->peer_to_peer = true;
	if (request->rtr_write || !(request->rtr_read || request->rtr_send)) {
		reply->rtr_write = true;
	} else if (request->rtr_read) {
		/* Even a zero-length Read needs an IRD slot. */
		reply->rtr_read = true;
		if (engine->ird == 0)
			engine->ird = 1;
	} else {
		reply->rtr_send = true;
		engine->rtr_send = true;
	}
}

int iwarp_engine_accept(struct iwarp_engine *engine, const struct fabric_ep_params *params,
			uint64_t now_us)
{
	const struct mpa_frame *request = &engine->request;
	struct mpa_frame reply = {
		.reply = true,
		.revision = request->revision,
		.enhanced = request->enhanced,
		.private_data = params->private_data,
		.private_data_bytes = params->private_data_bytes,
	};

	if (engine->state != ENGINE_REQUESTED)
		return -ENOTCONN;
	if (params_apply(engine, params) < 0)
		goto out_no_memory;
	engine->revision = request->revision;
	engine->crc = engine->config.crc || request->crc;
	reply.crc = engine->crc;
	if (request->enhanced) {
		engine->ird = min_depth(engine->ird, request->ord);
		engine->ord = min_depth(engine->ord, request->ird);
		engine->ord_agreed = request->ird != MPA_DEPTH_UNKNOWN;
		if (request->peer_to_peer)
			rtr_choose(engine, &reply);
		reply.ird = (uint16_t)engine->ird;
		reply.ord = (uint16_t)engine->ord;
	}
	if (engine_frame_send(engine, &reply) < 0)
		goto out_no_memory;
	engine_handshake_free(engine);
	engine_state_set(engine, ENGINE_REPLYING);
	return 0;
out_no_memory:
	engine_drop(engine, FABRIC_CLOSE_RESOURCES, "no memory");
	return -ENOTCONN;
}

void engine_handshake_reply_sent(struct iwarp_engine *engine, uint64_t now_us)
{
	if (engine->state == ENGINE_REPLYING && engine_open(engine, now_us))
		engine->events->established(engine->arg, NULL, 0);
}

static void reject(struct iwarp_engine *engine, uint8_t revision, const void *private_data,
		   size_t len_bytes, uint64_t now_us)
{
	struct mpa_frame reply = {
		.reply = true,
		.reject = true,
		.revision = revision,
		.enhanced = revision >= 2 && engine->request.enhanced,
		.private_data = private_data,
		.private_data_bytes = len_bytes,
	};

	engine->counters->mpa_rejects_sent++;
	if (engine_frame_send(engine, &reply) < 0)
		engine_state_set(engine, ENGINE_DROPPED);
	else
		engine_send_last_frame(engine, now_us);
}

void iwarp_engine_reject(struct iwarp_engine *engine, const void *private_data, size_t len_bytes,
			 uint64_t now_us)
{
	if (engine->state != ENGINE_REQUESTED)
		return;
	engine_close_reason_set(engine, FABRIC_CLOSE_LOCAL, "request rejected");
	reject(engine, engine->request.revision, private_data, len_bytes, now_us);
}

static void early_data(struct iwarp_engine *engine)
{
	engine->counters->mpa_errors++;
	engine_drop(engine, FABRIC_CLOSE_PROTOCOL, "peer sent data before the MPA reply");
}

/* Handles a request; @early: data followed it, which RFC 5044 section 7.1 forbids. */
static void request_handle(struct iwarp_engine *engine, bool early, uint64_t now_us)
{
	const struct mpa_frame *request = &engine->request;

	if (request->revision == 0) {
		engine->counters->mpa_errors++;
		engine_drop(engine, FABRIC_CLOSE_PROTOCOL, "MPA request of revision 0");
	} else if (request->revision > 2) {
		engine->counters->mpa_errors++;
		engine_close_reason_set(engine, FABRIC_CLOSE_PROTOCOL, "MPA request of revision %u",
					request->revision);
		reject(engine, 2, NULL, 0, now_us);
	} else if (request->markers) {
		engine->counters->mpa_errors++;
		engine_close_reason_set(engine, FABRIC_CLOSE_PROTOCOL,
					"MPA request requires markers");
		reject(engine, request->revision, NULL, 0, now_us);
	} else if (early) {
		early_data(engine);
	} else {
		/* The owner has no time limit. */
		engine->setup_deadline = UINT64_MAX;
		engine_state_set(engine, ENGINE_REQUESTED);
		engine->events->requested(engine->arg, request->private_data,
					  request->private_data_bytes);
	}
}

const char *iwarp_engine_silence(const struct iwarp_engine *engine)
{
	/* The request is sent first, once TCP is up. */
	return engine->state == ENGINE_AWAIT_REPLY && engine->tx.sent ? UNANSWERED : NULL;
}

/* No MPA reply will arrive. */
static void reply_missing(struct iwarp_engine *engine, enum fabric_close why, const char *what)
{
	engine_drop(engine, why, UNANSWERED " (%s)", what);
}

void engine_handshake_eof(struct iwarp_engine *engine)
{
	if (engine->state == ENGINE_AWAIT_REPLY)
		reply_missing(engine, FABRIC_CLOSE_REFUSED, "it closed");
	else
		engine_drop(engine, FABRIC_CLOSE_PEER, "peer closed during set-up");
}

void engine_handshake_timeout(struct iwarp_engine *engine)
{
	if (!engine->initiator)
		engine_drop(engine, FABRIC_CLOSE_TIMEOUT, "no MPA request before the timeout");
	else if (!engine->tx.sent)
		engine_drop(engine, FABRIC_CLOSE_TIMEOUT, "TCP connect timed out");
	else
		reply_missing(engine, FABRIC_CLOSE_TIMEOUT, "no data before the timeout");
}

void iwarp_engine_lost(struct iwarp_engine *engine, enum fabric_close why, const char *detail)
{
	if (iwarp_engine_silence(engine))
		reply_missing(engine, why, detail);
	else
		engine_drop(engine, why, "%s", detail);
}

/* Returns true for an incomplete PROXY header of a client: its rest decides the reason. */
static bool is_partial_proxy_header(const struct iwarp_engine *engine)
{
	return !engine->initiator &&
	       proto_sniff_is_prefix(PROTO_SNIFF_PROXY, engine->setup, engine->setup_have) &&
	       proto_sniff_detect(engine->setup, engine->setup_have) != PROTO_SNIFF_PROXY;
}

static void rpc_instead_of_mpa(struct iwarp_engine *engine)
{
	engine->peer_speaks_rpc = true;
	engine_drop(engine, FABRIC_CLOSE_PROTOCOL,
		    "looks like RPC over TCP, not iWARP: this service listens for RDMA (mount with "
		    "proto=rdma, or add a tcp:// service)");
}

/* The received bytes are not a start-up frame. */
static void not_mpa(struct iwarp_engine *engine)
{
	const uint8_t *bytes = engine->setup;
	char shown[PROTO_SNIFF_TEXT_BYTES];

	engine->counters->mpa_errors++;
	proto_sniff_text(bytes, engine->setup_have, shown);
	if (engine->initiator)
		engine_drop(engine, FABRIC_CLOSE_PROTOCOL, UNANSWERED " The first bytes are %s",
			    shown);
	else if (proto_sniff_is_prefix(PROTO_SNIFF_PROXY, bytes, engine->setup_have))
		engine_drop(engine, FABRIC_CLOSE_PROXY_HEADER,
			    "peer not in accept_proxy_from, or a second header");
	else if (proto_sniff_detect(bytes, engine->setup_have) == PROTO_SNIFF_RPC)
		rpc_instead_of_mpa(engine);
	else
		engine_drop(engine, FABRIC_CLOSE_PROTOCOL,
			    "does not look like RPC: the first bytes are %s", shown);
}

static void reply_handle(struct iwarp_engine *engine, const struct mpa_frame *reply,
			 uint64_t now_us)
{
	if (reply->reject) {
		engine->counters->mpa_rejects_received++;
		if (engine->events->rejected)
			engine->events->rejected(engine->arg, reply->private_data,
						 reply->private_data_bytes);
		engine_drop(engine, FABRIC_CLOSE_REFUSED, "it rejects without a reason%s",
			    reply->revision == 1 ? ", in revision 1" : "");
		return;
	}
	if (reply->revision < 1 || reply->revision > 2 || reply->markers) {
		engine->counters->mpa_errors++;
		engine_drop(engine, FABRIC_CLOSE_PROTOCOL, "MPA reply %s %u",
			    reply->markers ? "requires markers, revision" : "of revision",
			    reply->revision);
		return;
	}
	engine->revision = reply->revision;
	engine->crc = engine->config.crc || reply->crc;
	if (reply->enhanced) {
		engine->ord = min_depth(engine->ord, reply->ird);
		if (reply->ord != MPA_DEPTH_UNKNOWN && reply->ord > engine->ird) {
			engine->counters->mpa_errors++;
			engine_terminate(engine, REASON_IRD, now_us);
			return;
		}
	}
	if (engine_open(engine, now_us))
		engine->events->established(engine->arg, reply->private_data,
					    reply->private_data_bytes);
}

size_t engine_handshake_rx(struct iwarp_engine *engine, const uint8_t *bytes, size_t len_bytes,
			   uint64_t now_us)
{
	bool reply_due = engine->state == ENGINE_AWAIT_REPLY;
	size_t space = MPA_MAX_FRAME_BYTES - engine->setup_have;
	size_t step = len_bytes < space ? len_bytes : space;
	size_t had = engine->setup_have, used = 0;
	struct mpa_frame frame;

	if (!reply_due && engine->state != ENGINE_AWAIT_REQUEST) {
		early_data(engine);
		return len_bytes;
	}
	if (!engine->setup)
		engine->setup = malloc(MPA_MAX_FRAME_BYTES);
	if (!engine->setup) {
		engine_drop(engine, FABRIC_CLOSE_RESOURCES, "no memory");
		return len_bytes;
	}
	memcpy(engine->setup + had, bytes, step);
	engine->setup_have += step;
	switch (mpa_frame_decode(engine->setup, engine->setup_have, reply_due, &frame, &used)) {
	case MPA_SHORT:
		return step;
	case MPA_BAD_KEY:
		if (is_partial_proxy_header(engine))
			return step;
		not_mpa(engine);
		return len_bytes;
	case MPA_BAD_LENGTH:
		engine->counters->mpa_errors++;
		engine_drop(engine, FABRIC_CLOSE_PROTOCOL, "MPA frame with an invalid length");
		return len_bytes;
	case MPA_OK:
		break;
	}
	if (reply_due) {
		reply_handle(engine, &frame, now_us);
		engine_handshake_free(engine);
	} else {
		engine->request = frame;
		request_handle(engine, engine->setup_have > used || len_bytes > step, now_us);
	}
	return used > had ? used - had : 0;
}
